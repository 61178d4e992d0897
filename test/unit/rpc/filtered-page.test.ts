import { describe, expect, it } from 'vitest'
import type { StoredClaim } from '../../../marketplace/checkout/claim-store.ts'
import { filteredPage } from '../../../rpc/filtered-page.ts'

const ALL = Array.from({ length: 3_000 }, (_, number) => ({ number }) as unknown as StoredClaim & { number: number })
let reads = 0
const recent = async (limit: number, cursor: string | null) => {
  reads += 1
  const from = Number(cursor ?? 0)
  const claims = ALL.slice(from, from + limit)
  return { claims, nextCursor: from + limit < ALL.length ? String(from + limit) : null }
}

async function everything(limit: number, isWanted: ((claim: { number: number }) => boolean) | null) {
  const found: number[] = []
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<typeof filteredPage<(typeof ALL)[number]>>> = await filteredPage(
      recent,
      { limit, cursor },
      isWanted,
    )
    expect(page.claims.length).toBeLessThanOrEqual(limit)
    found.push(...page.claims.map(({ number }) => number))
    cursor = page.nextCursor
  } while (cursor !== null)
  return found
}

describe('a page of what is wanted', () => {
  it.each([1, 7, 50, 200])('leaves nothing out and says nothing twice, at %d a page', async (limit) => {
    const isWanted = ({ number }: { number: number }) => number % 13 === 5
    expect(await everything(limit, isWanted)).toEqual(ALL.map(({ number }) => number).filter((n) => n % 13 === 5))
    expect(await everything(limit, null)).toHaveLength(ALL.length)
  })

  it('is given up after so many reads where nothing is wanted, and can be gone on from', async () => {
    reads = 0
    const page = await filteredPage(recent, { limit: 50, cursor: null }, () => false)
    expect(page).toEqual({ claims: [], nextCursor: '1000' })
    expect(reads).toBe(20)
  })
})
