import { nativeNetwork } from '../cashier/options.ts'
import type { REQUEST_STATUS } from '../contract/market.ts'
import type { Static } from '../contract/schema.ts'
import { getRequest } from '../handlers/market.ts'
import { isFault } from '../server/answer.ts'
import type { A2aPlace } from './sayings.ts'
import type { TaskState } from './tasks.ts'
import type { ShownTask } from './wire.ts'

/** State of a task by the state of its paid call. */
const STATES: Readonly<Record<string, TaskState>> = {
  paid: 'submitted',
  executing: 'working',
  completed: 'completed',
  failed: 'failed',
  refund_pending: 'failed',
  refunded: 'failed',
}

/**
 * A task whose id is that of a payment, from what the market keeps of it on disk: so it is found after a restart too. The
 * result is not shown, since everybody can see the id of a payment; who repeats the call with the payment gets it.
 */
export async function taskOfPayment({ node, market, request }: A2aPlace, id: string): Promise<ShownTask | undefined> {
  if (!/^[0-9a-f]{64}$/.test(id)) return undefined
  const answer = await getRequest(node, { ...request, params: { txId: id }, query: {}, body: undefined })
  if (isFault(answer) || !('json' in answer)) return undefined
  const { serviceId, status, caller, rail, txId, refund } = answer.json as Static<typeof REQUEST_STATUS>
  const state = STATES[status] ?? 'working'
  const network = rail === 'stable' ? market.stable?.terms.network.caip2 : nativeNetwork(node.chain)
  const receipts =
    state === 'submitted' || state === 'working'
      ? []
      : [{ success: state === 'completed', transaction: txId ?? '', network, payer: caller }]
  const word = state === 'completed' ? 'payment-completed' : state === 'failed' ? 'payment-failed' : 'payment-submitted'
  const metadata = { 'x402.payment.status': word, 'x402.payment.receipts': receipts, refund }
  const text = `The call of ${serviceId} is ${status}. Its result comes with the call repeated, with the same payment.`
  return {
    id,
    contextId: id,
    state,
    says: { text, metadata },
    artifact: null,
    paymentId: id,
    changedMs: node.clock.now(),
  }
}
