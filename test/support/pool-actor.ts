import fc from 'fast-check'
import {
  addLiquidity,
  inputFor,
  isqrt,
  LOCKED_SHARES,
  outputOf,
  type PoolFunds,
  removeLiquidity,
} from '../../amm/math.ts'
import { type Amount, SUPPLY_BOUND } from '../../consensus/primitives/amount.ts'

/** Largest amount of a transaction or a reserve. */
export const AMOUNT_TOP = (SUPPLY_BOUND - 1n) as Amount

/** Amounts from 1 to `most`. Every length in bits is equally likely, so that small and large ones occur. */
export function sizes(most: bigint = AMOUNT_TOP): fc.Arbitrary<Amount> {
  return fc.integer({ min: 0, max: most.toString(2).length - 1 }).chain((bits) => {
    const low = 1n << BigInt(bits)
    const high = 2n * low - 1n
    return fc.bigInt({ min: low, max: high < most ? high : most }) as fc.Arbitrary<Amount>
  })
}

/** Fees in basis points: 30 and 100, which real pools have, both ends of the range, and any between. */
export const fees = fc.oneof(fc.constantFrom(0n, 1n, 30n, 100n, 9_999n), fc.bigInt({ min: 0n, max: 9_999n }))

/** A pool that transactions can lead to: shares^2 <= A B, and more shares than the locked ones. */
export const pools: fc.Arbitrary<PoolFunds> = fc
  .record({ reserveA: sizes(), reserveB: sizes() })
  .filter(({ reserveA, reserveB }) => reserveA * reserveB >= (LOCKED_SHARES + 1n) ** 2n)
  .chain(({ reserveA, reserveB }) =>
    sizes(isqrt(reserveA * reserveB) - LOCKED_SHARES).map((own) => ({
      reserveA,
      reserveB,
      shares: LOCKED_SHARES + own,
    })),
  )

/** An operation on a pool. `size` and `other` are cut to what the actor and the pool have. */
export interface PoolStep {
  readonly kind: 'swap in' | 'swap out' | 'add' | 'remove'
  readonly fromA: boolean
  readonly size: bigint
  readonly other: bigint
}

export const poolSteps: fc.Arbitrary<PoolStep> = fc.record({
  kind: fc.constantFrom('swap in', 'swap out', 'add', 'remove'),
  fromA: fc.boolean(),
  size: sizes(),
  other: sizes(),
})

/** What the actor holds of the two assets and of the shares of the pool. */
export interface Holdings {
  readonly a: bigint
  readonly b: bigint
  readonly shares: bigint
}

const cut = (size: bigint, most: bigint): Amount => (size <= most ? size : size % (most + 1n)) as Amount

/** Pool and actor after a step. Only shares are made or destroyed. */
export function play(pool: PoolFunds, actor: Holdings, step: PoolStep, feeBps: bigint): [PoolFunds, Holdings] {
  if (step.kind === 'add') return playAdd(pool, actor, step)
  if (step.kind === 'remove') return withdraw(pool, actor, cut(step.size, actor.shares))
  const [reserveIn, reserveOut] = step.fromA ? [pool.reserveA, pool.reserveB] : [pool.reserveB, pool.reserveA]
  const held = step.fromA ? actor.a : actor.b
  if (step.kind === 'swap in') {
    const paid = cut(step.size, held)
    return moved(pool, actor, step.fromA, paid, outputOf(reserveIn, reserveOut, paid, feeBps))
  }
  const wanted = cut(step.size, reserveOut - 1n)
  const needed = inputFor(reserveIn, reserveOut, wanted, feeBps)
  return needed === undefined || needed > held ? [pool, actor] : moved(pool, actor, step.fromA, needed, wanted)
}

/** Pool and actor after some steps. */
export function playAll(
  pool: PoolFunds,
  actor: Holdings,
  steps: readonly PoolStep[],
  feeBps: bigint,
): [PoolFunds, Holdings] {
  return steps.reduce<[PoolFunds, Holdings]>(([now, holds], step) => play(now, holds, step, feeBps), [pool, actor])
}

/** Pool and actor after the actor removed some shares. */
export function withdraw(pool: PoolFunds, actor: Holdings, shares: bigint): [PoolFunds, Holdings] {
  const { amountA, amountB } = removeLiquidity(pool, shares)
  return change(pool, actor, { a: -amountA, b: -amountB, shares: -shares })
}

function playAdd(pool: PoolFunds, actor: Holdings, { size, other }: PoolStep): [PoolFunds, Holdings] {
  const { shares, amountA, amountB } = addLiquidity(pool, cut(size, actor.a), cut(other, actor.b))
  return shares === 0n ? [pool, actor] : change(pool, actor, { a: amountA, b: amountB, shares })
}

function moved(pool: PoolFunds, actor: Holdings, fromA: boolean, paid: bigint, got: bigint): [PoolFunds, Holdings] {
  return change(pool, actor, fromA ? { a: paid, b: -got, shares: 0n } : { a: -got, b: paid, shares: 0n })
}

/** Moves assets from the actor to the pool, and makes shares for the actor. Negative amounts do the opposite. */
function change(pool: PoolFunds, actor: Holdings, by: Holdings): [PoolFunds, Holdings] {
  return [
    {
      reserveA: (pool.reserveA + by.a) as Amount,
      reserveB: (pool.reserveB + by.b) as Amount,
      shares: pool.shares + by.shares,
    },
    { a: actor.a - by.a, b: actor.b - by.b, shares: actor.shares + by.shares },
  ]
}
