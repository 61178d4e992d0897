import { join } from 'node:path'
import type { Clock } from '../../consensus/chain/ports.ts'
import type { OwnerBounds } from '../../marketplace/chat/keys/keys.ts'
import { OPERATOR } from '../../marketplace/chat/keys/keys.ts'
import type { ChatFacts } from '../../rpc/node/node-api.ts'
import type { HttpLimits } from '../../rpc/server/limits.ts'
import { ChatRoom } from '../../src/chat/chat-room.ts'
import { type OpenChatKeys, openChatKeys } from '../../src/chat/stores/level-chat-keys.ts'
import { systemClock } from '../../src/daemon/runtime.ts'
import { ApiServer } from './api-server.ts'
import { type InfoParts, infoOver } from './chat-info.ts'
import { ChatWorld, type ChatWorldParts } from './chat-world.ts'
import { removeFolder, temporaryFolder, until } from './processes.ts'
import { voiceOver } from './voices.ts'

/** What a test may set of its server. */
export interface ChatServerParts extends ChatWorldParts {
  readonly limits?: Partial<HttpLimits>
  readonly bounds?: Partial<OwnerBounds>
  readonly concurrentMax?: number
  /** The description of the platform. */
  readonly info?: InfoParts
  /** The clock by which keys count their use. */
  readonly keyClock?: Clock
}

const BOUNDS: OwnerBounds = { rpm: 100_000, tpd: 1_000_000_000, concurrent: 64, keys: 20 }
const TOKENS_MAX = 4_096
const BUDGET_MS = 10_000

/** The chat over HTTP in this process: a real server and real keys over a {@link ChatWorld}. */
export class ChatServer {
  readonly url: string
  readonly keys: OpenChatKeys
  readonly room: ChatRoom
  /** A key of the operator. */
  readonly key: string
  /** Finished chats, in the order in which they finished. */
  readonly chats: readonly ChatFacts[]
  readonly #api: ApiServer
  readonly #folder: string
  readonly #place: { world: ChatWorld }

  private constructor(
    { api, keys, room }: Pick<ChatServer, 'keys' | 'room'> & { readonly api: ApiServer },
    {
      key,
      chats,
      folder,
      place,
    }: Pick<ChatServer, 'key' | 'chats'> & { readonly folder: string; readonly place: { world: ChatWorld } },
  ) {
    this.url = api.url
    this.#place = place
    this.keys = keys
    this.room = room
    this.key = key
    this.chats = chats
    this.#api = api
    this.#folder = folder
  }

  static async open({
    limits,
    bounds,
    concurrentMax = 64,
    info,
    keyClock = systemClock,
    ...parts
  }: ChatServerParts = {}): Promise<ChatServer> {
    const world = await ChatWorld.open(parts)
    const place = { world }
    const folder = temporaryFolder()
    const keys = await openChatKeys({
      folder: join(folder, 'keys'),
      clock: keyClock,
      bounds: { ...BOUNDS, ...bounds },
      onFault: () => {},
    })
    const room = new ChatRoom(concurrentMax)
    const chats: ChatFacts[] = []
    const chat = {
      get platform() {
        return place.world.platform
      },
      voice: voiceOver(world),
      keys,
      info: infoOver(world, info),
      tokensMax: TOKENS_MAX,
      budgetMs: BUDGET_MS,
      enter: room.enter,
      onChat: (facts: ChatFacts) => void chats.push(facts),
    }
    const api = await ApiServer.open(limits, null, undefined, { chat })
    return new ChatServer({ api, keys, room }, { key: await keyOf(keys), chats, folder, place })
  }

  /** The servers and models behind this server. */
  get world(): ChatWorld {
    return this.#place.world
  }

  /** Replaces the world by a new one. The voice and the description of the platform stay those of the first world. */
  async renew(parts: ChatWorldParts = {}): Promise<void> {
    await this.#place.world.close()
    this.#place.world = await ChatWorld.open(parts)
  }

  /** Exceptions that the server met: bugs. */
  get errors(): readonly unknown[] {
    return this.#api.errors
  }

  /** Makes another key. */
  newKey(owner: string = OPERATOR): Promise<string> {
    return keyOf(this.keys, owner)
  }

  post(body: unknown, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.url}/api/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(body),
      ...init,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.key}`, ...init.headers },
    })
  }

  /** Waits until no chat is under way and the `ChatRoom` is empty. */
  async settled(): Promise<void> {
    await this.world.settled()
    await until('no caller is inside', () => this.room.inside === 0)
  }

  async close(): Promise<void> {
    await this.#api.close()
    await this.keys.close()
    await this.world.close()
    removeFolder(this.#folder)
  }
}

/** The simplest chat. */
export const HELLO = { model: 'model-1', messages: [{ role: 'user', content: 'Hello?' }] }

/** The data of each server-sent event in a text, without comments. */
export function eventsOf(text: string): readonly string[] {
  return text
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => event.slice(6))
}

/** Reads a body until it ends or the connection breaks. */
export async function readAll({ body }: Response): Promise<{ readonly text: string; readonly isCut: boolean }> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const bytes of body ?? []) text += decoder.decode(bytes as Uint8Array, { stream: true })
    return { text, isCut: false }
  } catch {
    return { text, isCut: true }
  }
}

async function keyOf(keys: OpenChatKeys, owner: string = OPERATOR): Promise<string> {
  const limits = { rpm: null, tpd: null }
  const made = await keys.create({ label: 'of a test', owner, limits, expiresAtMs: null })
  if (!made.ok) throw new Error(made.fault.code)
  return made.value.secret
}
