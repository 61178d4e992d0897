import type { ChainReader } from '../../consensus/chain/reader.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { isHex } from '../../consensus/primitives/bytes.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { type Fields, fieldsOf } from '../../consensus/primitives/fields.ts'
import { AGENT_ID, type AgentId, type Hash, SERVICE_ID, type ServiceId } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { NATIVE_ASSET } from '../../consensus/state/table.ts'
import type { FacilitatedPayment } from '../../marketplace/facilitator/facilitator.ts'
import { AGENTS } from '../../marketplace/ledger/agents.ts'
import { readNativePayload } from '../cashier/cashier.ts'
import { NATIVE_NETWORK_WORD, NATIVE_SCHEME, nativeNetwork } from '../cashier/options.ts'

/** A call of the facilitator that was read: a payment, and the seller's terms for it. */
export interface FacilitatorCall {
  readonly payment: FacilitatedPayment
  /** As it was sent; only `/settle` reads it. */
  readonly settlement: unknown
}

/** Body of a facilitator call whose outer shape is checked. */
export interface FacilitatorBody {
  readonly x402Version: number
  readonly paymentPayload: Fields
  readonly paymentRequirements: Fields
}

/** Longest request text, as in paid calls. */
const REQUEST_CHARS_MAX = 131_072
/** A day is more than any escrow lasts. */
const TIMEOUT_SECONDS_MAX = 86_400
const AMOUNT = /^[1-9][0-9]{0,33}$/

/** Name of the native rail's network in a version of x402. */
export function networkWord(chain: Pick<ChainReader, 'network'>, x402Version: number): string {
  return x402Version === 1 ? NATIVE_NETWORK_WORD : nativeNetwork(chain)
}

/**
 * Reads a call in x402 version 1 or 2. The requirements come from the seller, so they win over what the payer says. The payment must name
 * the same scheme and network, and the same amount and payee where it repeats them. Faults: `facilitator/...`, `pay/unreadable`,
 * `pay/no-offer`, `rpc/agent-not-found`.
 */
export function readFacilitatorCall(chain: ChainReader, body: FacilitatorBody): Result<FacilitatorCall> {
  const { x402Version, paymentPayload, paymentRequirements: asked } = body
  if (x402Version !== 1 && x402Version !== 2)
    return fail(fault('facilitator/version', { got: String(x402Version).slice(0, 20) }))
  const misfit = checkRail(chain, body)
  if (!misfit.ok) return misfit
  const amount = x402Version === 1 ? asked.maxAmountRequired : asked.amount
  if (typeof amount !== 'string' || !AMOUNT.test(amount))
    return unusable(x402Version === 1 ? 'maxAmountRequired' : 'amount', 'must be base units as decimal text')
  const terms = readTerms(chain, asked)
  if (!terms.ok) return terms
  const agreed = checkAccepted(body)
  if (!agreed.ok) return agreed
  const payload = fieldsOf(paymentPayload.payload)
  const native = readNativePayload(payload, 'paymentPayload')
  if (!native.ok) return native
  const { txId, secret } = native.value
  const request = readRequest(fieldsOf(asked.extra), payload)
  if (!request.ok) return request
  return ok({
    payment: { txId, secret, amount: BigInt(amount), ...terms.value, ...request.value },
    settlement: fieldsOf(asked.extra).settlement ?? payload.settlement,
  })
}

function checkRail(
  chain: ChainReader,
  { x402Version, paymentPayload, paymentRequirements: asked }: FacilitatorBody,
): Result<null> {
  const network = networkWord(chain, x402Version)
  const accepted = x402Version === 1 ? paymentPayload : fieldsOf(paymentPayload.accepted)
  const { ticker } = chain.ruleBook.params
  const said = paymentPayload.x402Version
  if (said !== undefined && said !== x402Version) return fail(fault('facilitator/version', { got: text(said) }))
  for (const { scheme } of [asked, accepted])
    if (scheme !== NATIVE_SCHEME)
      return fail(fault('facilitator/scheme', { got: text(scheme), expected: NATIVE_SCHEME }))
  for (const { network: got } of [asked, accepted])
    if (got !== network) return fail(fault('facilitator/network', { got: text(got), expected: network }))
  const { asset } = asked
  if (asset !== undefined && asset !== ticker && asset !== NATIVE_ASSET) return unusable('asset', `must be ${ticker}`)
  return ok(null)
}

/** Where a payment of x402 version 2 repeats amount and payee, they must be those that the seller asks for. */
function checkAccepted({ x402Version, paymentPayload, paymentRequirements: asked }: FacilitatorBody): Result<null> {
  const accepted = x402Version === 1 ? {} : fieldsOf(paymentPayload.accepted)
  for (const field of ['amount', 'payTo'] as const)
    if (accepted[field] !== undefined && accepted[field] !== asked[field])
      return fail(fault('pay/no-offer', { field, got: text(accepted[field]), expected: text(asked[field]) }))
  return ok(null)
}

/** `payTo` is the agent's id, or its payout beside `extra.agentId`. */
function readTerms(
  { database, ruleBook }: ChainReader,
  { payTo, extra, maxTimeoutSeconds }: Fields,
): Result<Pick<FacilitatedPayment, 'agentId' | 'serviceId' | 'timeoutMs'>> {
  const { agentId: named, serviceId } = fieldsOf(extra)
  if (typeof serviceId !== 'string' || !SERVICE_ID.test(serviceId))
    return unusable('extra.serviceId', 'must be the id of a service')
  if (!isSeconds(maxTimeoutSeconds))
    return unusable('maxTimeoutSeconds', `must be an integer from 1 to ${TIMEOUT_SECONDS_MAX}`)
  const agentId = named ?? payTo
  if (typeof agentId !== 'string' || !AGENT_ID.test(agentId))
    return unusable(named === undefined ? 'payTo' : 'extra.agentId', 'must be the id of an agent')
  const agent = database.get(AGENTS, agentId as AgentId)
  if (agent === undefined) return fail(fault('rpc/agent-not-found', { agentId }))
  const payout = formatAddress(ruleBook.params.addressPrefix, agent.payout)
  if (payTo !== agentId && payTo !== payout) return unusable('payTo', `must be ${agentId} or ${payout}`)
  return ok({
    agentId: agentId as AgentId,
    serviceId: serviceId as ServiceId,
    timeoutMs: maxTimeoutSeconds * 1_000,
  })
}

/** The request as text or hash. What the seller sends wins over what the payer sends. */
function readRequest(extra: Fields, payload: Fields): Result<Pick<FacilitatedPayment, 'request' | 'requestHash'>> {
  const request = extra.request ?? payload.request ?? null
  const requestHash = extra.requestHash ?? payload.requestHash ?? null
  const isText = typeof request === 'string' && request.length <= REQUEST_CHARS_MAX && request.isWellFormed()
  if (request !== null && !isText)
    return unusable('extra.request', `must be well-formed text of at most ${REQUEST_CHARS_MAX} characters`)
  if (requestHash !== null && (typeof requestHash !== 'string' || !isHex(requestHash, 32)))
    return unusable('extra.requestHash', 'must be 64 lower-case hex digits')
  return ok({ request: request as string | null, requestHash: requestHash as Hash | null })
}

function isSeconds(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= TIMEOUT_SECONDS_MAX
}

function unusable(field: string, reason: string): Result<never> {
  return fail(fault('facilitator/requirements', { field, reason }))
}

/** Text that a caller sent, cut for a message. */
function text(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 100) : typeof value
}
