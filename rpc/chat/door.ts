import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { Allowance, ChatPass } from '../../marketplace/chat/keys/keys.ts'
import type { Share } from '../../marketplace/ports/shared-room.ts'
import type { Route } from '../contract/route.ts'
import { limitedAs } from '../edge/client-key.ts'
import { giveUp } from '../edge/unreadable.ts'
import type { NodeApi } from '../node/node-api.ts'
import { BodyRoom } from './body-room.ts'

/** A request, as far as it is looked at before its route. */
interface Asking {
  readonly headers: IncomingHttpHeaders
}

/** Its answer, as far as that is touched there. */
interface Answering {
  readonly raw: ServerResponse
  readonly headers: (named: Readonly<Record<string, string>>) => unknown
}

/** What stands before the routes that speak the OpenAI interface: whose key it is, and whether there is room for the body. */
export class ChatDoor {
  readonly #node: Pick<NodeApi, 'chat'>
  readonly #bodies = new BodyRoom()
  readonly #receiveMs: number

  /** `receiveMs` is the time in which a request must arrive. */
  constructor(node: Pick<NodeApi, 'chat'>, receiveMs: number) {
    this.#node = node
    this.#receiveMs = receiveMs
  }

  /** Why a request gets no further, before anything of its body is read; null where it does. */
  enter({ needsKey, bodyBytesMax }: Route, { headers }: Asking, { raw }: Pick<Answering, 'raw'>): Fault | null {
    if (needsKey !== true) return null
    const { chat } = this.#node
    if (chat == null) return fault('chat/off')
    const key = chat.keys.identify(headers.authorization)
    if (!key.ok) return key.fault
    const length = headers['content-length']
    // Without a length it may be as long as any.
    const bytes = length === undefined ? (bodyBytesMax ?? 0) : Number(length)
    // What is too long is refused by its length alone.
    if (!(bytes <= (bodyBytesMax ?? 0))) return null
    // An earlier answer of the same connection may have no end. A long body behind it would be held for as long.
    const isNext = raw.socket !== null || this.#bodies.isShort(bytes)
    const share = isNext ? this.#bodies.enter(limitedAs(key.value), bytes) : null
    if (share === null) return fault('chat/busy', { seconds: 1 })
    this.#yield(share, raw, bytes)
    return null
  }

  /** Says when a body makes room for others: while it comes too slowly, and while its answer is not taken. */
  #yield(share: Share, raw: ServerResponse, bytes: number): void {
    const { socket } = raw.req
    const { wasLate } = share
    const before = socket.bytesRead
    const received = (): number => socket.bytesRead - before
    const arrival = { bytes, received, withinMs: this.#receiveMs, wasLate }
    const end = (): void => giveUp(raw, socket, fault('chat/busy', { seconds: 1 }))
    let isLate = false
    // A body that was answered before all of it was here was not broken off by its caller.
    raw.once('close', () => share.leave(isLate || !(raw.req.complete || raw.headersSent)))
    share.yields(end)
    share.yieldsIf(this.#bodies.paceOf(arrival), end)
    raw.req.once('end', () => {
      // It took room for twice its length or more, while another body was refused.
      isLate = share.isInTheWay() && 2 * received() < bytes
      share.shrink(received())
      share.yields(null)
      share.yieldsIf(() => raw.writableLength > 0, end)
    })
  }

  /** Tells how much is left for the key that was shown, on whatever answer it is; nothing where none is known. */
  tell({ headers }: Asking, reply: Answering): void {
    if (headers.authorization === undefined) return
    const { keys } = this.#node.chat ?? {}
    const key = keys?.identify(headers.authorization)
    if (keys !== undefined && key?.ok === true) reply.headers(allowanceHeaders(keys.allowances(key.value)))
  }
}

/** Headers that tell how much is left, by the names that OpenAI's service gives them. */
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
