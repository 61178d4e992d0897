import { describe, expect, it } from 'vitest'
import { bestRoute, type ListedPool } from '../../../amm/route.ts'
import type { Hash, PoolId } from '../../../consensus/primitives/ids.ts'
import { filled, units } from '../../support/unsigned.ts'

const [A, B, C] = [1, 2, 3].map((n) => filled<Hash>(n)) as [Hash, Hash, Hash]

function listed(id: number, assetX: Hash, assetY: Hash, reserve: bigint): ListedPool {
  const reserves = { reserveX: units(reserve), reserveY: units(reserve), shares: units(reserve) }
  const sums = { xPerY: 0n, yPerX: 0n, accumulatedAt: 0, createdAt: 0 }
  return { poolId: filled<PoolId>(id), pool: { version: 1, assetX, assetY, feeBps: 30, ...reserves, ...sums } }
}

/** The numbers of the pools on the best route for 10 of A to B. */
function routeOver(...pools: readonly ListedPool[]): readonly number[] | undefined {
  const route = bestRoute(pools, { assetIn: A, assetOut: B, amountIn: units(10) })
  return route?.map(({ poolId }) => Number.parseInt(poolId.slice(0, 2), 16))
}

describe('of routes that pay the same', () => {
  // 10 in a pool of 10,000 pay 9, and 9 pay 8.
  const [deep, detour, back] = [listed(1, A, B, 10_000n), listed(2, A, C, 10_000n), listed(3, B, C, 10_000n)]

  it('the shorter wins, whichever is found first', () => {
    const shallow = listed(4, A, B, 59n)
    // 59 x 9.97 / 68.97 = 8.5: the same output as the detour.
    expect(routeOver(detour, back)).toEqual([2, 3])
    expect(routeOver(detour, back, shallow)).toEqual([4])
    expect(routeOver(shallow, detour, back)).toEqual([4])
  })

  it('the first of equal length wins', () => {
    const twin = listed(5, A, B, 10_000n)
    expect(routeOver(deep, twin)).toEqual([1])
    expect(routeOver(twin, deep)).toEqual([5])
  })
})

it('there is no route without pools, or where everything is lost on the way', () => {
  expect(routeOver()).toBeUndefined()
  expect(routeOver(listed(1, A, C, 10n))).toBeUndefined()
  expect(routeOver(listed(1, A, C, 1n), listed(2, B, C, 1n))).toBeUndefined()
})
