import { describe, expect, it } from 'vitest'
import { verdict } from '../support/api.ts'
import { Caller, marketOpen, type Payment, runsIn } from '../support/caller.ts'
import { wallet } from '../support/chain.ts'
import { escrowHistory } from '../support/closings.ts'
import { Cluster, type ClusterNode, lineOf } from '../support/cluster.ts'
import { WITH_TEST_SERVICES, Workshop } from '../support/daemon.ts'
import { mineBlocks, mineOne, mineWhile } from '../support/mine-by-hand.ts'
import { until } from '../support/processes.ts'
import { units } from '../support/unsigned.ts'

const workshop = new Workshop()
/** Nodes of the losing half, with the shop. */
const LIGHTER = [0, 1]
const SHOP = 1

interface Halves {
  readonly cluster: Cluster
  /** The two ends of the line, one in each half. */
  readonly lighter: ClusterNode
  readonly heavier: ClusterNode
  readonly forkHeight: number
  readonly runsFile: string
}

/** Opens a line of five nodes at one head, in which the shop sells. */
async function openLine(): Promise<Halves> {
  const runsFile = workshop.path('runs')
  const nodes = Array.from({ length: 5 }, (_, i) =>
    i === SHOP ? { sells: true, env: { TEST_RUNS_FILE: runsFile } } : {},
  )
  const cluster = await Cluster.start(workshop, { nodes, links: lineOf(5) })
  const [lighter, heavier] = [cluster.node(0), cluster.node(4)]
  await mineWhile(lighter.url, marketOpen(cluster.node(SHOP).url))
  const { height } = await cluster.converged()
  return { cluster, lighter, heavier, forkHeight: height, runsFile }
}

/** A transfer to key 2, sent to a node. */
function send(node: ClusterNode, key: number, coins: number): Promise<{ readonly txId: string }> {
  const payload = { to: wallet(2).address, amount: units(coins), create: false }
  return new Caller(node.url, key).send('transfer', payload)
}

/** Buys a call from the shop while its half mines. */
async function buy({ cluster, lighter }: Halves, request: string): Promise<Payment> {
  const caller = new Caller(cluster.node(SHOP).url, 5)
  const payment = await caller.pay({ serviceId: 'node-test-once', request, lock: 'lock' })
  expect(verdict(await mineWhile(lighter.url, caller.settle(payment)))).toBe('200 paid')
  return payment
}

/** Mines on the heavier half until it has more work. */
async function outgrow({ lighter, heavier }: Halves): Promise<void> {
  const { totalWork } = await lighter.status()
  while (BigInt((await heavier.status()).totalWork) <= BigInt(totalWork)) await mineOne(heavier.url)
}

/**
 * Expects, after the halves met, that the transactions of both halves are mined, that the call ran once and was settled once,
 * and that every folder is sound.
 */
async function expectWhole(
  halves: Halves,
  payment: Payment,
  sent: readonly { readonly txId: string }[],
): Promise<void> {
  const { cluster, heavier, runsFile } = halves
  const far = new Caller(heavier.url, 1)
  for (const { txId } of sent) await mineWhile(heavier.url, far.mined(txId))
  const shop = new Caller(cluster.node(SHOP).url, 5)
  await mineWhile(heavier.url, shop.closed(payment.txId))
  expect(verdict(await shop.settle(payment))).toBe('200 paid')
  const { height } = await cluster.converged()
  const { opened, closings } = await escrowHistory(heavier.url, height)
  expect([...opened]).toEqual([payment.txId])
  expect(closings.get(payment.txId)?.map(({ how }) => how)).toEqual(['delivered'])
  expect(runsIn(runsFile).get(`node-test-once ${payment.request}`)).toBe(1)
  expect(await cluster.stop()).toEqual(cluster.nodes.map(() => ({ code: 0, signal: null })))
  for (const node of cluster.nodes) {
    expect(node.errors).toEqual([])
    expect(await node.audit()).toMatchObject({ sound: true })
  }
}

describe('a network in two halves', () => {
  it('that both mined more than ten blocks joins on the heavier chain', async () => {
    const halves = await openLine()
    const { cluster, lighter, heavier, forkHeight } = halves
    cluster.cut(LIGHTER)
    await until('the halves are apart', async () => (await cluster.node(2).status()).peers === 1)
    const sent = [await send(lighter, 7, 3), await send(heavier, 10, 4)]
    const payment = await buy(halves, 'ok:ten')
    await mineWhile(heavier.url, new Caller(heavier.url, 1).mined(sent[1]!.txId))
    for (const node of [lighter, heavier])
      while ((await node.status()).height < forkHeight + 10) await mineBlocks(node.url, 1)
    await outgrow(halves)
    const { blockId } = await heavier.status()
    expect((await lighter.status()).blockId).not.toBe(blockId)
    cluster.heal()
    expect(await cluster.converged()).toMatchObject({ blockId })
    await expectWhole(halves, payment, sent)
  })

  it('whose lines swallowed everything while both mined more than a hundred blocks joins on the heavier chain', async () => {
    const halves = await openLine()
    const { cluster, lighter, heavier, forkHeight } = halves
    cluster.blackHole(LIGHTER)
    const payment = await buy(halves, 'ok:hundred')
    const sent = [await send(lighter, 7, 3), await send(heavier, 10, 4)]
    const miners = [lighter, heavier].map(({ url, folder }) =>
      workshop.launch(['mine', '--node', url, '--threads', '1', '--data-dir', folder], {
        entry: WITH_TEST_SERVICES,
        env: { TEST_FAST_BLOCKS: '1' },
      }),
    )
    for (const node of [lighter, heavier])
      await until('a hundred blocks', async () => (await node.status()).height >= forkHeight + 100)
    for (const miner of miners) await miner.end('SIGTERM')
    await outgrow(halves)
    const { blockId } = await heavier.status()
    cluster.heal()
    expect(await cluster.converged()).toMatchObject({ blockId })
    await expectWhole(halves, payment, sent)
  })
})
