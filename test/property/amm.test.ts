import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LOCKED_SHARES, outputOf, poolNeverLoses } from '../../amm/math.ts'
import { epochPrice, nativeOfMicros } from '../../amm/oracle.ts'
import { accumulatedAt, fundsFrom, POOL_SHARES, POOLS, type Pool, PRICE_ENTRIES } from '../../amm/pool.ts'
import { type QuoteBasis, quoteExactIn, quoteExactOut } from '../../amm/quote.ts'
import { bestRoute, type ListedPool, paidBy } from '../../amm/route.ts'
import { assetOf } from '../../consensus/ledger/asset.ts'
import type { Amount } from '../../consensus/primitives/amount.ts'
import type { Hash, PoolId, TokenSymbol } from '../../consensus/primitives/ids.ts'
import {
  ALICE,
  BOB,
  FAR,
  FUSD,
  type GenesisPool,
  type Hop,
  OWNER,
  PoolLedger,
  poolRuleBook,
  SALT,
  WOOL,
} from '../support/pools.ts'
import { runs } from '../support/runs.ts'
import { filled, units } from '../support/unsigned.ts'

const SYMBOLS = [FAR, FUSD, SALT, WOOL]
const FEES = [5, 30, 100]
const COINS = { symbol: FAR }
const GENESIS: readonly GenesisPool[] = [
  { assetA: FAR, assetB: FUSD, feeBps: 30, amountA: 4_000_000n, amountB: 1_000_000n, owner: OWNER },
  { assetA: FAR, assetB: SALT, feeBps: 30, amountA: 70_000n, amountB: 3_000_000n, owner: OWNER },
  { assetA: SALT, assetB: WOOL, feeBps: 100, amountA: 2_000n, amountB: 900_000n, owner: OWNER },
  { assetA: FUSD, assetB: WOOL, feeBps: 5, amountA: 1_500n, amountB: 1_500n, owner: OWNER },
]
const RULES = poolRuleBook(GENESIS)

const symbol = fc.constantFrom(...SYMBOLS)
const fee = fc.constantFrom(...FEES)
const pair = fc.tuple(symbol, symbol).filter(([a, b]) => a !== b)
const size = fc.oneof(fc.bigInt(1n, 50n), fc.bigInt(1n, 100_000n), fc.bigInt(1n, 10n ** 13n))
const who = fc.constantFrom(ALICE, BOB, OWNER)

/** A route whose hops change the asset each time; it may return to an asset or reuse a pool. */
const way = fc
  .tuple(symbol, fc.array(fc.record({ asset: symbol, feeBps: fee }), { minLength: 1, maxLength: 3 }))
  .filter(([start, hops]) => hops.every(({ asset }, i) => asset !== (hops[i - 1]?.asset ?? start)))

const step = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), who, pair, fee, sizes: fc.tuple(size, size) }),
  fc.record({ kind: fc.constant('add' as const), who, pool: fc.nat(9), sizes: fc.tuple(size, size) }),
  fc.record({ kind: fc.constant('remove' as const), who, pool: fc.nat(9), part: fc.bigInt(1n, 100n) }),
  fc.record({ kind: fc.constant('swap in' as const), who, way, size }),
  fc.record({ kind: fc.constant('swap known' as const), who, pool: fc.nat(9), turn: fc.boolean(), size }),
  fc.record({ kind: fc.constant('swap out' as const), who, pool: fc.nat(9), turn: fc.boolean(), size }),
  fc.record({ kind: fc.constant('wait' as const), blocks: fc.integer({ min: 1, max: 30 }) }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** A wait long enough to enter the next epoch. */
const EPOCH: Step = { kind: 'wait', blocks: 21 }

function poolsIn(ledger: PoolLedger): readonly ListedPool[] {
  return [...ledger.state.records()]
    .filter(({ table }) => table.name === POOLS.name)
    .map(({ key, value }) => ({ poolId: key.slice(2) as PoolId, pool: POOLS.codec.deserialize(value) }))
}

function symbolsOf({ assetX, assetY }: Pool): readonly [TokenSymbol, TokenSymbol] {
  const of = (asset: Hash) => SYMBOLS.find((each) => assetOf(each, COINS) === asset) as TokenSymbol
  return [of(assetX), of(assetY)]
}

function known(ledger: PoolLedger, place: number, turn = false): readonly [TokenSymbol, TokenSymbol, number, Pool] {
  const all = poolsIn(ledger)
  const { pool } = all[place % all.length] as ListedPool
  const [x, y] = symbolsOf(pool)
  return turn ? [y, x, pool.feeBps, pool] : [x, y, pool.feeBps, pool]
}

/** Executes a step in a block of its own; returns whether it succeeded. */
function play(ledger: PoolLedger, one: Step): boolean {
  switch (one.kind) {
    case 'create': {
      const [[a, b], [x, y]] = [one.pair, one.sizes]
      return ledger.create(one.who, [a, x], [b, y], one.fee).code === 'success'
    }
    case 'add': {
      const [assetA, assetB, feeBps] = known(ledger, one.pool)
      const [amountA, amountB] = one.sizes.map(units) as [Amount, Amount]
      const payload = { assetA, assetB, feeBps, amountA, amountB, minShares: units(0) }
      return ledger.send(one.who, 'liquidity_add', payload).code === 'success'
    }
    case 'remove': {
      const [assetA, assetB, feeBps] = known(ledger, one.pool)
      const shares = (ledger.shares(one.who, assetA, assetB, feeBps) * one.part) / 100n || 1n
      const payload = { assetA, assetB, feeBps, shares: units(shares), minA: units(0), minB: units(0) }
      return ledger.send(one.who, 'liquidity_remove', payload).code === 'success'
    }
    case 'swap in':
      return ledger.swap(one.who, [one.way[0], one.size], one.way[1]).code === 'success'
    case 'swap known':
    case 'swap out': {
      const [from, asset, feeBps] = known(ledger, one.pool, one.turn)
      const hops: Hop[] = [{ asset, feeBps }]
      if (one.kind === 'swap known') return ledger.swap(one.who, [from, one.size], hops).code === 'success'
      const [, reserve] = ledger.reserves(from, asset, feeBps)
      const amount = units((one.size % reserve) + 1n)
      const payload = { assetIn: from, exactOut: true, amount, limit: units(10n ** 30n), hops }
      return ledger.send(one.who, 'swap', payload).code === 'success'
    }
    case 'wait':
      ledger.advanceTo(ledger.height + one.blocks)
      return true
  }
}

/** Sum of the holders' shares of every pool. */
function heldShares(ledger: PoolLedger): ReadonlyMap<PoolId, bigint> {
  const sums = new Map<PoolId, bigint>()
  for (const { table, key, value } of ledger.state.records()) {
    if (table.name !== POOL_SHARES.name) continue
    const poolId = key.slice(-64) as PoolId
    sums.set(poolId, (sums.get(poolId) ?? 0n) + POOL_SHARES.codec.deserialize(value).shares)
  }
  return sums
}

/** Checks the invariants between two states of the ledger. */
function expectSound(before: readonly ListedPool[], ledger: PoolLedger): void {
  const shares = heldShares(ledger)
  for (const { poolId, pool } of poolsIn(ledger)) {
    const was = before.find((one) => one.poolId === poolId)?.pool
    if (was !== undefined) expect(poolNeverLoses(fundsFrom(was, was.assetX), fundsFrom(pool, pool.assetX))).toBe(true)
    expect(pool.reserveX > 0n && pool.reserveY > 0n).toBe(true)
    expect(pool.shares).toBe((shares.get(poolId) ?? 0n) + LOCKED_SHARES)
    expect(pool.shares ** 2n).toBeLessThanOrEqual(pool.reserveX * pool.reserveY)
  }
  expect(ledger.broken()).toEqual([])
}

describe('pools over any sequence of what people do', () => {
  it('never lose, keep their shares, and create nothing', () => {
    let succeeded = 0
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) => {
        const ledger = new PoolLedger(RULES)
        for (const one of steps) {
          const before = poolsIn(ledger)
          if (play(ledger, one)) succeeded++
          expectSound(before, ledger)
        }
      }),
      { numRuns: runs(1_000) },
    )
    expect(succeeded).toBeGreaterThan(runs(1_000))
  })

  it('sum their prices as if every block had been looked at, touched or not', () => {
    let compared = 0
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) => {
        const ledger = new PoolLedger(RULES)
        /**
         * `sums`: by pool, the sum of its prices at all block ends since its creation. `entries`: by epoch, that sum for the
         * priced pool at the start of the epoch.
         */
        const sums = new Map<PoolId, { x: bigint; y: bigint }>()
        const entries = new Map<number, bigint>()
        const count = (): void => {
          for (const { poolId, pool } of poolsIn(ledger)) {
            const sum = sums.get(poolId) ?? { x: 0n, y: 0n }
            sum.x += (pool.reserveX << 112n) / pool.reserveY
            sum.y += (pool.reserveY << 112n) / pool.reserveX
            sums.set(poolId, sum)
          }
        }
        count()
        const [priced] = poolsIn(ledger).filter(({ pool }) => pool.feeBps === 30 && symbolsOf(pool)[1] === FUSD)
        // At least one whole epoch, so that every run compares an entry.
        for (const one of [...steps, EPOCH].flatMap(blockByBlock)) {
          if (ledger.height % 20 === 0)
            entries.set(ledger.height / 20, sums.get((priced as ListedPool).poolId)?.x ?? 0n)
          play(ledger, one)
          for (const { poolId, pool } of poolsIn(ledger)) {
            // This record does not count the block that has just ended: `count` adds it below.
            const { xPerY, yPerX } = accumulatedAt(pool, ledger.height - 1)
            expect({ x: xPerY, y: yPerX }).toEqual(sums.get(poolId) ?? { x: 0n, y: 0n })
          }
          count()
        }
        for (const [epoch, sum] of entries) expect(ledger.get(PRICE_ENTRIES, epoch)?.nativePerDollar).toBe(sum)
        compared += entries.size
      }),
      { numRuns: runs(40) },
    )
    expect(compared).toBeGreaterThanOrEqual(runs(40))
  })
})

/** Splits a wait into single blocks. */
function blockByBlock(one: Step): readonly Step[] {
  if (one.kind !== 'wait') return [one]
  return Array.from({ length: one.blocks }, () => ({ kind: 'wait', blocks: 1 }))
}

describe('a quote', () => {
  const slippageBps = 0n
  const basisOf = (ledger: PoolLedger): QuoteBasis => ({
    ...{ view: ledger.state, coin: COINS, pools: poolsIn(ledger).map(({ poolId }) => poolId) },
  })
  const ordered = fc.record({ steps: fc.array(step, { maxLength: 8 }), pair, size })

  it('for an exact input is what the swap pays, to the unit', () => {
    let quoted = 0
    fc.assert(
      fc.property(ordered, ({ steps, pair: [assetIn, assetOut], size: wanted }) => {
        const ledger = new PoolLedger(RULES)
        for (const one of steps) play(ledger, one)
        const quote = quoteExactIn(basisOf(ledger), { assetIn, assetOut, amount: units(wanted), slippageBps })
        if (!quote.ok) return
        quoted++
        const { code, receipt } = ledger.send(ALICE, 'swap', quote.value.payload)
        expect([code, ...receipt.amounts]).toEqual([
          ...['success', wanted, ...quote.value.hops.map(({ amountOut }) => amountOut)],
        ])
      }),
      { numRuns: runs(150) },
    )
    expect(quoted).toBeGreaterThan(runs(75))
  })

  it('for an exact output is what the swap takes, to the unit', () => {
    let quoted = 0
    fc.assert(
      fc.property(ordered, ({ steps, pair: [assetIn, assetOut], size: wanted }) => {
        const ledger = new PoolLedger(RULES)
        for (const one of steps) play(ledger, one)
        const order = { assetIn, assetOut, amount: units((wanted % 1_000n) + 1n), slippageBps }
        const quote = quoteExactOut(basisOf(ledger), order)
        if (!quote.ok || quote.value.amountIn > ledger.held(ALICE, assetIn) / 2n) return
        quoted++
        const { code, receipt } = ledger.send(ALICE, 'swap', quote.value.payload)
        expect([code, ...receipt.amounts]).toEqual(['success', quote.value.amountIn, order.amount])
      }),
      { numRuns: runs(150) },
    )
    expect(quoted).toBeGreaterThan(runs(30))
  })
})

describe('the best route', () => {
  const asset = (n: number): Hash => filled(n)
  const listed = fc
    .uniqueArray(
      fc.record({
        ends: fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 })).filter(([a, b]) => a < b),
        feeBps: fee,
        reserves: fc.tuple(fc.bigInt(1n, 10n ** 7n), fc.bigInt(1n, 10n ** 7n)),
      }),
      { maxLength: 14, selector: ({ ends, feeBps }) => `${ends} ${feeBps}` },
    )
    .map((pools) =>
      pools.map(({ ends: [a, b], feeBps, reserves: [x, y] }, i): ListedPool => {
        const facts = { version: 1, assetX: asset(a), assetY: asset(b), feeBps, shares: units(1_001) }
        const sums = { xPerY: 0n, yPerX: 0n, accumulatedAt: 0, createdAt: 0 }
        return { poolId: filled<PoolId>(100 + i), pool: { ...facts, ...sums, reserveX: units(x), reserveY: units(y) } }
      }),
    )

  /** The highest output of all lists of up to three different pools, sensible or not. */
  function bruteForce(pools: readonly ListedPool[], from: Hash, to: Hash, paid: bigint): bigint {
    let most = 0n
    const lists = pools.flatMap((a) => [[a], ...pools.flatMap((b) => [[a, b], ...pools.map((c) => [a, b, c])])])
    for (const list of lists) {
      if (new Set(list.map(({ poolId }) => poolId)).size < list.length) continue
      let [at, value]: [Hash | undefined, bigint] = [from, paid]
      for (const { pool } of list) {
        if (at === pool.assetX) {
          value = outputOf(pool.reserveX, pool.reserveY, value as Amount, BigInt(pool.feeBps))
          at = pool.assetY
        } else if (at === pool.assetY) {
          value = outputOf(pool.reserveY, pool.reserveX, value as Amount, BigInt(pool.feeBps))
          at = pool.assetX
        } else at = undefined
      }
      if (at === to && value > most) most = value
    }
    return most
  }

  it('pays what the best of all routes pays', () => {
    let found = 0
    fc.assert(
      fc.property(listed, fc.bigInt(1n, 10n ** 6n), (pools, paid) => {
        const order = { assetIn: asset(1), assetOut: asset(2), amountIn: units(paid) }
        const route = bestRoute(pools, order)
        expect(route === undefined ? 0n : paidBy(route)).toBe(bruteForce(pools, asset(1), asset(2), paid))
        if (route !== undefined) found++
      }),
      { numRuns: runs(150) },
    )
    expect(found).toBeGreaterThan(runs(40))
  })
})

describe('the price of an epoch', () => {
  it('is moved by what is held over k block ends at most by k twentieths of the way', () => {
    const push = fc.record({
      blocks: fc.integer({ min: 1, max: 20 }),
      size: fc.bigInt(1n, 10n ** 12n),
      turn: fc.boolean(),
    })
    fc.assert(
      fc.property(push, ({ blocks, size: pushed, turn }) => {
        const ledger = new PoolLedger(RULES)
        const { market } = RULES.at(0)
        ledger.advanceTo(40 - blocks)
        const [x, y] = ledger.reserves(FAR, FUSD)
        const [from, to] = turn ? [FUSD, FAR] : [FAR, FUSD]
        ledger.swap(ALICE, [from, pushed], [to])
        const [far, dollars] = ledger.reserves(FAR, FUSD)
        ledger.advanceTo(41)
        const micros = 10n ** 12n
        const paid = nativeOfMicros(epochPrice(ledger.state, 2, market)!, micros) as bigint
        // calm + k / 20 (pushed - calm), with less than two units of rounding.
        const exact = (20n - BigInt(blocks)) * micros * x * dollars + BigInt(blocks) * micros * far * y
        const off = paid * 20n * y * dollars - exact
        expect(off > -2n * 20n * y * dollars && off < 2n * 20n * y * dollars).toBe(true)
      }),
      { numRuns: runs(40) },
    )
  })
})
