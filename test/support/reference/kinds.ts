import * as bridge from './bridge-kinds.ts'
import { hex } from './bytes.ts'
import { Ledger } from './ledger.ts'
import * as market from './market-kinds.ts'
import { CODE, Failure } from './outcome.ts'
import type { Kind, PayloadOf } from './payloads.ts'
import type { Place } from './place.ts'
import * as pools from './pool-kinds.ts'
import * as stable from './stable-kinds.ts'
import * as staking from './staking-kinds.ts'
import * as tabs from './tab-kinds.ts'
import type { Records } from './table.ts'
import * as tokens from './token-kinds.ts'
import type { ReferenceTransaction } from './transactions.ts'

/** Codes and amounts of a receipt. */
export interface Result {
  readonly code: number
  readonly entries: number[]
  readonly amounts: bigint[]
}

type Run<K extends Kind> = (place: Place, payload: PayloadOf<K>) => Result

const result = (part: Partial<Result>): Result => ({ code: CODE.success, entries: [], amounts: [], ...part })

/** A kind whose function returns its code. */
const coded =
  <P>(run: (place: Place, payload: P) => number) =>
  (place: Place, payload: P): Result =>
    result({ code: run(place, payload) })

/** A kind whose function returns the amounts that it moved, and throws a `Failure` if it fails. */
const moving =
  <P>(run: (place: Place, payload: P) => bigint[]) =>
  (place: Place, payload: P): Result =>
    result({ amounts: run(place, payload) })

/** A kind whose function returns nothing, and throws a `Failure` if it fails. */
const silent =
  <P>(run: (place: Place, payload: P) => void) =>
  (place: Place, payload: P): Result => {
    run(place, payload)
    return result({})
  }

const RUNS: { readonly [K in Kind]: Run<K> } = {
  transfer: coded(market.transfer),
  token_create: silent(tokens.tokenCreate),
  token_mint: silent(tokens.tokenMint),
  token_burn: silent(tokens.tokenBurn),
  token_transfer: silent(tokens.tokenTransfer),
  token_flags: silent(tokens.tokenFlags),
  token_issuer: silent(tokens.tokenIssuer),
  stable_deposit: silent(stable.stableDeposit),
  stable_mint: silent(stable.stableMint),
  stable_redeem: moving(stable.stableRedeem),
  stable_withdraw: silent(stable.stableWithdraw),
  pool_create: moving(pools.poolCreate),
  liquidity_add: moving(pools.liquidityAdd),
  liquidity_remove: moving(pools.liquidityRemove),
  swap: moving(pools.swap),
  stake: silent(staking.stake),
  unstake: moving(staking.unstake),
  claim: moving(staking.claim),
  bridge_deposit: silent(bridge.bridgeDeposit),
  bridge_withdraw: moving(bridge.bridgeWithdraw),
  bridge_sign: silent(bridge.bridgeSign),
  bridge_release: silent(bridge.bridgeRelease),
  bridge_cancel: silent(bridge.bridgeCancel),
  bridge_rotate: silent(bridge.bridgeRotate),
  bridge_halt: silent(bridge.bridgeHalt),
  agent_register: coded(market.agentRegister),
  agent_update: coded(market.agentUpdate),
  service_publish: coded(market.servicePublish),
  service_retire: coded(market.serviceRetire),
  agent_invoke: coded(market.agentInvoke),
  tab_open: silent(tabs.tabOpen),
  tab_fund: silent(tabs.tabFund),
  tab_claim: (place, payload) => result(tabs.tabClaim(place, payload)),
  tab_close: silent(tabs.tabClose),
  tab_terms: silent(tabs.tabTerms),
  agent_receipt: (place, { entries }) => result({ entries: entries.map((entry) => market.settle(place, entry)) }),
}

function attempt(place: Place, payload: ReferenceTransaction['payload']): Result {
  try {
    return (RUNS[payload.kind] as Run<Kind>)(place, payload)
  } catch (error) {
    if (error instanceof Failure) return result({ code: error.code })
    throw error
  }
}

/**
 * Runs a payload on the records and returns its codes and amounts. If the payload fails, the records stay as before. Code 1, for a broken
 * invariant, is never returned: the audit after the block throws instead.
 */
export function runPayload(
  records: Records,
  { body, payload, txid }: ReferenceTransaction,
  where: Pick<Place, 'rules' | 'genesisId' | 'height' | 'index'>,
): Result {
  const trial: Records = new Map(records)
  const place = { ...where, ledger: new Ledger(trial), sender: body.sender, txid: hex(txid) }
  const outcome = attempt(place, payload)
  if (outcome.code === CODE.success) {
    records.clear()
    for (const [key, record] of trial) records.set(key, record)
  }
  return outcome
}
