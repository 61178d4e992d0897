import type { GenesisLedgers, GenesisToken } from '../../consensus/ledger/rules.ts'
import type { Address, TokenSymbol } from '../../consensus/primitives/ids.ts'
import { BRIDGED_BITCOIN, BRIDGED_DOLLAR, BRIDGED_LITECOIN } from './bridge.ts'

/** The dollar of the market: a stable token backed by bridged dollars, 6 decimals. */
export const STABLE_DOLLAR = 'FUSD' as TokenSymbol

const RESERVED = { maxSupply: 0n, issuer: null, freezable: false } as const

/** Symbols that every network reserves for bridged assets. */
export const BRIDGED_TOKENS: readonly GenesisToken[] = [
  { ...RESERVED, symbol: BRIDGED_DOLLAR, name: 'Bridged dollar', decimals: 6, kind: 'bridged' },
  { ...RESERVED, symbol: BRIDGED_BITCOIN, name: 'Bridged Bitcoin', decimals: 8, kind: 'bridged' },
  { ...RESERVED, symbol: BRIDGED_LITECOIN, name: 'Bridged Litecoin', decimals: 8, kind: 'bridged' },
]

/** The stable dollar with its issuer. Without an issuer it cannot be minted, but its symbol is still reserved. */
export function stableDollar(issuer: Address | null): GenesisToken {
  return { ...RESERVED, symbol: STABLE_DOLLAR, name: 'Farthing dollar', decimals: 6, kind: 'stable', issuer }
}

/** Only reserved symbols: no supply, no pool, no committee. */
export const EMPTY_LEDGERS: GenesisLedgers = {
  tokens: [...BRIDGED_TOKENS, stableDollar(null)],
  balances: [],
  stables: [{ symbol: STABLE_DOLLAR, reserveSymbol: BRIDGED_DOLLAR, reserve: 0n }],
  pools: [],
  bridge: { committee: null, vaults: [], deposited: [] },
}
