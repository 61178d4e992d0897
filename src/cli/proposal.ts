import { ok, type Result } from '../../consensus/primitives/result.ts'
import type { PayloadOf, TxKind } from '../../consensus/tx/kinds.ts'
import type { AssetView } from '../../rpc/client/ledger-client.ts'

/** An amount that the chain works out: what it is called, and what it counts; null for shares of a pool. */
export interface AmountLabel {
  readonly label: string
  readonly asset: AssetView | null
}

/** A transaction that a command would send. */
export interface Proposal<K extends TxKind = TxKind> {
  readonly kind: K
  readonly payload: PayloadOf<K>
  /** What it does, in one line. */
  readonly says: string
  /** What the amounts of its receipt are, in their order. */
  readonly amounts: readonly AmountLabel[]
  /**
   * How many sides of it are worth what its amounts in coins say: liquidity has two, a swap and a claim one. One that is worth less
   * than its fee is a loss. Absent where what it is for is not worth coins.
   */
  readonly coinSides?: bigint
  /** What a program is told of it on a dry run beside what the chain says. */
  readonly facts?: object
}

/** A proposal of one transaction. */
export function propose<K extends TxKind>(
  kind: K,
  payload: PayloadOf<K>,
  says: string,
  amounts: readonly AmountLabel[] = [],
  facts: object = {},
): Result<readonly Proposal[]> {
  return ok([{ kind, payload, says, amounts, facts } as unknown as Proposal])
}

/** What is proposed, as something that is made for its worth alone; see {@link Proposal.coinSides}. */
export function madeForWorth(proposed: Result<readonly Proposal[]>, coinSides: bigint): Result<readonly Proposal[]> {
  return proposed.ok ? ok(proposed.value.map((proposal) => ({ ...proposal, coinSides }))) : proposed
}

/** The flag that lets through what is worth less than its fee. */
export const LOSS_FLAG = { 'accept-loss': 'Send it also where it is worth less than its fee' }
