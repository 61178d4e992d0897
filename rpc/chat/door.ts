import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { Allowance, ChatPass } from '../../marketplace/chat/keys.ts'
import type { Route } from '../contract/route.ts'
import { limitedAs } from '../edge/client-key.ts'
import type { NodeApi } from '../node.ts'
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

  constructor(node: Pick<NodeApi, 'chat'>) {
    this.#node = node
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
    const share = this.#bodies.enter(limitedAs(key.value), bytes)
    if (share === null) return fault('chat/busy', { seconds: 1 })
    raw.once('close', share.leave)
    // A body that does not come makes room for others until it is here.
    share.yields(() => raw.req.destroy())
    raw.req.once('end', () => share.yields(null))
    return null
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
