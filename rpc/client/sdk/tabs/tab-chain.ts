import { parseAmount } from '../../../../consensus/primitives/amount.ts'
import { isHex, ZERO_HEX_32 } from '../../../../consensus/primitives/bytes.ts'
import { fault } from '../../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../../consensus/primitives/result.ts'
import { askNode, expectOk, fieldsOf, type Transport, textOf } from '../../http.ts'
import { isHeight, type NodeClient } from '../../node-client.ts'
import { PaymentMismatchError } from '../errors.ts'
import { isOver, type Patience, pause, whileReading } from '../waiting.ts'
import { isUint32, isUnits } from './tab-receipts.ts'

type Fields = Readonly<Record<string, unknown>>

/** A tab on the chain, by the word of the client's own node. After its end, its last record. */
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
  readonly status: 'open' | 'closing' | 'ended'
  /** Height at which the chain gives back what is left, or gave it back. */
  readonly endsAt: number
}

/** Terms on which an agent takes tabs, from the state. */
export interface TermsView {
  readonly receiptKey: string
  readonly minDeposit: bigint
  readonly minCloseDelay: number
}

/** An agent. */
export interface AgentTermsView {
  readonly payout: string
  /** Prices of its services in the registry, by their ids, in millionths of a dollar. */
  readonly prices: ReadonlyMap<string, bigint>
  /** Whether these are all its services. */
  readonly isWhole: boolean
  /** Null if it takes no new tabs. */
  readonly terms: TermsView | null
}

/** A claim of a tab. */
export interface ClaimView {
  readonly txId: string
  readonly height: number
  /** Totals after it. */
  readonly claimed: bigint
  readonly receipts: number
  readonly root: string
  /** As the node told it. */
  readonly told: Fields
}

const PAGE = 100
const USD_DECIMALS = 6
/** Most pages of a list that a client reads. */
const PAGES_MAX = 1_000

/** How long a node may be behind another one. */
const BEHIND_MS = 10_000

/** What a client reads tabs with. */
export interface TabChainParts {
  readonly client: NodeClient
  /** A second node, which must say the same of a tab and of the terms of an agent. */
  readonly second: NodeClient | null
  readonly transport: Transport
  readonly patience: () => Patience
}

/** What a client reads of tabs from its own node. */
export class TabChain {
  readonly #parts: TabChainParts

  constructor(parts: TabChainParts) {
    this.#parts = parts
  }

  get #client(): NodeClient {
    return this.#parts.client
  }

  /** Undefined if the chain never had such a tab. Errors: `nodes_disagree`. */
  tab(tabId: string): Promise<Result<TabRecordView | undefined>> {
    return this.#agreed(`the tab ${tabId}`, (node) => this.#tabAt(node, tabId), fieldsOf)
  }

  /** Payout, prices and terms of an agent. Errors: `nodes_disagree`. */
  agent(agentId: string): Promise<Result<AgentTermsView>> {
    const facts = ({ payout, terms, prices }: AgentTermsView): Fields => {
      return { payout, ...terms, ...Object.fromEntries([...prices].map(([id, price]) => [`price of ${id}`, price])) }
    }
    return this.#agreed(`the agent ${agentId}`, (node) => agentAt(node, agentId), facts)
  }

  /** What the own node says, once a second one says the same. One that is a block behind is waited for. */
  async #agreed<T>(
    what: string,
    ask: (node: NodeClient) => Promise<Result<T>>,
    facts: (value: T) => Fields,
  ): Promise<Result<T>> {
    const { client, second, patience } = this.#parts
    if (second === null) return ask(client)
    const given = patience()
    const bounds = { ...given, untilMs: Math.min(given.untilMs, Date.now() + BEHIND_MS) }
    for (;;) {
      const [own, other] = await Promise.all([ask(client), ask(second)])
      const unlike = own.ok && other.ok ? unlikeIn(facts(own.value), facts(other.value)) : []
      if (!own.ok || (other.ok && unlike.length === 0)) return own
      if (isOver(bounds)) {
        if (!other.ok) return other
        const message = `${client.baseUrl} and ${second.baseUrl} do not say the same of ${what}: ${unlike.join(', ')}`
        throw new PaymentMismatchError(message, { code: 'nodes_disagree' })
      }
      await pause(BEHIND_MS / 20, bounds.signal)
    }
  }

  async #tabAt({ baseUrl }: NodeClient, tabId: string): Promise<Result<TabRecordView | undefined>> {
    const path = `/api/v1/tabs/${tabId}`
    const answer = await askNode(baseUrl, path, {}, this.#parts.transport)
    if (answer.ok && answer.value.status === 404 && answer.value.body.code === 'tab_not_found') return ok(undefined)
    const body = expectOk(answer)
    if (!body.ok) return body
    const record = recordIn(fieldsOf(body.value.tab))
    return record === undefined ? misunderstood(path) : ok(record)
  }

  /** Ids of the open tabs of an address. */
  async openTabs(address: string): Promise<Result<readonly string[]>> {
    const tabs = await this.#pages(`/api/v1/accounts/${encodeURIComponent(address)}/tabs?open=true&`, 'tabs')
    if (!tabs.ok) return tabs
    return ok(tabs.value.map(({ tabId }) => textOf(tabId, '')).filter((tabId) => isHex(tabId, 32)))
  }

  /** Claims of a tab, oldest first. */
  async claims(tabId: string): Promise<Result<readonly ClaimView[]>> {
    const path = `/api/v1/tabs/${tabId}/claims?`
    const claims = await this.#pages(path, 'claims')
    if (!claims.ok) return claims
    const read = claims.value.map(claimIn)
    return read.some((claim) => claim === undefined) ? misunderstood(path) : ok(read as readonly ClaimView[])
  }

  /** The nonce of a mined transaction. Null if the node does not know it. */
  async nonce(txId: string): Promise<Result<bigint | null>> {
    const known = await this.#client.document(`/api/v1/tx/${txId}`)
    if (!known.ok) return known
    const { nonce } = fieldsOf(known.value.transaction)
    return ok(isUnits(nonce) ? BigInt(nonce) : null)
  }

  async #pages(path: string, name: string): Promise<Result<readonly Fields[]>> {
    const found: Fields[] = []
    let cursor = ''
    const patience = whileReading(this.#parts.patience())
    for (let page = 0; page < PAGES_MAX; page++) {
      if (page > 0 && isOver(patience)) return misunderstood(path)
      const query = new URLSearchParams({ limit: String(PAGE), ...(cursor === '' ? {} : { cursor }) })
      const body: Result<Fields> = await this.#client.document(`${path}${query}`)
      if (!body.ok) return body
      const items = body.value[name]
      for (const item of Array.isArray(items) ? items.slice(0, PAGE) : []) found.push(fieldsOf(item))
      cursor = textOf(body.value.nextCursor, '')
      if (cursor === '') break
    }
    return ok(found)
  }
}

async function agentAt(node: NodeClient, agentId: string): Promise<Result<AgentTermsView>> {
  const path = `/api/v1/agents/${encodeURIComponent(agentId)}`
  const body = await node.document(path)
  if (!body.ok) return body
  const listed = await node.document(`${path}/tabs?limit=1`)
  if (!listed.ok) return listed
  const { payout, services, truncated } = fieldsOf(body.value.agent)
  if (typeof payout !== 'string') return misunderstood(path)
  const prices = new Map(Array.isArray(services) ? services.flatMap((each) => pricesIn(fieldsOf(each))) : [])
  return ok({ payout, prices, isWhole: truncated !== true, terms: termsIn(fieldsOf(listed.value.terms)) })
}

/** Nothing where a service has no price that can be read. */
function pricesIn({ serviceId, priceUsd }: Fields): readonly (readonly [string, bigint])[] {
  const price = parseAmount(textOf(priceUsd, ''), USD_DECIMALS)
  return typeof serviceId === 'string' && price.ok ? [[serviceId, price.value]] : []
}

/** Names of what two nodes do not say alike. */
function unlikeIn(own: Fields, other: Fields): readonly string[] {
  return [...new Set([...Object.keys(own), ...Object.keys(other)])].filter((name) => own[name] !== other[name])
}

/** Base units of an amount in an answer. Undefined if it is none. */
function unitsIn(amount: unknown): bigint | undefined {
  const { units } = fieldsOf(amount)
  return isUnits(units) ? BigInt(units) : undefined
}

function termsIn({ receiptKey, minDeposit, minCloseDelay }: Fields): TermsView | null {
  const least = unitsIn(minDeposit)
  if (typeof receiptKey !== 'string' || !isHex(receiptKey, 32) || receiptKey === ZERO_HEX_32) return null
  return least !== undefined && isUint32(minCloseDelay) ? { receiptKey, minDeposit: least, minCloseDelay } : null
}

function recordIn(tab: Fields): TabRecordView | undefined {
  const { agentId, payer, payout, voucherKey, receiptKey, receipts, chain, openedAt, expiresAt, closeDelay } = tab
  const texts = { agentId, payer, payout, voucherKey, receiptKey, chain }
  if (!Object.values(texts).every((text) => typeof text === 'string')) return undefined
  const [deposit, claimed] = [unitsIn(tab.deposit), unitsIn(tab.claimed)]
  const endsAt = tab.dueAt ?? fieldsOf(tab.end).height
  if (deposit === undefined || claimed === undefined || !isUint32(receipts) || !isUint32(closeDelay)) return undefined
  if (!isHeight(openedAt) || !isHeight(expiresAt) || !isHeight(endsAt)) return undefined
  const { status } = tab
  if (status !== 'open' && status !== 'closing' && status !== 'ended') return undefined
  const facts = { deposit, claimed, receipts, openedAt, expiresAt, closeDelay, endsAt }
  return { ...(texts as Record<keyof typeof texts, string>), ...facts, status }
}

function claimIn(told: Fields): ClaimView | undefined {
  const { txId, height, receipts, root } = told
  const claimed = unitsIn(told.claimed)
  if (typeof txId !== 'string' || !isHeight(height) || !isUint32(receipts) || claimed === undefined) return undefined
  return typeof root === 'string' ? { txId, height, receipts, claimed, root, told } : undefined
}

function misunderstood(path: string): Result<never> {
  return fail(fault('cli/refused', { message: `its answer at ${path} is not what this client understands` }))
}
