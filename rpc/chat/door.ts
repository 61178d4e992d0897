import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { Allowance, ChatPass } from '../../marketplace/chat/keys/keys.ts'
import type { Share } from '../../marketplace/ports/shared-room.ts'
import type { Route } from '../contract/route.ts'
import { limitedAs } from '../edge/client-key.ts'
import { giveUp } from '../edge/unreadable.ts'
import type { NodeApi } from '../node/node-api.ts'
import { BodyRoom } from './body-room.ts'
import { TAB_BODY_BYTES_MAX, wantsTab } from './tab/wants-tab.ts'

interface Asking {
  readonly headers: IncomingHttpHeaders
  readonly query: unknown
}

interface Answering {
  readonly raw: ServerResponse
  readonly headers: (named: Readonly<Record<string, string>>) => unknown
}

/** Checks requests to the OpenAI interface before their routes: the API key, and room for the body. */
export class ChatDoor {
  readonly #node: Pick<NodeApi, 'chat' | 'market'>
  readonly #bodies = new BodyRoom()
  readonly #receiveMs: number

  /** `receiveMs`: time within which a request must arrive. */
  constructor(node: Pick<NodeApi, 'chat' | 'market'>, receiveMs: number) {
    this.#node = node
    this.#receiveMs = receiveMs
  }

  /** Checks a request before its body is read. Null if it may go on. */
  enter({ needsKey, takesTabs, bodyBytesMax }: Route, asking: Asking, { raw }: Pick<Answering, 'raw'>): Fault | null {
    if (needsKey !== true) return null
    const { chat } = this.#node
    if (chat == null) return fault('chat/off')
    const { headers } = asking
    if (takesTabs === true && wantsTab(asking)) return this.#enterOnTab(headers)
    const key = chat.keys.identify(headers.authorization)
    if (!key.ok) return key.fault
    const length = headers['content-length']
    // Without a length the body may be as long as the route allows.
    const bytes = length === undefined ? (bodyBytesMax ?? 0) : Number(length)
    // The server refuses a body whose length alone is too much.
    if (!(bytes <= (bodyBytesMax ?? 0))) return null
    // An earlier answer on the connection may never end, and a long body behind it would keep its room as long.
    const isNext = raw.socket !== null || this.#bodies.isShort(bytes)
    const share = isNext ? this.#bodies.enter(limitedAs(key.value), bytes) : null
    if (share === null) return fault('chat/busy', { seconds: 1 })
    this.#yield(share, raw, bytes)
    return null
  }

  /** A stranger's body is short, and its length is known. */
  #enterOnTab({ 'content-length': length }: IncomingHttpHeaders): Fault | null {
    if (!this.#node.market?.tabs) return fault('rpc/no-tabs')
    return length !== undefined && Number(length) <= TAB_BODY_BYTES_MAX
      ? null
      : fault('rpc/body-too-large', { limitBytes: TAB_BODY_BYTES_MAX })
  }

  /**
   * Lets a body lose its room to another body while it arrives, above all if it arrives too slowly, and later while the
   * caller does not read the answer.
   */
  #yield(share: Share, raw: ServerResponse, bytes: number): void {
    const { socket } = raw.req
    const { wasLate } = share
    const before = socket.bytesRead
    const received = (): number => socket.bytesRead - before
    const arrival = { bytes, received, withinMs: this.#receiveMs, wasLate }
    const end = (): void => giveUp(raw, socket, fault('chat/busy', { seconds: 1 }))
    let isLate = false
    // If the answer came before the whole body, the caller did not break the body off.
    raw.once('close', () => share.leave(isLate || !(raw.req.complete || raw.headersSent)))
    share.yields(end)
    share.yieldsIf(this.#bodies.paceOf(arrival), end)
    raw.req.once('end', () => {
      // The body had reserved more than twice its length, and another body was refused meanwhile.
      isLate = share.isInTheWay() && 2 * received() < bytes
      share.shrink(received())
      share.yields(null)
      share.yieldsIf(() => raw.writableLength > 0, end)
    })
  }

  /** Sets the headers with what the request's key has left. */
  tell({ headers }: Pick<Asking, 'headers'>, reply: Answering): void {
    if (headers.authorization === undefined) return
    const { keys } = this.#node.chat ?? {}
    const key = keys?.identify(headers.authorization)
    if (keys !== undefined && key?.ok === true) reply.headers(allowanceHeaders(keys.allowances(key.value)))
  }
}

/** The names are those of OpenAI's service. */
export function allowanceHeaders({
  requests,
  tokens,
}: Pick<ChatPass, 'requests' | 'tokens'>): Readonly<Record<string, string>> {
  return { ...headersOf('requests', requests), ...headersOf('tokens', tokens) }
}

function headersOf(what: string, { limit, remaining, resetMs }: Allowance): Readonly<Record<string, string>> {
  return {
    [`x-ratelimit-limit-${what}`]: String(limit),
    [`x-ratelimit-remaining-${what}`]: String(remaining),
    [`x-ratelimit-reset-${what}`]: `${Math.ceil(resetMs / 1_000)}s`,
  }
}
