import { POOL_SHARES, POOLS, type Pool, poolIdOf } from '../../amm/pool.ts'
import { DEVNET_LEDGERS } from '../../config/networks/devnet-ledgers.ts'
import { BRIDGED_TOKENS, STABLE_DOLLAR, stableDollar } from '../../config/networks/ledgers.ts'
import { createRuleBook, type RuleBook } from '../../consensus/chain/rule-book.ts'
import { assetOf } from '../../consensus/ledger/asset.ts'
import type { GenesisLedgers, GenesisToken } from '../../consensus/ledger/rules.ts'
import { balanceOf } from '../../consensus/ledger/token-balances.ts'
import { TOKENS } from '../../consensus/ledger/token-records.ts'
import { SUPPLY_BOUND } from '../../consensus/primitives/amount.ts'
import type { Address, Hash, PoolId, TokenSymbol } from '../../consensus/primitives/ids.ts'
import type { PayloadOf } from '../../consensus/tx/kinds.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { type SentOutcome, TestLedger } from './ledger.ts'
import { testParams } from './network.ts'
import { filled, units } from './unsigned.ts'

/** Symbol of the native coin. */

export const FAR = 'FAR' as TokenSymbol
export const FUSD = STABLE_DOLLAR
/** Plain tokens. SALT and WOOL can be frozen. The supply of HEAVY is almost 2^112. */
export const [SALT, WOOL, HEAVY] = ['SALT', 'WOOL', 'HEAVY'] as unknown as readonly [
  TokenSymbol,
  TokenSymbol,
  TokenSymbol,
]
export const [ALICE, BOB, CAROL, DAVE, ISSUER, OWNER] = [1, 2, 3, 4, 5, 6].map((n) =>
  filled<Address>(n),
) as unknown as readonly [Address, Address, Address, Address, Address, Address]
const TRADERS = [ALICE, BOB, CAROL, DAVE, ISSUER, OWNER]

export const COIN = 100_000_000n
export const DOLLAR = 1_000_000n
/** A trader's genesis balance of each of the native coin, FUSD, SALT and WOOL, in base units. */
export const PURSE = 1_000_000n * COIN
/** All units of HEAVY that can exist. Alice has them at first, unless a pool of genesis holds HEAVY. */
export const HEAVY_SUPPLY = SUPPLY_BOUND - 1n

export type GenesisPool = GenesisLedgers['pools'][number]

/** The pool that prices the coin. It has 4,000 coins and 1,000 dollars, so a coin costs a quarter of a dollar. */
export const PRICED_POOL: GenesisPool = {
  ...{ assetA: FAR, assetB: FUSD, feeBps: 30, amountA: 4_000n * COIN, amountB: 1_000n * DOLLAR, owner: OWNER },
}

/** Number of the network Base. */
const BASE = 1

function plain(symbol: TokenSymbol, freezable: boolean): GenesisToken {
  return { symbol, name: symbol, decimals: 4, kind: 'plain', maxSupply: 0n, issuer: ISSUER, freezable }
}

function ledgersWith(pools: readonly GenesisPool[]): GenesisLedgers {
  const dollars = pools.flatMap(({ assetA, assetB, amountA, amountB }) => [
    assetA === FUSD ? amountA : 0n,
    assetB === FUSD ? amountB : 0n,
  ])
  const reserve = dollars.reduce((sum, each) => sum + each, PURSE * BigInt(TRADERS.length))
  return {
    tokens: [...BRIDGED_TOKENS, stableDollar(ISSUER), plain(SALT, true), plain(WOOL, true), plain(HEAVY, false)],
    balances: [
      ...TRADERS.flatMap((address) => [FUSD, SALT, WOOL].map((symbol) => ({ symbol, address, amount: PURSE }))),
      ...(pools.some(({ assetA, assetB }) => assetA === HEAVY || assetB === HEAVY)
        ? []
        : [{ symbol: HEAVY, address: ALICE, amount: HEAVY_SUPPLY }]),
    ],
    stables: DEVNET_LEDGERS.stables.map((stable) => ({ ...stable, reserve })),
    pools,
    bridge: { committee: null, vaults: DEVNET_LEDGERS.bridge.vaults, deposited: [{ network: BASE, amount: reserve }] },
  }
}

/** A rule book whose genesis has these pools and the traders' purses. */
export function poolRuleBook(pools: readonly GenesisPool[] = [PRICED_POOL]): RuleBook {
  const params = testParams()
  const allocations = TRADERS.map((address) => ({ address, amount: PURSE }))
  return createRuleBook(
    { ...params, genesis: { ...params.genesis, allocations, ledgers: ledgersWith(pools) } },
    PROTOCOL,
  )
}

const COINS = { symbol: FAR }

export function poolOf(one: TokenSymbol, other: TokenSymbol, feeBps = 30): PoolId {
  return poolIdOf(assetOf(one, COINS), assetOf(other, COINS), feeBps)
}

export interface Hop {
  readonly asset: TokenSymbol
  readonly feeBps: number
}

/** A ledger with short names for what traders do. */
export class PoolLedger extends TestLedger {
  constructor(ruleBook: RuleBook = poolRuleBook()) {
    super(ruleBook)
  }

  /** The pool of two symbols. Throws if it does not exist. */
  pool(one: TokenSymbol, other: TokenSymbol, feeBps = 30): Pool {
    const pool = this.get(POOLS, poolOf(one, other, feeBps))
    if (pool === undefined) throw new Error(`no pool ${one}-${other}-${feeBps}`)
    return pool
  }

  /** The pool's reserves in the order of the symbols. */
  reserves(one: TokenSymbol, other: TokenSymbol, feeBps = 30): readonly [bigint, bigint] {
    const { assetX, reserveX, reserveY } = this.pool(one, other, feeBps)
    return assetX === assetOf(one, COINS) ? [reserveX, reserveY] : [reserveY, reserveX]
  }

  held(address: Address, symbol: TokenSymbol): bigint {
    return balanceOf(this.state, { address, asset: assetOf(symbol, COINS) })
  }

  shares(address: Address, one: TokenSymbol, other: TokenSymbol, feeBps = 30): bigint {
    return this.get(POOL_SHARES, { address, poolId: poolOf(one, other, feeBps) })?.shares ?? 0n
  }

  frozen(symbol: TokenSymbol): boolean {
    return this.get(TOKENS, assetOf(symbol, COINS) as Hash)?.frozen ?? false
  }

  freeze(symbol: TokenSymbol, frozen = true): SentOutcome {
    return this.send(ISSUER, 'token_flags', { symbol, frozen, hidden: false })
  }

  create(sender: Address, a: readonly [TokenSymbol, bigint], b: readonly [TokenSymbol, bigint], feeBps = 30) {
    return this.send(sender, 'pool_create', {
      ...{ assetA: a[0], assetB: b[0], feeBps, amountA: units(a[1]), amountB: units(b[1]) },
    })
  }

  add(sender: Address, a: readonly [TokenSymbol, bigint], b: readonly [TokenSymbol, bigint], minShares = 0n) {
    return this.send(sender, 'liquidity_add', {
      ...{ assetA: a[0], assetB: b[0], feeBps: 30, amountA: units(a[1]), amountB: units(b[1]) },
      minShares: units(minShares),
    })
  }

  remove(sender: Address, [a, b]: readonly [TokenSymbol, TokenSymbol], shares: bigint, [minA, minB] = [0n, 0n]) {
    return this.send(sender, 'liquidity_remove', {
      ...{ assetA: a, assetB: b, feeBps: 30, shares: units(shares), minA: units(minA), minB: units(minB) },
    })
  }

  /** Swaps an exact input along the hops. A symbol alone is a hop at 30 basis points. */
  swap(sender: Address, paid: readonly [TokenSymbol, bigint], hops: readonly (Hop | TokenSymbol)[], limit = 0n) {
    return this.send(sender, 'swap', swapPayload(paid, hops, limit))
  }

  /** Swaps for an exact output. */
  buy(sender: Address, paying: TokenSymbol, [asset, wanted]: readonly [TokenSymbol, bigint], limit = HEAVY_SUPPLY) {
    const hops = [{ asset, feeBps: 30 }]
    return this.send(sender, 'swap', {
      ...{ assetIn: paying, exactOut: true, amount: units(wanted), limit: units(limit), hops },
    })
  }
}

/** Payload of a swap of an exact input. */
export function swapPayload(
  [assetIn, paid]: readonly [TokenSymbol, bigint],
  hops: readonly (Hop | TokenSymbol)[],
  limit = 0n,
): PayloadOf<'swap'> {
  const named = hops.map((hop) => (typeof hop === 'string' ? { asset: hop, feeBps: 30 } : hop))
  return { assetIn, exactOut: false, amount: units(paid), limit: units(limit), hops: named }
}
