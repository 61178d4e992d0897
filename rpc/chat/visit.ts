import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, type Result } from '../../consensus/primitives/result.ts'
import type { ChatPass } from '../../marketplace/chat/keys/keys.ts'
import { limitedAs } from '../edge/client-key.ts'
import type { ChatApi } from '../node/node-api.ts'
import type { ApiRequest } from '../server/answer.ts'

/** A chat that was let in. */
export interface Visit {
  readonly pass: ChatPass
  /** What is left for the key now, while what this chat may use is held. */
  readonly left: () => Pick<ChatPass, 'requests' | 'tokens'>
  /** Who came, as limits go: a wallet with all of its keys, or one key of the operator. */
  readonly who: string
  readonly leave: () => void
}

/** Ends a chat before its time: the caller goes away, or the node stops. */
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

  /** The fault of a chat, which is the node's own where that stopped. */
  faultOf(cause: Fault): Fault {
    return this.#isStop ? fault('chat/stopping') : cause
  }
}

/**
 * Lets a chat in that is expected to use so many tokens, which are counted last: its key may have one more, and so may the node. Faults:
 * those of keys, `chat/busy`, `chat/stopping`.
 */
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
