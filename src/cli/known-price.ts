import { fault } from '../../consensus/primitives/fault.ts'
import { ok, type Result } from '../../consensus/primitives/result.ts'
import { ROUTE_POOLS_MAX } from '../../marketplace/queries/prices.ts'
import { type Ratio, ratio, significantText } from '../../marketplace/queries/ratio.ts'
import { fieldsOf } from '../../rpc/client/http.ts'
import type { UnitsView } from '../../rpc/client/ledger-client.ts'
import { guarded, shownPercent, type Weighed } from './impact.ts'
import { findPool, seenFrom } from './pools.ts'
import type { Session } from './session.ts'

const PPM = 1_000_000n
const DIGITS = 6
/** Most pools of a route to dollars: those to the coin, and the pool that prices the coin. */
const ROUTE_MAX = ROUTE_POOLS_MAX + 1
/** Numerator or denominator of a price in the API. No price of the chain has more digits. */
const WHOLE_NUMBER = /^[1-9][0-9]{0,99}$/

/**
 * Adds to `said` how far the price implied by two amounts lies from the price that the node knows. Nothing is added if
 * a price is unknown. `pool` names the pool whose amounts these are, null for a new one. Faults: `cli/far-price` if the
 * prices are too far apart, `cli/declined` if the user said no.
 */
export async function withKnownPrice(
  session: Session,
  said: string,
  [a, b]: readonly [UnitsView, UnitsView],
  pool: string | null = null,
): Promise<Result<Weighed>> {
  const [ofA, ofB] = [await priceOf(session, a, pool), await priceOf(session, b, pool)]
  if (ofA === undefined || ofB === undefined) return ok({ says: said, facts: {} })
  const known = ratio(ofA.numerator * ofB.denominator, ofA.denominator * ofB.numerator)
  const opened = ratio(b.units, a.units)
  const [here, there] = [opened.numerator * known.denominator, known.numerator * opened.denominator]
  const distance = ((here > there ? here - there : there - here) * PPM + there - 1n) / there
  const [price, listed] = [opened, known].map((one) => significantText(perWhole(one, a, b), DIGITS))
  const side = here === there ? 'at' : `${shownPercent(distance)} ${here < there ? 'below' : 'above'}`
  const says = `${said}; at 1 ${a.symbol} = ${price} ${b.symbol}, ${side} the known price of ${listed} ${b.symbol}`
  const refused = await guarded(session.context, says, distance, (far) => fault('cli/far-price', { distance: far }))
  return refused.ok ? ok({ says, facts: refused.value }) : refused
}

/** Converts a price per base unit into a price per whole unit. */
function perWhole({ numerator, denominator }: Ratio, a: UnitsView, b: UnitsView): Ratio {
  return ratio(numerator * 10n ** BigInt(a.decimals), denominator * 10n ** BigInt(b.decimals))
}

/**
 * Millionths of a dollar per base unit. Undefined if unknown. Computed from pools in the newest block, since the node prices the coin by a
 * mean over a past epoch. A pool cannot be compared with itself: for the pool that prices the coin the epoch mean is used, and for a pool
 * that prices a token there is no other price.
 */
async function priceOf(session: Session, { symbol }: UnitsView, pool: string | null): Promise<Ratio | undefined> {
  const { route, microsPerUnit, basis } = await toldPrice(session, symbol)
  if (!Array.isArray(route) || route.length > ROUTE_MAX) return undefined
  if (pool !== null && route.includes(pool)) return basis === 'epoch' ? told(microsPerUnit) : undefined
  return route.length === 0 ? told(microsPerUnit) : along(session, symbol, route.map(String))
}

/**
 * Millionths of a dollar per base unit along these pools, the last of which leads to an asset that the node prices
 * without a pool. Undefined if a pool or that price is missing.
 */
async function along(session: Session, from: string, route: readonly string[]): Promise<Ratio | undefined> {
  let [symbol, paid, given] = [from, 1n, 1n]
  for (const name of route) {
    const pool = await findPool(session, name)
    const side = pool.ok ? seenFrom(pool.value, symbol) : pool
    if (!side.ok) return undefined
    const { b, funds } = side.value
    symbol = b.symbol
    paid *= funds.reserveB
    given *= funds.reserveA
  }
  const last = await toldPrice(session, symbol)
  const dollars = Array.isArray(last.route) && last.route.length === 0 ? told(last.microsPerUnit) : undefined
  if (given === 0n || paid === 0n || dollars === undefined) return undefined
  return ratio(paid * dollars.numerator, given * dollars.denominator)
}

async function toldPrice({ client }: Session, symbol: string) {
  const answer = await client.document(`/api/v1/tokens/${encodeURIComponent(symbol)}`)
  return fieldsOf(fieldsOf(answer.ok ? answer.value.token : undefined).price)
}

function told(microsPerUnit: unknown): Ratio | undefined {
  const { numerator, denominator } = fieldsOf(microsPerUnit)
  const isPrice = [numerator, denominator].every((one) => typeof one === 'string' && WHOLE_NUMBER.test(one))
  return isPrice ? ratio(BigInt(numerator as string), BigInt(denominator as string)) : undefined
}
