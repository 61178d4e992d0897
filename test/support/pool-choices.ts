import { amountNear, type Choice, type Choosing, choice, once, pick, senderAt, symbolOf } from './choices.ts'
import { ceilOf } from './reference/arithmetic.ts'
import { NATIVE } from './reference/ledger.ts'
import type { Pool } from './reference/pool-kinds.ts'
import { heldAmount, holder } from './token-choices.ts'

const AMOUNT_MAX = 2n ** 112n - 1n

/** All assets, the native coin first. */
const assets = ({ ledger }: Choosing): string[] => [NATIVE, ...ledger.tokens.all().map(([asset]) => asset)]

/** Two assets and a fee. Once in four they are those of an existing pool. */
function pairAt(choosing: Choosing): readonly [a: string, b: string, feeBps: number] {
  const { ledger, n, rules } = choosing
  const pools = ledger.pools.all()
  if (pools.length > 0 && once(choosing, 4, 1)) {
    const [, { assetX, assetY, feeBps }] = pick(pools, n[2])
    return [assetY, assetX, feeBps]
  }
  const all = assets(choosing)
  const first = (n[1] as number) % all.length
  const second = first + 1 + ((n[2] as number) % (all.length - 1))
  return [all[first] as string, all[second % all.length] as string, pick(rules.tx.poolFeesBps, n[3])]
}

function poolCreate(choosing: Choosing): Choice {
  const { n } = choosing
  const [a, b, feeBps] = pairAt(choosing)
  const sender = a === NATIVE ? holder(choosing, b) : holder(choosing, a)
  const small = once(choosing, 8, 4)
  return choice(sender, 'pool_create', {
    assetA: symbolOf(a, choosing),
    assetB: once(choosing, 30, 2) ? 'NONE' : symbolOf(b, choosing),
    feeBps,
    amountA: small ? 1_000n : heldAmount(choosing, sender.address, a, 5),
    amountB: small ? pick([999n, 1_000n, 1_002n, 1_003n], n[5]) : heldAmount(choosing, sender.address, b, 6),
  })
}

interface Named {
  readonly id: string
  readonly pool: Pool
  readonly a: string
  readonly b: string
  readonly names: { readonly assetA: string; readonly assetB: string; readonly feeBps: number }
}

/** The pool's assets in either order, and its fee. Once in nine the fee is drawn from all allowed fees. */
function named(choosing: Choosing, [id, pool]: readonly [string, Pool]): Named {
  const { n, rules } = choosing
  const [a, b] = once(choosing, 2, 2) ? [pool.assetX, pool.assetY] : [pool.assetY, pool.assetX]
  const feeBps = once(choosing, 9, 3) ? pick(rules.tx.poolFeesBps, n[1]) : pool.feeBps
  return { id, pool, a, b, names: { assetA: symbolOf(a, choosing), assetB: symbolOf(b, choosing), feeBps } }
}

function liquidityAdd(choosing: Choosing): Choice {
  const { ledger, n } = choosing
  const all = ledger.pools.all()
  if (all.length === 0) return poolCreate(choosing)
  const { a, b, names } = named(choosing, pick(all, n[1]))
  const sender = a === NATIVE ? holder(choosing, b) : holder(choosing, a)
  return choice(sender, 'liquidity_add', {
    ...names,
    amountA: heldAmount(choosing, sender.address, a, 4),
    amountB: heldAmount(choosing, sender.address, b, 5),
    minShares: pick([0n, 0n, 1n, 10n ** 9n, AMOUNT_MAX], n[6]),
  })
}

function liquidityRemove(choosing: Choosing): Choice {
  const { ledger, n } = choosing
  const all = ledger.poolShares.all()
  if (all.length === 0) return poolCreate(choosing)
  const [id, { shares: held }] = pick(all, n[1])
  const { names, pool } = named(choosing, [id.slice(64), ledger.pools.of(id.slice(64))])
  const shares = amountNear(pick([held / 3n, held, held + 1n, 1n, held / 100n, held / 7n], n[4]))
  const fair = (shares * pool.reserveX) / pool.shares
  const minA = pick([0n, 0n, 0n, fair, AMOUNT_MAX], n[5])
  const sender = senderAt(choosing, id.slice(0, 64))
  return choice(sender, 'liquidity_remove', { ...names, shares, minA, minB: pick([0n, 1n], n[6]) })
}

/** Hops through existing pools, as far as they lead. If no pool has the first asset, one hop through a pool that does not exist. */
function route(choosing: Choosing, from: string, count: number): { asset: string; feeBps: number }[] {
  const { ledger, n } = choosing
  const hops: { asset: string; feeBps: number }[] = []
  let at = from
  while (hops.length < count) {
    const open = ledger.pools.all().filter(([, { assetX, assetY }]) => assetX === at || assetY === at)
    const [, pool] = open.length === 0 ? [] : pick(open, (n[2] as number) + 7 * hops.length)
    if (pool === undefined) break
    at = pool.assetX === at ? pool.assetY : pool.assetX
    hops.push({ asset: at, feeBps: pool.feeBps })
  }
  if (hops.length === 0)
    hops.push({
      asset: pick(
        assets(choosing).filter((asset) => asset !== from),
        n[2],
      ),
      feeBps: 5,
    })
  return hops
}

/** The first asset of a swap, mostly one that a pool has. */
function beginning(choosing: Choosing): string {
  const pools = choosing.ledger.pools.all()
  if (pools.length === 0 || once(choosing, 12, 1)) return pick(assets(choosing), choosing.n[1])
  const [, pool] = pick(pools, choosing.n[1])
  return once(choosing, 2, 3) ? pool.assetX : pool.assetY
}

function swap(choosing: Choosing): Choice {
  const from = beginning(choosing)
  const exactOut = once(choosing, 3, 4)
  const hops = route(choosing, from, exactOut ? 1 : 1 + ((choosing.n[3] as number) % 3))
  const sender = from === NATIVE ? choosing.sender : holder(choosing, from)
  const names = {
    assetIn: symbolOf(from, choosing),
    hops: hops.map(({ asset, feeBps }) => ({ asset: symbolOf(asset, choosing), feeBps })),
  }
  const amounts = exactOut ? outAmounts(choosing, from, hops[0]?.asset) : inAmounts(choosing, sender.address, from)
  return choice(sender, 'swap', { ...names, exactOut, ...amounts })
}

function inAmounts(choosing: Choosing, address: string, from: string): { amount: bigint; limit: bigint } {
  const amount = heldAmount(choosing, address, from, 5)
  return { amount, limit: pick([0n, 0n, 0n, 1n, amount, AMOUNT_MAX], choosing.n[6]) }
}

/** An amount to buy, at most one unit above the reserve, and a limit: about the exact price, or the highest possible. */
function outAmounts(
  { ledger, n }: Choosing,
  from: string,
  into: string | undefined,
): { amount: bigint; limit: bigint } {
  const found = ledger.pools
    .all()
    .find(([, { assetX, assetY }]) => [assetX, assetY].every((one) => one === from || one === into))
  if (found === undefined) return { amount: 1n, limit: AMOUNT_MAX }
  const [, { assetX, reserveX, reserveY, feeBps }] = found
  const [into0, out] = assetX === from ? [reserveX, reserveY] : [reserveY, reserveX]
  const amount = amountNear(pick([out / 1_000n, 1n, out / 10n, out - 1n, out, out + 1n, out / 2n], n[5]))
  const price = amount < out ? ceilOf(into0 * amount * 10_000n, (out - amount) * BigInt(10_000 - feeBps)) : 0n
  const limits = [price, AMOUNT_MAX, price - 1n, price + 1n, AMOUNT_MAX].map((limit) =>
    limit > 0n ? amountNear(limit) : 0n,
  )
  return { amount, limit: pick(limits, n[6]) }
}

function stake(choosing: Choosing): Choice {
  const { ledger, rules, sender, n } = choosing
  const { stakeAmountMin, stakeTiers } = rules.tx
  const balance = ledger.balance(sender.address, NATIVE)
  const amount = amountNear(
    pick([stakeAmountMin, 1_000n * stakeAmountMin + 7n, balance / 3n, balance, balance / 10n], n[2]),
  )
  const enough = amount < stakeAmountMin ? stakeAmountMin : amount
  return choice(sender, 'stake', { tier: (n[1] as number) % stakeTiers, amount: enough })
}

/** A choice about one of the stakes, mostly by its owner. Without stakes, a choice that makes one. */
function stakeOf(choosing: Choosing, kind: 'unstake' | 'claim'): Choice {
  const all = choosing.ledger.stakes.all()
  const unlocked = all.filter(
    ([, { unlocksAt, amount }]) => unlocksAt <= choosing.height && (kind === 'claim' || amount > 0n),
  )
  const some = unlocked.length > 0 && !once(choosing, 4, 2) ? unlocked : all
  if (some.length === 0) return stake(choosing)
  const [id] = pick(some, choosing.n[1])
  return choice(senderAt(choosing, id.slice(0, 64)), kind, { stakeId: id.slice(64) })
}

/** For each kind of transaction on pools and stakes, the function that chooses one for a random chain. */
export const POOL_CHOICES = {
  pool_create: poolCreate,
  liquidity_add: liquidityAdd,
  liquidity_remove: liquidityRemove,
  swap,
  stake,
  unstake: (choosing: Choosing): Choice => stakeOf(choosing, 'unstake'),
  claim: (choosing: Choosing): Choice => stakeOf(choosing, 'claim'),
} as const
