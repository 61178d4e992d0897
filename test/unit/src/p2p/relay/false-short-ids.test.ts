import { beforeEach, describe, expect, it } from 'vitest'
import type { Block } from '../../../../../consensus/block/block.ts'
import { decode, encode } from '../../../../../consensus/primitives/codec.ts'
import { encodeTransaction, type Transaction } from '../../../../../consensus/tx/transaction.ts'
import type { PeerId } from '../../../../../src/p2p/network.ts'
import { makeCompactBlock } from '../../../../../src/p2p/relay/compact-block.ts'
import { COMPACT_BLOCK, replyCodec } from '../../../../../src/p2p/wire/messages.ts'
import type { MemoryPeer } from '../../../../support/p2p/memory-network.ts'
import { type RelayNode, strangerOn } from '../../../../support/p2p/relay-node.ts'
import { RelayRow } from '../../../../support/p2p/relay-row.ts'

const REFUSAL = Uint8Array.of(1, ...Buffer.from('not-held'))
const none = (): boolean => false

let row: RelayRow

beforeEach(async () => {
  row = await RelayRow.open()
})

/** A block's header with made-up short ids. */
function junkOf(block: Block, salt = 666n): Uint8Array {
  const message = decode(COMPACT_BLOCK, makeCompactBlock(block, salt, none))
  if (!message.ok) throw new Error('a message of our own')
  return encode(COMPACT_BLOCK, { ...message.value, salt, shortIds: new Uint8Array(6 * 200).fill(0x5a), prefilled: [] })
}

/** A peer that dialled the node and announces blocks. It refuses each request for them after a while. */
async function refuserOf(node: RelayNode, name = 'refuser'): Promise<MemoryPeer> {
  const liar = strangerOn(row.hub, name, node.test)
  for (const [protocol, ms] of [
    ['blockTransactions', 1_900],
    ['bodies', 3_900],
  ] as const)
    liar.serve(protocol, () => new Promise((resolve) => row.hub.time.after(ms, () => resolve(REFUSAL))))
  row.hub.connect(liar, node.network)
  await row.hub.time.pass(20)
  return liar
}

async function admit(nodes: readonly RelayNode[], transactions: readonly Transaction[]): Promise<void> {
  for (const node of nodes) for (const tx of transactions) expect((await node.mempool.submit(tx)).ok).toBe(true)
  await row.hub.time.pass(100)
}

const verdictsOn = ({ network }: RelayNode, from: PeerId): readonly string[] =>
  network.verdicts.filter((one) => one.from === from && one.topic === 'blocks').map(({ verdict }) => verdict)

describe('junk short ids beside a true header', () => {
  it('do not displace the true message, which is passed on, and earn their sender nothing', async () => {
    const [one, other, third] = (await row.line('gossip', 'gossip', 'gossip')) as [RelayNode, RelayNode, RelayNode]
    const useful: PeerId[] = []
    other.peers.onPeer({ useful: (id, what) => void (what === 'block' && useful.push(id)) })
    const liar = await refuserOf(other)
    const transactions = await row.pays(4)
    await admit([one, other, third], transactions)
    const block = await row.source.mine(transactions)
    for (let salt = 0n; salt < 4n; salt++) liar.send(other.id, 'blocks', junkOf(block, salt))
    await row.hub.time.pass(10)
    expect(third.blocks.facts.heard).toBe(0)
    await one.test.import(block)
    await row.hub.time.pass(10)
    expect([other, third].map(({ test }) => test.chain.head.id)).toEqual([block.id, block.id])
    expect(verdictsOn(other, liar.self)).toEqual(['ignore', 'ignore', 'ignore', 'ignore'])
    expect([verdictsOn(other, one.id), verdictsOn(third, other.id)]).toEqual([['accept'], ['accept']])
    expect(useful).toEqual([one.id])
  })

  it('do not keep a node from telling of a block that came to it otherwise', async () => {
    const [one, other] = await row.pair()
    const liar = await refuserOf(one)
    const block = await row.source.mine([])
    liar.send(one.id, 'blocks', junkOf(block))
    await row.hub.time.pass(10)
    await one.test.import(block)
    await row.hub.time.pass(10)
    expect([one.blocks.facts.announced, other.test.chain.head.id]).toEqual([1, block.id])
  })

  it('of a crowd that dialled a node take no place of a peer that the node chose', async () => {
    const [one, other] = (await row.line('gossip', 'gossip')) as [RelayNode, RelayNode]
    const transactions = await row.pays(3)
    await admit([one, other], transactions)
    const block = await row.source.mine(transactions)
    for (let i = 0; i < 50; i++) (await refuserOf(one, `refuser ${i}`)).send(one.id, 'blocks', junkOf(block, BigInt(i)))
    await row.hub.time.pass(10)
    other.network.send(one.id, 'blocks', makeCompactBlock(block, 1n, none))
    await row.hub.time.pass(10)
    expect([one.test.chain.head.id, verdictsOn(one, other.id)]).toEqual([block.id, ['accept']])
  })

  it('before the time of the block displace nothing either', async () => {
    const [one, other, third] = (await row.line('gossip', 'gossip', 'gossip')) as [RelayNode, RelayNode, RelayNode]
    const liar = await refuserOf(other)
    const transactions = await row.pays(3)
    await admit([one, other, third], transactions)
    const aheadMs = row.source.ruleBook.at(2).block.futureMsMax
    const block = await row.source.mine(transactions, { afterMs: aheadMs + 20_000 })
    liar.send(other.id, 'blocks', junkOf(block))
    await row.hub.time.pass(10)
    one.network.send(other.id, 'blocks', makeCompactBlock(block, 1n, none))
    await row.hub.time.passUntil(block.header.timeMs - aheadMs - 1)
    expect([other.taken, third.blocks.facts.heard]).toEqual([[], 0])
    await row.hub.time.pass(10)
    expect([other, third].map(({ test }) => test.chain.head.id)).toEqual([block.id, block.id])
  })
})

describe('a peer that tells of blocks and refuses them', () => {
  it('delays a block that has to be asked for by the patience for one peer, and the next block by nothing', async () => {
    const [one, other] = await row.pair()
    const liar = await refuserOf(other)
    for (const waitMs of [210, 10]) {
      const block = await row.source.mine(await row.pays(3))
      one.behind = true
      await one.test.import(block)
      liar.send(other.id, 'blocks', junkOf(block))
      await row.hub.time.pass(2)
      one.network.send(other.id, 'blocks', makeCompactBlock(block, 1n, none))
      await row.hub.time.pass(waitMs)
      expect(other.test.chain.head.id).toBe(block.id)
      await row.hub.time.pass(10_000)
    }
  })

  it('keeps no block away that it told of in the words of another: those that the node chose are asked, too', async () => {
    const [one, other] = await row.pair()
    const liar = await refuserOf(one)
    const block = await row.source.mine(await row.pays(3))
    other.behind = true
    await other.test.import(block)
    liar.send(one.id, 'blocks', makeCompactBlock(block, 1n, none))
    await row.hub.time.pass(5_000)
    expect(one.test.chain.head.id).toBe(block.id)
  })

  it('goes behind one that the node chose, under whatever fresh name and although that one could not give the block before', async () => {
    const [one, other] = await row.pair()
    other.behind = true
    const lost = await row.source.mine(await row.pays(3))
    other.network.send(one.id, 'blocks', makeCompactBlock(lost, 1n, none))
    await row.hub.time.pass(10_000)
    for (const node of [one, other]) await node.test.import(lost)
    const block = await row.source.mine(await row.pays(3))
    await other.test.import(block)
    for (let i = 0; i < 8; i++) (await refuserOf(one, `refuser ${i}`)).send(one.id, 'blocks', junkOf(block, BigInt(i)))
    other.network.send(one.id, 'blocks', makeCompactBlock(block, 1n, none))
    await row.hub.time.pass(20)
    expect(one.test.chain.head.id).toBe(block.id)
  })

  it('holds up no block of one that the node chose, in whatever number, and although one of them passed on the true message', async () => {
    const [one, other] = await row.pair()
    const liars: MemoryPeer[] = []
    for (let i = 0; i < 16; i++) liars.push(await refuserOf(one, `refuser ${i}`))
    other.behind = true
    for (let round = 0; round < 3; round++) {
      const block = await row.source.mine(await row.pays(3))
      await other.test.import(block)
      for (const [i, liar] of liars.entries()) liar.send(one.id, 'blocks', junkOf(block, BigInt(i + 16 * round)))
      await row.hub.time.pass(10)
      liars[0]?.send(one.id, 'blocks', makeCompactBlock(block, 1n, none))
      await row.hub.time.pass(1_000)
      expect(one.test.chain.head.id).toBe(block.id)
    }
    expect(one.offencesOf(other.id)).toEqual([])
  })

  it('is blamed if it has not got them a minute later, and one that has them by then is not', async () => {
    const [one, other] = await row.pair()
    const liar = await refuserOf(other)
    const deceived = await refuserOf(other, 'deceived')
    const block = await row.source.mine(await row.pays(3))
    one.behind = true
    await one.test.import(block)
    for (const peer of [liar, deceived]) peer.send(other.id, 'blocks', junkOf(block))
    await row.hub.time.pass(500)
    one.network.send(other.id, 'blocks', makeCompactBlock(block, 1n, none))
    await row.hub.time.pass(10_000)
    expect([other.test.chain.head.id, other.offences]).toEqual([block.id, []])
    const reply = encode(replyCodec('bodies'), [block.transactions.map(encodeTransaction)])
    deceived.serve('bodies', async () => Uint8Array.of(0, ...reply))
    await row.hub.time.pass(70_000)
    const blamed = other.offences.filter(({ offence }) => offence === 'useless')
    expect(blamed).toEqual([{ peer: liar.self, offence: 'useless' }])
  })

  it('is asked no more where it was only slow: the line may be ours', async () => {
    const [one, other] = await row.pair()
    const slow = await refuserOf(other)
    const { time } = row.hub
    let asked = 0
    const late = () =>
      new Promise<Uint8Array>((resolve) => {
        asked += 1
        time.after(5_000, () => resolve(REFUSAL))
      })
    for (const protocol of ['blockTransactions', 'bodies'] as const) slow.serve(protocol, late)
    const block = await row.source.mine(await row.pays(3))
    one.behind = true
    await one.test.import(block)
    slow.send(other.id, 'blocks', junkOf(block))
    await time.pass(500)
    one.network.send(other.id, 'blocks', makeCompactBlock(block, 1n, none))
    await time.pass(10_000)
    expect(other.test.chain.head.id).toBe(block.id)
    const before = asked
    await time.pass(70_000)
    expect([before, asked]).toEqual([1, 1])
  })

  it('gives the body all the same where it was only slow, and is not asked for it twice at once', async () => {
    const [one, other] = await row.pair()
    const slow = await refuserOf(other)
    one.behind = true
    const block = await row.source.mine(await row.pays(3))
    const reply = Uint8Array.of(0, ...encode(replyCodec('bodies'), [block.transactions.map(encodeTransaction)]))
    let asked = 0
    slow.serve('bodies', () => {
      asked += 1
      return new Promise((resolve) => row.hub.time.after(15_000, () => resolve(reply)))
    })
    slow.send(other.id, 'blocks', junkOf(block))
    await row.hub.time.pass(18_000)
    expect([other.test.chain.head.id, asked]).toEqual([block.id, 1])
    expect(other.offences).not.toContainEqual({ peer: slow.self, offence: 'useless' })
  })
})
