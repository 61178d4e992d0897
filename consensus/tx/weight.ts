import { unreachable } from '../primitives/assert.ts'
import type { TxRules, WeightRules } from './rules.ts'
import type { Transaction, TxBody } from './transaction.ts'

/** Writes of an `agent_receipt` beside its entries: sender, escrow totals, native supply. */
const RECEIPT_BASE_WRITES = 3
/** Writes of one receipt entry: escrow, receiving account, service and agent statistics, payer marker. */
export const RECEIPT_ENTRY_WRITES = 5

/**
 * The most state records that the transaction can write, as its kind declares it. Blocks are limited by the sum of
 * these, never by what is observed, so that a limit never depends on state.
 */
export function declaredWrites(body: TxBody): number {
  switch (body.kind) {
    case 'transfer':
    case 'agent_update':
    case 'service_retire':
      return 2
    case 'agent_register':
    case 'service_publish':
      return 3
    case 'agent_invoke':
      return 4
    case 'agent_receipt':
      return RECEIPT_BASE_WRITES + RECEIPT_ENTRY_WRITES * body.payload.entries.length
    default:
      return unreachable(body)
  }
}

/** Weight of the transaction: a pure function of its encoding. It is charged in full and never refunded. */
export function weightOf(
  { body, witness, size }: Pick<Transaction, 'body' | 'witness' | 'size'>,
  rules: TxRules,
): number {
  const { weight } = rules
  return (
    size +
    witness.signatures.length * weight.perSignature +
    declaredWrites(body) * weight.perStateWrite +
    surchargeOf(body, weight)
  )
}

function surchargeOf(body: TxBody, weight: WeightRules): number {
  switch (body.kind) {
    case 'transfer':
      return body.payload.create ? weight.createAccount : 0
    case 'agent_register':
      return weight.registerAgent
    case 'service_publish':
      return weight.publishService
    case 'agent_invoke':
      return weight.invokeRefund
    default:
      return 0
  }
}

/** Rate that a transaction pays at this base fee: min(maxFeeRate, baseFee + tip). */
export function rateOf(body: Pick<TxBody, 'maxFeeRate' | 'tip'>, baseFee: bigint): bigint {
  const wanted = baseFee + body.tip
  return wanted < body.maxFeeRate ? wanted : body.maxFeeRate
}
