import { amount } from '../primitives/amount.ts'
import { assert } from '../primitives/assert.ts'
import type { Overlay } from '../state/overlay.ts'
import { NATIVE_ASSET } from '../state/table.ts'
import { assetOf, tokenAsset } from './asset.ts'
import type { LedgerRules } from './module.ts'
import type { GenesisLedgers, GenesisToken } from './rules.ts'
import { mintAsset, openSupply } from './supply.ts'
import { creditOrCreate } from './token-balances.ts'
import { checkLaunch } from './token-launch.ts'
import { NO_ISSUER, SYMBOLS, skeletonOf, TOKEN_KINDS, TOKENS } from './token-records.ts'

/** The caller has checked that the token may exist. */
export function openToken(overlay: Overlay, token: GenesisToken, createdAt: number): void {
  const { symbol, name, decimals, kind, maxSupply, issuer, freezable } = token
  const asset = tokenAsset(symbol)
  overlay.put(TOKENS, asset, {
    ...{ version: 1, name, decimals, kind: TOKEN_KINDS.indexOf(kind), issuer: issuer ?? NO_ISSUER, freezable },
    ...{ frozen: false, hidden: false, createdAt },
  })
  openSupply(overlay, asset, amount(maxSupply))
  overlay.put(SYMBOLS, skeletonOf(symbol), { asset })
}

/** Genesis tokens must pass the rules for new tokens. The opening balances open their accounts. */
export function launchTokens(overlay: Overlay, rules: LedgerRules, ledgers: GenesisLedgers): void {
  overlay.put(SYMBOLS, skeletonOf(rules.coin.symbol), { asset: NATIVE_ASSET })
  for (const token of ledgers.tokens) {
    const refused = checkLaunch(overlay, rules, token).find(({ pass }) => !pass)
    assert(refused === undefined, `the genesis token ${token.symbol}: ${refused?.detail}`)
    openToken(overlay, token, 0)
  }
  for (const { symbol, address, amount: opening } of ledgers.balances) {
    const asset = assetOf(symbol, rules.coin)
    mintAsset(overlay, asset, amount(opening))
    const refused = creditOrCreate(overlay, { address, asset }, amount(opening), true)
    assert(refused === null, `an opening balance of ${symbol} finds its account`)
  }
}
