import { taggedHashHex } from '../crypto/hash.ts'
import { concat } from '../primitives/bytes.ts'
import type { AgentId, Hash, ServiceId } from '../primitives/ids.ts'
import { encodeText } from '../primitives/text.ts'

/** Hash of service and request text. The seller stores it with the payment, so that a payment buys only one request. */
export function requestHash(serviceId: ServiceId, request: string): Hash {
  return taggedHashHex('request', shortText(serviceId), encodeText(request))
}

/** What a client commits to on chain: H(tag, secret, agent, service, request). */
export function requestCommitment(
  secret: Uint8Array,
  call: { readonly agentId: AgentId; readonly serviceId: ServiceId; readonly request: string },
): Hash {
  const { agentId, serviceId, request } = call
  return taggedHashHex('requestCommitment', secret, shortText(agentId), shortText(serviceId), encodeText(request))
}

/** A text of less than 256 bytes, after a byte with its length. */
function shortText(value: string): Uint8Array {
  const bytes = encodeText(value)
  return concat(Uint8Array.of(bytes.length), bytes)
}
