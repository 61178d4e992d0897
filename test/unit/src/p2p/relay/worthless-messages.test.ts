import { beforeEach, describe, expect, it } from 'vitest'
import { toHex, uintLE } from '../../../../../consensus/primitives/bytes.ts'
import { decode, encode } from '../../../../../consensus/primitives/codec.ts'
import type { WtxId } from '../../../../../consensus/primitives/ids.ts'
import { encodeTransaction, type Transaction } from '../../../../../consensus/tx/transaction.ts'
import { ALLOWANCES } from '../../../../../src/p2p/peers/budget.ts'
import { makeCompactBlock } from '../../../../../src/p2p/relay/compact-block.ts'
import { COMPACT_BLOCK, MESSAGES } from '../../../../../src/p2p/wire/messages.ts'
import type { TestChain } from '../../../../support/chain.ts'
import type { MemoryNetwork, MemoryPeer } from '../../../../support/p2p/memory-network.ts'
import { type RelayNode, strangerOn } from '../../../../support/p2p/relay-node.ts'
import { RelayRow } from '../../../../support/p2p/relay-row.ts'
import { SAMPLE, unsigned } from '../../../../support/unsigned.ts'

let row: RelayRow
let source: TestChain
let hub: MemoryNetwork

beforeEach(async () => {
  row = await RelayRow.open()
  ;({ source, hub } = row)
})

/** Transactions of accounts that do not exist. */
function junk(count: number): readonly Transaction[] {
  return Array.from({ length: count }, (_, i) => {
    const sender = toHex(uintLE(BigInt(i + 1), 32)) as never
    const witness = { signatures: [{ keyIndex: 0, bytes: new Uint8Array(1) }] }
    return unsigned('transfer', SAMPLE.transfer(), { sender, nonce: 5n, witness })
  })
}

/** A peer that has these transactions and gives them, and the ids that it was asked for. */
async function holder(node: RelayNode, transactions: readonly Transaction[]): Promise<[MemoryPeer, WtxId[]]> {
  const peer = strangerOn(hub, 'holder', node.test)
  const byId = new Map(transactions.map((tx) => [tx.wtxId, encodeTransaction(tx)]))
  const asked: WtxId[] = []
  peer.serve('transactions', async (_, body) => {
    const ids = decode(MESSAGES.transactions.request, body)
    if (!ids.ok) throw new Error(ids.fault.code)
    asked.push(...ids.value)
    return Uint8Array.of(
      0,
      ...encode(
        MESSAGES.transactions.reply,
        ids.value.flatMap((id) => byId.get(id) ?? []),
      ),
    )
  })
  peer.serve('poolIds', async () => Uint8Array.of(0, ...encode(MESSAGES.poolIds.reply, { ids: [], next: 0 })))
  hub.connect(peer, node.network)
  await hub.time.pass(100)
  return [peer, asked]
}

async function tell(peer: MemoryPeer, node: RelayNode, transactions: readonly Transaction[]): Promise<void> {
  for (let at = 0; at < transactions.length; at += 1_024) {
    const ids = transactions.slice(at, at + 1_024).map(({ wtxId }) => wtxId)
    void peer.request(node.id, 'announce', encode(MESSAGES.announce.request, ids))
  }
  await hub.time.pass(10_000)
}

describe('a message of a block whose transactions are dear to decode', () => {
  /** A message with made-up short ids, or with transactions that cannot be decoded. */
  const altered = (message: Uint8Array, salt: bigint, isPrefilled: boolean): Uint8Array => {
    const value = decode(COMPACT_BLOCK, message)
    if (!value.ok) throw new Error(value.fault.code)
    const prefilled = isPrefilled ? [{ index: 0, transaction: new Uint8Array(40) }] : []
    return encode(COMPACT_BLOCK, { ...value.value, salt, shortIds: new Uint8Array(isPrefilled ? 0 : 12), prefilled })
  }

  it('is not opened where its sender told of the block before, whether the body is awaited or known', async () => {
    const node = await row.node('node')
    const liar = strangerOn(hub, 'liar', node.test)
    liar.serve('blockTransactions', () => new Promise(() => {}))
    liar.serve('bodies', () => new Promise(() => {}))
    hub.connect(liar, node.network)
    await hub.time.pass(100)
    const block = await source.mine(await row.pays(2))
    const message = makeCompactBlock(block, 1n, () => false)
    liar.send(node.id, 'blocks', altered(message, 2n, false))
    await hub.time.pass(10)
    for (let salt = 3n; salt < 20n; salt++) liar.send(node.id, 'blocks', altered(message, salt, true))
    await hub.time.pass(10)
    expect(new Set(node.network.verdicts.map(({ verdict }) => verdict))).toEqual(new Set(['ignore']))
    expect(node.offencesOf(liar.self)).toEqual([])
  })

  it('is not opened where the body was looked for too often', async () => {
    const node = await row.node('node')
    const block = await source.mine(await row.pays(2))
    const message = makeCompactBlock(block, 1n, () => false)
    const names = Array.from({ length: 5 }, (_, i) => strangerOn(hub, `liar ${i}`, node.test))
    for (const [i, liar] of names.entries()) {
      hub.connect(liar, node.network)
      await hub.time.pass(100)
      liar.send(node.id, 'blocks', altered(message, BigInt(2 + i), false))
      await hub.time.pass(120_000)
    }
    const fresh = strangerOn(hub, 'fresh', node.test)
    hub.connect(fresh, node.network)
    await hub.time.pass(100)
    fresh.send(node.id, 'blocks', altered(message, 100n, true))
    await hub.time.pass(10)
    expect(node.offencesOf(fresh.self)).toEqual([])
    expect(node.wanted.at(-1)).toBe(fresh.self)
  })
})

describe('transactions of no use that a peer told of and has', () => {
  it('are asked for no faster than it may cost, and it is not blamed', async () => {
    const node = await row.node('node', { mode: 'announce' })
    const { burst, perSecond } = ALLOWANCES.uselessTransactions
    const transactions = junk(burst + 1_024)
    const [peer, asked] = await holder(node, transactions)
    await tell(peer, node, transactions)
    expect(asked.length).toBeGreaterThanOrEqual(burst)
    expect(asked.length).toBeLessThanOrEqual(burst + 10 * perSecond + 128)
    expect(node.offences).toEqual([])
    await hub.time.pass(60_000)
    expect(asked.length).toBe(transactions.length)
  })

  it('are asked for twice at one head, and then more and more rarely', async () => {
    const node = await row.node('node', { mode: 'announce' })
    const [tx] = junk(1) as [Transaction]
    const [peer, asked] = await holder(node, [tx])
    const askedAt = async (): Promise<number> => {
      const before = asked.length
      for (let i = 0; i < 5; i++) await tell(peer, node, [tx])
      return asked.length - before
    }
    const counts = [await askedAt()]
    for (let block = 0; block < 8; block++) {
      await node.test.import(await source.mine([]))
      counts.push(await askedAt())
    }
    expect(counts).toEqual([2, 1, 0, 1, 0, 0, 0, 1, 0])
    expect(node.offences).toEqual([])
  })

  it('keep none waiting that is of use: what is admitted costs a peer nothing', async () => {
    const node = await row.node('node', { mode: 'announce' })
    const good = await row.pays(9)
    const [peer] = await holder(node, good)
    node.peers.budgetOf(peer.self)?.take('uselessTransactions', ALLOWANCES.uselessTransactions.burst)
    await tell(peer, node, good)
    expect(node.mempool.count).toBe(9)
  })
})
