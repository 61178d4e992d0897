import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Amount } from '../../consensus/primitives/amount.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { AssetView, HopView } from '../../rpc/client/ledger-views.ts'
import type { CommandContext } from './command.ts'
import { percentText } from './percent.ts'
import { findPool, seenFrom } from './pools.ts'
import type { Session } from './session.ts'

/** On a terminal a swap of more than so much impact is asked about, in parts per million. */
const ASKED_FROM = 50_000n
/** Beyond so much nothing is sent unless the command line says that it may. */
const REFUSED_FROM = 150_000n
const PPM = 1_000_000n

/** The flag that lets a swap of great impact through. */
export const IMPACT_FLAG = {
  'accept-impact': 'Swap at more than 15 percent below the listed price, and do not ask above 5',
}

/** What goes into the first pool of a way, and what comes out of each. */
interface Traded {
  readonly from: AssetView
  readonly given: Amount
  readonly hops: readonly HopView[]
}

/** How much worse than at the prices of its pools a swap is, fees included, in parts per million, rounded up. */
async function impactOf(session: Session, { from, given, hops }: Traded): Promise<Result<bigint>> {
  // What the input would bring at the prices before the swap, and what it brings, over one denominator.
  let [fair, paid]: [bigint, bigint] = [given, (hops.at(-1) as HopView).out.units]
  let symbol = from.symbol
  for (const { feeBps, out } of hops) {
    // By the assets that are signed: what a node calls the pool of a way is its own word.
    const pool = await findPool(session, `${symbol}-${out.symbol}-${feeBps}`)
    if (!pool.ok) return pool
    const side = seenFrom(pool.value, symbol)
    if (!side.ok) return side
    paid *= side.value.funds.reserveA
    fair *= side.value.funds.reserveB
    symbol = out.symbol
  }
  return ok(paid >= fair ? 0n : ((fair - paid) * PPM + fair - 1n) / fair)
}

/**
 * What a swap does, with its impact. Faults: `cli/impact` where that is too great, `cli/declined` where the person at the terminal
 * said no.
 */
export async function withImpact(session: Session, said: string, traded: Traded): Promise<Result<string>> {
  const impact = await impactOf(session, traded)
  if (!impact.ok) return impact
  const says = `${said}; price impact ${percentText(roundedUp(impact.value))}`
  const refusal = await impactRefusal(session.context, says, impact.value)
  return refusal === null ? ok(says) : fail(refusal)
}

async function impactRefusal(
  { flags, note }: Pick<CommandContext, 'flags' | 'note'>,
  says: string,
  impact: bigint,
): Promise<Fault | null> {
  if (flags['accept-impact'] !== undefined) return null
  const isDryRun = flags['dry-run'] !== undefined
  if (impact > REFUSED_FROM && isDryRun) note('this needs --accept-impact to be sent')
  if (isDryRun) return null
  if (impact > REFUSED_FROM) return fault('cli/impact', { impact: percentText(roundedUp(impact)) })
  if (impact <= ASKED_FROM || !process.stdin.isTTY) return null
  note(says)
  note('Go on? [y/N]')
  return (await isConfirmed()) ? null : fault('cli/declined')
}

/** Parts per million as hundredths of a percent are shown. */
function roundedUp(parts: bigint): bigint {
  return ((parts + 99n) / 100n) * 100n
}

/** Whether the line that comes next is a yes; an end of the input is none. */
async function isConfirmed(): Promise<boolean> {
  const lines = createInterface({ input: process.stdin })
  try {
    const [answer] = (await Promise.race([once(lines, 'line'), once(lines, 'close')])) as readonly unknown[]
    return /^y(es)?$/i.test(String(answer ?? '').trim())
  } finally {
    lines.close()
  }
}
