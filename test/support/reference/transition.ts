import { audit, auditShares, auditTabs } from './audit.ts'
import { activateRotation } from './bridge-kinds.ts'
import { concat, demand, hex } from './bytes.ts'
import { runPayload } from './kinds.ts'
import { assetOf, heightId, Ledger, NATIVE } from './ledger.ts'
import { refund } from './market-kinds.ts'
import type { ReferenceRules } from './params.ts'
import { priceEntry } from './prices.ts'
import { CLOSE_RECEIPT, type Header, REFUND_RECEIPT, REWARD_RECEIPT, TRANSACTION_RECEIPT } from './schemas.ts'
import { accrue } from './staking-kinds.ts'
import { dueOf, endTab } from './tab-kinds.ts'
import { TAB_RETURN_RECEIPT } from './tab-schemas.ts'
import type { Records } from './table.ts'
import type { ReferenceTransaction } from './transactions.ts'

const receipt = (type: number, body: Uint8Array): Uint8Array => concat(Uint8Array.of(type), body)

/** Step 1 of blocks.md, section 7: pays a reward that has matured. */
function matureReward(ledger: Ledger, height: number, rules: ReferenceRules): Uint8Array[] {
  const mined = height - rules.coin.rewardMaturity
  if (mined < 0) return []
  const entry = ledger.rewards.get(heightId(mined))
  if (entry === undefined) return []
  ledger.rewards.delete(heightId(mined))
  ledger.credit(entry.miner, entry.amount, true)
  return [receipt(2, REWARD_RECEIPT.encode({ height: mined, ...entry }))]
}

/** Step 2 of blocks.md, section 7: refunds escrows at their deadline. */
function returnEscrows(ledger: Ledger, height: number): Uint8Array[] {
  const due = ledger.escrows.all().filter(([, { deadline }]) => deadline === height)
  due.sort(([, a], [, b]) => a.minedAt - b.minedAt || a.index - b.index)
  return due.map(([txid, escrow]) => {
    refund(ledger, txid, escrow)
    return receipt(3, REFUND_RECEIPT.encode({ txId: txid, caller: escrow.caller, amount: escrow.amount }))
  })
}

/** Step 2 of blocks.md, section 7: ends the tabs that are due. */
function returnTabs(ledger: Ledger, height: number): Uint8Array[] {
  const due = ledger.tabs.all().filter(([, tab]) => dueOf(tab) === height)
  due.sort(([a], [b]) => (a < b ? -1 : 1))
  return due.map(([tabId, tab]) => {
    const amount = endTab(ledger, tabId, tab)
    return receipt(5, TAB_RETURN_RECEIPT.encode({ tabId, payer: tab.payer, amount }))
  })
}

interface Paid {
  readonly receipt: Uint8Array
  readonly burned: bigint
  readonly tip: bigint
}

/** Step 3 of blocks.md, section 7, for one transaction. */
function runTransaction(
  records: Records,
  transaction: ReferenceTransaction,
  { height, baseFee }: Header,
  index: number,
  { rules, genesisId }: Chain,
): Paid {
  const ledger = new Ledger(records)
  const { sender, nonce, validUntil, maxFeeRate, tip } = transaction.body
  const account = ledger.accounts.get(sender)
  demand(account !== undefined, 'transaction: no sender account')
  demand(nonce === account.nonce, 'transaction: nonce')
  demand(validUntil === 0 || validUntil >= height, 'transaction: expired')
  demand(maxFeeRate >= baseFee, 'transaction: max fee rate')
  const weight = BigInt(transaction.weight)
  const rate = maxFeeRate < baseFee + tip ? maxFeeRate : baseFee + tip
  const fee = weight * rate
  const burned = weight * baseFee
  demand(fee <= account.balance, 'transaction: fee above the balance')
  ledger.accounts.set(sender, { ...account, nonce: nonce + 1n, balance: account.balance - fee })
  const result = runPayload(records, transaction, { rules, genesisId, height, index })
  const txId = hex(transaction.txid)
  const encoded = TRANSACTION_RECEIPT.encode({ txId, weight: transaction.weight, rate, fee, burned, ...result })
  return { receipt: receipt(1, encoded), burned, tip: fee - burned }
}

/** Step 4 of blocks.md, section 7: burns fees and grants subsidy and reward. */
function closeBlock(
  ledger: Ledger,
  { height, miner }: Header,
  paid: readonly Paid[],
  { coin }: ReferenceRules,
): Uint8Array {
  const burned = paid.reduce((sum, one) => sum + one.burned, 0n)
  const tips = paid.reduce((sum, one) => sum + one.tip, 0n)
  ledger.burn(burned)
  const supply = ledger.supply.of(NATIVE)
  const subsidy = (supply.cap - supply.minted) / coin.subsidyDivisor
  ledger.supply.set(NATIVE, { ...supply, minted: supply.minted + subsidy })
  const stakingShare = (subsidy * coin.stakingShareBps) / 10_000n
  const accrued = ledger.stakingPool.get('')?.accrued ?? 0n
  ledger.stakingPool.set('', { accrued: accrued + stakingShare })
  const reward = subsidy - stakingShare + tips
  ledger.rewards.set(heightId(height), { miner, amount: reward })
  return receipt(4, CLOSE_RECEIPT.encode({ burned, subsidy, stakingShare, miner, reward }))
}

/** Changes at the start of a block that leave no receipt. */
function startBlock(ledger: Ledger, height: number, { rules, old }: Chain): void {
  if (old !== undefined && ledger.staking.get('') !== undefined) accrue({ ledger, height, rules: old })
  priceEntry(ledger, height, rules)
  activateRotation(ledger, height, (number) =>
    assetOf((rules.bridge.networks[number] as ReferenceRules['bridge']['networks'][number]).asset, rules.coin.symbol),
  )
}

/** Rules and chain for running a block. */
export interface Chain {
  readonly rules: ReferenceRules
  /** The parent's rules, if this block is the first of a rule step. */
  readonly old: ReferenceRules | undefined
  readonly genesisId: string
}

/** Runs a block on the records, which it changes. Returns the receipts. Refuses an invalid block. */
export function applyBlock(
  records: Records,
  header: Header,
  transactions: readonly ReferenceTransaction[],
  chain: Chain,
): Uint8Array[] {
  const { rules } = chain
  const ledger = new Ledger(records)
  const parent = new Map(records)
  startBlock(ledger, header.height, chain)
  const { height } = header
  const before = [
    ...matureReward(ledger, height, rules),
    ...returnEscrows(ledger, height),
    ...returnTabs(ledger, height),
  ]
  const paid = transactions.map((one, index) => runTransaction(records, one, header, index, chain))
  const close = closeBlock(ledger, header, paid, rules)
  audit(records, rules)
  auditTabs(parent, records, height)
  auditShares(parent, records)
  return [...before, ...paid.map((one) => one.receipt), close]
}
