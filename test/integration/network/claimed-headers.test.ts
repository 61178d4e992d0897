import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { extendTip, type HeaderTip, headerTipOf } from '../../../consensus/block/header-tip.ts'
import { createRuleBook } from '../../../consensus/chain/rule-book.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { SERVING } from '../../../src/p2p/peers/serving.ts'
import { HEADERS_MAX } from '../../../src/p2p/wire/messages.ts'
import { PROTOCOL } from '../../../src/protocol.ts'
import { childHeader } from '../../support/header-branch.ts'
import { fastDevnet } from '../../support/network.ts'
import { until } from '../../support/processes.ts'
import { askerOf, type ServedNode, type StoredChain, startServed, storedChain } from '../../support/served-node.ts'

/** How far each reading of the node's stopwatch moves it. A page costs at least that, so there is time for only one page at once. */
const READING_MS = 500
const PAGES = 6
/** Without a bound, many pages would be checked in this time. */
const WHILE_MS = 8_000
/** Number of blocks of the chain. Together they are much heavier than all easy headers. */
const BLOCKS = 200
/** Time between easy headers. It is so long that they soon need almost no work. */
const APART_MS = 100_000

let stored: StoredChain
let served: ServedNode
let easy: HeaderTip[]
let readings = 0
let nowMs = Date.now()

beforeAll(async () => {
  const ruleBook = createRuleBook(fastDevnet(1_000n), PROTOCOL)
  stored = await storedChain(ruleBook, { powHasher: () => new Uint8Array(32) })
  const { test } = stored
  easy = []
  for (let tip = headerTipOf(test.chain.database, test.chain.head); easy.length < PAGES * HEADERS_MAX; easy.push(tip)) {
    const next = extendTip(ruleBook, tip, childHeader(ruleBook, tip, { timeMs: tip.header.timeMs + APART_MS }))
    if (!next.ok) throw new Error(next.fault.code)
    tip = next.value
  }
  await test.mineTo(BLOCKS)
  const stopwatch = (): number => {
    readings += 1
    return readings * READING_MS
  }
  served = await startServed(stored, { stopwatch, clock: { now: () => nowMs } })
})

afterAll(async () => {
  await served.stop()
  await stored.close()
})

it('headers that claim much and show no work are checked within the time share of their sender', async () => {
  const claim = { head: 'ee'.repeat(32) as BlockId, height: 1_000_000, totalWork: 2n ** 200n }
  const liar = await askerOf(served, stored.test, claim)
  let pages = 0
  liar.peers.exchange.answer('headers', (_, { locator, limit }) => {
    pages += 1
    const start = easy.findIndex(({ id }) => locator.includes(id)) + 1
    return { reply: easy.slice(start, start + limit).map(({ bytes }) => bytes) }
  })
  await until('the first page is asked for', () => {
    nowMs += 100
    return pages > 0
  })
  // There is time for one page. The next one waits, and the one after it is on its way.
  await setTimeout(WHILE_MS)
  expect(pages).toBeLessThanOrEqual(3)
  const startMs = nowMs
  await until('all pages are asked for', () => {
    nowMs += 100
    return pages >= PAGES
  })
  const most = SERVING.peerShare * (nowMs - startMs + SERVING.peerWindowMs) + READING_MS
  expect((PAGES - 3) * READING_MS).toBeLessThanOrEqual(most)
  expect(served.offences).toEqual([])
  await liar.stop()
})
