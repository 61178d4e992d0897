import { describe, expect, it } from 'vitest'
import { type Block, witnessRoot } from '../../../../../consensus/block/block.ts'
import { MemoryKeyValueStore } from '../../../../../consensus/chain/key-value.ts'
import { KEYS } from '../../../../../consensus/chain/layout.ts'
import { assembleTransaction, type Transaction } from '../../../../../consensus/tx/transaction.ts'
import type { PeerId } from '../../../../../src/p2p/network.ts'
import { fork, mineBranch } from '../../../../support/branches.ts'
import { TestChain, wallet, withHeader } from '../../../../support/chain.ts'
import { MemoryNetwork } from '../../../../support/p2p/memory-network.ts'
import { FallibleVerifier, SyncNode } from '../../../../support/p2p/sync-node.ts'
import { VirtualTime } from '../../../../support/sim/virtual-clock.ts'

const PAYER = wallet(1)
const OTHER = 'other' as PeerId

function pay(test: TestChain): Promise<Transaction> {
  return test.tx(PAYER, 'transfer', { to: wallet(2).address, amount: 5n, create: false } as never)
}

/** The transaction with a false signature. */
function forged({ bodyBytes, witnessBytes }: Transaction): Transaction {
  const last = witnessBytes.length - 1
  const tx = assembleTransaction(bodyBytes, witnessBytes.with(last, (witnessBytes[last] as number) ^ 1))
  if (!tx.ok) throw new Error(tx.fault.code)
  return tx.value
}

/** A miner's chain with two payments, a node that has the first, and the miner as its peer. */
async function pair(store = new MemoryKeyValueStore()) {
  const miner = await TestChain.open()
  await miner.mine([await pay(miner)])
  const verifier = new FallibleVerifier()
  const test = await fork(miner, { store, parts: { verifier } })
  const hub = new MemoryNetwork(new VirtualTime(miner.nowMs + 60_000))
  const node = await SyncNode.open(hub, 'node', { test, verifier })
  const other = await SyncNode.open(hub, 'other', { test: miner })
  hub.connect(node.network, other.network)
  await hub.time.pass(100)
  return { miner, hub, node, other, store, verifier }
}

/** Takes a block while virtual time passes. */
async function take(
  { hub, node }: Pick<Awaited<ReturnType<typeof pair>>, 'hub' | 'node'>,
  block: Block,
  from: PeerId | null = OTHER,
  work = 0n,
) {
  const outcome = node.intake.take(block, from, { provenWork: work })
  await hub.time.pass(500)
  return outcome
}

describe('missing keys', () => {
  it('are fetched from a peer, checked, stored, and the block is taken', async () => {
    const world = await pair()
    const { store, node, miner } = world
    await store.batch([{ key: KEYS.keys(PAYER.address) }], () => {})
    const reopened = await TestChain.open(miner.ruleBook, store)
    const late = await SyncNode.open(world.hub, 'late', { test: reopened })
    world.hub.connect(late.network, world.other.network)
    await world.hub.time.pass(100)
    const block = await miner.mine([await pay(miner)])
    expect(reopened.chain.keys.keysOf(PAYER.address)).toBeUndefined()
    expect(await take({ hub: world.hub, node: late }, block)).toEqual({ ok: true, value: 'connected' })
    expect(store.get(KEYS.keys(PAYER.address))).toBeDefined()
    expect(late.offences).toEqual([])
    await node.stop()
  })

  it('that belong to another address ban the peer that gave them, and the next one is asked', async () => {
    const world = await pair()
    const { store, miner, hub } = world
    await store.batch([{ key: KEYS.keys(PAYER.address) }], () => {})
    const late = await SyncNode.open(hub, 'late', { test: await TestChain.open(miner.ruleBook, store) })
    const liar = await SyncNode.open(hub, 'liar', { ruleBook: miner.ruleBook })
    const wrong = miner.chain.database.keysOf(PAYER.address)?.with(40, 7) as Uint8Array
    liar.peers.exchange.answer('keys', () => ({ reply: [wrong] }))
    hub.connect(late.network, liar.network)
    hub.connect(late.network, world.other.network)
    await hub.time.pass(100)
    const block = await miner.mine([await pay(miner)])
    const outcome = await take({ hub, node: late }, block, 'liar' as PeerId)
    expect(outcome).toEqual({ ok: true, value: 'connected' })
    expect(late.offencesOf('liar')).toEqual(['bad-keys'])
    expect(late.offencesOf('other')).toEqual([])
  })

  it('that no peer knows leave the block unchanged, without blame', async () => {
    const world = await pair()
    const { store, miner, hub } = world
    await store.batch([{ key: KEYS.keys(PAYER.address) }], () => {})
    const late = await SyncNode.open(hub, 'late', { test: await TestChain.open(miner.ruleBook, store) })
    world.other.peers.exchange.answer('keys', (_, addresses) => ({ reply: addresses.map(() => new Uint8Array(0)) }))
    hub.connect(late.network, world.other.network)
    await hub.time.pass(100)
    const block = await miner.mine([await pay(miner)])
    const outcome = await take({ hub, node: late }, block)
    expect(outcome).toMatchObject({ ok: false, fault: { code: 'chain/keys-missing' } })
    expect(late.offences).toEqual([])
    expect(world.other.network.requests.filter(({ protocol }) => protocol === 'keys')).toHaveLength(1)
  })
})

describe('a block from the future', () => {
  it('is held until its time has come; no peer is blamed', async () => {
    const world = await pair()
    const { miner, hub, node } = world
    const block = await miner.mine([], { afterMs: hub.time.nowMs - miner.chain.head.header.timeMs + 40_000 })
    node.test.nowMs = hub.time.nowMs
    expect(await take(world, block)).toMatchObject({ ok: false, fault: { code: 'block/time-too-new' } })
    expect(node.hashes).toBe(1)
    const due = block.header.timeMs - 15_000
    node.test.nowMs = due
    await hub.time.passUntil(due - 10)
    expect(node.height).toBe(1)
    await hub.time.passUntil(due + 100)
    expect(node.height).toBe(2)
    expect(node.offences).toEqual([])
  })

  it('takes up no memory where its work is false, or it is far too early', async () => {
    const world = await pair()
    const { miner, hub, node } = world
    const soon = await miner.mine([], { afterMs: hub.time.nowMs - miner.chain.head.header.timeMs + 40_000 })
    node.test.nowMs = hub.time.nowMs
    node.isFalse = () => true
    await take(world, soon)
    const due = soon.header.timeMs - 15_000
    node.test.nowMs = due + 1_000
    await hub.time.passUntil(due + 1_000)
    expect(node.height).toBe(1)
  })
})

describe('a bad block', () => {
  it('with a false signature costs the signatures of one block, once, and a ban', async () => {
    const world = await pair()
    const { miner, node, verifier } = world
    const good = await miner.build([await pay(miner)])
    const transactions = good.transactions.map(forged)
    const block = { ...withHeader(good, { witnessRoot: witnessRoot(transactions) }), transactions }
    const before = verifier.checked
    const outcome = await take(world, block)
    expect(outcome).toMatchObject({ fault: { code: 'block/transaction', detail: { reason: 'tx/bad-signature' } } })
    expect(verifier.checked - before).toBe(1)
    expect(node.offencesOf('other')).toEqual(['bad-block'])
    const again = await take(world, block, null)
    expect(again).toMatchObject({ ok: false, fault: { code: 'chain/invalid-ancestor' } })
    expect(verifier.checked - before).toBe(1)
  })

  it('with the body of another is the fault of its sender, and the true one is still taken', async () => {
    const world = await pair()
    const { miner, node } = world
    const block = await miner.mine([await pay(miner)])
    expect(await take(world, { ...block, transactions: [] })).toMatchObject({
      fault: { code: 'block/transactions-root' },
    })
    expect(node.offencesOf('other')).toEqual(['bad-body'])
    expect(await take(world, block, null)).toEqual({ ok: true, value: 'connected' })
  })

  it('that was passed on before it was checked is no peer’s fault', async () => {
    const world = await pair()
    const block = await world.miner.mine([await pay(world.miner)])
    await take(world, { ...block, transactions: [] }, null)
    expect(world.node.offences).toEqual([])
  })
})

describe('a verifier that fails', () => {
  it('holds up a heavier stored branch only until it works again', async () => {
    const world = await pair()
    const { miner, node, hub, verifier } = world
    const ours = await fork(miner)
    const own = await mineBranch(ours, 1, 1)
    for (const block of own) await take(world, block, null)
    await miner.mine([await pay(miner)])
    await miner.mine()
    const theirs = [2, 3].map(
      (height) => miner.chain.database.block(miner.chain.database.idAt(height) as never) as Block,
    )
    verifier.failing = true
    await take(world, theirs[0] as Block)
    expect(await take(world, theirs[1] as Block)).toMatchObject({ ok: false, fault: { code: 'chain/unverified' } })
    expect(node.height).toBe(2)
    await hub.time.pass(5_000)
    expect(node.test.chain.head.id).toBe(own[0]?.id)
    verifier.failing = false
    await hub.time.pass(10_000)
    expect(node.test.chain.head.id).toBe(miner.chain.head.id)
    expect(node.offences).toEqual([])
    expect(node.fatal).toEqual([])
  })
})
