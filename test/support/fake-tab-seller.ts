import { taggedHashHex } from '../../consensus/crypto/hash.ts'
import type { SigningNetwork } from '../../consensus/crypto/signing.ts'
import { verifyTabSignature } from '../../consensus/crypto/tab-signing.ts'
import { amount } from '../../consensus/primitives/amount.ts'
import { fromHex, toHex, ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import type { AgentId, Hash, ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import { encodeText } from '../../consensus/primitives/text.ts'
import { requestCommitment, requestHash } from '../../consensus/tx/request-hash.ts'
import {
  encodeTabReceipt,
  type TabReceipt,
  tabQueryMessage,
  tabReceiptMessage,
  tabReceiptsRoot,
  voucherMessage,
} from '../../consensus/tx/tab-messages.ts'
import type { ClaimEntry } from '../../consensus/tx/tab-payloads.ts'
import type { Tab } from '../../marketplace/ledger/tab-records.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'

export type Json = Readonly<Record<string, unknown>>

/** An answer before it leaves. `settled` is the header PAYMENT-RESPONSE. */
export interface Answer {
  readonly status: number
  readonly body: Json
  readonly settled?: Json
}

/** A voucher that passed its checks. */
interface Held {
  readonly seq: number
  readonly ceiling: bigint
  readonly context: string
  readonly signature: string
}

/** What the seller keeps of one tab. */
export interface Ledger {
  charged: bigint
  voucher: Held | null
  readonly receipts: Json[]
  /** Answers by number, with the payload that they are for. */
  readonly answers: Map<number, { readonly payload: string; readonly answer: Answer }>
}

/** What the seller sees of the chain. */
export interface SellerPlace {
  readonly network: SigningNetwork
  readonly agentId: string
  readonly payTo: string
  readonly tab: (tabId: string) => Tab | undefined
  readonly height: () => number
}

const RECEIPT_SEED = new Uint8Array(32).fill(0x5e)

/**
 * A small seller of calls on tabs that shares no code with the real one. It speaks the objects of x402, and checks every
 * voucher for real. A test can make it lie, lose answers, forget everything, or go back to an old copy of its data.
 */
export class FakeTabSeller {
  readonly receiptKey = toHex(NATIVE_BACKEND.publicKeyEd25519(RECEIPT_SEED))
  ledgers = new Map<string, Ledger>()
  prices = new Map<string, bigint>()
  /** Calls that were served, by service and request. */
  readonly served: string[] = []
  /** Payloads in the order in which they came. */
  readonly seen: Json[] = []
  readonly #place: SellerPlace

  constructor(place: SellerPlace) {
    this.#place = place
  }

  price(serviceId: string): bigint {
    return this.prices.get(serviceId) ?? 200_000n
  }

  ledger(tabId: string): Ledger {
    const known = this.ledgers.get(tabId)
    if (known !== undefined) return known
    const { claimed = 0n } = this.#place.tab(tabId) ?? {}
    const fresh: Ledger = { charged: claimed, voucher: null, receipts: [], answers: new Map() }
    this.ledgers.set(tabId, fresh)
    return fresh
  }

  /** A copy of all that it knows, to go back to. */
  copy(): Map<string, Ledger> {
    return new Map(
      [...this.ledgers].map(([id, { charged, voucher, receipts, answers }]) => [
        id,
        { charged, voucher, receipts: [...receipts], answers: new Map(answers) },
      ]),
    )
  }

  /** The terms of a call, with the state of a tab in a corrective answer. */
  terms(serviceId: string, code: string, tabId?: string): Answer {
    const { agentId, payTo, network, height } = this.#place
    const facts = { genesis: network.genesis, networkName: 'test', decimals: 8, agentId, serviceId }
    const keys = { receiverAuthorizer: this.receiptKey, withdrawDelay: 1_200, closeDelay: 400, terms: [1_200, 28_800] }
    const limits = { minDeposit: '2000000', validUntil: height() + 30, inFlight: 8, priceUsd: 0.0005 }
    const state = tabId === undefined ? {} : this.state(tabId)
    const offer = {
      ...{ scheme: 'batch-settlement', network: 'farthing:1', amount: this.price(serviceId).toString() },
      ...{ asset: 'FAR', payTo, maxTimeoutSeconds: 60, extra: { ...facts, ...keys, ...limits, ...state } },
    }
    const available = { available: true, requestValid: true, x402: true, serviceId }
    return { status: 402, body: { x402Version: 1, error: code, code, ...available, accepts: [offer] } }
  }

  /** The terms of a call that is paid by itself. */
  single(serviceId: string): Answer {
    const { agentId, payTo, network, height } = this.#place
    const facts = { agentId, serviceId, term: 100, validUntil: height() + 30, confirmations: 1, decimals: 8 }
    const extra = { ...facts, genesis: network.genesis, priceUsd: 0.0005, nativeUsd: 0.25 }
    const amountText = this.price(serviceId).toString()
    const offer = {
      scheme: 'native-x402',
      network: 'farthing:1',
      maxAmountRequired: amountText,
      asset: 'FAR',
      payTo,
      extra,
    }
    const body = { error: 'payment_required', code: 'payment_required', available: true, requestValid: true }
    return { status: 402, body: { x402Version: 1, ...body, x402: true, accepts: [offer] } }
  }

  /** A call that was paid by itself. Its payment is believed. */
  serveSingle(serviceId: string, request: string): Answer {
    this.served.push(`${serviceId} ${request}`)
    return { status: 200, body: { paid: true, result: { echo: request }, receipt: { serviceId } } }
  }

  state(tabId: string): Json {
    const { charged, voucher, receipts, answers } = this.ledger(tabId)
    const tab = this.#place.tab(tabId)
    const used = [...answers.keys()]
    const channelState = {
      ...{ channelId: tabId, balance: (tab?.deposit ?? 0n).toString(), totalClaimed: (tab?.claimed ?? 0n).toString() },
      ...{ chargedCumulativeAmount: charged.toString(), receipts: receipts.length, nextSeq: Math.max(0, ...used) + 1 },
      ...{ withdrawRequestedAt: tab?.closesAt ?? 0, expiresAt: tab?.expiresAt ?? 0 },
    }
    const held = voucher && {
      ...{ seq: voucher.seq, maxClaimableAmount: voucher.ceiling.toString() },
      ...{ context: voucher.context, signature: voucher.signature },
    }
    const last = receipts.at(-1)
    return { channelState, ...(held && { voucherState: held }), ...(last && { lastReceipt: last }) }
  }

  /** A call with a payment. */
  async call(serviceId: string, request: string, payload: Json): Promise<Answer> {
    this.seen.push(payload)
    const { channelId, voucher } = payload as { readonly channelId: string; readonly voucher: Json }
    const { seq, maxClaimableAmount, secret, signature } = voucher as {
      readonly [name in 'maxClaimableAmount' | 'secret' | 'signature']: string
    } & { readonly seq: number }
    const tab = this.#place.tab(channelId)
    if (tab === undefined || tab.closesAt !== 0) return this.terms(serviceId, 'tab_not_found')
    const ledger = this.ledger(channelId)
    const text = JSON.stringify({ serviceId, request, payload })
    const known = ledger.answers.get(seq)
    if (known !== undefined)
      return known.payload === text ? known.answer : this.terms(serviceId, 'tab_seq_used', channelId)
    const names = { agentId: this.#place.agentId as AgentId, serviceId: serviceId as ServiceId, request }
    const context = requestCommitment(fromHex(secret), names)
    const held = { seq, ceiling: BigInt(maxClaimableAmount), context, signature }
    if (!this.#isSigned(channelId, tab, held)) return this.terms(serviceId, 'bad_voucher', channelId)
    const most = ledger.voucher === null || held.ceiling > ledger.voucher.ceiling ? held : ledger.voucher
    const price = this.price(serviceId)
    if (ledger.charged + price > most.ceiling || most.ceiling > tab.deposit)
      return this.terms(serviceId, 'tab_ceiling_low', channelId)
    ledger.voucher = most
    // A second call with this number must find it taken while the work goes on.
    ledger.answers.set(seq, { payload: text, answer: { status: 503, body: { error: 'under way', code: 'busy' } } })
    const answer = await this.#serve({ tab, tabId: channelId, held, serviceId, request, price })
    ledger.answers.set(seq, { payload: text, answer })
    return answer
  }

  /** Whether the voucher key asks. */
  isAsked(
    tabId: string,
    what: 'state' | 'refund',
    { timeMs, signature }: { timeMs: number; signature: string },
  ): boolean {
    const tab = this.#place.tab(tabId)
    if (tab === undefined) return false
    const message = tabQueryMessage(this.#place.network, { tabId: tabId as TxId, what, timeMs })
    const signed = { key: fromHex(tab.voucherKey), message, signature: fromHex(signature) }
    return Math.abs(Date.now() - timeMs) < 300_000 && verifyTabSignature(NATIVE_BACKEND, signed)
  }

  /** The entry that claims all that it charged. */
  entry(tabId: string, change: Partial<ClaimEntry> = {}): ClaimEntry {
    const { charged, voucher, receipts } = this.ledger(tabId)
    const tab = this.#place.tab(tabId) as Tab
    const due = receipts.slice(tab.receipts).map((json) => receiptOf(json))
    const delivered = due.filter(({ outcome }) => outcome === 0)
    const services = [...new Set(delivered.map(({ serviceId }) => serviceId))].map((serviceId) => {
      const calls = delivered.filter((each) => each.serviceId === serviceId)
      const sum = calls.reduce((all, each) => all + each.charged, 0n)
      return { serviceId, calls: calls.length, amount: amount(sum) }
    })
    const shown = voucher === null ? [] : [{ ...voucher, ceiling: amount(voucher.ceiling) }]
    return {
      tabId: tabId as TxId,
      voucher: shown.map(({ seq, ceiling, context, signature }) => {
        return { seq, ceiling, context: context as Hash, signature: fromHex(signature) }
      }),
      ...{ claimed: amount(charged), close: false, receipts: receipts.length, failed: due.length - delivered.length },
      root: due.length === 0 ? (ZERO_HEX_32 as Hash) : tabReceiptsRoot(due.map(encodeTabReceipt)),
      services,
      ...change,
    }
  }

  /** A signed receipt with some fields changed. */
  signed(receipt: TabReceipt): Json {
    const message = tabReceiptMessage(this.#place.network, encodeTabReceipt(receipt))
    const { charged, cumulative, ...rest } = receipt
    const sums = { charged: charged.toString(), cumulative: cumulative.toString() }
    return { ...rest, ...sums, signature: toHex(NATIVE_BACKEND.signEd25519(message, RECEIPT_SEED)) }
  }

  #isSigned(tabId: string, tab: Tab, { seq, ceiling, context, signature }: Held): boolean {
    const voucher = { seq, ceiling: amount(ceiling), context: context as Hash }
    const message = voucherMessage(this.#place.network, tabId as TxId, voucher)
    const signed = { key: fromHex(tab.voucherKey), message, signature: fromHex(signature) }
    return verifyTabSignature(NATIVE_BACKEND, signed)
  }

  async #serve({
    tabId,
    held,
    serviceId,
    request,
    price,
  }: {
    readonly tab: Tab
    readonly tabId: string
    readonly held: Held
    readonly serviceId: string
    readonly request: string
    readonly price: bigint
  }): Promise<Answer> {
    const [mode, ms] = request.split(':')
    if (mode === 'slow') await new Promise((resolve) => setTimeout(resolve, Number(ms)))
    this.served.push(`${serviceId} ${request}`)
    const isGood = mode !== 'fail'
    const result = { echo: request }
    const charged = isGood ? price : 0n
    const ledger = this.ledger(tabId)
    ledger.charged += charged
    const receipt = this.signed({
      ...{ tabId: tabId as TxId, seq: held.seq, n: ledger.receipts.length + 1, serviceId: serviceId as ServiceId },
      context: held.context as Hash,
      resultHash: isGood ? taggedHashHex('result', encodeText(JSON.stringify(result))) : (ZERO_HEX_32 as Hash),
      ...{ outcome: isGood ? 0 : 1, charged: amount(charged), cumulative: amount(ledger.charged) },
      ...{ durationMs: 1, timeMs: Date.now() },
    })
    ledger.receipts.push(receipt)
    const { height, payTo } = this.#place
    const shown = {
      ...{ serviceId, caller: payTo, amount: Number(charged) / 1e8, txId: tabId, rail: 'tab', asset: 'FAR' },
      ...{ amountBaseUnits: charged.toString(), resultHash: receipt.resultHash, tab: receipt, durationMs: 1 },
      ...{ requestHash: requestHash(serviceId as ServiceId, request), completedAt: new Date().toISOString() },
    }
    const next = { amount: this.price(serviceId).toString(), validUntil: height() + 30 }
    const { channelState } = this.state(tabId) as { readonly channelState: Json }
    const extra = {
      commitmentId: `${tabId}:${held.seq}`,
      chargedAmount: charged.toString(),
      channelState,
      receipt,
      next,
    }
    const settled = { success: isGood, transaction: '', network: 'farthing:1', amount: '', payer: payTo, extra }
    if (isGood) return { status: 200, body: { paid: true, result, receipt: shown }, settled }
    const said = { error: 'the service failed', code: 'service_failed', requestId: 'r', receipt: shown }
    return { status: 502, body: said, settled }
  }
}

/** A receipt in JSON as consensus encodes it. */
export function receiptOf(json: Json): TabReceipt {
  const { signature: _, charged, cumulative, ...rest } = json
  return {
    ...rest,
    charged: amount(BigInt(String(charged))),
    cumulative: amount(BigInt(String(cumulative))),
  } as TabReceipt
}
