/** Exit codes of every command. */
export const EXIT = {
  ok: 0,
  /** The command could not be done; one line says why. */
  failed: 1,
  /** The command line or the configuration is wrong. */
  usage: 2,
  /** A paid call failed and its money goes back. */
  refunded: 3,
  /** An answer did not verify. */
  unverified: 4,
  /** A bug in consensus: the node stopped before it committed anything. */
  invariant: 70,
  /** The disk or the database failed. */
  storage: 74,
} as const
