import { expect } from 'vitest'
import type { ServiceId } from '../../consensus/primitives/ids.ts'
import type { ClaimPage, ClaimStore } from '../../marketplace/till/claim-store.ts'
import type { Claim } from '../../marketplace/till/rails/native/claim.ts'
import { claimed, txIdOf } from '../support/claims.ts'

/** Checks the list of one service's claims. The store must be empty. */
export async function listsOneService(store: ClaimStore<Claim>): Promise<void> {
  const rare = 'node-rare' as ServiceId
  const of = (i: number) => ({
    ...claimed(i, 1_700_000_000_000 + (i >> 1)),
    ...(i % 5 === 2 && { serviceId: rare }),
  })
  for (let i = 1; i <= 23; i++) expect(await store.claim(of(i))).toBeNull()
  await store.advance('claimed', { ...of(7), state: 'executing', startedAtMs: 5 })
  await store.release('claimed', txIdOf(12))
  for (const limit of [1, 2, 3, 4, 10]) {
    const seen: Claim[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: ClaimPage<Claim> = await store.recent(limit, cursor ?? null, rare)
      expect(page.claims.length).toBe(page.nextCursor === null ? 4 - seen.length : limit)
      seen.push(...page.claims)
      cursor = page.nextCursor
    }
    expect(
      seen.map(({ txId, state }) => [txId, state]),
      `${limit} a page`,
    ).toEqual([22, 17, 7, 2].map((number) => [txIdOf(number), number === 7 ? 'executing' : 'claimed']))
  }
  expect(await store.recent(10, null, 'node-none')).toEqual({ claims: [], nextCursor: null })
}
