import { BRIDGED_TOKENS } from '../../config/networks/ledgers.ts'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import { assetOf, tokenAsset } from '../../consensus/ledger/asset.ts'
import type { GenesisLedgers, GenesisToken } from '../../consensus/ledger/rules.ts'
import { STABLE_RESERVES } from '../../consensus/ledger/stable.ts'
import { SUPPLY, type Supply } from '../../consensus/ledger/supply.ts'
import { balanceOf } from '../../consensus/ledger/token-balances.ts'
import { TOKENS, type Token } from '../../consensus/ledger/token-records.ts'
import type { Address, TokenSymbol } from '../../consensus/primitives/ids.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { FUNDS, TestLedger } from './ledger.ts'
import { testParams } from './network.ts'
import { filled } from './unsigned.ts'

export const symbol = (text: string): TokenSymbol => text as TokenSymbol

/** The issuer of every issued token of {@link TOKEN_LEDGERS}. */
export const ISSUER = filled<Address>(1)
/** Accounts that issue nothing. In {@link TOKEN_LEDGERS}, Bob and Carol hold tokens and Dave holds none. */
export const [BOB, CAROL, DAVE] = [filled<Address>(2), filled<Address>(3), filled<Address>(4)]
/** An address without an account. */
export const STRANGER = filled<Address>(0x55)

/** A bridged dollar. */
export const XUSD = symbol('XUSD')
/** A stable dollar that can be frozen, with a reserve of {@link XUSD}. */
export const FUSD = symbol('FUSD')
/** A plain token that can be frozen, without a limit. */
export const SALT = symbol('SALT')
/** A plain token that cannot be frozen, of at most 10,000 base units. */
export const WOOL = symbol('WOOL')

const plain = { decimals: 4, kind: 'plain', maxSupply: 0n, issuer: ISSUER } as const

const TOKENS_AT_START: readonly GenesisToken[] = [
  ...BRIDGED_TOKENS,
  { decimals: 6, maxSupply: 0n, symbol: FUSD, name: 'Stable dollar', kind: 'stable', issuer: ISSUER, freezable: true },
  { ...plain, symbol: SALT, name: 'Salt', freezable: true },
  { ...plain, symbol: WOOL, name: 'Wool', maxSupply: 10_000n, freezable: false },
]

/** A bridge with deposits of so many units of {@link XUSD}. */
function bridgeWith(amount: bigint): GenesisLedgers['bridge'] {
  const vault = { network: 1, address: '0x000000000000000000000000000000000000dEaD' }
  return { committee: null, vaults: [vault], deposited: [{ network: vault.network, amount }] }
}

/**
 * Bridged tokens and three tokens of the issuer. Bob has 1,000 base units each of XUSD, FUSD, SALT and WOOL, Carol 500 of FUSD. A reserve
 * of 1,500 covers all FUSD.
 */
export const TOKEN_LEDGERS: GenesisLedgers = {
  tokens: TOKENS_AT_START,
  balances: [
    ...[XUSD, FUSD, SALT, WOOL].map((named) => ({ symbol: named, address: BOB, amount: 1_000n })),
    { symbol: FUSD, address: CAROL, amount: 500n },
  ],
  stables: [{ symbol: FUSD, reserveSymbol: XUSD, reserve: 1_500n }],
  pools: [],
  bridge: bridgeWith(2_500n),
}

/** {@link TOKEN_LEDGERS} with these balances and this reserve of {@link FUSD}. The bridge has deposits for all {@link XUSD}. */
export function dollarLedgers(
  balances: readonly { symbol: TokenSymbol; address: Address; amount: bigint }[],
  reserve: bigint,
): GenesisLedgers {
  const bridged = balances.reduce((sum, row) => sum + (row.symbol === XUSD ? row.amount : 0n), reserve)
  return {
    ...TOKEN_LEDGERS,
    balances,
    stables: [{ symbol: FUSD, reserveSymbol: XUSD, reserve }],
    bridge: bridgeWith(bridged),
  }
}

/** The ledgers over four funded accounts, {@link ISSUER} to {@link DAVE}. Tokens are read by symbol. */
export class TokenLedger extends TestLedger {
  constructor(ledgers: GenesisLedgers = TOKEN_LEDGERS) {
    const params = testParams()
    const allocations = [ISSUER, BOB, CAROL, DAVE].map((address) => ({ address, amount: FUNDS }))
    super(createRuleBook({ ...params, genesis: { ...params.genesis, allocations, ledgers } }, PROTOCOL))
  }

  /** Balance of an address in a token or the native coin. */
  held(address: Address, named: TokenSymbol): bigint {
    return balanceOf(this.state, { address, asset: assetOf(named, this.ruleBook.at(0).coin) })
  }

  token(named: TokenSymbol): Token | undefined {
    return this.get(TOKENS, tokenAsset(named))
  }

  books(named: TokenSymbol): Supply {
    return this.get(SUPPLY, tokenAsset(named)) as Supply
  }

  /** minted - burned. */
  supply(named: TokenSymbol): bigint {
    const { minted, burned } = this.books(named)
    return minted - burned
  }

  reserve(named: TokenSymbol): bigint {
    return this.get(STABLE_RESERVES, tokenAsset(named))?.reserve ?? -1n
  }
}
