import { join } from 'node:path'
import { mulDivUp } from '../../consensus/primitives/amount.ts'
import type { ServiceId } from '../../consensus/primitives/ids.ts'
import { OPERATOR } from '../../marketplace/chat/keys/keys.ts'
import { CHAT_LINE } from '../../marketplace/services/text/chat-line.ts'
import { llmChat } from '../../marketplace/services/text/llm-chat.ts'
import { PRICE_UNITS } from '../../marketplace/services/text/token-price.ts'
import type { TabStore } from '../../marketplace/till/rails/tab/tab-store.ts'
import type { ChatFacts } from '../../rpc/node/node-api.ts'
import { ChatRoom } from '../../src/chat/chat-room.ts'
import { type OpenChatKeys, openChatKeys } from '../../src/chat/stores/level-chat-keys.ts'
import { systemClock } from '../../src/daemon/runtime.ts'
import type { JsonBody } from './api.ts'
import { infoOver } from './chat-info.ts'
import { eventsOf, readAll } from './chat-server.ts'
import { ChatWorld } from './chat-world.ts'
import { removeFolder, temporaryFolder } from './processes.ts'
import { headerOf, TabDoor, type TabPayer, type VoucherPayload } from './tab-door.ts'
import { TEST_SERVICES } from './test-services.ts'
import { voiceOver } from './voices.ts'

export const LLM_CHAT = 'node-llm-chat' as ServiceId
export const CHAT_PATH = '/api/v1/chat/completions'
/** The simplest chat. Its prompt has 11 tokens by the platform's count, its answer may have 256. */
export const PLAIN = { model: 'model-1', messages: [{ role: 'user', content: 'Hello?' }], max_tokens: 256 }

/** What a test may change. */
export interface TabChatParts {
  readonly wrapTabs?: (store: TabStore) => TabStore
  readonly concurrentMax?: number
}

/** A chat platform that sells from tabs, behind a real HTTP server; its models are at a fake server of this process. */
export class TabChat {
  readonly door: TabDoor
  readonly world: ChatWorld
  readonly chats: readonly ChatFacts[]
  readonly room: ChatRoom
  /** An API key of the node. */
  readonly key: string
  readonly #keys: OpenChatKeys
  readonly #folder: string

  private constructor(
    made: Pick<TabChat, 'door' | 'world' | 'chats' | 'room' | 'key'>,
    keys: OpenChatKeys,
    folder: string,
  ) {
    this.door = made.door
    this.world = made.world
    this.chats = made.chats
    this.room = made.room
    this.key = made.key
    this.#keys = keys
    this.#folder = folder
  }

  static async open({ concurrentMax = 64, ...parts }: TabChatParts = {}): Promise<TabChat> {
    const world = await ChatWorld.open()
    const folder = temporaryFolder()
    const bounds = { rpm: 100_000, tpd: 1_000_000_000, concurrent: 64, keys: 20 }
    const keys = await openChatKeys({ folder: join(folder, 'keys'), clock: systemClock, bounds, onFault: () => {} })
    const chats: ChatFacts[] = []
    const room = new ChatRoom(concurrentMax)
    const chat = {
      ...{ platform: world.platform, voice: voiceOver(world), keys, info: infoOver(world), tokensMax: 4_096 },
      ...{ budgetMs: 10_000, enter: room.enter, onChat: (facts: ChatFacts) => void chats.push(facts) },
    }
    const services = [...TEST_SERVICES, llmChat]
    const door = await TabDoor.open({ services, outside: { models: world.pool }, chat, ...parts })
    const made = await keys.create({
      ...{ label: 'of a test', owner: OPERATOR, limits: { rpm: null, tpd: null }, expiresAtMs: null },
    })
    if (!made.ok) throw new Error(made.fault.code)
    return new TabChat({ door, world, chats, room, key: made.value.secret }, keys, folder)
  }

  /** A payer with an open tab. */
  payer(): Promise<TabPayer> {
    return this.door.payer()
  }

  /** Price of node-llm-chat now, and what so many token units cost of it. */
  priceOf(units: bigint = PRICE_UNITS): bigint {
    return mulDivUp(this.door.market.priceOf(LLM_CHAT), units, PRICE_UNITS)
  }

  /** Asks what a chat costs: the offer on a tab. */
  async most(body: object): Promise<bigint> {
    const told = await this.told(await this.post(JSON.stringify(body), null))
    return BigInt((told.body.accepts as readonly JsonBody[])[0]?.amount as string)
  }

  /** A voucher for a chat, by what it costs at most. */
  async voucher(payer: TabPayer, body: object, more: { readonly ceiling?: bigint } = {}): Promise<VoucherPayload> {
    const ceiling = more.ceiling ?? payer.ceiling + (await this.most(body))
    return payer.voucher(CHAT_LINE + JSON.stringify(body), { serviceId: LLM_CHAT, ceiling })
  }

  /** Sends a chat with a payment, or asks what it costs. */
  post(text: string, payload: object | null, init: RequestInit = {}): Promise<Response> {
    const signed = payload === null ? {} : { 'payment-signature': headerOf(payload) }
    const headers = { 'content-type': 'application/json', ...signed, ...init.headers }
    return fetch(`${this.door.url}${CHAT_PATH}?rail=tab`, { method: 'POST', body: text, ...init, headers })
  }

  /** Buys a chat from a tab, and reads the answer to its end. */
  async buy(payer: TabPayer, body: object): Promise<Told> {
    const payload = await this.voucher(payer, body)
    return { ...(await this.told(await this.post(JSON.stringify(body), payload))), payload }
  }

  /** An answer that was read to its end. */
  async told(response: Response): Promise<Told> {
    const { text, isCut } = await readAll(response)
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    const events = isStream ? eventsOf(text) : []
    const chunks = events.filter((one) => one !== '[DONE]').map((one) => JSON.parse(one) as JsonBody)
    const body = isStream ? {} : (JSON.parse(text) as JsonBody)
    return { response, text, isCut, chunks, isDone: events.at(-1) === '[DONE]', body, payload: null }
  }

  /** How a tab stands with the seller. */
  async charged({ tabId }: TabPayer): Promise<{ readonly charged: bigint; readonly reserved: bigint }> {
    const { charged = 0n, reserved = 0n } = this.door.shop.level.peek(tabId) ?? {}
    return { charged, reserved }
  }

  async close(): Promise<void> {
    await this.world.close()
    await this.#keys.close()
    removeFolder(this.#folder)
  }
}

/** An answer over HTTP. */
export interface Told {
  readonly response: Response
  readonly text: string
  readonly isCut: boolean
  readonly chunks: readonly JsonBody[]
  readonly isDone: boolean
  /** Of an answer that is no stream. */
  readonly body: JsonBody
  readonly payload: VoucherPayload | null
}

/** `x_payment` of an answer: in its body, or in its last piece. */
export function paymentOfAnswer({ body, chunks }: Told): {
  readonly receipt: JsonBody & { readonly tab: JsonBody }
  readonly settlement: JsonBody
} {
  const found = chunks.find((chunk) => chunk.x_payment !== undefined)?.x_payment ?? body.x_payment
  return found as never
}

/** The text of the first choice of a stream. */
export function streamedText({ chunks }: Told): string {
  const deltas = chunks.flatMap(({ choices = [] }) => choices as readonly { readonly delta: JsonBody }[])
  return deltas.map(({ delta }) => delta.content ?? '').join('')
}
