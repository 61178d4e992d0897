import type { TabRules, TxRules } from '../../../../consensus/tx/rules.ts'

/** Bytes of a claim without its entries, from a settler with one key of scheme 1. */
const CLAIM_BYTES = 2_580
/** Bytes of an entry with a voucher and one service of a long name. */
const ENTRY_BYTES = 290
/** State writes of a claim beside its entries, and of an entry with one service. */
const CLAIM_WRITES = 3
const ENTRY_WRITES = 5

/** What a claim of so many entries with one service each costs at a fee rate, by these rules. It is an estimate from above. */
export function claimFee(entries: number, rate: bigint, { weight }: Pick<TxRules, 'weight'>, tabs: TabRules): bigint {
  const claim = CLAIM_BYTES + weight.perSignature + CLAIM_WRITES * weight.perStateWrite
  const entry = ENTRY_BYTES + tabs.perVoucher + ENTRY_WRITES * weight.perStateWrite
  return BigInt(claim + entries * entry) * rate
}
