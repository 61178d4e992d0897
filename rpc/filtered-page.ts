import type { ClaimPage, StoredClaim } from '../marketplace/checkout/claim-store.ts'

/** Most pages that are read to fill one: who looks for what is rare gets a short page and goes on from its cursor. */
const PAGES_READ_MAX = 20

/** Where a page begins, and how long it is at most. */
export interface PageWindow {
  readonly limit: number
  readonly cursor: string | null
}

/** A page of the claims that are wanted, from a listing of all of them; without a wish, of all. */
export async function filteredPage<C extends StoredClaim>(
  recent: (limit: number, cursor: string | null) => Promise<ClaimPage<C>>,
  { limit, cursor }: PageWindow,
  isWanted: ((claim: C) => boolean) | null,
): Promise<ClaimPage<C>> {
  if (isWanted === null) return recent(limit, cursor)
  const claims: C[] = []
  let next = cursor
  for (let pages = 0; pages < PAGES_READ_MAX && claims.length < limit; pages++) {
    const page = await recent(limit - claims.length, next)
    claims.push(...page.claims.filter(isWanted))
    next = page.nextCursor
    if (next === null) break
  }
  return { claims, nextCursor: next }
}
