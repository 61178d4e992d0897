import type { BlockEntry } from '../../consensus/chain/layout.ts'
import { faultMessage } from '../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../consensus/primitives/ids.ts'
import { atOneHead } from '../queries/one-head.ts'
import type { ServiceContext } from './context.ts'
import { type ChainEnvelope, chainEnvelope } from './envelope.ts'

/**
 * A result that is read from the chain in several steps, all of it of one head. Where the head does not come to rest in time
 * the service has failed, and its caller is refunded.
 */
export async function readAtHead<T extends object>(
  serviceId: ServiceId,
  context: ServiceContext,
  work: (head: BlockEntry) => Promise<T> | T,
): Promise<ChainEnvelope & T> {
  const reading = await atOneHead(context.chain, async (head) => ({
    ...chainEnvelope(serviceId, context),
    ...(await work(head)),
  }))
  if (reading.ok) return reading.value.value
  throw new Error(faultMessage(reading.fault))
}
