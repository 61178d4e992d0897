import type { BridgeNetwork } from '../../consensus/ledger/rules.ts'
import type { TokenSymbol } from '../../consensus/primitives/ids.ts'

/** Dollars from other chains, 6 decimals. If a network uses more decimals, attestation drops the excess digits. */
export const BRIDGED_DOLLAR = 'XUSD' as TokenSymbol
/** Bitcoin from its own chain, 8 decimals. */
export const BRIDGED_BITCOIN = 'XBTC' as TokenSymbol
/** Litecoin from its own chain, 8 decimals. */
export const BRIDGED_LITECOIN = 'XLTC' as TokenSymbol

/** Base units of one bridged dollar. */
export const DOLLAR = 1_000_000n

const DOLLARS = { asset: BRIDGED_DOLLAR, feeBps: 10n, minimum: 5n * DOLLAR, dailyMintCap: 1_000_000n * DOLLAR } as const

/** The ten chains of the bridge. A network's number is its index here, so new ones are only appended. */
export const BRIDGE_NETWORKS: readonly BridgeNetwork[] = [
  { ...DOLLARS, key: 'ethereum', name: 'Ethereum', format: 'evm', confirmations: 64 },
  { ...DOLLARS, key: 'base', name: 'Base', format: 'evm', confirmations: 600 },
  { ...DOLLARS, key: 'arbitrum', name: 'Arbitrum', format: 'evm', confirmations: 4_800 },
  { ...DOLLARS, key: 'optimism', name: 'Optimism', format: 'evm', confirmations: 600 },
  { ...DOLLARS, key: 'polygon', name: 'Polygon', format: 'evm', confirmations: 512 },
  { ...DOLLARS, key: 'bnb', name: 'BNB Chain', format: 'evm', confirmations: 60 },
  { ...DOLLARS, key: 'avalanche', name: 'Avalanche', format: 'evm', confirmations: 60 },
  { ...DOLLARS, key: 'solana', name: 'Solana', format: 'solana', confirmations: 64 },
  {
    key: 'bitcoin',
    name: 'Bitcoin',
    format: 'bitcoin',
    asset: BRIDGED_BITCOIN,
    feeBps: 20n,
    confirmations: 6,
    minimum: 20_000n,
    dailyMintCap: 10n * 100_000_000n,
  },
  {
    key: 'litecoin',
    name: 'Litecoin',
    format: 'litecoin',
    asset: BRIDGED_LITECOIN,
    feeBps: 20n,
    confirmations: 12,
    minimum: 10_000_000n,
    dailyMintCap: 10_000n * 100_000_000n,
  },
]
