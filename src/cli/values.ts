import { parseAddress } from '../../consensus/crypto/address.ts'
import { formatAmount } from '../../consensus/primitives/amount.ts'
import { isHex } from '../../consensus/primitives/bytes.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import {
  type Address,
  AGENT_ID,
  type AgentId,
  SERVICE_ID,
  type ServiceId,
  TOKEN_SYMBOL,
  type TokenSymbol,
  type TxId,
} from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { encodeText } from '../../consensus/primitives/text.ts'
import type { AssetView } from '../../rpc/client/ledger-client.ts'
import { amountOf } from '../../rpc/contract/amounts.ts'
import type { CommandContext } from './command.ts'

/** A refusal of a command line. */
export function usage(reason: string): { readonly ok: false; readonly fault: ReturnType<typeof fault> } {
  return fail(fault('cli/usage', { reason }))
}

/** A refusal by the current state of the chain, found before anything was sent. It may work later. */
export function cannot(reason: string): { readonly ok: false; readonly fault: ReturnType<typeof fault> } {
  return fail(fault('cli/not-possible', { reason }))
}

/** An amount with its symbol: `1.5 FAR`. */
export function amountText(value: bigint, { symbol, decimals }: AssetView): string {
  return `${formatAmount(value, decimals)} ${symbol}`
}

/** Base units stay base units if the decimals are not known. */
export function unitsText(value: unknown, asset: AssetView | undefined, symbol = ''): string {
  const units = amountOf(value)
  if (units === undefined) return '-'
  return asset === undefined ? `${units} base units of ${symbol}` : amountText(units, asset)
}

/** Lower-case letters are refused, not converted. */
export function readSymbol(text: string): Result<TokenSymbol> {
  if (TOKEN_SYMBOL.test(text)) return ok(text as TokenSymbol)
  const capitals = text.toUpperCase()
  const meant = TOKEN_SYMBOL.test(capitals) ? `; did you mean ${capitals}?` : ''
  return usage(`"${text.slice(0, 40)}" is no symbol: 2 to 10 capital letters and digits, a letter first${meant}`)
}

/** Parses an address of the configured network. */
export function readAddress({ params }: Pick<CommandContext, 'params'>, text: string): Result<Address> {
  return parseAddress(params.addressPrefix, text)
}

/** A stake or a withdrawal has the id of the transaction that made it. */
export function readId(what: string, text: string): Result<TxId> {
  return isHex(text, 32) ? ok(text as TxId) : usage(`"${text.slice(0, 70)}" is no id of a ${what}: 64 hex digits`)
}

/** A whole number below `bound` from a flag. Undefined if the flag is not given. */
export function countFlag(
  { flags }: Pick<CommandContext, 'flags'>,
  name: string,
  bound: number,
): Result<number | undefined> {
  const text = flags[name]
  if (text === undefined) return ok(undefined)
  const value = Number(text)
  if (/^(0|[1-9][0-9]{0,8})$/.test(text) && value < bound) return ok(value)
  return usage(`--${name} is a whole number from 0 to ${bound - 1}`)
}

/** A flag that is true or false. */
export function truthFlag({ flags }: Pick<CommandContext, 'flags'>, name: string): Result<boolean | undefined> {
  const text = flags[name]
  if (text === undefined) return ok(undefined)
  return text === 'true' || text === 'false' ? ok(text === 'true') : usage(`--${name} is true or false`)
}

/** Checks that a text fits its field on chain. */
export function readText(what: string, text: string, bytesMax: number): Result<string> {
  const { length } = encodeText(text)
  return length <= bytesMax ? ok(text) : usage(`${what} has ${length} bytes, allowed are ${bytesMax}`)
}

/** The text of a flag, checked to fit its field on chain. */
export function textFlag(
  { flags }: Pick<CommandContext, 'flags'>,
  name: string,
  bytesMax: number,
): Result<string | undefined> {
  const text = flags[name]
  return text === undefined ? ok(undefined) : readText(`--${name}`, text, bytesMax)
}

/** `otherwise` is the error if there is no word. */
export function readAgentId(word: string | undefined, otherwise: string): Result<AgentId> {
  if (word === undefined) return usage(otherwise)
  if (AGENT_ID.test(word)) return ok(word as AgentId)
  return usage(`"${word.slice(0, 40)}" is no id of an agent: 3 to 32 lower-case letters, digits and inner hyphens`)
}

/** Parses the id of a service. */
export function readServiceId(word: string): Result<ServiceId> {
  if (SERVICE_ID.test(word)) return ok(word as ServiceId)
  return usage(`"${word.slice(0, 60)}" is no id of a service: 4 to 48 lower-case letters, digits and inner hyphens`)
}
