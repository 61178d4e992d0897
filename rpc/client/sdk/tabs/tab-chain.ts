import { fromHex, isHex, ZERO_HEX_32 } from '../../../../consensus/primitives/bytes.ts'
import { fault } from '../../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../../consensus/primitives/result.ts'
import { decodeTransaction, type Transaction } from '../../../../consensus/tx/transaction.ts'
import { askNode, expectOk, fieldsOf, type Transport, textOf } from '../../http.ts'
import { isHeight, type NodeClient } from '../../node-client.ts'
import { isUint32, isUnits } from './tab-receipts.ts'

type Fields = Readonly<Record<string, unknown>>

/** The record of a tab in the state, by the word of the client's own node. */
export interface TabRecordView {
  readonly agentId: string
  readonly payer: string
  readonly payout: string
  readonly voucherKey: string
  readonly receiptKey: string
  readonly deposit: bigint
  readonly claimed: bigint
  readonly receipts: number
  readonly chain: string
  readonly openedAt: number
  readonly expiresAt: number
  readonly closeDelay: number
  /** 0 until the payer asked the chain to close. */
  readonly closesAt: number
}

/** An agent and the terms on which it takes tabs, from the state. */
export interface AgentTermsView {
  readonly payout: string
  readonly claimants: readonly string[]
  /** Ids of its services. */
  readonly services: readonly string[]
  /** Null if the agent takes no new tabs. */
  readonly terms: { readonly receiptKey: string; readonly minDeposit: bigint; readonly minCloseDelay: number } | null
}

/** A claim of a tab, with the position that orders it. */
export interface ClaimView {
  readonly txId: string
  readonly height: number
  readonly position: number
  readonly claimed: bigint
  readonly receipts: number
  readonly root: string
  readonly entry: Fields
}

/** An opening in the history of an address. */
export interface OpeningView {
  readonly tabId: string
  readonly height: number
  readonly payload: Fields
}

const PAGE = 50
/** Longest walk through the history of one address. */
const PAGES_MAX = 2_000

/** What a client reads of tabs from its own node. */
export class TabChain {
  readonly #client: NodeClient
  readonly #transport: Transport

  constructor(client: NodeClient, transport: Transport) {
    this.#client = client
    this.#transport = transport
  }

  /** Undefined if the chain has no such tab now. */
  async tab(tabId: string): Promise<Result<TabRecordView | undefined>> {
    const answer = await askNode(this.#client.baseUrl, `/api/tabs/${tabId}`, {}, this.#transport)
    if (answer.ok && answer.value.status === 404 && answer.value.body.code === 'tab_not_found') return ok(undefined)
    const body = expectOk(answer)
    if (!body.ok) return body
    const record = recordIn(fieldsOf(body.value.tab))
    return record === undefined ? misunderstood(`/api/tabs/${tabId}`) : ok(record)
  }

  /** Payout, claimants and terms of an agent. */
  async agent(agentId: string): Promise<Result<AgentTermsView>> {
    const path = `/api/v1/agents/${encodeURIComponent(agentId)}`
    const body = await this.#client.document(path)
    if (!body.ok) return body
    const { payout, owner, settlers, tabs, services } = fieldsOf(body.value.agent)
    if (typeof payout !== 'string' || typeof owner !== 'string') return misunderstood(path)
    const others = Array.isArray(settlers) ? settlers.filter((each) => typeof each === 'string') : []
    const { receiptKey, minDeposit, minCloseDelay } = fieldsOf(tabs)
    const isOpen = typeof receiptKey === 'string' && isHex(receiptKey, 32) && receiptKey !== ZERO_HEX_32
    const isWhole = isOpen && isUnits(minDeposit) && isUint32(minCloseDelay)
    const terms = isWhole ? { receiptKey, minDeposit: BigInt(minDeposit), minCloseDelay } : null
    const sold = Array.isArray(services) ? services.map((each) => textOf(fieldsOf(each).serviceId, '')) : []
    return ok({ payout, claimants: [...new Set([owner, ...others])], terms, services: sold.filter((id) => id !== '') })
  }

  /** Openings of an address down to a height, newest first. */
  async openings(address: string, fromHeight: number): Promise<Result<readonly OpeningView[]>> {
    const found: OpeningView[] = []
    const seen = await this.#walk(address, fromHeight, ({ kind, txId, success, height, payload, sender }) => {
      if (kind !== 'tab_open' || success !== true || sender !== address || typeof txId !== 'string') return
      found.push({ tabId: txId, height: height as number, payload: fieldsOf(payload) })
    })
    return seen.ok ? ok(found) : seen
  }

  /** Accepted claims of a tab by these addresses, in the order of the chain. */
  async claims(
    tabId: string,
    { claimants, fromHeight }: { readonly claimants: readonly string[]; readonly fromHeight: number },
  ): Promise<Result<readonly ClaimView[]>> {
    const found: ClaimView[] = []
    for (const claimant of claimants) {
      const told: { readonly txId: string; readonly height: number; readonly position: number }[] = []
      const seen = await this.#walk(claimant, fromHeight, ({ kind, txId, success, height, position, sender }) => {
        if (kind === 'tab_claim' && success === true && sender === claimant && typeof txId === 'string')
          told.push({ txId, height: height as number, position: Number(position) })
      })
      if (!seen.ok) return seen
      for (const place of told) {
        const entries = await this.#entries(place.txId)
        if (!entries.ok) return entries
        for (const entry of entries.value.filter((each) => each.tabId === tabId)) found.push({ ...place, ...claimIn(entry), entry })
      }
    }
    return ok(found.sort((a, b) => a.height - b.height || a.position - b.position))
  }

  /** The nonce of a mined transaction. Null if the node does not know it. */
  async nonce(txId: string): Promise<Result<bigint | null>> {
    const known = await this.#client.document(`/api/v1/tx/${txId}`)
    if (!known.ok) return known
    const { nonce } = fieldsOf(known.value.transaction)
    return ok(isUnits(nonce) ? BigInt(nonce) : null)
  }

  /** Entries of a claim that the chain accepted. */
  async #entries(txId: string): Promise<Result<readonly Fields[]>> {
    const known = await this.#client.document(`/api/v1/tx/${txId}`)
    if (!known.ok) return known
    const { transaction, receipt } = known.value
    const { entries } = fieldsOf(fieldsOf(transaction).payload)
    const outcomes = fieldsOf(receipt).entries
    if (!Array.isArray(entries) || !Array.isArray(outcomes)) return misunderstood(`/api/v1/tx/${txId}`)
    return ok(entries.map(fieldsOf).filter((_, i) => outcomes[i] === 0))
  }

  /** Calls `visit` for each event of an address, newest first, until a height is passed. */
  async #walk(address: string, fromHeight: number, visit: (event: Fields) => void): Promise<Result<void>> {
    let cursor: string | null = ''
    for (let page = 0; cursor !== null && page < PAGES_MAX; page++) {
      const query = new URLSearchParams({ limit: String(PAGE), ...(cursor === '' ? {} : { cursor }) })
      const path = `/api/v1/accounts/${encodeURIComponent(address)}/history?${query}`
      const body: Result<Fields> = await this.#client.document(path)
      if (!body.ok) return body
      const events = Array.isArray(body.value.events) ? body.value.events.map(fieldsOf) : []
      for (const event of events) {
        if (!isHeight(event.height) || event.height < fromHeight) return ok(undefined)
        if (event.event === 'transaction') visit(event)
      }
      cursor = events.length === 0 ? null : textOf(body.value.nextCursor, '') || null
    }
    return ok(undefined)
  }
}

function recordIn(tab: Fields): TabRecordView | undefined {
  const { agentId, payer, payout, voucherKey, receiptKey, deposit, claimed, receipts, chain } = tab
  const { openedAt, expiresAt, closeDelay, closesAt } = tab
  const texts = { agentId, payer, payout, voucherKey, receiptKey, chain }
  if (!Object.values(texts).every((text) => typeof text === 'string')) return undefined
  if (!isUnits(deposit) || !isUnits(claimed) || !isUint32(receipts) || !isUint32(closeDelay)) return undefined
  if (!isHeight(openedAt) || !isHeight(expiresAt) || !isHeight(closesAt)) return undefined
  const sums = { deposit: BigInt(deposit), claimed: BigInt(claimed), receipts }
  return { ...(texts as Record<keyof typeof texts, string>), ...sums, openedAt, expiresAt, closeDelay, closesAt }
}

function claimIn({ claimed, receipts, root }: Fields): Pick<ClaimView, 'claimed' | 'receipts' | 'root'> {
  return {
    claimed: isUnits(claimed) ? BigInt(claimed) : 0n,
    receipts: isUint32(receipts) ? receipts : 0,
    root: textOf(root, ''),
  }
}

/** Height at which the chain gives back what is left. */
export function endOf({ closesAt, expiresAt }: Pick<TabRecordView, 'closesAt' | 'expiresAt'>): number {
  return closesAt === 0 ? expiresAt : closesAt
}

/** A signed transaction from hex. Undefined if it is none. */
export function transactionIn(hex: string): Transaction | undefined {
  const decoded = decodeTransaction(fromHex(hex))
  return decoded.ok ? decoded.value : undefined
}

function misunderstood(path: string): Result<never> {
  return fail(fault('cli/refused', { message: `its answer at ${path} is not what this client understands` }))
}
