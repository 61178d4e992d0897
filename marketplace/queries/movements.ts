import { poolIdOf } from '../../amm/pool.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import { assetOf, tokenAsset } from '../../consensus/ledger/asset.ts'
import { BRIDGE_NETWORKS, WITHDRAWALS } from '../../consensus/ledger/bridge-records.ts'
import { OUTCOME_OK } from '../../consensus/ledger/outcome.ts'
import type { ReceiptOf } from '../../consensus/ledger/receipt.ts'
import { STABLE_RESERVES } from '../../consensus/ledger/stable.ts'
import { type Amount, amount, subtractProven } from '../../consensus/primitives/amount.ts'
import type { Address, AgentId, Hash, PoolId, TokenSymbol, TxId } from '../../consensus/primitives/ids.ts'
import { NATIVE_ASSET } from '../../consensus/state/table.ts'
import type { Transaction, TxBody } from '../../consensus/tx/transaction.ts'
import { tabClaimAt } from '../ledger/tab-lives.ts'
import { coinOf } from './assets.ts'
import { tabFacts } from './tabs.ts'

/** One end of a movement: an address, or a place in the ledger without an address. */
export type Place =
  | { readonly place: 'address'; readonly address: Address }
  | { readonly place: 'pool'; readonly poolId: PoolId }
  | { readonly place: 'escrow' | 'tab'; readonly agentId: AgentId }
  | { readonly place: 'bridge'; readonly network: number }
  | { readonly place: 'staking' | 'reserve' | 'minted' | 'burned' }

/** Units of one asset that a transaction moved. */
export interface Movement {
  readonly asset: Hash
  readonly amount: Amount
  readonly from: Place
  readonly to: Place
}

const STAKED = { place: 'staking' } as const
const RESERVE = { place: 'reserve' } as const
const MINTED = { place: 'minted' } as const
const BURNED = { place: 'burned' } as const

/** Without fees; none if the transaction failed. Amounts that the chain computed come from the receipt. */
export function movementsOf(
  chain: ChainReader,
  { txId, body }: Pick<Transaction, 'txId' | 'body'>,
  receipt: ReceiptOf<'transaction'>,
): readonly Movement[] {
  if (receipt.code !== OUTCOME_OK) return []
  const moves = new Moves(chain, body, receipt.amounts)
  const tabs = tabMoves(chain, { txId, body }, receipt.entries)
  return [...moves.transfers(), ...moves.dollars(), ...moves.trades(), ...moves.locks(), ...moves.crossings(), ...tabs]
}

/** The movements of one transaction. Each public method handles some kinds and returns none for any other kind. */
class Moves {
  readonly #chain: ChainReader
  readonly #body: TxBody
  readonly #told: readonly Amount[]
  readonly #sender: Place

  constructor(chain: ChainReader, body: TxBody, told: readonly Amount[]) {
    this.#chain = chain
    this.#body = body
    this.#told = told
    this.#sender = at(body.sender)
  }

  transfers(): readonly Movement[] {
    const { kind, payload } = this.#body
    const from = this.#sender
    switch (kind) {
      case 'transfer':
        return [{ asset: NATIVE_ASSET, amount: payload.amount, from, to: at(payload.to) }]
      case 'token_transfer':
        return [this.#move(payload.symbol, payload.amount, from, at(payload.to))]
      case 'token_mint':
      case 'stable_mint':
        return [this.#move(payload.symbol, payload.amount, MINTED, at(payload.to))]
      case 'token_burn':
        return [this.#move(payload.symbol, payload.amount, from, BURNED)]
      default:
        return []
    }
  }

  dollars(): readonly Movement[] {
    const { kind, payload } = this.#body
    const from = this.#sender
    switch (kind) {
      case 'stable_deposit':
        return this.#reserved(payload.symbol, payload.amount, from, RESERVE)
      case 'stable_withdraw':
        return this.#reserved(payload.symbol, payload.amount, RESERVE, from)
      case 'stable_redeem': {
        const burned = this.#move(payload.symbol, payload.amount, from, BURNED)
        return [burned, ...this.#reserved(payload.symbol, this.#told[0], RESERVE, from)]
      }
      default:
        return []
    }
  }

  /** Of a swap, only the first and the last movement: between them, assets stay inside the pools. */
  trades(): readonly Movement[] {
    const { kind, payload } = this.#body
    const from = this.#sender
    if (kind === 'swap') {
      const { assetIn, hops } = payload
      const symbols = [assetIn, ...hops.map(({ asset }) => asset)]
      const pools = hops.map(({ feeBps }, i) =>
        this.#pool(symbols[i] as TokenSymbol, symbols[i + 1] as TokenSymbol, feeBps),
      )
      const [first, last] = [pools[0], pools.at(-1)] as readonly [Place, Place]
      return [
        this.#move(assetIn, this.#told[0], from, first),
        this.#move(symbols.at(-1) as TokenSymbol, this.#told.at(-1), last, from),
      ]
    }
    if (kind !== 'pool_create' && kind !== 'liquidity_add' && kind !== 'liquidity_remove') return []
    const { assetA, assetB, feeBps } = payload
    const pool = this.#pool(assetA, assetB, feeBps)
    const [source, target] = kind === 'liquidity_remove' ? [pool, from] : [from, pool]
    return [this.#move(assetA, this.#told[0], source, target), this.#move(assetB, this.#told[1], source, target)]
  }

  locks(): readonly Movement[] {
    const { kind, payload } = this.#body
    const from = this.#sender
    switch (kind) {
      case 'stake':
        return [{ asset: NATIVE_ASSET, amount: payload.amount, from, to: STAKED }]
      case 'unstake':
      case 'claim':
        return this.#told.slice(0, 1).map((amount) => ({ asset: NATIVE_ASSET, amount, from: STAKED, to: from }))
      case 'agent_invoke':
        return [
          { asset: NATIVE_ASSET, amount: payload.amount, from, to: { place: 'escrow', agentId: payload.agentId } },
        ]
      default:
        return []
    }
  }

  crossings(): readonly Movement[] {
    const { kind, payload } = this.#body
    switch (kind) {
      case 'bridge_deposit':
        return this.#crossed(payload.network, payload.amount, (bridge) => [bridge, at(payload.to)])
      case 'bridge_withdraw':
        return this.#crossed(payload.network, payload.amount, (bridge) => [this.#sender, bridge])
      case 'bridge_cancel': {
        const withdrawal = this.#chain.database.get(WITHDRAWALS, payload.withdrawalId)
        if (withdrawal === undefined) return []
        const { network, amount, sender } = withdrawal
        return this.#crossed(network, amount, (bridge) => [bridge, at(sender)])
      }
      default:
        return []
    }
  }

  #move(symbol: TokenSymbol, amount: Amount | undefined, from: Place, to: Place): Movement {
    return { asset: assetOf(symbol, coinOf(this.#chain)), amount: amount as Amount, from, to }
  }

  #pool(one: TokenSymbol, other: TokenSymbol, feeBps: number): Place {
    const coin = coinOf(this.#chain)
    return { place: 'pool', poolId: poolIdOf(assetOf(one, coin), assetOf(other, coin), feeBps) }
  }

  /** The reserve of a stable token is counted in its reserve asset. */
  #reserved(stable: TokenSymbol, amount: Amount | undefined, from: Place, to: Place): readonly Movement[] {
    const reserves = this.#chain.database.get(STABLE_RESERVES, tokenAsset(stable))
    if (reserves === undefined || amount === undefined) return []
    return [{ asset: reserves.reserveAsset, amount, from, to }]
  }

  #crossed(network: number, amount: Amount, ends: (bridge: Place) => readonly [Place, Place]): readonly Movement[] {
    const record = this.#chain.database.get(BRIDGE_NETWORKS, network)
    if (record === undefined) return []
    const [from, to] = ends({ place: 'bridge', network })
    return [{ asset: record.asset, amount, from, to }]
  }
}

/** A claim of a tab that this node does not know moves nothing here: see {@link tellsClaims}. */
function tabMoves(
  chain: ChainReader,
  { txId, body: { kind, payload, sender } }: Pick<Transaction, 'txId' | 'body'>,
  outcomes: readonly number[],
): readonly Movement[] {
  const locked = (agentId: AgentId, units: Amount): readonly Movement[] => [
    { asset: NATIVE_ASSET, amount: units, from: at(sender), to: { place: 'tab', agentId } },
  ]
  switch (kind) {
    case 'tab_open':
      return locked(payload.agentId, payload.deposit)
    case 'tab_fund': {
      const agentId = tabFacts(chain, payload.tabId)?.tab.agentId
      return agentId === undefined ? [] : locked(agentId, payload.amount)
    }
    case 'tab_claim':
      return payload.entries.flatMap(({ tabId }, entry) =>
        outcomes[entry] === OUTCOME_OK ? claimMoves(chain, { txId, tabId, entry }) : [],
      )
    default:
      return []
  }
}

/** Whether this node knows what a claim mined at a height moved. */
export function tellsClaims({ database }: ChainReader, height: number): boolean {
  return height >= database.indexedFrom
}

function claimMoves(
  chain: ChainReader,
  { txId, tabId, entry }: { readonly txId: TxId; readonly tabId: TxId; readonly entry: number },
): readonly Movement[] {
  const place = chain.database.location(txId)
  const claim = place && tabClaimAt(chain.database, tabId, { ...place, entry })
  const tab = tabFacts(chain, tabId)?.tab
  if (claim === undefined || tab === undefined) return []
  const from = { place: 'tab', agentId: tab.agentId } as const
  const parts: readonly (readonly [bigint, Place])[] = [
    [subtractProven(claim.charged, claim.burned), at(tab.payout)],
    [claim.burned, BURNED],
    [claim.returned, at(tab.payer)],
  ]
  return parts.flatMap(([units, to]) =>
    units === 0n ? [] : [{ asset: NATIVE_ASSET, amount: amount(units), from, to }],
  )
}

function at(address: Address): Place {
  return { place: 'address', address }
}
