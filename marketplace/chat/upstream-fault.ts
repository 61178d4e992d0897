import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { PlatformModelId } from './call.ts'

const SECONDS_DEFAULT = 2
const OF_QUESTION: readonly unknown[] = [400, 413, 415, 422]

/** As the caller may see it: without the backend's name and words. */
export function asChatFault(cause: Fault, model: PlatformModelId): Fault {
  switch (cause.code) {
    case 'model/none':
      return fault('chat/no-backend', { model, reason: 'no model that fits can be asked now', ...secondsIn(cause) })
    case 'model/busy':
      return fault('chat/busy', { model, seconds: SECONDS_DEFAULT })
    case 'model/timeout':
      return fault('chat/timeout', { model })
    case 'model/unreachable':
      return fault('chat/upstream', { model, reason: 'it cannot be reached' })
    case 'model/cut':
      return fault('chat/upstream', { model, reason: 'its answer ended in the middle' })
    case 'model/refused':
    case 'model/answer':
      if (cause.detail.status === 429) return fault('chat/busy', { model, seconds: secondsOf(cause) })
      if (OF_QUESTION.includes(cause.detail.status)) return fault('chat/refused', { model })
      return fault('chat/upstream', { model, reason: 'it gave no usable answer' })
    default:
      return cause
  }
}

/** The chat failed before any model was asked, for lack of settings that the fault names. */
export function isUnbegun({ code, detail }: Fault): boolean {
  return code === 'chat/no-backend' && detail.requires !== undefined
}

function secondsOf(cause: Fault): number {
  return secondsIn(cause).seconds ?? SECONDS_DEFAULT
}

function secondsIn({ detail: { retryAfterMs } }: Fault): { readonly seconds?: number } {
  return typeof retryAfterMs === 'number' ? { seconds: wholeSeconds(retryAfterMs) } : {}
}

/** At least one. */
export function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000))
}
