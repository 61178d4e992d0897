import { type Amount, amount } from '../primitives/amount.ts'
import { type Fault, fault, faultMessage } from '../primitives/fault.ts'
import { TOKEN_SYMBOL, type TokenSymbol } from '../primitives/ids.ts'
import { fitsText } from '../primitives/text.ts'
import type { StateView } from '../state/view.ts'
import { TOKEN_NAME_BYTES_MAX, type TokenCreate } from '../tx/asset-payloads.ts'
import { checkToken, TOKEN_DECIMALS_MAX } from '../tx/check-payload.ts'
import { symbolOf } from './asset.ts'
import type { LedgerRules } from './module.ts'
import { SYMBOLS, skeletonOf } from './token-records.ts'

/** A proposed token, not checked yet. */
export interface TokenLaunch {
  readonly symbol: string
  readonly name: string
  readonly decimals: number
  /** Base units; 0 for no limit. */
  readonly maxSupply: bigint
}

/** The verdict of one rule on a launch. */
export interface LaunchFinding {
  readonly rule: 'symbol-form' | 'symbol-free' | 'no-look-alike' | 'name' | 'decimals' | 'max-supply'
  readonly pass: boolean
  /** The reason of the verdict for people: English words without a full stop. */
  readonly detail: string
  readonly fault: Fault | null
}

type Rule = LaunchFinding['rule']

const PASSES: Readonly<Record<Rule, string>> = {
  'symbol-form': 'the symbol has the form of one',
  'symbol-free': 'no asset has this symbol',
  'no-look-alike': 'the symbol looks like no other',
  name: 'the name can be a name',
  decimals: 'the decimals are in range',
  'max-supply': 'the maximum supply is in range',
}

/**
 * The verdict of every rule for new tokens, in the order of `token_create`. All pass if and only if a `token_create`
 * that pays fee and burn succeeds in this state.
 */
export function checkLaunch(
  view: StateView,
  { coin }: Pick<LedgerRules, 'coin'>,
  launch: TokenLaunch,
): readonly LaunchFinding[] {
  const form = symbolForm(launch.symbol)
  const rival = form === null ? rivalOf(view, launch.symbol as TokenSymbol, coin) : undefined
  return [
    finding('symbol-form', form),
    finding('name', nameForm(launch.name)),
    finding('decimals', decimalsRange(launch.decimals)),
    finding('max-supply', maxSupplyRange(launch.maxSupply)),
    finding('symbol-free', form ?? takenBy(launch.symbol, rival)),
    finding('no-look-alike', form ?? looksLike(launch.symbol, rival)),
  ]
}

/** What `token_create` fails with, or null. */
export function launchFault(findings: readonly LaunchFinding[]): Fault | null {
  return findings.find(({ pass }) => !pass)?.fault ?? null
}

function finding(rule: Rule, refused: Fault | null): LaunchFinding {
  const pass = refused === null
  return { rule, pass, detail: pass ? PASSES[rule] : faultMessage(refused), fault: refused }
}

function symbolForm(symbol: string): Fault | null {
  if (TOKEN_SYMBOL.test(symbol)) return null
  return fault('tx/field', { field: 'symbol', reason: 'must be 2 to 10 capital letters and digits, a letter first' })
}

/** Values that pass {@link checkToken}. A rule replaces the one value that it judges, so only that value can fail. */
const SOUND: Omit<TokenCreate, 'symbol' | 'freezable'> = { name: 'x', decimals: 0, maxSupply: amount(0n) }

function nameForm(name: string): Fault | null {
  if (fitsText(name, TOKEN_NAME_BYTES_MAX)) return checkToken({ ...SOUND, name })
  const reason = `must be printable text of at most ${TOKEN_NAME_BYTES_MAX} bytes`
  return fault('tx/field', { field: 'name', reason })
}

function decimalsRange(decimals: number): Fault | null {
  if (Number.isInteger(decimals) && decimals >= 0) return checkToken({ ...SOUND, decimals })
  const reason = `must be a whole number from 0 to ${TOKEN_DECIMALS_MAX}`
  return fault('tx/field', { field: 'decimals', reason })
}

function maxSupplyRange(maxSupply: bigint): Fault | null {
  return checkToken({ ...SOUND, maxSupply: maxSupply as Amount })
}

/** The existing symbol that this one equals or looks like; undefined if there is none. */
function rivalOf(view: StateView, symbol: TokenSymbol, coin: LedgerRules['coin']): TokenSymbol | undefined {
  const known = view.get(SYMBOLS, skeletonOf(symbol))
  return known === undefined ? undefined : symbolOf(known.asset, coin)
}

function takenBy(symbol: string, rival: TokenSymbol | undefined): Fault | null {
  return symbol === rival ? fault('token/symbol-taken', { symbol }) : null
}

function looksLike(symbol: string, rival: TokenSymbol | undefined): Fault | null {
  if (rival === undefined || rival === symbol) return null
  return fault('token/look-alike', { symbol, other: rival })
}
