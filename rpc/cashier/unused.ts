import type { Chain } from '../../consensus/chain/chain.ts'
import { ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { closureOf } from '../../marketplace/ledger/closures.ts'
import { ESCROWS, type Escrow } from '../../marketplace/ledger/escrow.ts'
import { moment } from '../json.ts'
import type { NodeApi } from '../node.ts'
import type { OfferedPayment } from './payments.ts'

/** What a payment was sent for. */
interface Meant {
  readonly agentId: string
  readonly serviceId: string
}

/** What becomes of a payment: in words, and the height or moment of its end where there is one. */
interface Prospect {
  readonly refund: string
  readonly deadline?: number | string
}

/** Last second that has a date. */
const DATED_MAX = 253_402_300_799n

/**
 * The refusal of a request that came with a payment: that nothing of the payment was used, and what becomes of it. Any other refusal
 * stays as it is.
 */
export function tellPayment(node: NodeApi, cause: Fault, offered: OfferedPayment, meant: Meant): Fault {
  if (cause.code !== 'service/invalid-request') return cause
  if (offered.rail === 'native')
    return fault('pay/unused', { ...cause.detail, payment: offered.txId, ...ofInvoke(node, offered.txId, meant) })
  const { nonce, validBefore } = offered.payment.authorization
  return fault('pay/unused', { ...cause.detail, payment: nonce, ...ofAuthorization(validBefore) })
}

function ofAuthorization(validBefore: bigint): Prospect {
  const usable = 'Nothing was charged: the same authorization pays for a corrected request'
  if (validBefore > DATED_MAX) return { refund: `${usable}.` }
  const deadline = moment(Number(validBefore) * 1_000)
  return { refund: `${usable} until ${deadline}.`, deadline }
}

function ofInvoke({ chain, mempool }: NodeApi, txId: TxId, meant: Meant): Prospect {
  const escrow = chain.database.get(ESCROWS, txId)
  if (escrow !== undefined) return ofEscrow(chain, escrow, meant)
  if (closureOf(chain.database, txId) !== undefined)
    return { refund: 'Its escrow is closed: it was refunded or settled before.' }
  const waiting = mempool.get(txId)?.body
  if (waiting?.kind !== 'agent_invoke')
    return { refund: 'This node knows no escrow of it; once it is mined, the chain refunds it at its deadline.' }
  const { term } = waiting.payload
  return { refund: `${use(waiting.payload, meant)} ${term} blocks after its own, which it waits for.` }
}

function ofEscrow({ head: { header }, ruleBook }: Chain, escrow: Escrow, meant: Meant): Prospect {
  const { deadline } = escrow
  const dueMs = header.timeMs + (deadline - header.height) * ruleBook.at(header.height).block.spacingMs
  return { refund: `${use(escrow, meant)} at height ${deadline} (about ${moment(dueMs)}).`, deadline }
}

/** What a payment can still be used for, up to where it goes back. */
function use(
  { agentId, serviceId, requestCommitment }: Pick<Escrow, 'agentId' | 'serviceId' | 'requestCommitment'>,
  meant: Meant,
): string {
  const isMeant = agentId === meant.agentId && serviceId === meant.serviceId
  if (!isMeant) return `It pays for ${serviceId} of ${agentId} alone; unused, it is refunded on chain`
  return requestCommitment === ZERO_HEX_32
    ? 'Send it again with a corrected request; unused, it is refunded on chain'
    : 'It commits to one request: send it again with that one; unused, it is refunded on chain'
}
