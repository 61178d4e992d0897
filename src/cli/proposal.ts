import { ok, type Result } from '../../consensus/primitives/result.ts'
import type { PayloadOf, TxKind } from '../../consensus/tx/kinds.ts'
import type { AssetView } from '../../rpc/client/ledger-client.ts'

/** The asset is null for pool shares. */
export interface AmountLabel {
  readonly label: string
  readonly asset: AssetView | null
}

/** A transaction that a command would send. */
export interface Proposal<K extends TxKind = TxKind> {
  readonly kind: K
  readonly payload: PayloadOf<K>
  /** One line. */
  readonly says: string
  /** Labels of the amounts in its receipt, in order. */
  readonly amounts: readonly AmountLabel[]
  /**
   * Multiplies the coin amount in the receipt to get the worth of the transaction: liquidity has two sides of equal worth, a swap and a
   * claim have one. Absent if the transaction is not sent for its worth.
   */
  readonly coinSides?: bigint
  /** Facts for programs on a dry run, besides those of the chain. */
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

/** Marks proposals that are sent only for their worth. See {@link Proposal.coinSides}. */
export function madeForWorth(proposed: Result<readonly Proposal[]>, coinSides: bigint): Result<readonly Proposal[]> {
  return proposed.ok ? ok(proposed.value.map((proposal) => ({ ...proposal, coinSides }))) : proposed
}

/** The flag that allows a transaction that is worth less than its fee. */
export const LOSS_FLAG = { 'accept-loss': 'Send it also where it is worth less than its fee' }
