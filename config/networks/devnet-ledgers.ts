import type { ExternalFormat } from '../../consensus/external/address.ts'
import type { GenesisLedgers } from '../../consensus/ledger/rules.ts'
import type { Address, TokenSymbol } from '../../consensus/primitives/ids.ts'
import { BRIDGE_NETWORKS, BRIDGED_DOLLAR, DOLLAR } from './bridge.ts'
import committeeKeys from './dev-committee.json' with { type: 'json' }
import { DEV_ADDRESSES } from './dev-keys.ts'
import { BRIDGED_TOKENS, STABLE_DOLLAR, stableDollar } from './ledgers.ts'
import { COIN } from './rules.ts'

const SALT = 'SALT' as TokenSymbol
const WOOL = 'WOOL' as TokenSymbol
const [, ISSUER, PROVIDER] = DEV_ADDRESSES as unknown as readonly [Address, Address, Address]

/** Base units of XUSD, and of FUSD, that every development key starts with. */
const POCKET_MONEY = 10_000n * DOLLAR
/** Base units of each plain token that every development key starts with: 10,000 whole units with 4 decimals. */
const GOODS = 10_000n * 10_000n

const POOLS: GenesisLedgers['pools'] = [
  {
    assetA: 'FAR' as TokenSymbol,
    assetB: STABLE_DOLLAR,
    feeBps: 30,
    amountA: 400_000n * COIN,
    amountB: 100_000n * DOLLAR,
    owner: PROVIDER,
  },
  {
    assetA: 'FAR' as TokenSymbol,
    assetB: SALT,
    feeBps: 30,
    amountA: 40_000n * COIN,
    amountB: 20_000n * 10_000n,
    owner: PROVIDER,
  },
  { assetA: SALT, assetB: WOOL, feeBps: 100, amountA: 10_000n * 10_000n, amountB: 30_000n * 10_000n, owner: PROVIDER },
]

/** Well-known burn addresses. The deposits that genesis counts were never made; send nothing to these addresses. */
const BURN_ADDRESSES: Readonly<Record<ExternalFormat, string>> = {
  evm: '0x000000000000000000000000000000000000dEaD',
  solana: '1nc1nerator11111111111111111111111111111111',
  bitcoin: '1BitcoinEaterAddressDontSendf59kuE',
  litecoin: 'LKDxGDJq5fF4FohAB8zJH24mDDNHDNtqsE',
}

/** Index of Base in the list of bridge networks. Genesis counts the devnet's dollars as deposited there. */
const BASE = 1
const POOL_DOLLARS = 100_000n * DOLLAR
const STABLE_SUPPLY = POOL_DOLLARS + BigInt(DEV_ADDRESSES.length) * POCKET_MONEY

/** All of it is worthless. The committee is 2 of 3: the development keys 8, 9 and 10 under scheme 2. */
export const DEVNET_LEDGERS: GenesisLedgers = {
  tokens: [
    ...BRIDGED_TOKENS,
    stableDollar(ISSUER),
    { symbol: SALT, name: 'Salt', decimals: 4, kind: 'plain', maxSupply: 0n, issuer: ISSUER, freezable: true },
    {
      symbol: WOOL,
      name: 'Wool',
      decimals: 4,
      kind: 'plain',
      maxSupply: 1_000_000n * 10_000n,
      issuer: ISSUER,
      freezable: false,
    },
  ],
  balances: DEV_ADDRESSES.flatMap((address) => [
    { symbol: BRIDGED_DOLLAR, address, amount: POCKET_MONEY },
    { symbol: STABLE_DOLLAR, address, amount: POCKET_MONEY },
    { symbol: SALT, address, amount: GOODS },
    { symbol: WOOL, address, amount: GOODS },
  ]),
  stables: [{ symbol: STABLE_DOLLAR, reserveSymbol: BRIDGED_DOLLAR, reserve: STABLE_SUPPLY }],
  pools: POOLS,
  bridge: {
    committee: { threshold: 2, keys: committeeKeys.map((hex) => ({ scheme: 2, hex })) },
    vaults: BRIDGE_NETWORKS.map(({ format }, network) => ({ network, address: BURN_ADDRESSES[format] })),
    deposited: [{ network: BASE, amount: STABLE_SUPPLY + BigInt(DEV_ADDRESSES.length) * POCKET_MONEY }],
  },
}
