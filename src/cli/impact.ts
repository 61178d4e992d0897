import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { type Amount, formatAmount } from '../../consensus/primitives/amount.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { AssetView, HopView } from '../../rpc/client/ledger-client.ts'
import type { CommandContext } from './command.ts'
import { PERCENT_DECIMALS, percentText } from './percent.ts'
import { findPool, seenFrom } from './pools.ts'
import type { Session } from './session.ts'

/** On a terminal, the user must confirm a price that is worse than the known one by more than this (parts per million). */
const ASKED_FROM = 50_000n
/** A price worse by more than this is refused, unless the command line allows it. */
const REFUSED_FROM = 150_000n
const PPM = 1_000_000n
const ACCEPT = '--accept-impact'

/** The flag that allows a swap of high impact, or over a route that is much worse than the best. */
export const IMPACT_FLAG = {
  'accept-impact':
    'Allow a swap more than 15 percent below the listed price or the best route, and do not ask above 5 percent',
}

interface Traded {
  readonly from: AssetView
  readonly given: Amount
  readonly hops: readonly HopView[]
  /** A better route, if the user named one that is not the best. Null if there is none. */
  readonly rival: Rival | null
}

/** A better route than the named one, in words. The named route is worse by the part of `fair` that `paid` lacks. */
export interface Rival {
  readonly says: string
  readonly fair: bigint
  readonly paid: bigint
}

/**
 * How much less a swap pays than the current prices of its pools would give, in parts per million, rounded up. The pools' fees count as
 * part of the loss.
 */
async function impactOf(session: Session, { from, given, hops }: Traded): Promise<Result<bigint>> {
  // What the input would be worth at the prices before the swap, and what it pays, over a common denominator.
  let [fair, paid]: [bigint, bigint] = [given, (hops.at(-1) as HopView).out.units]
  let symbol = from.symbol
  for (const { feeBps, out } of hops) {
    // Pools are found by the assets that are signed. The pool id in a quote is only the node's claim.
    const pool = await findPool(session, `${symbol}-${out.symbol}-${feeBps}`)
    if (!pool.ok) return pool
    const side = seenFrom(pool.value, symbol)
    if (!side.ok) return side
    paid *= side.value.funds.reserveA
    fair *= side.value.funds.reserveB
    symbol = out.symbol
  }
  return ok(shortOf(fair, paid))
}

/** How far `paid` is below `fair`, in parts per million, rounded up. */
function shortOf(fair: bigint, paid: bigint): bigint {
  return paid >= fair ? 0n : ((fair - paid) * PPM + fair - 1n) / fair
}

/** What a transaction does, with a warning about its price, and the same facts for programs. */
export interface Weighed {
  readonly says: string
  readonly facts: object
}

/**
 * Faults: `cli/impact` if the impact is too great, `cli/worse-route` if the route is too much worse than the better one, `cli/declined` if
 * the user said no.
 */
export async function withImpact(session: Session, said: string, traded: Traded): Promise<Result<Weighed>> {
  const impact = await impactOf(session, traded)
  if (!impact.ok) return impact
  const { rival } = traded
  const worse = rival === null ? 0n : shortOf(rival.fair, rival.paid)
  const beside = rival === null ? '' : `; the best way, ${rival.says}: this is ${shownPercent(worse)} worse`
  const says = `${said}; price impact ${shownPercent(impact.value)}${beside}`
  const [distance, code] =
    worse > impact.value ? ([worse, 'cli/worse-route'] as const) : ([impact.value, 'cli/impact'] as const)
  const refused = await guarded(session.context, says, distance, (percent) => fault(code, { impact: percent }))
  if (!refused.ok) return refused
  const facts = { priceImpactPct: hundredths(impact.value), ...(rival !== null && { belowBestPct: hundredths(worse) }) }
  return ok({ says, facts: { ...facts, ...refused.value } })
}

/**
 * Confirms a price that is worse than the known one by `distance` (parts per million), and refuses one that is far
 * worse. A dry run returns the flag that sending needs. Faults: the refusal, and `cli/declined`.
 */
export async function guarded(
  { flags, note }: Pick<CommandContext, 'flags' | 'note'>,
  says: string,
  distance: bigint,
  refusal: (distance: string) => Fault,
): Promise<Result<{ readonly needs?: string }>> {
  if (flags['accept-impact'] !== undefined) return ok({})
  const isFar = distance > REFUSED_FROM
  if (flags['dry-run'] !== undefined) {
    if (isFar) note(`this needs ${ACCEPT} to be sent`)
    return ok(isFar ? { needs: ACCEPT } : {})
  }
  if (isFar) {
    note(says)
    return fail(refusal(shownPercent(distance)))
  }
  return distance <= ASKED_FROM ? ok({}) : confirmed(note, says)
}

/** Asks on a terminal only. Fault: `cli/declined`. */
export async function confirmed(note: CommandContext['note'], says: string): Promise<Result<object>> {
  if (!process.stdin.isTTY) return ok({})
  note(says)
  note('Go on? [y/N]')
  return (await isConfirmed()) ? ok({}) : fail(fault('cli/declined'))
}

/** Parts per million as a percentage, rounded up. */
export function shownPercent(parts: bigint): string {
  return percentText(roundedUp(parts))
}

function hundredths(parts: bigint): string {
  return formatAmount(roundedUp(parts), PERCENT_DECIMALS)
}

/** Parts per million, rounded up to hundredths of a percent. */
function roundedUp(parts: bigint): bigint {
  return ((parts + 99n) / 100n) * 100n
}

/** The end of input counts as no. */
async function isConfirmed(): Promise<boolean> {
  const lines = createInterface({ input: process.stdin })
  try {
    const [answer] = (await Promise.race([once(lines, 'line'), once(lines, 'close')])) as readonly unknown[]
    return /^y(es)?$/i.test(String(answer ?? '').trim())
  } finally {
    lines.close()
  }
}
