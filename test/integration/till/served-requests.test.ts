import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { KEYS, prefixKey } from '../../../consensus/chain/layout.ts'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import type { StateKey } from '../../../consensus/state/table.ts'
import { encodeTransaction } from '../../../consensus/tx/transaction.ts'
import { systemTimers } from '../../../src/daemon/runtime.ts'
import { askPatiently } from '../../../src/p2p/peers/patience.ts'
import { SERVING } from '../../../src/p2p/peers/serving.ts'
import { NOTHING, type RequestOf } from '../../../src/p2p/wire/messages.ts'
import type { ProtocolName } from '../../../src/p2p/wire/protocols.ts'
import { wallet } from '../../support/chain.ts'
import { statusOf } from '../../support/p2p/relay-node.ts'
import {
  type Asker,
  askerOf,
  type ServedNode,
  type StoredChain,
  startServed,
  storedChain,
} from '../../support/served-node.ts'

/** How far each reading of the server's stopwatch moves it. So a request costs twice that on any machine. */
const READING_MS = 100
const COST_MS = 2 * READING_MS
/** Fewer requests than a peer is allowed, and many more than there is time for. */
const AT_ONCE = 4
const ROUNDS = 5
const OUTSIDE_ROOT = 500
/** Far more than one in twenty seconds, and fewer than a peer's allowance of requests. */
const SAID = 300

let stored: StoredChain
let served: ServedNode
let readings = 0
const asked = { bodies: 0, records: 0 }

beforeAll(async () => {
  stored = await storedChain()
  const { test, store } = stored
  const payload = { to: wallet(9).address, amount: 1n as never, create: false }
  await test.mine(await Promise.all(Array.from({ length: 20 }, () => test.tx(wallet(1), 'transfer', payload))))
  const outside = Array.from({ length: OUTSIDE_ROOT }, (_, i) => `e0f00${String(i).padStart(5, '0')}` as StateKey)
  const writes = outside.map((key) => ({ key: KEYS.state(key), value: new Uint8Array(36) }))
  await store.batch(writes, () => {})
  const get = store.get.bind(store)
  store.get = (key) => {
    if (key[0] === prefixKey('bodies')[0]) asked.bodies += 1
    return get(key)
  }
  const pin = store.pin.bind(store)
  store.pin = () => {
    const { read, release } = pin()
    const counting: typeof read = async (...parts) => {
      const found = await read(...parts)
      asked.records += found.entries.length
      return found
    }
    return { read: counting, release }
  }
  const stopwatch = (): number => {
    readings += 1
    return readings * READING_MS
  }
  served = await startServed(stored, { known: ['/ip4/8.8.8.8/tcp/8421'], stopwatch })
  await test.mine()
})

afterAll(async () => {
  await served.stop()
  await stored.close()
})

function worst<P extends ProtocolName>(protocol: P): RequestOf<P> {
  const { chain, ruleBook } = stored.test
  const full = chain.database.idAt(1)
  const requests = {
    status: statusOf(chain),
    headers: { locator: [ruleBook.genesis.block.id], limit: 2_000 },
    bodies: [full],
    blockTransactions: { block: full, indexes: [0, 19] },
    poolIds: { cursor: 0 },
    transactions: Array.from(
      { length: 1_024 },
      (_, i) => toHex(new Uint8Array(32).fill(i)).slice(0, 60) + String(1_000 + i),
    ),
    announce: Array.from({ length: 1_024 }, () => 'ab'.repeat(32)),
    statePages: { snapshot: chain.head.id, after: new Uint8Array(0), first: true },
    stateRecords: { snapshot: chain.head.id, after: new Uint8Array(0) },
    keys: [wallet(1).address, wallet(2).address],
    keyPages: { after: '0'.repeat(64), first: true },
    addresses: NOTHING,
  }
  return requests[protocol] as unknown as RequestOf<P>
}

/** Sends the same request again and again, several at once, and counts the answers. */
async function flood({ peers, server }: Asker, protocol: ProtocolName): Promise<number> {
  let answered = 0
  const ask = async (): Promise<void> => {
    const reply = await peers.exchange.ask(server, protocol, worst(protocol))
    if (reply.ok) answered += 1
  }
  for (let round = 0; round < ROUNDS; round++) await Promise.all(Array.from({ length: AT_ONCE }, ask))
  return answered
}

const COSTLY: readonly ProtocolName[] = [
  ...(['headers', 'bodies', 'blockTransactions', 'transactions', 'announce'] as const),
  ...(['statePages', 'stateRecords', 'keys', 'keyPages', 'poolIds'] as const),
]

describe('a stranger who asks without end', () => {
  it.each(COSTLY)(
    'for %s gets its share of the main thread and no more, and others are served meanwhile',
    async (protocol) => {
      const [stranger, honest] = [await askerOf(served, stored.test), await askerOf(served, stored.test)]
      const startedMs = performance.now()
      const flooding = flood(stranger, protocol)
      const request = worst('headers')
      const patience = { peers: honest.peers, timers: systemTimers, times: 60 }
      const reply = await askPatiently(patience, honest.server, 'headers', request)
      const answered = await flooding
      const tookMs = performance.now() - startedMs
      expect(reply).toMatchObject({ ok: true })
      const most = SERVING.peerShare * (tookMs + SERVING.peerWindowMs) + AT_ONCE * COST_MS
      expect(answered * COST_MS).toBeLessThanOrEqual(most)
      expect(answered).toBeGreaterThan(0)
      expect(served.offences.filter(({ peer }) => peer === honest.self)).toEqual([])
      await stranger.stop()
      await honest.stop()
    },
  )

  it('for addresses gets them once; and every peer gets this node’s status, however busy it is', async () => {
    const stranger = await askerOf(served, stored.test)
    expect(await flood(stranger, 'addresses')).toBeLessThanOrEqual(1)
    const asker = await askerOf(served, stored.test)
    const status = await asker.peers.exchange.ask(asker.server, 'status', worst('status'))
    expect(status).toMatchObject({ ok: true, value: { height: 2 } })
    await stranger.stop()
    await asker.stop()
  })
})

describe('a stranger who sends its status again and again', () => {
  it('is answered as often as honest peers need, then disconnected', async () => {
    const stranger = await askerOf(served, stored.test)
    let answered = 0
    for (let said = 0; said < SAID; said++) {
      const reply = await stranger.peers.exchange.ask(stranger.server, 'status', worst('status'))
      if (reply.ok) answered += 1
    }
    expect(answered).toBeGreaterThan(0)
    expect(answered).toBeLessThan(SAID / 2)
    expect(new Set(served.offences.filter(({ peer }) => peer === stranger.self).map(({ offence }) => offence))).toEqual(
      new Set(['flood']),
    )
    expect(served.node.peers.isReady(stranger.self)).toBe(false)
    await stranger.stop()
  })
})

describe('a request for next to nothing', () => {
  it('of a block does not read it; a request for some of its transactions reads it once and decodes none', async () => {
    const asker = await askerOf(served, stored.test)
    const { chain } = stored.test
    const block = chain.database.idAt(1) as NonNullable<ReturnType<typeof chain.database.idAt>>
    const patience = { peers: asker.peers, timers: systemTimers, times: 60 }
    asked.bodies = 0
    const none = await askPatiently(patience, asker.server, 'blockTransactions', { block, indexes: [] })
    expect(none).toEqual({ ok: true, value: [] })
    expect(asked.bodies).toBe(0)
    const some = await askPatiently(patience, asker.server, 'blockTransactions', { block, indexes: [3, 7] })
    expect(asked.bodies).toBe(1)
    const { transactions } = chain.database.block(block) as NonNullable<ReturnType<typeof chain.database.block>>
    expect(some).toMatchObject({ ok: true, value: [3, 7].map((i) => encodeTransaction(transactions[i] as never)) })
    for (const indexes of [[20], [3, 3], [7, 3]]) {
      const refused = await askPatiently(patience, asker.server, 'blockTransactions', { block, indexes })
      expect(refused).toMatchObject({ fault: { code: 'p2p/refused', detail: { reason: 'unknown' } } })
    }
    await asker.stop()
  })

  it('of the state, after its last rooted record, skips records outside the root', async () => {
    const asker = await askerOf(served, stored.test)
    const snapshot = stored.test.chain.head.id
    const patience = { peers: asker.peers, timers: systemTimers, times: 60 }
    asked.records = 0
    const after = Uint8Array.of(0xdf)
    const reply = await askPatiently(patience, asker.server, 'stateRecords', { snapshot, after })
    expect(reply).toEqual({ ok: true, value: { records: [], done: true } })
    expect(asked.records).toBe(0)
    await asker.stop()
  })
})

describe('a request for a page of the mempool', () => {
  it('reads only the transactions of that page', async () => {
    const asker = await askerOf(served, stored.test)
    const payload = { to: wallet(9).address, amount: 1n as never, create: false }
    for (let number = 1; number <= 5; number++)
      await served.mempool.submit(await stored.test.tx(wallet(number), 'transfer', payload))
    const { database } = stored.test.chain
    const get = database.get.bind(database)
    let accounts = 0
    database.get = (table, id) => {
      accounts += 1
      return get(table, id)
    }
    const patience = { peers: asker.peers, timers: systemTimers, times: 60 }
    const page = await askPatiently(patience, asker.server, 'poolIds', { cursor: 4 })
    database.get = get
    const last = served.mempool.transactions().at(-1)?.wtxId
    expect(page).toEqual({ ok: true, value: { ids: [last], next: 0 } })
    expect(accounts).toBe(1)
    const whole = await askPatiently(patience, asker.server, 'poolIds', { cursor: 0 })
    expect(whole).toMatchObject({ ok: true, value: { ids: { length: 5 }, next: 0 } })
    await asker.stop()
  })
})
