/** Local limits of a mempool. Never a consensus rule: nodes may differ. */
export interface MempoolPolicy {
  /** Transactions of one account that could be mined in a row; one that closes a gap may bring those behind it in. */
  readonly executablePerAccount: number
  /** Transactions of one account that wait behind a missing nonce. */
  readonly gappedPerAccount: number
  /** Blocks for which a transaction may wait behind a missing nonce, or for the base fee to fall. */
  readonly unminableBlocksMax: number
  /** Transactions of one account that are taken in before some are mined, replaced and expired ones too. */
  readonly unpaidPerAccount: number
  /** So many more with every block. */
  readonly unpaidPerBlock: number
  readonly countMax: number
  readonly bytesMax: number
  /** Signatures that may wait for verification at once. */
  readonly verifyingMax: number
  /** A replacement pays at least this share more, in basis points. */
  readonly replacementBumpBps: bigint
}

/** Limits unless the operator sets others. */
export const DEFAULT_MEMPOOL_POLICY: MempoolPolicy = {
  executablePerAccount: 64,
  gappedPerAccount: 16,
  // About an hour.
  unminableBlocksMax: 1_200,
  // Every place of an account filled, and filled anew once.
  unpaidPerAccount: 160,
  unpaidPerBlock: 2,
  countMax: 10_000,
  bytesMax: 32 * 1024 * 1024,
  verifyingMax: 4_096,
  replacementBumpBps: 1_000n,
}
