import { afterEach, describe, expect, it } from 'vitest'
import { type ChainAlert, ChainWatch } from '../../../marketplace/till/chain-watch.ts'
import { blocksFrom, importAll, outcomeOf, PROVEN_WORK } from '../../support/branches.ts'
import type { ChainParts } from '../../support/chain.ts'
import { closeMarkets, ONCE, type TestMarket, type TestPayment } from '../../support/market.ts'
import { closeStores, levelChain, Partition, restartedChain } from '../../support/partition.ts'

afterEach(async () => {
  await closeMarkets()
  await closeStores()
})

const PAUSE_DEPTH = 6

/** A partition whose node is watched. The test can change the facts. */
async function watched(chainParts: ChainParts = {}) {
  const halves = await Partition.open({ settings: { settleWaitMs: 0 } }, chainParts)
  const { market } = halves
  const facts = { settled: true, behind: false }
  const alerts: ChainAlert[] = []
  const watch = new ChainWatch({
    ...{ chain: market.test.chain, pauseDepth: PAUSE_DEPTH, onAlert: (alert) => alerts.push(alert) },
    ...{ settled: () => facts.settled, behind: () => facts.behind },
  })
  market.shop.closeWhile(() => watch.closedBecause)
  return { halves, market, watch, facts, alerts }
}

/** Why the market does not sell, or null. */
function closed({ shop }: TestMarket): string | null {
  const state = shop.availability(shop.offer(ONCE)!)
  return state.available ? null : state.reason
}

const held = ({ txId }: TestPayment, reason: unknown) => ({
  ok: false,
  fault: { code: 'pay/held', detail: { txId, reason } },
})
const delivered = { ok: true, value: { claim: { state: 'delivered' } } }

describe('a reorganisation of the depth that the operator set as alarming', () => {
  it.each([
    [PAUSE_DEPTH, 6],
    [30, 30],
    [60, 40],
  ])('of %i blocks is told and pauses sales for %i blocks; payments stay good', async (depth, pause) => {
    const { halves, market, watch, alerts } = await watched()
    const payment = await market.order('ok')
    await halves.growOurs(depth)
    const old = market.test.chain.head
    await halves.growTheirs(depth + 1, { [depth + 1]: [payment.tx] })
    await halves.heal()
    const { header, id } = market.test.chain.head
    const pausedUntil = header.height + pause
    const facts = { depth, forkHeight: halves.forkHeight, oldHeight: old.header.height, oldId: old.id }
    expect(alerts.map((alert) => [alert.kind, alert.facts])).toEqual([
      ['reorganised', { ...facts, newHeight: header.height, newId: id, pausedUntil }],
    ])
    expect(closed(market)).toContain('the chain reorganised')
    expect(watch.warnings).toEqual([expect.stringContaining(`${depth} blocks deep`)])
    for (let block = 0; block < pause; block++) {
      expect(await market.settle(payment)).toMatchObject(held(payment, expect.stringContaining('reorganised')))
      await market.mine()
    }
    expect(await halves.claimOf(payment)).toEqual([])
    expect([closed(market), halves.runsOf(payment)]).toEqual([null, 0])
    expect(await market.settle(payment)).toMatchObject(delivered)
    expect(halves.runsOf(payment)).toBe(1)
    expect(watch.warnings).toHaveLength(1)
  })

  it('raises no alert while the node is still syncing, and neither does a shallower one', async () => {
    const shallow = await watched()
    await shallow.halves.growOurs(PAUSE_DEPTH - 1)
    await shallow.halves.growTheirs(PAUSE_DEPTH)
    await shallow.halves.heal()
    expect([shallow.alerts, closed(shallow.market), shallow.watch.warnings]).toEqual([[], null, []])
    const joining = await watched()
    joining.facts.settled = false
    await joining.halves.growOurs(20)
    await joining.halves.growTheirs(21)
    await joining.halves.heal()
    expect([joining.alerts, closed(joining.market), joining.watch.warnings]).toEqual([[], null, []])
  })

  it('does not stop answers to calls whose work was done before', async () => {
    const { halves, market } = await watched()
    const known = await market.order('ok:known')
    await halves.growOurs(PAUSE_DEPTH, { 1: [known.tx] })
    expect(await market.settle(known)).toMatchObject(delivered)
    await halves.growTheirs(PAUSE_DEPTH + 1)
    await halves.heal()
    expect(closed(market)).toContain('reorganised')
    expect(await market.settle(known)).toMatchObject({ ok: true, value: { replayed: true } })
    expect(halves.runsOf(known)).toBe(1)
  })
})

describe('a node that is behind', () => {
  it('sells nothing, and accepts the payment when it has caught up', async () => {
    const { halves, market, facts, alerts } = await watched()
    const payment = await market.pay('ok')
    facts.behind = true
    expect(closed(market)).toBe('the node is syncing')
    expect(await market.settle(payment)).toMatchObject(held(payment, 'the node is syncing'))
    expect(await halves.claimOf(payment)).toEqual([])
    facts.behind = false
    expect(closed(market)).toBeNull()
    expect(await market.settle(payment)).toMatchObject(delivered)
    expect(alerts).toEqual([])
  })

  it('stays closed as long as one of the reasons lasts', async () => {
    const { market, facts } = await watched()
    facts.behind = true
    market.shop.closeWhile(() => 'the node is stopping')
    expect(closed(market)).toBe('the node is syncing')
    facts.behind = false
    expect(closed(market)).toBe('the node is stopping')
  })
})

describe('a heavier branch that forks deeper than the operator allows', () => {
  const DEPTH_MAX = 20

  it('raises an alert, closes the market, and is followed after a start that allows it', async () => {
    const { halves, market, watch, alerts } = await watched({ reorganisationDepthMax: DEPTH_MAX })
    const { test } = market
    await halves.growOurs(DEPTH_MAX + 5)
    await halves.growTheirs(DEPTH_MAX + 8)
    const theirs = blocksFrom(halves.theirs, halves.forkHeight + 1)
    const refused = { code: 'chain/reorganisation-too-deep', detail: { depth: DEPTH_MAX + 5, depthMax: DEPTH_MAX } }
    expect(await importAll(test, theirs, PROVEN_WORK)).toEqual(refused)
    // One alert for the whole branch, not one for each of its blocks.
    expect(alerts.map(({ kind }) => kind)).toEqual(['branch-refused'])
    expect(alerts[0]!.facts).toMatchObject({ headId: test.chain.head.id, branchId: theirs.at(-3)!.id, depth: 25 })
    expect(alerts[0]!.message).toContain('--chain-reorganisation-max')
    expect(closed(market)).toContain('waits for the operator')
    expect(watch.warnings).toHaveLength(1)

    const quiet = await restartedChain(test, { reorganisationDepthMax: DEPTH_MAX })
    expect(await quiet.chain.resume()).toEqual({ ok: true, value: 'side' })
    expect(quiet.chain.refusedBranch).toMatchObject({ depth: 25, depthMax: DEPTH_MAX, tip: { id: theirs.at(-1)!.id } })

    const allowed = await restartedChain(quiet, { reorganisationDepthMax: DEPTH_MAX + 5 })
    expect(await allowed.chain.resume()).toEqual({ ok: true, value: 'connected' })
    expect(allowed.chain.head.id).toBe(theirs.at(-1)!.id)
    expect(allowed.chain.refusedBranch).toBeNull()
    expect(allowed.stateRoot).toBe(halves.theirs.stateRoot)
  })

  it('is forgotten when our own branch is the heavier one again', async () => {
    const { halves, market, watch } = await watched({ reorganisationDepthMax: DEPTH_MAX })
    await halves.growOurs(DEPTH_MAX + 5)
    await halves.growTheirs(DEPTH_MAX + 6)
    await importAll(market.test, blocksFrom(halves.theirs, halves.forkHeight + 1), PROVEN_WORK)
    expect(closed(market)).toContain('waits for the operator')
    await market.mine()
    expect([closed(market), watch.warnings]).toEqual([null, []])
  })
})

describe('a branch far below the head', () => {
  it('is not stored while its work is unproven, and is followed once it is proven', async () => {
    const halves = await Partition.open({ test: await levelChain() })
    const { test } = halves.market
    await halves.growOurs(150)
    await halves.growTheirs(151)
    const theirs = blocksFrom(halves.theirs, halves.forkHeight + 1)
    const { database } = test.chain
    for (const block of theirs.slice(0, 3)) await outcomeOf(test, block)
    expect(await outcomeOf(test, theirs[0]!)).toEqual({ code: 'chain/branch-too-light', detail: {} })
    expect([database.side.size, database.entry(theirs[0]!.id), database.block(theirs[0]!.id)]).toEqual([
      0,
      undefined,
      undefined,
    ])
    expect(await importAll(test, theirs, halves.theirs.chain.head.totalWork)).toBe('connected')
    expect(test.chain.head.id).toBe(halves.theirs.chain.head.id)
  })
})
