/** A token of genesis. This file is written from the parameters that the documents name. */

export interface GenesisToken {
  readonly symbol: string
  readonly name: string
  readonly decimals: number
  readonly kind: 'plain' | 'stable' | 'bridged'
  readonly maxSupply: bigint
  readonly issuer: string | null
  readonly freezable: boolean
}

export interface GenesisPool {
  readonly assetA: string
  readonly assetB: string
  readonly feeBps: number
  readonly amountA: bigint
  readonly amountB: bigint
  readonly owner: string
}

export interface Ledgers {
  readonly tokens: readonly GenesisToken[]
  readonly balances: readonly { readonly symbol: string; readonly address: string; readonly amount: bigint }[]
  readonly stables: readonly { readonly symbol: string; readonly reserveSymbol: string; readonly reserve: bigint }[]
  readonly pools: readonly GenesisPool[]
  readonly bridge: {
    readonly committee: {
      readonly threshold: number
      readonly keys: readonly { readonly scheme: number; readonly hex: string }[]
    } | null
    readonly vaults: readonly { readonly network: number; readonly address: string }[]
    readonly deposited: readonly { readonly network: number; readonly amount: bigint }[]
  }
}

const COIN = 10n ** 8n
const DOLLAR = 10n ** 6n
/** One whole unit of a token with 4 decimals. */
const PIECE = 10n ** 4n

type Plainest = Pick<GenesisToken, 'symbol' | 'name' | 'decimals' | 'kind'>

function reserved(token: Plainest, issuer: string | null = null): GenesisToken {
  return { ...token, maxSupply: 0n, issuer, freezable: false }
}

function tokensOfAll(issuer: string | null): readonly GenesisToken[] {
  return [
    reserved({ symbol: 'XUSD', name: 'Bridged dollar', decimals: 6, kind: 'bridged' }),
    reserved({ symbol: 'XBTC', name: 'Bridged Bitcoin', decimals: 8, kind: 'bridged' }),
    reserved({ symbol: 'XLTC', name: 'Bridged Litecoin', decimals: 8, kind: 'bridged' }),
    reserved({ symbol: 'FUSD', name: 'Farthing dollar', decimals: 6, kind: 'stable' }, issuer),
  ]
}

/** Reserved symbols and nothing else. */
export const EMPTY: Ledgers = {
  tokens: tokensOfAll(null),
  balances: [],
  stables: [{ symbol: 'FUSD', reserveSymbol: 'XUSD', reserve: 0n }],
  pools: [],
  bridge: { committee: null, vaults: [], deposited: [] },
}

/** Address format by bridge network: seven EVM chains, Solana, Bitcoin, Litecoin. */
export const FORMATS = [...Array<string>(7).fill('evm'), 'solana', 'bitcoin', 'litecoin']

const UNSPENDABLE: Readonly<Record<string, string>> = {
  evm: '0x000000000000000000000000000000000000dEaD',
  solana: '1nc1nerator11111111111111111111111111111111',
  bitcoin: '1BitcoinEaterAddressDontSendf59kuE',
  litecoin: 'LKDxGDJq5fF4FohAB8zJH24mDDNHDNtqsE',
}

function devPools(owner: string): readonly GenesisPool[] {
  const pool = (a: string, b: string, feeBps: number, amountA: bigint, amountB: bigint): GenesisPool => ({
    ...{ assetA: a, assetB: b, feeBps, amountA, amountB, owner },
  })
  return [
    pool('FAR', 'FUSD', 30, 400_000n * COIN, 100_000n * DOLLAR),
    pool('FAR', 'SALT', 30, 40_000n * COIN, 20_000n * PIECE),
    pool('SALT', 'WOOL', 100, 10_000n * PIECE, 30_000n * PIECE),
  ]
}

/** The devnet's ledgers, for ten addresses and the three keys of its committee, all in hex. */
export function devLedgers(addresses: readonly string[], committee: readonly string[]): Ledgers {
  const [, issuer, provider] = addresses as [string, string, string]
  const accountCount = BigInt(addresses.length)
  const stable = 100_000n * DOLLAR + accountCount * 10_000n * DOLLAR
  const good = { decimals: 4, kind: 'plain', issuer } as const
  const pockets = (address: string): Ledgers['balances'] => [
    { symbol: 'XUSD', address, amount: 10_000n * DOLLAR },
    { symbol: 'FUSD', address, amount: 10_000n * DOLLAR },
    { symbol: 'SALT', address, amount: 10_000n * PIECE },
    { symbol: 'WOOL', address, amount: 10_000n * PIECE },
  ]
  return {
    tokens: [
      ...tokensOfAll(issuer),
      { ...good, symbol: 'SALT', name: 'Salt', maxSupply: 0n, freezable: true },
      { ...good, symbol: 'WOOL', name: 'Wool', maxSupply: 1_000_000n * PIECE, freezable: false },
    ],
    balances: addresses.flatMap(pockets),
    stables: [{ symbol: 'FUSD', reserveSymbol: 'XUSD', reserve: stable }],
    pools: devPools(provider),
    bridge: {
      committee: { threshold: 2, keys: committee.map((hex) => ({ scheme: 2, hex })) },
      vaults: FORMATS.map((format, network) => ({ network, address: UNSPENDABLE[format] as string })),
      deposited: [{ network: 1, amount: stable + accountCount * 10_000n * DOLLAR }],
    },
  }
}
