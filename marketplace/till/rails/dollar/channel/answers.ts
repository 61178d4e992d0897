import type { Fields } from '../../../../../consensus/primitives/fields.ts'
import { type ChannelStanding, channelStateJson } from './wire.ts'

/** What every `PAYMENT-RESPONSE` of a channel names. */
export interface AnswerBasis {
  /** Name of the network in x402 version 2. */
  readonly network: string
  readonly payer: string
  /** After the call; null if the chain cannot be asked now. Official clients then add up themselves what they were charged. */
  readonly standing: ChannelStanding | null
}

/** A transaction that moved units of the token. */
export interface Moved {
  readonly transaction: string
  readonly amount: bigint
}

/** The `PAYMENT-RESPONSE` of a call that a voucher paid. Nothing moved on the chain, so transaction and amount are empty. */
export function voucherAnswer(basis: AnswerBasis, charged: bigint): Fields {
  return answer(basis, { transaction: '', amount: '' }, { chargedAmount: charged.toString() })
}

/** The `PAYMENT-RESPONSE` of a call that came with a deposit. */
export function depositAnswer(basis: AnswerBasis, charged: bigint, deposit: Moved): Fields {
  return answer(basis, movedJson(deposit), { chargedAmount: charged.toString() })
}

/** The `PAYMENT-RESPONSE` of a refund. */
export function refundAnswer(basis: AnswerBasis, refund: Moved): Fields {
  return answer(basis, movedJson(refund), {})
}

/** The `PAYMENT-RESPONSE` of a payment that could not be settled. Official clients give up on a refund that is answered so. */
export function failedAnswer(network: string, errorReason: string): Fields {
  return { success: false, errorReason, transaction: '', network }
}

function answer({ network, payer, standing }: AnswerBasis, moved: Fields, extra: Fields): Fields {
  const shown = standing === null ? {} : { channelState: channelStateJson(standing) }
  return { success: true, ...moved, network, payer, extra: { ...extra, ...shown } }
}

function movedJson({ transaction, amount }: Moved): Fields {
  return { transaction, amount: amount.toString() }
}
