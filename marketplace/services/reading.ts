import type { BlockEntry } from '../../consensus/chain/layout.ts'
import { faultMessage } from '../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../consensus/primitives/ids.ts'
import { atOneHead } from '../queries/one-head.ts'
import type { ServiceContext } from './context.ts'
import { type ChainEnvelope, chainEnvelope } from './envelope.ts'

/** Throws if the head changes during every try of `atOneHead`; the caller is then refunded. */
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
