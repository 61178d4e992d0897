import {
  bool,
  container,
  hex32,
  list,
  text,
  uint8,
  uint16,
  uint32,
  uint64,
  uint128,
  type ValueOf,
} from '../primitives/codec.ts'
import {
  type Address,
  AGENT_ID,
  type AgentId,
  type Hash,
  SERVICE_ID,
  type ServiceId,
  type TxId,
} from '../primitives/ids.ts'

/** Most settlers of one agent. */
export const SETTLERS_MAX = 8
/** Most entries of one `agent_receipt`. */
export const RECEIPT_ENTRIES_MAX = 256
/** Of the display name of an agent or a service. */
export const NAME_BYTES_MAX = 64
/** Longest endpoint URL of an agent. */
export const ENDPOINT_BYTES_MAX = 200
/** Longest request format of a service. */
export const REQUEST_FORMAT_BYTES_MAX = 240
/** Longest description of a service. */
export const DESCRIPTION_BYTES_MAX = 480

const address = hex32<Address>()
const hash = hex32<Hash>()
/** Codec of an agent id. */
export const agentIdCodec = text<AgentId>(32, (value) => AGENT_ID.test(value))
/** Codec of a service id. */
export const serviceIdCodec = text<ServiceId>(48, (value) => SERVICE_ID.test(value))

/** Whether the text is empty, or an http(s) URL of printable ASCII without blanks. */
export function isEndpoint(value: string): boolean {
  return value === '' || /^https?:\/\/[!-~]{1,192}$/.test(value)
}

/** `transfer`: native coins to `to`. `create` allows (and pays for) opening the receiving account. */
export const TRANSFER = container('Transfer', { to: address, amount: uint128, create: bool })

/** `agent_register`: the sender becomes the owner. `capabilities` has one bit per entry of the capability table. */
export const AGENT_REGISTER = container('AgentRegister', {
  agentId: agentIdCodec,
  name: text(NAME_BYTES_MAX),
  endpoint: text(ENDPOINT_BYTES_MAX, isEndpoint),
  capabilities: uint16,
  payout: address,
  settlers: list(address, SETTLERS_MAX),
})

/** `agent_update`: by the owner. Replaces all fields that a registration sets; a new `owner` takes the agent over. */
export const AGENT_UPDATE = container('AgentUpdate', {
  agentId: agentIdCodec,
  name: text(NAME_BYTES_MAX),
  endpoint: text(ENDPOINT_BYTES_MAX, isEndpoint),
  capabilities: uint16,
  owner: address,
  payout: address,
  settlers: list(address, SETTLERS_MAX),
})

/** `service_publish`: creates or replaces a service of the agent. The price is in millionths of a dollar. */
export const SERVICE_PUBLISH = container('ServicePublish', {
  agentId: agentIdCodec,
  serviceId: serviceIdCodec,
  capability: uint8,
  priceUsdMicros: uint64,
  name: text(NAME_BYTES_MAX),
  requestFormat: text(REQUEST_FORMAT_BYTES_MAX),
  description: text(DESCRIPTION_BYTES_MAX),
})

/** `service_retire`: the service takes no invokes until it is published again. */
export const SERVICE_RETIRE = container('ServiceRetire', { agentId: agentIdCodec, serviceId: serviceIdCodec })

/**
 * `agent_invoke`: puts the payment for one call into escrow for `term` blocks. The client makes commitment and lock:
 * they bind the payment to a request and to a secret. Zero bytes mean absent.
 */
export const AGENT_INVOKE = container('AgentInvoke', {
  agentId: agentIdCodec,
  serviceId: serviceIdCodec,
  amount: uint128,
  units: uint32,
  term: uint32,
  requestCommitment: hash,
  redeemLock: hash,
})

/** One entry of an `agent_receipt`. `outcome`: 0 delivered, 1 failed. `durationMs` is only the operator's claim. */
export const RECEIPT_ENTRY = container('ReceiptEntry', {
  txId: hex32<TxId>(),
  outcome: uint8,
  resultHash: hash,
  opener: hash,
  durationMs: uint32,
})

/** `agent_receipt`: closes escrows; each entry succeeds or fails by itself. */
export const AGENT_RECEIPT = container('AgentReceipt', { entries: list(RECEIPT_ENTRY, RECEIPT_ENTRIES_MAX) })

/** Payload of `service_publish`. */
export type ServicePublish = ValueOf<typeof SERVICE_PUBLISH>
/** Payload of `agent_invoke`. */
export type AgentInvoke = ValueOf<typeof AGENT_INVOKE>
/** One entry of an `agent_receipt`. */
export type ReceiptEntry = ValueOf<typeof RECEIPT_ENTRY>
/** Payload of `agent_receipt`. */
export type AgentReceipt = ValueOf<typeof AGENT_RECEIPT>

/** `outcome` of a delivered call. */
export const OUTCOME_DELIVERED = 0
/** `outcome` of a failed call. */
export const OUTCOME_FAILED = 1
