import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import type { WtxId } from '../../../consensus/primitives/ids.ts'
import { encodeTransaction, type Transaction } from '../../../consensus/tx/transaction.ts'
import type { ReplyOf, RequestOf } from '../../../src/p2p/wire/messages.ts'
import { TRANSACTION_IDS_MAX } from '../../../src/p2p/wire/messages.ts'
import { wallet } from '../../support/chain.ts'
import { until } from '../../support/processes.ts'
import {
  type Asker,
  askerOf,
  type ServedNode,
  type StoredChain,
  startServed,
  storedChain,
} from '../../support/served-node.ts'

/** Four full announcements: the most ids that one peer may have waiting. */
const MESSAGES_EACH = 4
/** More peers than the quota that all peers share (`WANTED.ofAll`) has room for. */
const CROWD = 5

let stored: StoredChain
let served: ServedNode
let askers: Asker[]

beforeEach(async () => {
  stored = await storedChain()
  served = await startServed(stored)
  await stored.test.mine()
  askers = []
})

afterEach(async () => {
  for (const asker of askers) await asker.stop()
  await served.stop()
  await stored.close()
})

type Give = (ids: RequestOf<'transactions'>) => ReplyOf<'transactions'> | Promise<ReplyOf<'transactions'>>

/** A peer whose pool shows nothing. Its transactions are known only by its announcements. */
async function peerThatGives(give: Give): Promise<Asker> {
  const asker = await askerOf(served, stored.test)
  asker.peers.exchange.answer('poolIds', () => ({ reply: { ids: [], next: 0 } }))
  asker.peers.exchange.answer('transactions', async (_, ids) => ({ reply: await give(ids) }))
  askers.push(asker)
  return asker
}

const never: Give = () => new Promise(() => {})
const holding =
  (transactions: readonly Transaction[]): Give =>
  (ids) =>
    transactions.filter(({ wtxId }) => ids.includes(wtxId)).map(encodeTransaction)

const madeUp = (count: number): readonly WtxId[] => Array.from({ length: count }, () => toHex(randomBytes(32)) as WtxId)

async function announce({ peers, server }: Asker, ids: readonly WtxId[]): Promise<void> {
  for (;;) {
    const told = await peers.exchange.ask(server, 'announce', ids)
    if (told.ok) return
    expect(told.fault).toMatchObject({ detail: { reason: 'busy' } })
  }
}

function pay(nonce = 0n): Promise<Transaction> {
  const payload = { to: wallet(9).address, amount: 1n as never, create: false }
  return stored.test.tx(wallet(1), 'transfer', payload, { nonce })
}

const arrived = ({ wtxId }: Transaction): Promise<unknown> =>
  until('the transaction is here', () => served.mempool.byWitness(wtxId) !== undefined)

describe('an honest announcement', () => {
  it('is followed, however many ids others made up', async () => {
    const tx = await pay()
    const crowd = await Promise.all(Array.from({ length: CROWD }, () => peerThatGives(never)))
    const honest = await peerThatGives(holding([tx]))
    await Promise.all(
      crowd.flatMap((liar) => Array.from({ length: MESSAGES_EACH }, () => announce(liar, madeUp(TRANSACTION_IDS_MAX)))),
    )
    await announce(honest, [tx.wtxId])
    await arrived(tx)
    expect(served.offences.filter(({ peer }) => peer === honest.self)).toEqual([])
  })

  it('is followed, however many peers announced the same before and do not give it', async () => {
    const tx = await pay()
    const crowd = await Promise.all(Array.from({ length: CROWD }, () => peerThatGives(never)))
    const honest = await peerThatGives(holding([tx]))
    await Promise.all(crowd.map((liar) => announce(liar, [tx.wtxId])))
    await announce(honest, [tx.wtxId])
    await arrived(tx)
    expect(served.offences.filter(({ peer }) => peer === honest.self)).toEqual([])
  })
})

describe('ids that were made up', () => {
  it('count against the peer that announced them, even among real ones', async () => {
    const transactions = await Promise.all(Array.from({ length: 12 }, (_, i) => pay(BigInt(i))))
    const liar = await peerThatGives(holding(transactions))
    for (const tx of transactions) {
      await announce(liar, [tx.wtxId, ...madeUp(127)])
      await arrived(tx)
    }
    await until('it is blamed', () => served.offences.some(({ offence }) => offence === 'useless'))
  })

  it('may be some hundred: an honest peer loses announced transactions to blocks or to better payers', async () => {
    const tx = await pay()
    const peer = await peerThatGives(holding([tx]))
    const lost = madeUp(500)
    for (let from = 0; from < lost.length; from += 127) await announce(peer, lost.slice(from, from + 127))
    await announce(peer, [tx.wtxId])
    await arrived(tx)
    expect(served.node.peers.isReady(peer.self)).toBe(true)
  })
})
