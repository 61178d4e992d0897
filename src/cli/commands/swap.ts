import { inputFor, outputOf } from '../../../amm/math.ts'
import type { Amount } from '../../../consensus/primitives/amount.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { HOPS_MAX } from '../../../consensus/tx/asset-payloads.ts'
import type { AssetView, HopView, UnitsView } from '../../../rpc/client/ledger-client.ts'
import { assetLie } from '../assets.ts'
import type { CommandContext } from '../command.ts'
import { IMPACT_FLAG, type Rival, withImpact } from '../impact.ts'
import { atLeast, atMost, SLIPPAGE_FLAG, slippageFlag } from '../percent.ts'
import { findPool, poolText, seenFrom } from '../pools.ts'
import { LOSS_FLAG, madeForWorth, type Proposal, propose } from '../proposal.ts'
import { findAsset, readAmount, type Session } from '../session.ts'
import { amountText, cannot, usage } from '../values.ts'
import { writingCommand } from '../writing.ts'

/** `route` names pools in order. Null lets the node choose. */
interface SwapAsked {
  readonly amount: string
  readonly from: string
  readonly to: string
  readonly exactOut: boolean
  readonly route: readonly string[] | null
  readonly slippage: bigint
  /** Whether --slippage was given. The default yields to --limit. */
  readonly isSlippageSaid: boolean
  /** The least output, or the most input for an exact output. Null if not given. */
  readonly limit: string | null
}

/** `farthing swap`: trades one asset for another. */
export const swapCommand = writingCommand<SwapAsked>({
  name: 'swap',
  usage: '<amount> <from> <to>',
  wordsMax: 3,
  about: 'Trade an amount of one asset for another over up to three pools',
  example: 'swap 10 FAR WOOL',
  flags: {
    'exact-out': 'The amount is what you get, not what you give; needs one pool of both assets',
    route: 'Pools to go through, comma-separated: FAR-SALT-30,SALT-WOOL-100; default: the best that the node finds',
    limit:
      'Least that you get, or with --exact-out most that you give, in place of the default slippage; with --slippage the tighter holds',
    ...SLIPPAGE_FLAG,
    ...IMPACT_FLAG,
    ...LOSS_FLAG,
  },
  read: readSwap,
  propose: async (session, asked) => {
    const from = await findAsset(session, asked.from)
    if (!from.ok) return from
    const to = await findAsset(session, asked.to)
    if (!to.ok) return to
    if (from.value.symbol === to.value.symbol) return usage('a swap is of two different assets')
    const pair = { from: from.value, to: to.value }
    return asked.exactOut ? proposeExactOut(session, pair, asked) : proposeExactIn(session, pair, asked)
  },
})

function readSwap(context: CommandContext): Result<SwapAsked> {
  const { words, flags } = context
  const [amount, from, to] = words
  if (amount === undefined || from === undefined || to === undefined)
    return usage('usage: farthing swap <amount> <from> <to>')
  const slippage = slippageFlag(context)
  if (!slippage.ok) return slippage
  const route = flags.route === undefined ? null : flags.route.split(',')
  const exactOut = flags['exact-out'] !== undefined
  if (route !== null && route.length > (exactOut ? 1 : HOPS_MAX))
    return usage(exactOut ? 'an exact output goes through one pool' : `a route has at most ${HOPS_MAX} pools`)
  const tolerance = { slippage: slippage.value, isSlippageSaid: flags.slippage !== undefined }
  return ok({ amount, from, to, exactOut, route, ...tolerance, limit: flags.limit ?? null })
}

interface Pair {
  readonly from: AssetView
  readonly to: AssetView
}

/** A route: its input, and the output of each pool. */
interface Way {
  readonly given: Amount
  readonly hops: readonly HopView[]
}

async function proposeExactIn(
  session: Session,
  { from, to }: Pair,
  asked: SwapAsked,
): Promise<Result<readonly Proposal[]>> {
  const given = readAmount(asked.amount, from)
  if (!given.ok) return given
  const pair = { from, to }
  const way =
    asked.route === null
      ? await quotedWay(session, pair, { amount: asked.amount, units: given.value })
      : await routeIn(session, pair, asked.route, given.value)
  if (!way.ok) return way
  const { hops } = way.value
  const { units } = (hops.at(-1) as HopView).out
  const least = readLimit(asked, to)
  if (!least.ok) return least
  if (least.value !== null && units < least.value) return quotedBadly(units, to)
  const { limit, why } = boundOf(asked, least.value, atLeast(units, asked.slippage))
  if (limit === 0n) return cannot(`${amountText(given.value, from)} are too little for these pools to pay anything`)
  const payload = { assetIn: from.symbol, exactOut: false, amount: given.value, limit, hops: hops.map(hopOf) }
  const said = `swap ${amountText(given.value, from)} for at least ${amountText(limit, to)}${why} over ${wayText(from, hops)}`
  const best =
    asked.route === null ? null : await quotedWay(session, pair, { amount: asked.amount, units: given.value })
  const rival = best?.ok ? rivalOut(from, best.value, (hops.at(-1) as HopView).out) : null
  const weighed = await withImpact(session, said, { from, given: given.value, hops, rival })
  if (!weighed.ok) return weighed
  const got = hops.map(({ out }, i) => ({ label: i === hops.length - 1 ? 'received' : 'through', asset: out }))
  const amounts = [{ label: 'paid', asset: from }, ...got]
  return madeForWorth(propose('swap', payload, weighed.value.says, amounts, weighed.value.facts), 1n)
}

async function proposeExactOut(
  session: Session,
  { from, to }: Pair,
  asked: SwapAsked,
): Promise<Result<readonly Proposal[]>> {
  const wanted = readAmount(asked.amount, to)
  if (!wanted.ok) return wanted
  const pair = { from, to }
  const way =
    asked.route === null
      ? await quotedWay(session, pair, { amountOut: asked.amount, units: wanted.value })
      : await poolOut(session, pair, asked.route[0] as string, wanted.value)
  if (!way.ok) return way
  const { given, hops } = way.value
  if (hops.length > 1) return fail(fault('cli/refused', { message: 'an exact output goes through one pool' }))
  const most = readLimit(asked, from)
  if (!most.ok) return most
  if (most.value !== null && given > most.value) return quotedBadly(given, from)
  const { limit, why } = boundOf(asked, most.value, atMost(given, asked.slippage))
  const payload = { assetIn: from.symbol, exactOut: true, amount: wanted.value, limit, hops: hops.map(hopOf) }
  const said = `swap at most ${amountText(limit, from)}${why} for ${amountText(wanted.value, to)} over ${wayText(from, hops)}`
  const best =
    asked.route === null ? null : await quotedWay(session, pair, { amountOut: asked.amount, units: wanted.value })
  const rival = best?.ok ? rivalIn(from, best.value, given) : null
  const weighed = await withImpact(session, said, { from, given, hops, rival })
  if (!weighed.ok) return weighed
  const amounts = [
    { label: 'paid', asset: from },
    { label: 'received', asset: to },
  ]
  return madeForWorth(propose('swap', payload, weighed.value.says, amounts, weighed.value.facts), 1n)
}

function hopOf({ out, feeBps }: HopView) {
  return { asset: out.symbol, feeBps }
}

function wayText(from: AssetView, hops: readonly HopView[]): string {
  return hops.map(({ out, feeBps }, i) => poolText(hops[i - 1]?.out ?? from, out, feeBps)).join(', ')
}

/** Null unless the user named a route that is worse than the best. */
function rivalOut(from: AssetView, { hops }: Way, named: UnitsView): Rival | null {
  const { out } = hops.at(-1) as HopView
  if (out.units <= named.units) return null
  return { says: `${wayText(from, hops)} would pay ${amountText(out.units, out)}`, fair: out.units, paid: named.units }
}

/**
 * A cheaper pool for the same output, if the user named a dearer one. Null if there is none. A route of several pools does
 * not count, since an exact output takes one pool.
 */
function rivalIn(from: AssetView, { given, hops }: Way, named: Amount): Rival | null {
  if (given >= named || hops.length > 1) return null
  return { says: `${wayText(from, hops)} would take ${amountText(given, from)}`, fair: named, paid: given }
}

function readLimit({ limit }: SwapAsked, asset: AssetView): Result<Amount | null> {
  return limit === null ? ok(null) : readAmount(limit, asset)
}

/** The limit to sign: --limit, or else the slippage. If both were given, the tighter one, and why. */
function boundOf(
  { exactOut, isSlippageSaid }: SwapAsked,
  limit: Amount | null,
  tolerable: Amount,
): { readonly limit: Amount; readonly why: string } {
  if (limit === null || limit === tolerable) return { limit: tolerable, why: '' }
  if (!isSlippageSaid) return { limit, why: ' by --limit' }
  const isTighter = exactOut ? limit < tolerable : limit > tolerable
  return isTighter
    ? { limit, why: ' by --limit, which is tighter than --slippage' }
    : { limit: tolerable, why: ' by --slippage, which is tighter than --limit' }
}

function quotedBadly(units: bigint, asset: AssetView) {
  return cannot(`the quote is ${amountText(units, asset)}, which is worse than --limit`)
}

/** The best route by the node, checked to lead from the one asset to the other with the requested amount. */
async function quotedWay(
  { client, context }: Session,
  { from, to }: Pair,
  { units, ...given }: ({ readonly amount: string } | { readonly amountOut: string }) & { readonly units: Amount },
): Promise<Result<Way>> {
  const quote = await client.quote({ from: from.symbol, to: to.symbol, ...given })
  if (!quote.ok) return quote
  const { amountIn, amountOut, route } = quote.value
  const lie = assetLie(context, [amountIn, amountOut, ...route.map(({ out }) => out)])
  if (lie !== null) return fail(lie)
  const end = (route.at(-1) as HopView).out
  const isPair = amountIn.symbol === from.symbol && end.symbol === to.symbol && end.units === amountOut.units
  if (isPair && units === ('amount' in given ? amountIn : amountOut).units)
    return ok({ given: amountIn.units, hops: route })
  return fail(fault('cli/refused', { message: 'its quote is for another swap' }))
}

async function routeIn(
  session: Session,
  { from, to }: Pair,
  route: readonly string[],
  given: Amount,
): Promise<Result<Way>> {
  const hops: HopView[] = []
  for (const name of route) {
    const before = hops.at(-1)?.out ?? { ...from, units: given }
    const pool = await findPool(session, name)
    if (!pool.ok) return pool
    const side = seenFrom(pool.value, before.symbol)
    if (!side.ok) return side
    const { b, funds } = side.value
    const { feeBps } = pool.value
    const units = outputOf(funds.reserveA, funds.reserveB, before.units, BigInt(feeBps))
    hops.push({ pool: pool.value.name, feeBps, out: { symbol: b.symbol, decimals: b.decimals, units } })
  }
  const end = hops.at(-1)?.out.symbol
  return end === to.symbol ? ok({ given, hops }) : usage(`this route leads to ${end}, not to ${to.symbol}`)
}

async function poolOut(session: Session, { from, to }: Pair, name: string, wanted: Amount): Promise<Result<Way>> {
  const pool = await findPool(session, name)
  if (!pool.ok) return pool
  const side = seenFrom(pool.value, from.symbol)
  if (!side.ok) return side
  const { b, funds } = side.value
  if (b.symbol !== to.symbol) return usage(`this route leads to ${b.symbol}, not to ${to.symbol}`)
  const { feeBps } = pool.value
  const given = inputFor(funds.reserveA, funds.reserveB, wanted, BigInt(feeBps))
  if (given === undefined) return cannot(`${pool.value.name} does not hold more than ${amountText(wanted, to)}`)
  return ok({ given, hops: [{ pool: pool.value.name, feeBps, out: { ...to, units: wanted } }] })
}
