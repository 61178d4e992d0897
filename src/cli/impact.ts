import { createInterface } from 'node:readline/promises'
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
const ALL_PARTS = 1_000_000n
const BPS = 10_000n

/** The flag that lets a swap of great impact through. */
export const IMPACT_FLAG = {
  'accept-impact': 'Swap though that moves the price by more than 15 percent, and do not ask above 5',
}

/** What goes into the first pool of a way, and what comes out of each. */
interface Traded {
  readonly from: AssetView
  readonly given: bigint
  readonly hops: readonly HopView[]
}

/**
 * How much worse than at the prices of its pools a swap is, their fees aside, in parts per million, rounded up: 1 - out / (in x
 * product of reserveOut / reserveIn x (1 - fee)).
 */
async function impactOf(session: Session, { from, given, hops }: Traded): Promise<Result<bigint>> {
  // What would come out at the prices of the pools, as a fraction.
  let [ideal, whole] = [given, 1n]
  let symbol = from.symbol
  for (const { pool: name, feeBps, out } of hops) {
    const pool = await findPool(session, name)
    if (!pool.ok) return pool
    const side = seenFrom(pool.value, symbol)
    if (!side.ok) return side
    const { reserveA, reserveB } = side.value.funds
    ideal *= reserveB * (BPS - BigInt(feeBps))
    whole *= reserveA * BPS
    symbol = out.symbol
  }
  const lost = ideal - (hops.at(-1) as HopView).out.units * whole
  return ok(lost <= 0n ? 0n : (lost * ALL_PARTS + ideal - 1n) / ideal)
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
  { flags }: Pick<CommandContext, 'flags'>,
  says: string,
  impact: bigint,
): Promise<Fault | null> {
  if (flags['accept-impact'] !== undefined || flags['dry-run'] !== undefined) return null
  if (impact > REFUSED_FROM) return fault('cli/impact', { impact: percentText(roundedUp(impact)) })
  if (impact <= ASKED_FROM || !process.stdin.isTTY) return null
  return (await isConfirmed(`${says}\nGo on? [y/N] `)) ? null : fault('cli/declined')
}

/** Parts per million as hundredths of a percent are shown. */
function roundedUp(parts: bigint): bigint {
  return ((parts + 99n) / 100n) * 100n
}

async function isConfirmed(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim())
  } finally {
    terminal.close()
  }
}
