import { expect, it } from 'vitest'
import type { RateBucket } from '../../../rpc/contract/route.ts'
import { ROUTES } from '../../../rpc/contract/table.ts'
import { holderOf } from '../../../rpc/edge/client-key.ts'
import { WORK_OF } from '../../../rpc/edge/overload.ts'
import { type Guest, type NoPlace, Places } from '../../../rpc/edge/places.ts'

const PLACES = 1_024
const nowMs = 0

/** Fills a node with requests of a bucket under way, each from another address. */
function crowdedBy(bucket: RateBucket): Places {
  const places = new Places(PLACES, () => {})
  for (let i = 0; i < PLACES; i++) if (ask(places, bucket, `stranger ${i}`) !== null) return places
  return places
}

/** Asks for a place, and keeps it. Returns null, or why there is no place. */
function ask(places: Places, bucket: RateBucket, key: string): NoPlace | null {
  const guest: Guest = { holder: holderOf(key), kind: WORK_OF[bucket], waitsFor: null, waitsSinceMs: nowMs }
  places.enter(guest)
  const lack = places.judge(guest, guest.kind, nowMs)
  if (lack !== null) places.leave(guest)
  return lack
}

it.each(['simulate', 'chat', 'mcp', 'quote', 'read', 'list', 'events', 'sign-in'] as const)(
  'however many requests of %s are under way, a tenth of the places is left to payments',
  (bucket) => {
    const places = crowdedBy(bucket)
    expect(places.taken).toBeGreaterThanOrEqual(PLACES / 2)
    let paid = 0
    while (ask(places, 'settle', `payer ${paid}`) === null) paid += 1
    expect(paid).toBeGreaterThanOrEqual(Math.floor(PLACES * 0.1))
  },
)

it('what may be asked for nothing is in no bucket of payments', () => {
  const bucketOf = (path: string) => Object.values(ROUTES).find((route) => route.path === path)?.bucket
  expect([bucketOf('/api/v1/tx/simulate'), bucketOf('/api/v1/chat/completions')]).toEqual(['simulate', 'chat'])
  const free = Object.values(ROUTES).filter(({ tag }) => tag === 'chat')
  expect(free.map(({ bucket }) => WORK_OF[bucket])).not.toContain('transaction')
  expect(free.map(({ bucket }) => WORK_OF[bucket])).not.toContain('kept')
})
