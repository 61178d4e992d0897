import { beforeAll, describe, expect, it } from 'vitest'
import { devSeed } from '../../config/networks/dev-keys.ts'
import { wordsOfSeed } from '../../consensus/crypto/words.ts'
import { createClient, FarthingError, fileJournal, type Payment } from '../../rpc/client/client.ts'
import { walletFromWords } from '../../rpc/client/wallet.ts'
import { networkFacts } from '../../src/market/network-facts.ts'
import { Caller, marketOpen, runsIn } from '../support/caller.ts'
import { type RunningDaemon, Workshop } from '../support/daemon.ts'
import { fastDevnet } from '../support/network.ts'

/** Hashes that each of the first blocks costs: few, but enough that a term does not end while a test looks. */
const HASHES = 1000n
const workshop = new Workshop()
const runsFile = workshop.path('runs')
const network = networkFacts(fastDevnet(HASHES))
const wallet = walletFromWords(wordsOfSeed(devSeed(1)))
let daemon: RunningDaemon

beforeAll(async () => {
  daemon = await workshop.start(workshop.folder(), {
    env: { TEST_FAST_BLOCKS: String(HASHES), TEST_RUNS_FILE: runsFile },
  })
  await marketOpen(daemon.url)
})

const SERVICE = 'node-test-once'
const PRICE = 800_000n
/** Upper bound of the fee of one of these payments. */
const FEE_MAX = 1_000_000n

/** A `fetch` that works for `requests` requests. The next request or its answer gets lost, and every later request fails. */
function cutAfter(requests: number, lost: 'request' | 'answer'): typeof fetch & { readonly used: () => number } {
  let used = 0
  const cutting = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    used += 1
    if (used <= requests) return fetch(input, init)
    if (used === requests + 1 && lost === 'answer') await (await fetch(input, init)).arrayBuffer()
    throw new TypeError('the line is cut')
  }
  return Object.assign(cutting, { used: () => used })
}

const bought = (fetch: typeof globalThis.fetch, request: string, folder: string): Promise<unknown> =>
  createClient({ baseUrl: daemon.url, wallet, network, fetch, settleMs: 0, journal: fileJournal(folder) })
    .call(SERVICE, request)
    .then(
      () => null,
      (error: unknown) => error,
    )

/** Balance of the buyer, which only the calls of this file change. */
const purse = (): Promise<bigint> => new Caller(daemon.url, 1).balance()

async function requestsOfCall(): Promise<number> {
  const whole = cutAfter(Number.POSITIVE_INFINITY, 'answer')
  const agent = createClient({ baseUrl: daemon.url, wallet, network, fetch: whole })
  await agent.call(SERVICE, 'ok:whole')
  return whole.used()
}

describe('a call that is cut', () => {
  for (const lost of ['request', 'answer'] as const)
    it(`at any of its requests, the ${lost} lost: is paid once at most, and what was paid is had by resuming`, async () => {
      const requests = await requestsOfCall()
      expect(requests).toBeGreaterThan(5)
      const ends: string[] = []
      for (let at = 0; at < requests; at++) {
        const [request, folder] = [`ok:${lost}:${at}`, workshop.folder()]
        const before = await purse()
        const error = await bought(cutAfter(at, lost), request, folder)
        expect(error).toBeInstanceOf(FarthingError)
        const { payment } = error as FarthingError
        ends.push(payment === null ? 'unpaid' : 'paid')
        const spentUnpaid = await finish(payment, request, folder)
        const spent = before - (await purse())
        expect(runsIn(runsFile).get(`${SERVICE} ${request}`) ?? 0).toBe(payment === null ? 0 : 1)
        if (spentUnpaid) expect(spent).toBe(0n)
        else expect(spent > PRICE && spent <= PRICE + FEE_MAX).toBe(true)
      }
      // Early cuts leave the call unpaid, later ones paid: once signed, a payment is never forgotten.
      expect(ends.join()).toMatch(/^unpaid(,unpaid)*(,paid)+$/)
    })
})

/** Finishes a paid call by the error's payment and then again by the journal alone. Returns whether nothing was paid. */
async function finish(payment: Payment | null, request: string, folder: string): Promise<boolean> {
  const journal = fileJournal(folder)
  const later = createClient({ baseUrl: daemon.url, network, journal })
  if (payment === null) {
    expect(await later.unfinished()).toEqual([])
    return true
  }
  expect((await later.unfinished()).map(({ txId }) => txId)).toEqual([payment.txId])
  const stranger = createClient({ baseUrl: daemon.url, network })
  expect((await stranger.resume(payment)).result).toEqual({ echo: request })
  expect((await later.resume({ txId: payment.txId })).result).toEqual({ echo: request })
  expect(await later.unfinished()).toEqual([])
  return false
}
