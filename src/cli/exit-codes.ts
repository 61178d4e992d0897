import type { Fault } from '../../consensus/primitives/fault.ts'

/** Exit codes of every command. */
export const EXIT = {
  ok: 0,
  /** The command failed. One line says why. */
  failed: 1,
  /** The command line or the configuration is wrong. */
  usage: 2,
  /** A paid call failed, and the payment goes back to the caller. */
  refunded: 3,
  /** The answer of a paid call did not verify. */
  unverified: 4,
  /** The node met a bug that breaks an invariant, and stopped before it committed anything wrong; or an audit found unsound data. */
  invariant: 70,
  /** The disk is full, or the database failed while the node ran. A database that is damaged when it is opened gives `failed`. */
  storage: 74,
} as const

/** Faults in how the command was given, not in what happened when it ran. */
const USAGE_FAULTS: ReadonlySet<string> = new Set([
  'cli/usage',
  'file/unreadable',
  'config/value',
  'config/file',
  'config/unknown-key',
  'amount/not-decimal',
  'amount/too-many-decimals',
  'amount/too-large',
  'address/malformed',
  'address/other-network',
])

/** The exit code for a fault. */
export function exitCodeOf({ code }: Fault): number {
  if (code === 'storage/full') return EXIT.storage
  return USAGE_FAULTS.has(code) ? EXIT.usage : EXIT.failed
}
