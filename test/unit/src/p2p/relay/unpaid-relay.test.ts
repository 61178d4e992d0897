import { beforeEach, describe, expect, it } from 'vitest'
import { encodeTransaction, type Transaction } from '../../../../../consensus/tx/transaction.ts'
import { DEFAULT_MEMPOOL_POLICY } from '../../../../../mempool/policy.ts'
import { ALLOWANCES } from '../../../../../src/p2p/peers/budget.ts'
import type { TestChain } from '../../../../support/chain.ts'
import { LINK_MS, type MemoryNetwork } from '../../../../support/p2p/memory-network.ts'
import type { RelayNode } from '../../../../support/p2p/relay-node.ts'
import { RelayRow } from '../../../../support/p2p/relay-row.ts'

let row: RelayRow
let source: TestChain
let hub: MemoryNetwork

beforeEach(async () => {
  row = await RelayRow.open()
  ;({ source, hub } = row)
})

const send = (from: RelayNode, to: RelayNode, tx: Transaction): void =>
  from.network.send(to.id, 'transactions', encodeTransaction(tx))
const verdictsOf = (node: RelayNode): readonly string[] => node.network.verdicts.map(({ verdict }) => verdict)
const holds = (nodes: readonly RelayNode[], tx: Transaction): readonly boolean[] =>
  nodes.map(({ mempool }) => mempool.byWitness(tx.wtxId) !== undefined)

describe('an honest relay', () => {
  it('is not blamed for bytes beyond what is looked at: they are found in its pool later', async () => {
    const [one, other] = await row.pair()
    const transactions = await row.pays(8)
    // The allowance that refilled meanwhile is used up by a useless transaction.
    for (const tx of [await row.pay(1, { validUntil: 1 }), ...transactions]) send(one, other, tx)
    await hub.time.pass(LINK_MS - 1)
    expect(other.peers.budgetOf(one.id)?.take('bytesIn', ALLOWANCES.bytesIn.burst)).toBe(true)
    await hub.time.pass(1)
    expect([other.mempool.count, other.offences, verdictsOf(other)]).toEqual([
      0,
      [],
      ['ignore', ...Array(8).fill('unjudged')],
    ])
    for (const tx of transactions) await one.mempool.submit(tx)
    await hub.time.pass(10_000)
    for (const tx of transactions) expect(holds([other], tx)).toEqual([true])
    expect([other.offences, other.network.ended]).toEqual([[], []])
  })

  it('has the bytes given back that were passed on', async () => {
    const [one, other] = await row.pair()
    const transactions = await row.pays(8)
    const [{ size }] = transactions as [Transaction]
    other.peers.budgetOf(one.id)?.take('bytesIn', ALLOWANCES.bytesIn.burst - size - 100)
    for (const tx of transactions) {
      send(one, other, tx)
      await hub.time.pass(0)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await hub.time.pass(1)
    expect(verdictsOf(other)).toEqual(Array(8).fill('accept'))
  })
})

describe('a transaction behind a missing nonce', () => {
  it.each(['gossip', 'announce'] as const)(
    'stays where it was sent to until the nonce has come, by %s',
    async (mode) => {
      const nodes = await row.line(mode, mode, mode)
      const [one, two, three] = nodes as [RelayNode, RelayNode, RelayNode]
      const [first, second, third] = [
        await row.pay(1, { nonce: 0n }),
        await row.pay(1, { nonce: 1n }),
        await row.pay(1, { nonce: 2n }),
      ]
      const block = await source.mine([first])
      for (const { test } of nodes) await test.import(block)
      await hub.time.pass(500)
      for (let i = 0; i < 15; i++) {
        const validUntil = source.height + 1
        expect((await one.mempool.submit(await row.pay(1, { nonce: 3n + BigInt(i), validUntil }))).ok).toBe(true)
      }
      expect((await one.mempool.submit(third)).ok).toBe(true)
      await hub.time.pass(20_000)
      expect([two.mempool.count, three.mempool.count]).toEqual([0, 0])
      expect((await one.mempool.submit(second)).ok).toBe(true)
      await hub.time.pass(2_000)
      for (const tx of [second, third]) expect(holds(nodes, tx)).toEqual([true, true, true])
      expect(nodes.flatMap(({ offences }) => offences)).toEqual([])
    },
  )

  it('from a peer of an earlier release is held, not passed on, and neither fault nor merit of its sender', async () => {
    const [one, other, third] = (await row.line('gossip', 'gossip', 'gossip')) as [RelayNode, RelayNode, RelayNode]
    const [first, second, gapped] = [
      await row.pay(1, { nonce: 0n }),
      await row.pay(1, { nonce: 1n }),
      await row.pay(1, { nonce: 2n }),
    ]
    const block = await source.mine([first])
    for (const { test } of [one, other, third]) await test.import(block)
    await hub.time.pass(500)
    const useful: string[] = []
    other.peers.onPeer({ useful: (_, what) => useful.push(what) })
    send(one, other, gapped)
    await hub.time.pass(1_000)
    expect([holds([other, third], gapped), verdictsOf(other)]).toEqual([[true, false], ['ignore']])
    expect([other.offences, useful]).toEqual([[], []])
    send(one, other, second)
    await hub.time.pass(1_000)
    for (const tx of [second, gapped]) expect(holds([other, third], tx)).toEqual([true, true])
    expect(useful).toEqual(['transaction'])
  })
})

describe('an account that pays for nothing', () => {
  it('has no more of its transactions passed on than its places, whatever it replaces', async () => {
    const [one, other] = await row.pair()
    const first = await row.pay(1, { nonce: 0n })
    const block = await source.mine([first])
    for (const { test } of [one, other]) await test.import(block)
    await hub.time.pass(500)
    const before = other.verifier.checked
    let rate = 40n
    for (let i = 0; i < 240; i++) {
      if (i % 4 === 0) rate = (rate * 9n) / 8n
      const nonce = 1n + BigInt(i % 4)
      send(one, other, await row.pay(1, { nonce, maxFeeRate: rate, tip: rate, validUntil: source.height + 1 }))
      await hub.time.pass(1)
    }
    await hub.time.pass(1_000)
    expect(other.verifier.checked - before).toBe(DEFAULT_MEMPOOL_POLICY.unpaidPerAccount)
    expect(other.offences).toEqual([])
    expect((await other.mempool.submit(await row.pay(3))).ok).toBe(true)
  })
})
