/** Local limits, no consensus rule: nodes may differ. */
export interface MempoolPolicy {
  /** Most transactions of one account with no nonce missing before them. Filling a gap may exceed this. */
  readonly executablePerAccount: number
  /** Most transactions of one account behind a missing nonce. */
  readonly gappedPerAccount: number
  /** Blocks for which a transaction may wait for a missing nonce, or for a lower base fee. */
  readonly unminableBlocksMax: number
  /** Most transactions of one account that are admitted before some are mined. Replaced and expired ones count too. */
  readonly unpaidPerAccount: number
  /** Added to the account's allowance with every block. */
  readonly unpaidPerBlock: number
  readonly countMax: number
  readonly bytesMax: number
  /** Most signatures that may wait for verification at once. */
  readonly verifyingMax: number
  /** A replacement must pay at least this much more, in basis points. */
  readonly replacementBumpBps: bigint
}

/** Limits that hold unless the operator sets other ones. */
export const DEFAULT_MEMPOOL_POLICY: MempoolPolicy = {
  executablePerAccount: 64,
  gappedPerAccount: 16,
  // About an hour, at three seconds a block.
  unminableBlocksMax: 1_200,
  // Twice the transactions that an account may have waiting: 2 x (64 + 16).
  unpaidPerAccount: 160,
  unpaidPerBlock: 2,
  countMax: 10_000,
  bytesMax: 32 * 1024 * 1024,
  verifyingMax: 4_096,
  replacementBumpBps: 1_000n,
}
