import type { Chain } from '../../consensus/chain/chain.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { type Fault, fault, faultMessage } from '../../consensus/primitives/fault.ts'
import type { AgentId, ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import { NATIVE_ASSET } from '../../consensus/state/table.ts'
import type { RecordedSettlement, VerifiedPayment } from '../../marketplace/facilitator/facilitator.ts'
import type { SettlementRecord } from '../../marketplace/facilitator/records.ts'
import { readSettlement } from '../../marketplace/facilitator/settlement.ts'
import { AGENTS, SERVICES } from '../../marketplace/ledger/agents.ts'
import { closureOf } from '../../marketplace/ledger/closures.ts'
import { ESCROWS } from '../../marketplace/ledger/escrow.ts'
import { computeQuote } from '../../marketplace/till/rails/native/quote.ts'
import { NATIVE_SCHEME, nativeOption, type PaymentOption } from '../cashier/options.ts'
import { httpFault } from '../contract/http-faults.ts'
import { moment } from '../json/chain-json.ts'
import { type FacilitatorBody, type FacilitatorCall, networkWord, readFacilitatorCall } from '../market/facilitation.ts'
import type { FacilitatorApi, NodeApi } from '../node/node-api.ts'
import { answer, type Handler } from '../server/answer.ts'
import { unsignedReceipt } from './chain/unsigned-receipt.ts'
import { suggestedFee } from './chain.ts'

const TIMEOUT_SECONDS_DEFAULT = 60
const GENERATIONS = [1, 2]

/** The schemes and networks of this facilitator. */
export const getFacilitatorKinds: Handler<'getFacilitatorKinds'> = ({ chain, facilitator }) => {
  if (!facilitator) return fault('facilitator/off')
  const { network, ruleBook } = chain
  const { params } = ruleBook
  const extra = {
    ...{ chainId: network.chainId, genesis: network.genesis, networkName: params.name },
    ...{ asset: params.ticker, assetId: NATIVE_ASSET, decimals: params.decimals, txType: 'agent_invoke' },
  }
  const kinds = GENERATIONS.map((x402Version) => ({
    ...{ x402Version, scheme: NATIVE_SCHEME, network: networkWord(chain, x402Version), extra },
  }))
  return answer({ kinds, extensions: [], signers: {} })
}

/** Verifies a payment for a seller's server. */
export const verifyPayment: Handler<'verifyPayment'> = ({ chain, facilitator }, { body }) => {
  if (!facilitator) return fault('facilitator/off')
  const call = readFacilitatorCall(chain, body as FacilitatorBody)
  if (!call.ok) return invalid(call.fault)
  const verified = facilitator.desk.verify(call.value.payment)
  return verified.ok ? answer(verifiedJson(chain, call.value, verified.value)) : invalid(verified.fault)
}

/** Records how a paid call ended. */
export const settlePayment: Handler<'settlePayment'> = async (node, { body }) => {
  const { chain, facilitator } = node
  if (!facilitator) return fault('facilitator/off')
  const { x402Version } = body as FacilitatorBody
  const network = networkWord(chain, x402Version)
  const call = readFacilitatorCall(chain, body as FacilitatorBody)
  if (!call.ok) return unsettled(call.fault, { network, transaction: '' })
  const { payment, settlement } = call.value
  const { txId: transaction } = payment
  const said = readSettlement(settlement, transaction, chain.ruleBook.params.addressPrefix)
  if (!said.ok) return unsettled(said.fault, { network, transaction })
  const settled = await facilitator.desk.settle(payment, said.value)
  if (!settled.ok) return unsettled(settled.fault, { network, transaction })
  const { payer, amount } = settled.value.record
  return answer({
    ...{ success: true, transaction, network, payer: addressText(chain, payer), amount },
    extra: settledJson(node, settled.value),
  })
}

/** The 402 offer of a published service of any agent. */
export const getFacilitatorOffer: Handler<'getFacilitatorOffer'> = ({ chain, facilitator }, { params, query }) => {
  if (!facilitator) return fault('facilitator/off')
  const agentId = params.agentId as AgentId
  const serviceId = params.serviceId as ServiceId
  const maxTimeoutSeconds = query.maxTimeoutSeconds ?? TIMEOUT_SECONDS_DEFAULT
  const resource = query.resource ?? ''
  const { option, reason } = offerOf(chain, facilitator, { agentId, serviceId, maxTimeoutSeconds, resource })
  if (option === undefined) return reason
  return answer({
    ...{ agentId, serviceId, height: chain.head.header.height, available: reason === null },
    ...(reason === null ? {} : { unavailableReason: reason }),
    ...{ v1: option?.v1 ?? null, v2: option?.v2 ?? null },
  })
}

interface Asked {
  readonly agentId: AgentId
  readonly serviceId: ServiceId
  readonly maxTimeoutSeconds: number
  readonly resource: string
}

type Offered =
  | { readonly option: PaymentOption | null; readonly reason: string | null }
  | { readonly option: undefined; readonly reason: Fault }

function offerOf(chain: Chain, { price, settings }: FacilitatorApi, asked: Asked): Offered {
  const { agentId, serviceId, maxTimeoutSeconds, resource } = asked
  const agent = chain.database.get(AGENTS, agentId)
  if (agent === undefined) return { option: undefined, reason: fault('rpc/agent-not-found', { agentId }) }
  const service = chain.database.get(SERVICES, { agentId, serviceId })
  if (service === undefined) return { option: undefined, reason: fault('facilitator/service', { agentId, serviceId }) }
  const definition = { serviceId, timeoutMs: maxTimeoutSeconds * 1_000 }
  const quoted = computeQuote({ chain, price, settings, agentId, agent, service, definition })
  if (quoted.quote === null) return { option: null, reason: quoted.reason }
  const passing = chain.moving ? 'the node is moving to another branch of the chain; ask again in a moment' : null
  const reason = service.retired ? 'it was retired' : passing
  const { description } = service
  const terms = { quote: quoted.quote, description, resource, reason, maxTimeoutSeconds }
  return { option: nativeOption(chain, terms), reason }
}

function verifiedJson(
  chain: Chain,
  { payment: { txId, agentId, serviceId } }: FacilitatorCall,
  { escrow, confirmations, commitment }: VerifiedPayment,
) {
  const { deadline, amount } = escrow
  return {
    isValid: true,
    payer: addressText(chain, escrow.caller),
    extra: { txId, agentId, serviceId, amount: amount.toString(), confirmations, deadline, commitment },
  }
}

function settledJson(node: NodeApi, { record, keys, replayed }: RecordedSettlement) {
  const { chain, mempool } = node
  const { agentId, serviceId, settler, outcome, requestHash, resultHash, durationMs, deadline } = record
  const receipt = receiptState(node, record)
  const nonce = mempool.nextNonce(settler)
  const { maxFeeRate, tip } = suggestedFee(mempool.minFeeRate)
  const suggested = { nonce, maxFeeRate: BigInt(maxFeeRate), tip: BigInt(tip) }
  return {
    replayed,
    record: {
      ...{ agentId, serviceId, settler: addressText(chain, settler), outcome, requestHash, resultHash, durationMs },
      ...{ deadline, recordedAt: moment(record.recordedAtMs) },
    },
    receipt,
    receiptTransaction: receipt.status === 'owed' ? unsignedReceipt(chain, record, { keys, suggested }) : null,
  }
}

/** State of a record's receipt. Only with `owed` does the settler have to sign one. */
function receiptState({ chain, mempool }: NodeApi, { txId, settler }: SettlementRecord) {
  const { database } = chain
  if (database.get(ESCROWS, txId) === undefined) {
    const closure = closureOf(database, txId)
    return { status: closure?.how ?? ('adrift' as const), txId: closure?.receiptTxId ?? null }
  }
  const waiting = mempool
    .ofAccount(settler)
    .find(({ body }) => body.kind === 'agent_receipt' && body.payload.entries.some((entry) => entry.txId === txId))
  return waiting === undefined
    ? { status: 'owed' as const, txId: null }
    : { status: 'waiting' as const, txId: waiting.txId }
}

function invalid(cause: Fault) {
  return answer({
    isValid: false,
    invalidReason: reasonOf(cause),
    invalidMessage: faultMessage(cause),
    extra: why(cause),
  })
}

function unsettled(cause: Fault, { network, transaction }: { network: string; transaction: TxId | '' }) {
  const errorMessage = faultMessage(cause)
  return answer({ success: false, transaction, network, errorReason: reasonOf(cause), errorMessage, extra: why(cause) })
}

function why(cause: Fault): Readonly<Record<string, unknown>> {
  return { retry: httpFault(cause.code).retry, ...cause.detail }
}

/** A missing secret has a code of its own here, so that a seller can tell it from other bad requests. */
function reasonOf({ code }: Fault): string {
  return code === 'pay/secret-missing' ? 'secret_missing' : httpFault(code).api
}

function addressText({ ruleBook }: Chain, address: Parameters<typeof formatAddress>[1]): string {
  return formatAddress(ruleBook.params.addressPrefix, address)
}
