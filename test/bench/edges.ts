import { setTimeout } from 'node:timers/promises'
import { carriedPayment } from '../../rpc/edge/carried-payment.ts'
import { holderOf, limitKeyOf } from '../../rpc/edge/client-key.ts'
import { Overload } from '../../rpc/edge/overload.ts'
import { type Guest, Places } from '../../rpc/edge/places.ts'
import { RateLimiter } from '../../rpc/edge/rate-limiter.ts'
import type { MarketApi } from '../../rpc/node/node-api.ts'
import { DEFAULT_HTTP_LIMITS } from '../../rpc/server/limits.ts'
import { type BenchRow, median, nowMs, valueRow } from './report.ts'

const REQUESTS = 2_000
const CHUNKS = 100
const ADDRESSES = 1_000
const BODY = { request: '', other: 1 }
const HEADERS = { host: 'bench', 'content-type': 'application/json', accept: '*/*' }
/** A stand-in: nothing of a market is read for a request without a payment. */
const MARKET = { stable: null } as MarketApi

/** CPU time of the checks before each quote: caller, place in `Places`, payment, load of the node and rate. */
export async function benchEdges(): Promise<readonly BenchRow[]> {
  const overload = new Overload(DEFAULT_HTTP_LIMITS)
  const quote = 1_000_000_000
  const places = new Places(DEFAULT_HTTP_LIMITS.concurrentMax, () => {})
  const rates = new RateLimiter({ ...DEFAULT_HTTP_LIMITS.ratesPerMinute, quote })
  const chunk = (): number => {
    const beganMs = nowMs()
    for (let i = 0; i < REQUESTS; i++) {
      const now = performance.now()
      overload.arrived()
      const { key } = limitKeyOf({}, { authorization: undefined, address: `10.0.${i % ADDRESSES}.1` })
      const guest: Guest = { holder: holderOf(key), kind: 'unread', waitsFor: 'body', waitsSinceMs: now }
      places.enter(guest)
      const early = places.judge(guest, 'unread', now)
      places.works(guest)
      const isPaid = carriedPayment(MARKET, { headers: HEADERS, body: BODY, door: 'plain' }) !== null
      const lack = early ?? places.judge(guest, 'quote', now)
      if (isPaid || lack !== null || !overload.admits('quote', now) || !rates.take('quote', guest.holder, now).allowed)
        throw new Error('refused')
      places.waits(guest, now)
      places.leave(guest)
    }
    return ((nowMs() - beganMs) * 1_000) / REQUESTS
  }
  const costs: number[] = []
  for (let i = 0; i < CHUNKS; i++) {
    costs.push(chunk())
    // The event loop turns between chunks, as it does between requests.
    await setTimeout(25)
  }
  overload.close()
  return [valueRow('edges of a request, CPU beside the quote itself', median(costs), 'us', { most: 5 })]
}
