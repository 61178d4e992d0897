import type { ChainReader } from '../../consensus/chain/reader.ts'
import { ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { FaultCode } from '../../consensus/primitives/fault-table.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { closureOf, endText } from '../../marketplace/ledger/closures.ts'
import { ESCROWS, type Escrow } from '../../marketplace/ledger/escrow.ts'
import { moment } from '../json/chain-json.ts'
import type { NodeApi } from '../node/node-api.ts'
import type { OfferedPayment } from './payments.ts'

/** What a payment was sent for. */
interface Meant {
  readonly agentId: string
  readonly serviceId: string
}

interface Retried extends Meant {
  /** What it can be sent again with. */
  readonly again: string
}

/** What becomes of a payment: in words, and the height or moment of its end where there is one. */
interface Prospect {
  readonly refund: string
  readonly deadline?: number | string
}

/** What a payment that was not used can be sent again with, by what was refused. */
const AGAIN: Readonly<Partial<Record<FaultCode, string>>> = {
  'service/invalid-request': 'a corrected request',
  'service/unavailable': 'the same request later',
}

/** Last second that has a date. */
const DATED_MAX = 253_402_300_799n

/**
 * The refusal of a call that came with a payment, as its request is no good or its service is closed: that nothing of the payment was
 * used, and what becomes of it. Any other refusal stays as it is.
 */
export function tellPayment(node: NodeApi, cause: Fault, offered: OfferedPayment, meant: Meant): Fault {
  const again = AGAIN[cause.code]
  if (again === undefined) return cause
  const isNative = offered.rail === 'native'
  const payment = isNative ? offered.txId : offered.payment.authorization.nonce
  const prospect = isNative
    ? ofInvoke(node, offered.txId, { ...meant, again })
    : ofAuthorization(offered.payment.authorization.validBefore, again, Date.now())
  if (cause.code === 'service/invalid-request') return fault('pay/unused', { ...cause.detail, payment, ...prospect })
  const reason = `${String(cause.detail.reason).replace(/\.$/, '')}. The payment ${payment} was not used. ${prospect.refund}`
  return fault(cause.code, { ...cause.detail, ...prospect, reason, payment })
}

function ofAuthorization(validBefore: bigint, again: string, nowMs: number): Prospect {
  const usable = `Nothing was charged. Where the authorization itself is good, it pays for ${again}`
  if (validBefore > DATED_MAX) return { refund: `${usable}.` }
  const endMs = Number(validBefore) * 1_000
  if (endMs <= nowMs) return { refund: 'Nothing was charged, and the time of the authorization is over.' }
  const deadline = moment(endMs)
  return { refund: `${usable} until ${deadline}.`, deadline }
}

function ofInvoke({ chain, mempool }: NodeApi, txId: TxId, meant: Retried): Prospect {
  const escrow = chain.database.get(ESCROWS, txId)
  if (escrow !== undefined) return ofEscrow(chain, escrow, meant)
  if (closureOf(chain.database, txId) !== undefined)
    return { refund: `Its escrow is closed: ${endText(chain.database, txId)}.` }
  const waiting = mempool.get(txId)?.body
  if (waiting?.kind !== 'agent_invoke')
    return { refund: 'This node knows no escrow of it; once it is mined, the chain refunds it at its deadline.' }
  const { term } = waiting.payload
  return { refund: `${use(waiting.payload, meant)} ${term} blocks after its own, which it waits for.` }
}

function ofEscrow({ head: { header }, ruleBook }: ChainReader, escrow: Escrow, meant: Retried): Prospect {
  const { deadline } = escrow
  const dueMs = header.timeMs + (deadline - header.height) * ruleBook.at(header.height).block.spacingMs
  return { refund: `${use(escrow, meant)} at height ${deadline} (about ${moment(dueMs)}).`, deadline }
}

/** What a payment can still be used for, up to where it goes back. */
function use(
  { agentId, serviceId, requestCommitment }: Pick<Escrow, 'agentId' | 'serviceId' | 'requestCommitment'>,
  meant: Retried,
): string {
  const isMeant = agentId === meant.agentId && serviceId === meant.serviceId
  if (!isMeant) return `It pays for ${serviceId} of ${agentId} alone; unused, it is refunded on chain`
  return requestCommitment === ZERO_HEX_32 || meant.again === AGAIN['service/unavailable']
    ? `Send it again with ${meant.again}; unused, it is refunded on chain`
    : 'It commits to one request: send it again with that one; unused, it is refunded on chain'
}
