import { hash } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { encode } from '../../../../../consensus/primitives/codec.ts'
import { assembleTransaction, encodeTransaction, type Transaction } from '../../../../../consensus/tx/transaction.ts'
import { MESSAGES } from '../../../../../src/p2p/wire/messages.ts'
import { type TestChain, wallet } from '../../../../support/chain.ts'
import { overtake } from '../../../../support/mempool.ts'
import type { MemoryNetwork } from '../../../../support/p2p/memory-network.ts'
import { RelayNode, strangerOn } from '../../../../support/p2p/relay-node.ts'
import { RelayRow } from '../../../../support/p2p/relay-row.ts'
import { units } from '../../../../support/unsigned.ts'

let row: RelayRow
let source: TestChain
let hub: MemoryNetwork

beforeEach(async () => {
  row = await RelayRow.open()
  ;({ source, hub } = row)
})

/** The same payment with a false signature. */
function forged(tx: Transaction): Transaction {
  const witness = Uint8Array.from(tx.witnessBytes)
  witness[witness.length - 1] = (witness[witness.length - 1] as number) ^ 1
  const made = assembleTransaction(tx.bodyBytes, witness)
  if (!made.ok) throw new Error(made.fault.code)
  return made.value
}

const send = (from: RelayNode, to: RelayNode, tx: Transaction): void =>
  from.network.send(to.id, 'transactions', encodeTransaction(tx))
const verdictsOf = (node: RelayNode): readonly string[] => node.network.verdicts.map(({ verdict }) => verdict)
const holds = (nodes: readonly RelayNode[], tx: Transaction): readonly boolean[] =>
  nodes.map(({ mempool }) => mempool.byWitness(tx.wtxId) !== undefined)

describe.each([
  ['gossip', ['gossip', 'gossip', 'gossip', 'gossip', 'gossip']],
  ['ids', ['announce', 'announce', 'announce', 'announce', 'announce']],
  ['both ways mixed', ['gossip', 'announce', 'announce', 'gossip', 'announce']],
] as const)('transactions along a line of five nodes, by %s', (_, modes) => {
  it('reach all of them, each with its signature checked once at every node', async () => {
    const nodes = await row.line(...modes)
    const transactions = await row.pays(5)
    for (const tx of transactions) expect((await nodes[0]?.mempool.submit(tx))?.ok).toBe(true)
    await hub.time.pass(500)
    for (const tx of transactions) expect(holds(nodes, tx)).toEqual(Array(5).fill(true))
    expect(nodes.map(({ verifier }) => verifier.checked)).toEqual([5, 5, 5, 5, 5])
    expect(nodes.flatMap(({ offences }) => offences)).toEqual([])
  })

  it('are told of once, however often they are submitted', async () => {
    const nodes = await row.line(...modes)
    const tx = await row.pay(1)
    for (let i = 0; i < 10; i++) await nodes[0]?.mempool.submit(tx)
    await hub.time.pass(500)
    const { published, idsSent } = (nodes[0] as RelayNode).transactions.facts
    expect(published + idsSent).toBe(1)
    expect((nodes[1] as RelayNode).transactions.facts).toMatchObject({ accepted: 1, rejected: 0 })
  })
})

describe('a transaction of a peer', () => {
  it('with a false signature costs one check however often it comes, and each time its sender points', async () => {
    const [one, other] = await row.pair()
    const bad = forged(await row.pay(1))
    for (let i = 0; i < 100; i++) send(one, other, bad)
    await hub.time.pass(100)
    expect(other.verifier.checked).toBe(1)
    expect(new Set(verdictsOf(other))).toEqual(new Set(['reject']))
    expect(new Set(other.offencesOf(one.id))).toEqual(new Set(['bad-transaction']))
    expect(other.network.ended[0]).toMatchObject({ peer: one.id, reason: 'bad-transaction' })
    expect(other.mempool.count).toBe(0)
  })

  it('that does not decode counts against its sender and costs no check', async () => {
    const [one, other] = await row.pair()
    one.network.send(other.id, 'transactions', new Uint8Array(300).fill(7))
    await hub.time.pass(10)
    expect([verdictsOf(other), other.verifier.checked]).toEqual([['reject'], 0])
    expect(other.offencesOf(one.id)).toEqual(['bad-transaction'])
  })

  it('that another state would take is not passed on, and no peer is blamed', async () => {
    const [one, other] = await row.pair()
    const far = await row.pay(1, { nonce: 500n, maxFeeRate: 10_000n })
    const cheap = await row.pay(2, { maxFeeRate: 1n, tip: 0n })
    const used = await row.pay(3)
    await other.test.import(await source.mine([used]))
    const replay = await source.tx(
      wallet(3),
      'transfer',
      { to: wallet(4).address, amount: units(1n), create: false },
      { nonce: 0n },
    )
    const expired = await row.pay(4, { validUntil: 1 })
    for (const tx of [far, cheap, replay, used, expired]) send(one, other, tx)
    await hub.time.pass(50)
    expect(verdictsOf(other)).toEqual(Array(5).fill('ignore'))
    expect([other.offences, other.verifier.checked]).toEqual([[], 1])
  })

  it('that is in the pool already is ignored and costs nothing', async () => {
    const [one, other] = await row.pair()
    const tx = await row.pay(1)
    for (let i = 0; i < 100; i++) send(one, other, tx)
    await hub.time.pass(100)
    expect([holds([other], tx), other.verifier.checked, other.offences]).toEqual([[true], 1, []])
    expect(other.peers.budgetOf(one.id)?.take('verificationMs', 4_000)).toBe(true)
  })

  it('is not looked at beyond the time of a core that its sender may cost', async () => {
    const [one, other] = await row.pair()
    const good = await row.pay(1)
    other.peers.budgetOf(one.id)?.take('verificationMs', 4_000)
    send(one, other, good)
    await hub.time.pass(1)
    expect([verdictsOf(other), other.verifier.checked, other.offencesOf(one.id)]).toEqual([['ignore'], 0, ['flood']])
  })
})

describe('transactions of one account in one burst', () => {
  it('are admitted in order, though each is refused as long as the one before is being checked', async () => {
    const one = await row.node('one')
    const other = await row.node('other', { verifyMs: 5 })
    hub.connect(one.network, other.network)
    await hub.time.pass(100)
    const run: Transaction[] = []
    for (let nonce = 0; nonce < 40; nonce++) run.push(await row.pay(1, { nonce: BigInt(nonce) }))
    for (const tx of run) await one.mempool.submit(tx)
    await hub.time.pass(600)
    expect(other.mempool.count).toBe(40)
    expect(other.transactions.facts).toMatchObject({ accepted: 40, ignored: 0, postponed: 0, pulled: 0 })
  })
})

describe('a busy node', () => {
  it('puts off what it cannot check now and finds it in the pool of its sender', async () => {
    const one = await row.node('one')
    const other = await row.node('other', { verifyingMax: 2, verifyMs: 50 })
    hub.connect(one.network, other.network)
    await hub.time.pass(100)
    const transactions = await row.pays(8)
    for (const tx of transactions) await one.mempool.submit(tx)
    await hub.time.pass(30)
    expect(other.transactions.facts.postponed).toBe(6)
    await hub.time.pass(60_000)
    for (const tx of transactions) expect(holds([other], tx)).toEqual([true])
    expect(other.offences).toEqual([])
  })
})

describe('pools are looked through', () => {
  it('after the handshake, by both sides', async () => {
    const one = await row.node('one')
    const other = await row.node('other')
    const transactions = await row.pays(6)
    for (const tx of transactions.slice(0, 4)) await other.mempool.submit(tx)
    for (const tx of transactions.slice(4)) await one.mempool.submit(tx)
    await hub.time.pass(100)
    hub.connect(one.network, other.network)
    await hub.time.pass(500)
    expect([one.mempool.count, other.mempool.count]).toEqual([2, 4])
    await hub.time.pass(5_000)
    for (const tx of transactions) expect(holds([one, other], tx)).toEqual([true, true])
    expect(one.transactions.facts).toMatchObject({ pulled: 4, accepted: 4 })
    expect(other.transactions.facts).toMatchObject({ pulled: 2, accepted: 2 })
    const looks = (node: RelayNode): number =>
      node.network.requests.filter(({ protocol }) => protocol === 'poolIds').length
    await hub.time.pass(300_000)
    expect([looks(one), looks(other)]).toEqual([1, 1])
    await hub.time.pass(600_000)
    expect([looks(one), looks(other)]).toEqual([1, 2])
  })

  it('not before the node has caught up', async () => {
    const one = await row.node('one')
    const other = await row.node('other')
    const tx = await row.pay(1)
    await other.mempool.submit(tx)
    one.behind = true
    hub.connect(one.network, other.network)
    await hub.time.pass(10_000)
    expect(holds([one], tx)).toEqual([false])
    one.behind = false
    await hub.time.pass(10_000)
    expect(holds([one], tx)).toEqual([true])
  })
})

describe('a peer that tells of transactions and does not give them', () => {
  it('delays nothing: the next peer that announced them is asked', async () => {
    const one = await row.node('one', { mode: 'announce' })
    const other = await row.node('other', { mode: 'announce' })
    const transactions = await row.pays(4)
    const liar = strangerOn(hub, 'liar', one.test)
    liar.serve('transactions', () => new Promise(() => {}))
    hub.connect(liar, other.network)
    hub.connect(one.network, other.network)
    await hub.time.pass(100)
    const ids = transactions.map(({ wtxId }) => wtxId)
    void liar.request(other.id, 'announce', encode(MESSAGES.announce.request, ids))
    await hub.time.pass(100)
    for (const tx of transactions) await one.mempool.submit(tx)
    await hub.time.pass(500)
    expect(holds([other], transactions[0] as Transaction)).toEqual([false])
    await hub.time.pass(2_500)
    for (const tx of transactions) expect(holds([other], tx)).toEqual([true])
    expect(one.network.requests.filter(({ protocol }) => protocol === 'transactions')).toHaveLength(1)
  })

  it('and of very many, does not stand in the way of others', async () => {
    const one = await row.node('one', { mode: 'announce' })
    const other = await row.node('other', { mode: 'announce' })
    const liar = strangerOn(hub, 'liar', one.test)
    const asked: number[] = []
    liar.serve('transactions', (_, body) => {
      asked.push(body.length / 32)
      return new Promise(() => {})
    })
    hub.connect(liar, other.network)
    hub.connect(one.network, other.network)
    await hub.time.pass(100)
    for (let message = 0; message < 10; message++) {
      const ids = Array.from({ length: 1_024 }, (_, i) => hash('sha256', `${message} ${i}`) as Transaction['wtxId'])
      void liar.request(other.id, 'announce', encode(MESSAGES.announce.request, ids))
      await hub.time.pass(10)
    }
    const tx = await row.pay(1)
    await one.mempool.submit(tx)
    await hub.time.pass(100)
    expect(holds([other], tx)).toEqual([true])
    await hub.time.pass(30_000)
    expect(asked[0]).toBe(128)
    // No other peer has them, so after the first failed request the node stops asking.
    expect(asked.length).toBeLessThanOrEqual(2)
    expect(other.offencesOf(one.id)).toEqual([])
    expect(other.offencesOf(liar.self)).toContain('timeout')
  })

  it('or gives others, gets points', async () => {
    const other = await row.node('other', { mode: 'announce' })
    const [asked, unasked] = (await row.pays(2)) as [Transaction, Transaction]
    const liar = strangerOn(hub, 'liar', other.test)
    const reply = encode(MESSAGES.transactions.reply, [encodeTransaction(unasked)])
    liar.serve('transactions', () => Promise.resolve(Uint8Array.of(0, ...reply)))
    hub.connect(liar, other.network)
    await hub.time.pass(100)
    void liar.request(other.id, 'announce', encode(MESSAGES.announce.request, [asked.wtxId]))
    await hub.time.pass(100)
    expect(other.offencesOf(liar.self)).toEqual(['unasked', 'useless'])
    expect([other.mempool.count, other.verifier.checked]).toEqual([0, 0])
  })
})

describe('a peer that told of transactions', () => {
  it('is not blamed where a block brings them before its answer', async () => {
    const other = await row.node('other', { mode: 'announce' })
    const transactions = await row.pays(3)
    const peer = strangerOn(hub, 'peer', other.test)
    const mined = await source.mine(transactions)
    peer.serve('transactions', async () => {
      await other.test.import(mined)
      return Uint8Array.of(0, ...encode(MESSAGES.transactions.reply, []))
    })
    hub.connect(peer, other.network)
    await hub.time.pass(100)
    const ids = transactions.map(({ wtxId }) => wtxId)
    void peer.request(other.id, 'announce', encode(MESSAGES.announce.request, ids))
    await hub.time.pass(500)
    expect([other.test.height, other.offencesOf(peer.self)]).toEqual([source.height, []])
  })
})

describe('a reorganisation', () => {
  it.each(['gossip', 'announce'] as const)('gives transactions back to peers as well, by %s', async (mode) => {
    const node = await row.node('node', { mode })
    const transactions = await row.pays(3)
    for (const tx of transactions) await node.test.import(await source.mine([tx]))
    // This node never saw the branch that had them.
    const fresh = await RelayNode.open(hub, 'fresh', { mode })
    await fresh.test.import(source.chain.database.block(source.chain.database.idAt(1) as never) as never)
    hub.connect(fresh.network, node.network)
    await hub.time.pass(5_000)
    expect(fresh.mempool.count).toBe(0)
    await overtake(node.test, 3, [[], [], [], []])
    await hub.time.pass(500)
    for (const tx of transactions) expect(holds([node, fresh], tx)).toEqual([true, true])
    const { published, idsSent } = node.transactions.facts
    expect(published + idsSent).toBe(3)
  })

  it.each(['gossip', 'announce'] as const)(
    'gives back also what was told of before it was mined, by %s',
    async (mode) => {
      const [node, near] = [await row.node('node', { mode }), await row.node('near', { mode })]
      const apart = await row.node('apart', { mode })
      hub.connect(node.network, near.network)
      await hub.time.pass(100)
      const [tx] = (await row.pays(1)) as [Transaction]
      expect(await node.mempool.submit(tx)).toMatchObject({ ok: true })
      await hub.time.pass(500)
      expect(holds([near], tx)).toEqual([true])
      const mined = await source.mine([tx])
      for (const half of [node, near]) await half.test.import(mined)
      hub.connect(near.network, apart.network)
      await hub.time.pass(5_000)
      expect(holds([node, near, apart], tx)).toEqual([false, false, false])
      for (const half of [node, near]) await overtake(half.test, 1, [[], []])
      await hub.time.pass(500)
      expect(holds([node, near, apart], tx)).toEqual([true, true, true])
    },
  )
})
