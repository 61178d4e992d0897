import { beforeEach, describe, expect, it } from 'vitest'
import type { Block } from '../../../../../consensus/block/block.ts'
import { toHex } from '../../../../../consensus/primitives/bytes.ts'
import { decode, encode } from '../../../../../consensus/primitives/codec.ts'
import type { Transaction } from '../../../../../consensus/tx/transaction.ts'
import { ALLOWANCES } from '../../../../../src/p2p/peers/budget.ts'
import { makeCompactBlock } from '../../../../../src/p2p/relay/compact-block.ts'
import { COMPACT_BLOCK } from '../../../../../src/p2p/wire/messages.ts'
import { mineBranch } from '../../../../support/branches.ts'
import { TestChain, wallet, withHeader } from '../../../../support/chain.ts'
import { LINK_MS, MemoryNetwork } from '../../../../support/p2p/memory-network.ts'
import { RelayNode, strangerOn } from '../../../../support/p2p/relay-node.ts'
import { VirtualTime } from '../../../../support/sim/virtual-clock.ts'
import { units } from '../../../../support/unsigned.ts'

let source: TestChain
let hub: MemoryNetwork
const none = (): boolean => false
const mark = (byte: number): { extra: Uint8Array } => ({ extra: new Uint8Array(32).fill(byte) })

beforeEach(async () => {
  source = await TestChain.open()
  await source.mineTo(2)
  hub = new MemoryNetwork(new VirtualTime(source.nowMs))
})

const pays = (count: number): Promise<Transaction[]> =>
  Promise.all(
    Array.from({ length: count }, (_, i) =>
      source.tx(wallet(i + 1), 'transfer', { to: wallet(10).address, amount: units(5_000n), create: false }),
    ),
  )

const open = (name: string): Promise<RelayNode> => RelayNode.open(hub, name, { like: source })

/** Nodes in a row; each dials the next. */
async function line(count: number): Promise<RelayNode[]> {
  const nodes = await Promise.all(Array.from({ length: count }, (_, i) => open(`node ${i}`)))
  for (let i = 1; i < count; i++) hub.connect(nodes[i - 1]?.network as never, nodes[i]?.network as never)
  await hub.time.pass(100)
  return nodes
}

async function pair(): Promise<[RelayNode, RelayNode]> {
  const [one, other] = await line(2)
  return [one as RelayNode, other as RelayNode]
}

const heads = (nodes: readonly RelayNode[]): readonly string[] => nodes.map(({ test }) => test.chain.head.id)
const admitAll = async (node: RelayNode, transactions: readonly Transaction[]): Promise<void> => {
  for (const tx of transactions) expect((await node.mempool.submit(tx)).ok).toBe(true)
}
const verdictsOf = (node: RelayNode): readonly string[] => node.network.verdicts.map(({ verdict }) => verdict)

describe('a block of a peer that has passed on more than is looked at', () => {
  it('is left for others to bring, and no fault of the peer', async () => {
    const [one, other] = await pair()
    const block = await source.mine(await pays(9))
    one.network.send(
      other.id,
      'blocks',
      makeCompactBlock(block, 1n, () => true),
    )
    await hub.time.pass(LINK_MS - 1)
    expect(other.peers.budgetOf(one.id)?.take('bytesIn', ALLOWANCES.bytesIn.burst)).toBe(true)
    await hub.time.pass(1)
    expect([verdictsOf(other), other.offences]).toEqual([['unjudged'], []])
  })
})

describe('a block along a line of five nodes', () => {
  it('reaches all of them and asks for nothing where every peer has the transactions', async () => {
    const nodes = await line(5)
    const transactions = await pays(6)
    const block = await source.mine(transactions)
    for (const node of nodes) await admitAll(node, transactions)
    await hub.time.pass(50)
    await nodes[0]?.test.import(block)
    await hub.time.pass(50)
    expect(heads(nodes)).toEqual(Array(5).fill(block.id))
    expect(nodes.map(({ blocks }) => blocks.facts.announced)).toEqual([1, 0, 0, 0, 0])
    expect(nodes.slice(1).map(({ blocks }) => blocks.facts.fromPool)).toEqual([1, 1, 1, 1])
    expect(nodes.map(({ blocks }) => blocks.facts.missingTransactions)).toEqual([0, 0, 0, 0, 0])
    expect(nodes.map(({ hashes }) => hashes)).toEqual([0, 1, 1, 1, 1])
    expect(nodes.flatMap(({ network }) => network.requests.map(({ protocol }) => protocol))).not.toContain('bodies')
  })

  it('includes transactions that its miner never announced', async () => {
    const nodes = await line(5)
    const block = await source.mine(await pays(3))
    await nodes[0]?.test.import(block)
    await hub.time.pass(50)
    expect(heads(nodes)).toEqual(Array(5).fill(block.id))
    expect(nodes.slice(1).map(({ blocks }) => blocks.facts.fromPool)).toEqual([1, 1, 1, 1])
  })

  it('is completed by each from the one before, although none of them had it when it was asked', async () => {
    const nodes = await line(5)
    const transactions = await pays(6)
    const block = await source.mine(transactions)
    await admitAll(nodes[2] as RelayNode, transactions.slice(0, 2))
    await nodes[0]?.test.import(block)
    await hub.time.pass(50)
    hub.peer('node 0' as never).send('node 1' as never, 'blocks', makeCompactBlock(block, 1n, none))
    await hub.time.pass(50)
    expect(heads(nodes)).toEqual(Array(5).fill(block.id))
  })

  it('goes on while only the first node has its transactions', async () => {
    const nodes = await line(5)
    const [first] = nodes as [RelayNode]
    const block = await source.mine(await pays(6))
    // Published by hand without prefilled transactions, so that the next node must ask. It then prefills for others what it lacked.
    first.network.publish('blocks', makeCompactBlock(block, 1n, none))
    await first.test.import(block)
    await hub.time.pass(60)
    expect(heads(nodes)).toEqual(Array(5).fill(block.id))
    expect(nodes.map(({ blocks }) => blocks.facts.missingTransactions)).toEqual([0, 6, 0, 0, 0])
    expect(nodes.map(({ blocks }) => blocks.facts.announced)).toEqual([1, 1, 0, 0, 0])
    expect(nodes.map(({ blocks }) => blocks.facts.wholeBodies)).toEqual([0, 0, 0, 0, 0])
    expect(nodes.map(({ taken }) => taken.length)).toEqual([0, 1, 1, 1, 1])
  })
})

describe('a block is passed on', () => {
  it('only when its body is complete, and its children after it', async () => {
    const [one, other] = await pair()
    const liar = strangerOn(hub, 'withholder', one.test)
    liar.serve('blockTransactions', () => new Promise(() => {}))
    liar.serve('bodies', () => new Promise(() => {}))
    hub.connect(liar, one.network)
    await hub.time.pass(50)
    const parent = await source.mine(await pays(3))
    const child = await source.mine([])
    liar.send(one.id, 'blocks', makeCompactBlock(parent, 1n, none))
    await hub.time.pass(10)
    liar.send(one.id, 'blocks', makeCompactBlock(child, 1n, none))
    await hub.time.pass(10)
    expect(verdictsOf(one)).toEqual(['ignore', 'ignore'])
    expect(verdictsOf(other)).toEqual([])
    expect(one.taken).toEqual([])
    // When a peer with both blocks connects, both are imported and announced, the parent first.
    const honest = await open('honest')
    hub.connect(honest.network, one.network)
    await hub.time.pass(30_000)
    expect(heads([one, other])).toEqual([child.id, child.id])
    expect([one, other].map(({ taken }) => taken.map(({ id }) => id))).toEqual(Array(2).fill([parent.id, child.id]))
    expect(verdictsOf(other)).toEqual(['accept', 'accept'])
  })

  it('never when the node knows it, and costs one hash however often it comes', async () => {
    const [one, other] = await pair()
    const block = await source.mine([])
    for (let salt = 0n; salt < 100n; salt++) {
      one.network.send(other.id, 'blocks', makeCompactBlock(block, salt, none))
    }
    await hub.time.pass(50)
    expect(verdictsOf(other).filter((verdict) => verdict === 'accept')).toHaveLength(1)
    expect(verdictsOf(other)).toHaveLength(100)
    expect(other.hashes).toBe(1)
    expect(other.taken).toHaveLength(1)
    expect(other.offences).toEqual([])
  })

  it('not while its parent is missing, and then its sender is asked for headers', async () => {
    const [one, other] = await pair()
    await source.mine([])
    const orphan = await source.mine([])
    one.network.send(other.id, 'blocks', makeCompactBlock(orphan, 1n, none))
    await hub.time.pass(10)
    expect(verdictsOf(other)).toEqual(['ignore'])
    expect(other.wanted).toEqual([one.id])
    expect(other.hashes).toBe(0)
  })

  it('not when it lies far below the head', async () => {
    const [one, other] = await pair()
    const rival = await TestChain.open(source.ruleBook)
    await rival.mineTo(1)
    const blocks = await mineBranch(source, 150, 3)
    for (const block of blocks) await other.test.import(block)
    const [low] = await mineBranch(rival, 1, 9)
    one.network.send(other.id, 'blocks', makeCompactBlock(low as Block, 1n, none))
    await hub.time.pass(10)
    expect(verdictsOf(other)).toEqual(['ignore'])
    expect([other.hashes, other.blocks.facts.tooLight]).toEqual([0, 1])
  })

  it('when its time has come, if it came a little early; no peer is punished', async () => {
    const nodes = await line(3)
    const [one, other, third] = nodes as [RelayNode, RelayNode, RelayNode]
    const aheadMs = source.ruleBook.at(3).block.futureMsMax
    const block = await source.mine([], { afterMs: aheadMs + 20_000 })
    one.network.send(other.id, 'blocks', makeCompactBlock(block, 1n, none))
    await hub.time.passUntil(block.header.timeMs - aheadMs - 100)
    expect(verdictsOf(other)).toEqual(['ignore'])
    expect(other.taken).toEqual([])
    await hub.time.pass(200)
    expect(heads([other, third])).toEqual([block.id, block.id])
    expect(other.offences).toEqual([])
    expect(other.blocks.facts).toMatchObject({ early: 1, announced: 1, hashes: 1 })
  })

  it('never if it comes far too early, and then it is not even hashed', async () => {
    const [one, other] = await pair()
    const block = await source.mine([], { afterMs: 600_000 })
    one.network.send(other.id, 'blocks', makeCompactBlock(block, 1n, none))
    await hub.time.pass(10)
    expect([verdictsOf(other), other.hashes, other.offences]).toEqual([['ignore'], 0, []])
  })
})

describe('a peer without a handshake', () => {
  it('is ignored, and does not keep other peers from sending the same', async () => {
    const [one, other] = await pair()
    const stranger = hub.join('stranger')
    hub.connect(stranger, other.network)
    const message = makeCompactBlock(await source.mine(), 7n, none)
    stranger.send(other.id, 'blocks', message)
    await hub.time.pass(10)
    expect(verdictsOf(other)).toEqual(['unjudged'])
    one.network.send(other.id, 'blocks', message)
    await hub.time.pass(50)
    expect(verdictsOf(other)).toEqual(['unjudged', 'accept'])
    expect(other.test.chain.head.id).toBe(source.chain.head.id)
  })
})

describe('a liar', () => {
  it('with a false proof of work is banned, and the header costs one hash however many peers send it', async () => {
    const [one, other] = await pair()
    const third = await open('third')
    hub.connect(third.network, other.network)
    await hub.time.pass(50)
    const block = withHeader(await source.build([]), mark(0x66))
    other.falseWork.add(toHex(block.bytes))
    for (let salt = 0n; salt < 100n; salt++) one.network.send(other.id, 'blocks', makeCompactBlock(block, salt, none))
    third.network.send(other.id, 'blocks', makeCompactBlock(block, 200n, none))
    await hub.time.pass(50)
    expect(new Set(verdictsOf(other))).toEqual(new Set(['reject']))
    expect(other.hashes).toBe(1)
    expect(other.network.ended).toContainEqual({ peer: one.id, reason: 'bad-work', banned: true })
    expect(other.network.ended).toContainEqual({ peer: third.id, reason: 'bad-work', banned: true })
  })

  it('with a header that contradicts its parent is banned before anything is hashed', async () => {
    const [one, other] = await pair()
    const block = await source.build([])
    const wrong = withHeader(block, { baseFee: block.header.baseFee + 1n })
    one.network.send(other.id, 'blocks', makeCompactBlock(wrong, 1n, none))
    await hub.time.pass(10)
    expect([verdictsOf(other), other.hashes]).toEqual([['reject'], 0])
    expect(other.network.ended).toEqual([{ peer: one.id, reason: 'bad-header', banned: true }])
  })

  it.each([
    ['garbage', (_: Uint8Array) => new Uint8Array(100).fill(0xa5)],
    ['a message cut short', (message: Uint8Array) => message.subarray(0, -1)],
    ['nothing', () => new Uint8Array(0)],
  ])('with %s is banned before anything is hashed', async (_, change) => {
    const [one, other] = await pair()
    const message = makeCompactBlock(await source.mine(await pays(2)), 1n, none)
    one.network.send(other.id, 'blocks', change(message))
    await hub.time.pass(10)
    expect([verdictsOf(other), other.hashes, other.taken]).toEqual([['reject'], 0, []])
    expect(other.network.ended).toEqual([{ peer: one.id, reason: 'malformed', banned: true }])
  })

  it('with short ids that match no transactions delays nothing: another message of the same header is tried', async () => {
    const [one, other] = await pair()
    const third = await open('third')
    hub.connect(third.network, other.network)
    await hub.time.pass(50)
    const transactions = await pays(4)
    await admitAll(other, transactions)
    await hub.time.pass(100)
    const block = await source.mine(transactions)
    const message = decode(COMPACT_BLOCK, makeCompactBlock(block, 1n, none))
    if (!message.ok) throw new Error('a message of our own')
    const lie = encode(COMPACT_BLOCK, { ...message.value, shortIds: new Uint8Array(message.value.shortIds.length) })
    one.network.send(other.id, 'blocks', lie)
    await hub.time.pass(5)
    expect(other.taken).toEqual([])
    third.network.send(other.id, 'blocks', makeCompactBlock(block, 2n, none))
    await hub.time.pass(5)
    expect(heads([other])).toEqual([block.id])
    expect(other.hashes).toBe(1)
  })

  it('that gives other transactions than asked for is found out by the whole body, and only a false body is a fault', async () => {
    const [one, other] = await pair()
    const transactions = await pays(4)
    const block = await source.mine(transactions.slice(0, 2))
    one.behind = true
    // The block is right, but the message claims three transactions.
    const padded = decode(COMPACT_BLOCK, makeCompactBlock(block, 1n, none))
    if (!padded.ok) throw new Error('a message of our own')
    const shortIds = Uint8Array.of(...padded.value.shortIds, 1, 2, 3, 4, 5, 6)
    one.network.send(other.id, 'blocks', encode(COMPACT_BLOCK, { ...padded.value, shortIds }))
    await one.test.import(block)
    await hub.time.pass(5_000)
    expect(heads([other])).toEqual([block.id])
    expect(other.blocks.facts.wholeBodies).toBe(1)
    expect(other.offencesOf(one.id)).toEqual([])
  })
})

describe('a block whose header is good', () => {
  it('and whose body the chain refuses is executed once, and no peer that passed it on is blamed', async () => {
    const nodes = await line(3)
    const [one] = nodes as [RelayNode]
    const bad = withHeader(await source.build([]), { stateRoot: 'ab'.repeat(32) as never })
    for (let salt = 0n; salt < 20n; salt++) {
      one.network.send('node 1' as never, 'blocks', makeCompactBlock(bad, salt, none))
      await hub.time.pass(10)
    }
    expect(nodes.map(({ taken }) => taken.length)).toEqual([0, 1, 1])
    expect(nodes.flatMap(({ offences }) => offences)).toEqual([])
    expect(nodes.map(({ blocks }) => blocks.facts.lost)).toEqual([0, 1, 1])
  })

  it('and whose body no peer gives is dropped, and sought again once it is announced again', async () => {
    const [one, other] = await pair()
    const block = await source.mine(await pays(2))
    one.network.send(other.id, 'blocks', makeCompactBlock(block, 1n, none))
    await hub.time.pass(60_000)
    expect([other.taken, other.wanted]).toEqual([[], [one.id]])
    expect(other.offences).toEqual([])
    one.behind = true
    await one.test.import(block)
    one.network.send(other.id, 'blocks', makeCompactBlock(block, 2n, none))
    await hub.time.pass(10)
    expect(heads([other])).toEqual([block.id])
    expect([other.hashes, verdictsOf(other)]).toEqual([1, ['ignore', 'ignore']])
  })

  it('and whose transactions were mined by a rival a moment ago is put together without asking', async () => {
    const [one, other] = await pair()
    const transactions = await pays(5)
    await admitAll(other, transactions)
    await hub.time.pass(100)
    const rival = await source.build(transactions)
    const block = await source.mine(transactions)
    for (const message of [block, rival]) {
      one.network.send(other.id, 'blocks', makeCompactBlock(message, 1n, none))
      await hub.time.pass(20)
    }
    expect(other.taken.map(({ id }) => id)).toEqual([block.id, rival.id])
    expect(other.mempool.count).toBe(0)
    expect(other.blocks.facts).toMatchObject({ fromPool: 2, missingTransactions: 0, completed: 0 })
  })
})

describe('a node that catches up', () => {
  it('announces nothing, and a new head afterwards once', async () => {
    const [one, other] = await pair()
    one.behind = true
    const missed = await mineBranch(source, 5, 1)
    for (const block of missed) await one.test.import(block)
    await hub.time.pass(10)
    expect(other.blocks.facts.heard).toBe(0)
    one.behind = false
    const block = await source.mine([])
    await one.test.import(block)
    one.blocks.announce(block)
    await hub.time.pass(10)
    expect([one.blocks.facts.announced, other.blocks.facts.heard]).toEqual([1, 1])
    expect(other.wanted).toEqual([one.id])
  })

  it('does nothing more once it is stopped', async () => {
    const [one, other] = await pair()
    await other.stop()
    const block = await source.mine([])
    await one.test.import(block)
    await hub.time.pass(50)
    expect([verdictsOf(other), other.taken]).toEqual([['ignore'], []])
  })
})

describe('many blocks at once', () => {
  it('of one peer are put together within bounds, and none is lost to others', async () => {
    const [one, other] = await pair()
    const third = await open('third')
    hub.connect(third.network, other.network)
    await hub.time.pass(50)
    const transactions = await pays(1)
    const rival = await source.build(transactions)
    const different = Array.from({ length: 12 }, (_, i) => withHeader(rival, mark(i + 1)))
    for (const block of different) one.network.send(other.id, 'blocks', makeCompactBlock(block, 1n, none))
    await hub.time.pass(10)
    expect(verdictsOf(other)).toEqual(Array(12).fill('ignore'))
    const asked = one.network.requests.filter(({ protocol }) => protocol === 'blockTransactions')
    expect([asked.length, other.wanted.length]).toEqual([4, 8])
    const good = await source.mine([])
    third.network.send(other.id, 'blocks', makeCompactBlock(good, 1n, none))
    await hub.time.pass(10)
    expect(heads([other])).toEqual([good.id])
  })
})
