import { type Amount, formatAmount } from '../primitives/amount.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import type { Address, TokenSymbol } from '../primitives/ids.ts'
import type { StateView } from '../state/view.ts'
import type { TokenKind } from './rules.ts'
import { headroomOf, supplyRecord } from './supply.ts'
import { kindOfToken, type NamedToken } from './token-records.ts'

/** `token/wrong-kind` unless the token is of one of these kinds. */
export function checkKind({ symbol, token }: NamedToken, ...allowed: readonly TokenKind[]): Fault | null {
  const kind = kindOfToken(token)
  return allowed.includes(kind) ? null : fault('token/wrong-kind', { symbol, kind })
}

/** `token/not-issuer` unless the address issues the token. */
export function checkIssuer({ symbol, token }: NamedToken, address: Address): Fault | null {
  return token.issuer === address ? null : fault('token/not-issuer', { symbol })
}

/** `token/frozen` if the token is frozen. */
export function checkUnfrozen({ symbol, token }: NamedToken): Fault | null {
  return token.frozen ? fault('token/frozen', { symbol }) : null
}

/** `token/max-supply` if minting would pass the most that may ever be minted. */
export function checkHeadroom(view: StateView, { symbol, asset, token }: NamedToken, minted: Amount): Fault | null {
  const headroom = headroomOf(supplyRecord(view, asset))
  return minted <= headroom ? null : beyondMaximum({ symbol, decimals: token.decimals }, headroom)
}

/** `headroom` is what may still be minted. */
export function beyondMaximum(
  { symbol, decimals }: { readonly symbol: TokenSymbol; readonly decimals: number },
  headroom: Amount,
): Fault {
  const headroomText = formatAmount(headroom, decimals)
  return fault('token/max-supply', { symbol, headroom: headroom.toString(), headroomText })
}
