import { amount, ZERO } from '../primitives/amount.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import type { Address } from '../primitives/ids.ts'
import type { Overlay } from '../state/overlay.ts'
import { anyTable } from '../state/table.ts'
import type { PayloadOf } from '../tx/kinds.ts'
import { ACCOUNTS, debit } from './account.ts'
import type { KindHandler, LedgerModule } from './module.ts'
import { burnAsset, burnNative, mintAsset } from './supply.ts'
import { creditOrCreate, debitAsset, TOKEN_BALANCES } from './token-balances.ts'
import { checkHeadroom, checkIssuer, checkKind, checkUnfrozen } from './token-checks.ts'
import { launchTokens, openToken } from './token-genesis.ts'
import { checkLaunch, launchFault } from './token-launch.ts'
import { type NamedToken, NO_ISSUER, SYMBOLS, TOKENS, tokenOf } from './token-records.ts'

const tokenCreate: KindHandler<'token_create'> = {
  spends: (_, { token }) => amount(token.createBurn),
  apply: ({ overlay, rules, height }, { body: { sender, payload } }) => {
    const { symbol, name, decimals, maxSupply, freezable } = payload
    const burned = amount(rules.token.createBurn)
    const refused = launchFault(checkLaunch(overlay, rules, payload)) ?? debit(overlay, sender, burned)
    if (refused !== null) return refused
    burnNative(overlay, burned)
    openToken(overlay, { symbol, name, decimals, kind: 'plain', maxSupply, issuer: sender, freezable }, height)
    return null
  },
}

const tokenMint: KindHandler<'token_mint'> = {
  spends: () => ZERO,
  apply: ({ overlay }, { body: { sender, payload } }) => {
    const named = tokenOf(overlay, payload.symbol)
    if ('code' in named) return named
    const refused = checkKind(named, 'plain') ?? checkIssuer(named, sender) ?? checkUnfrozen(named)
    return refused ?? issue(overlay, named, payload)
  },
}

/** Mints units of a token to an address, up to its maximum supply. */
export function issue(
  overlay: Overlay,
  named: NamedToken,
  { to, amount: minted, create }: Pick<PayloadOf<'token_mint'>, 'to' | 'amount' | 'create'>,
): Fault | null {
  const refused = checkHeadroom(overlay, named, minted)
  if (refused !== null) return refused
  mintAsset(overlay, named.asset, minted)
  return creditOrCreate(overlay, { address: to, asset: named.asset }, minted, create)
}

const tokenBurn: KindHandler<'token_burn'> = {
  spends: () => ZERO,
  apply: ({ overlay }, { body: { sender, payload } }) => {
    const named = tokenOf(overlay, payload.symbol)
    if ('code' in named) return named
    // Burning a bridged token would leave its backing in the vault for ever, so that supply and vault no longer match.
    const { asset } = named
    const refused =
      checkKind(named, 'plain', 'stable') ?? debitAsset(overlay, { address: sender, asset }, payload.amount)
    if (refused !== null) return refused
    burnAsset(overlay, asset, payload.amount)
    return null
  },
}

const tokenTransfer: KindHandler<'token_transfer'> = {
  spends: () => ZERO,
  apply: ({ overlay }, { body: { sender, payload } }) => {
    const named = tokenOf(overlay, payload.symbol)
    if ('code' in named) return named
    const { asset } = named
    return (
      checkUnfrozen(named) ??
      debitAsset(overlay, { address: sender, asset }, payload.amount) ??
      creditOrCreate(overlay, { address: payload.to, asset }, payload.amount, payload.create)
    )
  },
}

const tokenFlags: KindHandler<'token_flags'> = {
  spends: () => ZERO,
  apply: ({ overlay }, { body: { sender, payload } }) => {
    const { symbol, frozen, hidden } = payload
    const named = tokenOf(overlay, symbol)
    if ('code' in named) return named
    const refused = checkIssuer(named, sender)
    if (refused !== null) return refused
    if (frozen && !named.token.freezable) return fault('token/not-freezable', { symbol })
    overlay.put(TOKENS, named.asset, { ...named.token, frozen, hidden })
    return null
  },
}

const tokenIssuer: KindHandler<'token_issuer'> = {
  spends: () => ZERO,
  apply: ({ overlay }, { body: { sender, payload } }) => {
    const named = tokenOf(overlay, payload.symbol)
    if ('code' in named) return named
    const refused = checkIssuer(named, sender) ?? checkNewIssuer(overlay, named, payload.issuer)
    if (refused !== null) return refused
    overlay.put(TOKENS, named.asset, { ...named.token, issuer: payload.issuer })
    return null
  },
}

/**
 * A frozen token needs an issuer to unfreeze it. A new issuer needs an account, so that no mistyped address becomes the
 * issuer.
 */
function checkNewIssuer(overlay: Overlay, named: NamedToken, issuer: Address): Fault | null {
  if (issuer === NO_ISSUER) return checkUnfrozen(named)
  return overlay.get(ACCOUNTS, issuer) === undefined ? fault('ledger/no-account') : null
}

/** Tokens and their balances. */
export const tokenModule = {
  name: 'tokens',
  tables: [anyTable(TOKENS), anyTable(SYMBOLS), anyTable(TOKEN_BALANCES)],
  handlers: {
    token_create: tokenCreate,
    token_mint: tokenMint,
    token_burn: tokenBurn,
    token_transfer: tokenTransfer,
    token_flags: tokenFlags,
    token_issuer: tokenIssuer,
  },
  genesis: launchTokens,
} satisfies LedgerModule
