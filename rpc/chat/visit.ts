import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, type Result } from '../../consensus/primitives/result.ts'
import type { ChatPass } from '../../marketplace/chat/keys/keys.ts'
import { limitedAs } from '../edge/client-key.ts'
import type { ChatApi, NodeApi } from '../node/node-api.ts'
import type { ApiRequest } from '../server/answer.ts'
import type { CompletionHead } from './completion.ts'
import type { ChatRequest } from './read-request.ts'

/** A chat that was read and may be answered. */
export interface AskedChat {
  readonly node: NodeApi
  readonly chat: ChatApi
  readonly request: ApiRequest
  readonly read: ChatRequest
  readonly head: CompletionHead
}

/** A chat that was admitted. */
export interface Visit {
  readonly pass: ChatPass
  /** What the key has left, less what this chat may use. */
  readonly left: () => Pick<ChatPass, 'requests' | 'tokens'>
  /** The name for limits: a wallet with all of its keys, or one key of the operator. */
  readonly who: string
  readonly leave: () => void
}

/** Aborts a chat if the caller goes away or the node stops. */
export class End {
  readonly signal: AbortSignal
  readonly #over = new AbortController()
  #isStop = false

  constructor(gone: AbortSignal) {
    this.signal = this.#over.signal
    if (gone.aborted) this.#over.abort()
    else gone.addEventListener('abort', () => this.#over.abort(), { once: true })
  }

  readonly stop = (): void => {
    this.#isStop = !this.signal.aborted
    this.#over.abort()
  }

  /** `chat/stopping` if the node's stop ended the chat, else `cause`. */
  faultOf(cause: Fault): Fault {
    return this.#isStop ? fault('chat/stopping') : cause
  }
}

/** Faults: `chat/invalid-key`, `chat/rate-limited`, `chat/busy`, `chat/stopping`. */
export function enter(chat: ChatApi, { headers }: ApiRequest, end: End, expectedTokens: () => number): Result<Visit> {
  const key = chat.keys.identify(headers.authorization)
  if (!key.ok) return key
  const leave = chat.enter(end.stop)
  if (leave === null) return fail(end.faultOf(fault('chat/busy', { seconds: 1 })))
  let isIn = false
  try {
    const pass = chat.keys.admit(key.value, expectedTokens)
    if (!pass.ok) return pass
    isIn = true
    const left = (): Pick<ChatPass, 'requests' | 'tokens'> => chat.keys.allowances(key.value)
    return { ok: true, value: { pass: pass.value, left, who: limitedAs(key.value), leave } }
  } finally {
    if (!isIn) leave()
  }
}
