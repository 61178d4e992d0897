import { addLiquidity, initialShares, LOCKED_SHARES, removeLiquidity } from '../../../amm/math.ts'
import { type Amount, mulDivUp, parseAmount } from '../../../consensus/primitives/amount.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { AssetView, PoolView, UnitsView } from '../../../rpc/client/ledger-client.ts'
import type { CommandContext } from '../command.ts'
import { withKnownPrice } from '../known-price.ts'
import { atLeast, atMost, bpsText, parsePercent, partOf, SLIPPAGE_FLAG, slippageFlag } from '../percent.ts'
import { findPool, ownShares, poolText, seenFrom } from '../pools.ts'
import { type AmountLabel, LOSS_FLAG, madeForWorth, type Proposal, propose } from '../proposal.ts'
import { findAsset, readAmount, type Session } from '../session.ts'
import { amountText, cannot, countFlag, usage } from '../values.ts'
import { writingCommand } from '../writing.ts'

const FEE_BPS_DEFAULT = 30
const BPS = 10_000
const PARTS_PER_BPS = 100

const PRICE_FLAG = {
  'accept-impact': 'Allow a pool price more than 15 percent from the known one, and do not ask above 5 percent',
}

const SHARES: AmountLabel = { label: 'received', asset: null }

interface Stack {
  readonly amount: string
  readonly symbol: string
}

interface CreateAsked {
  readonly first: Stack
  readonly second: Stack
  readonly feeBps: number
}

/** `farthing pool create`: opens a pool. */
export const poolCreateCommand = writingCommand<CreateAsked>({
  name: 'pool create',
  usage: '<amount> <symbol> <amount> <symbol>',
  wordsMax: 4,
  about: 'Open a pool of two assets; what you put in sets its price',
  example: 'pool create 100 FAR 150 WOOL --fee 0.3',
  flags: {
    fee: 'Fee of its swaps in percent: 0.05, 0.3 or 1; default 0.3',
    'fee-bps': 'The same in hundredths of a percent, as it stands in the name of a pool',
    ...PRICE_FLAG,
  },
  read: readCreate,
  propose: async (session, { first, second, feeBps }) => {
    const { poolFeesBps } = session.rules.tx
    if (!poolFeesBps.includes(feeBps)) return usage(`the fee is one of ${poolFeesBps.map(bpsText).join(', ')}`)
    const both = await readStacks(session, first, second)
    if (!both.ok) return both
    const [a, b] = both.value
    if (a.asset.symbol === b.asset.symbol) return usage('a pool is one of two different assets')
    if (initialShares(a.amount, b.amount) <= LOCKED_SHARES) return usage('these amounts are too small for a pool')
    const payload = {
      ...{ assetA: a.asset.symbol, assetB: b.asset.symbol, feeBps },
      ...{ amountA: a.amount, amountB: b.amount },
    }
    const says = `open a pool at ${bpsText(feeBps)} with ${amountText(a.amount, a.asset)} and ${amountText(b.amount, b.asset)}`
    const sides = both.value.map(({ asset, amount }) => ({ ...asset, units: amount }))
    // The node refuses a pool that exists, so its price is not compared with the known one.
    const isThere = (await findPool(session, poolText(a.asset, b.asset, feeBps))).ok
    const weighed = isThere
      ? ok({ says, facts: {} })
      : await withKnownPrice(session, says, sides as [UnitsView, UnitsView])
    if (!weighed.ok) return weighed
    return propose(
      'pool_create',
      payload,
      weighed.value.says,
      [paid(a.asset), paid(b.asset), SHARES],
      weighed.value.facts,
    )
  },
})

function readCreate(context: CommandContext): Result<CreateAsked> {
  const [amountA, symbolA, amountB, symbolB] = context.words
  if (amountA === undefined || symbolA === undefined || amountB === undefined || symbolB === undefined)
    return usage('usage: farthing pool create <amount> <symbol> <amount> <symbol>')
  const feeBps = feeOf(context)
  if (!feeBps.ok) return feeBps
  const [first, second] = [
    { amount: amountA, symbol: symbolA },
    { amount: amountB, symbol: symbolB },
  ]
  return ok({ first, second, feeBps: feeBps.value ?? FEE_BPS_DEFAULT })
}

/** In basis points. Undefined if not given. */
function feeOf(context: CommandContext): Result<number | undefined> {
  const { fee, 'fee-bps': bps } = context.flags
  if (fee === undefined) return countFlag(context, 'fee-bps', BPS)
  if (bps !== undefined) return usage('--fee and --fee-bps say the same: give one of them')
  const parts = parsePercent('fee', fee)
  return parts.ok ? ok(Number(parts.value) / PARTS_PER_BPS) : parts
}

interface Measured {
  readonly asset: AssetView
  readonly amount: Amount
}

async function readStack(session: Session, { amount: text, symbol }: Stack): Promise<Result<Measured>> {
  const asset = await findAsset(session, symbol)
  if (!asset.ok) return asset
  const amount = readAmount(text, asset.value)
  return amount.ok ? ok({ asset: asset.value, amount: amount.value }) : amount
}

async function readStacks(
  session: Session,
  first: Stack,
  second: Stack,
): Promise<Result<readonly [Measured, Measured]>> {
  const a = await readStack(session, first)
  if (!a.ok) return a
  const b = await readStack(session, second)
  return b.ok ? ok([a.value, b.value]) : b
}

function paid(asset: AssetView): AmountLabel {
  return { label: 'paid', asset }
}

/** `second` is computed if it is null. */
interface AddAsked {
  readonly pool: string
  readonly first: Stack
  readonly second: Stack | null
  readonly slippage: bigint
}

/** `farthing pool add`: adds liquidity at the price of the pool. */
export const poolAddCommand = writingCommand<AddAsked>({
  name: 'pool add',
  usage: '<pool> <amount> <symbol> [<amount> <symbol>]',
  wordsMax: 5,
  about:
    'Add to a pool at its price; the second amount is worked out unless you give it, and what is too much of either stays with you',
  example: 'pool add FAR-SALT-30 10 FAR',
  flags: { ...SLIPPAGE_FLAG, ...PRICE_FLAG, ...LOSS_FLAG },
  read: readAdd,
  propose: proposeAdd,
})

function readAdd(context: CommandContext): Result<AddAsked> {
  const [pool, amountA, symbolA, amountB, symbolB] = context.words
  if (
    pool === undefined ||
    amountA === undefined ||
    symbolA === undefined ||
    (amountB !== undefined && symbolB === undefined)
  )
    return usage('usage: farthing pool add <pool> <amount> <symbol> [<amount> <symbol>]')
  const slippage = slippageFlag(context)
  if (!slippage.ok) return slippage
  const second = amountB === undefined || symbolB === undefined ? null : { amount: amountB, symbol: symbolB }
  return ok({ pool, first: { amount: amountA, symbol: symbolA }, second, slippage: slippage.value })
}

async function proposeAdd(session: Session, asked: AddAsked): Promise<Result<readonly Proposal[]>> {
  const { slippage } = asked
  const pool = await findPool(session, asked.pool)
  if (!pool.ok) return pool
  const side = seenFrom(pool.value, asked.first.symbol)
  if (!side.ok) return side
  const { a, b, funds } = side.value
  const offeredA = readAmount(asked.first.amount, a)
  if (!offeredA.ok) return offeredA
  const offeredB = readSecond(asked, b)
  if (!offeredB.ok) return offeredB
  // Without an amount by the user, the transaction offers more of the second asset than is needed now, since the price may
  // move. The pool takes only what it needs.
  const needed = mulDivUp(offeredA.value, funds.reserveB, funds.reserveA)
  const amountB = offeredB.value ?? atMost(needed, slippage)
  const expected = addLiquidity(funds, offeredA.value, amountB)
  if (expected.shares === 0n) return cannot('these amounts are too small for this pool')
  const name = { assetA: a.symbol, assetB: b.symbol, feeBps: pool.value.feeBps }
  const payload = { ...name, amountA: offeredA.value, amountB, minShares: atLeast(expected.shares, slippage) }
  const amounts = `${amountText(expected.amountA, a)} and ${amountText(expected.amountB, b)}`
  const left = [
    { units: offeredA.value - expected.amountA, asset: a },
    { units: offeredB.value === null ? 0n : offeredB.value - expected.amountB, asset: b },
  ]
  const says = `add about ${amounts} to ${pool.value.name} for at least ${payload.minShares} shares${staysText(left)}`
  // Arbitrage moves a pool back to the known price, and its liquidity providers pay for that.
  const sides = [
    { ...a, units: funds.reserveA as Amount },
    { ...b, units: funds.reserveB as Amount },
  ] as const
  const weighed = await withKnownPrice(session, says, sides, pool.value.name)
  if (!weighed.ok) return weighed
  const labels = [paid(a), paid(b), SHARES]
  return madeForWorth(propose('liquidity_add', payload, weighed.value.says, labels, weighed.value.facts), 2n)
}

function staysText(left: readonly { readonly units: bigint; readonly asset: AssetView }[]): string {
  const texts = left.flatMap(({ units, asset }) => (units > 0n ? [amountText(units, asset)] : []))
  return texts.length === 0 ? '' : `; at the price of the pool ${texts.join(' and ')} of what you offer stays with you`
}

function readSecond({ second }: AddAsked, b: AssetView): Result<Amount | null> {
  if (second === null) return ok(null)
  return second.symbol === b.symbol
    ? readAmount(second.amount, b)
    : usage(`the other asset of this pool is ${b.symbol}`)
}

/** Shares to give back: a number, or parts per million of the wallet's shares. */
type Portion = { readonly shares: bigint } | { readonly parts: bigint }

interface RemoveAsked {
  readonly pool: string
  readonly portion: Portion
  readonly slippage: bigint
}

const ALL_PARTS = 1_000_000n

/** `farthing pool remove`: gives shares back for both assets. */
export const poolRemoveCommand = writingCommand<RemoveAsked>({
  name: 'pool remove',
  usage: '<pool>',
  wordsMax: 1,
  about: 'Give shares of a pool back for both assets',
  example: 'pool remove FAR-SALT-30 --percent 50',
  flags: {
    shares: 'How many shares, a whole number',
    percent: 'How many percent of the shares you hold',
    all: 'All shares you hold',
    ...SLIPPAGE_FLAG,
    ...LOSS_FLAG,
  },
  read: readRemove,
  propose: async (session, asked) => {
    const pool = await findPool(session, asked.pool)
    if (!pool.ok) return pool
    const held = await ownShares(session, pool.value)
    return held.ok ? proposeRemove(pool.value, held.value, asked) : held
  },
})

function readRemove(context: CommandContext): Result<RemoveAsked> {
  const [pool] = context.words
  const portion = readPortion(context)
  if (!portion.ok) return portion
  if (pool === undefined) return usage('usage: farthing pool remove <pool> --shares <n>, --percent <p> or --all')
  const slippage = slippageFlag(context)
  return slippage.ok ? ok({ pool, portion: portion.value, slippage: slippage.value }) : slippage
}

function readPortion({ flags: { shares, percent, all } }: CommandContext): Result<Portion> {
  const given = [shares, percent, all].filter((flag) => flag !== undefined)
  if (given.length !== 1) return usage('give one of --shares <n>, --percent <p> and --all')
  if (all !== undefined) return ok({ parts: ALL_PARTS })
  if (shares !== undefined) {
    const whole = parseAmount(shares, 0)
    return whole.ok && whole.value > 0n ? ok({ shares: whole.value }) : usage('--shares is a whole number of shares')
  }
  const parts = parsePercent('percent', percent as string)
  return parts.ok ? ok({ parts: parts.value }) : parts
}

function proposeRemove(
  { name, x, y, feeBps, shares: all }: PoolView,
  held: bigint,
  { portion, slippage }: RemoveAsked,
): Result<readonly Proposal[]> {
  if (held === 0n) return cannot(`the wallet holds no shares of ${name}`)
  const shares = 'shares' in portion ? portion.shares : partOf(held, portion.parts)
  if (shares === 0n) return cannot('that is less than one share')
  if (shares > held) return cannot(`the wallet holds ${held} shares of ${name}`)
  const funds = { reserveA: x.units, reserveB: y.units, shares: all }
  const { amountA, amountB } = removeLiquidity(funds, shares)
  const [minA, minB] = [atLeast(amountA, slippage), atLeast(amountB, slippage)]
  const payload = { assetA: x.symbol, assetB: y.symbol, feeBps, shares: shares as Amount, minA, minB }
  const says = `give ${shares} of ${held} shares of ${name} back for at least ${amountText(minA, x)} and ${amountText(minB, y)}`
  const received = (asset: AssetView): AmountLabel => ({ label: 'received', asset })
  return madeForWorth(propose('liquidity_remove', payload, says, [received(x), received(y)]), 2n)
}
