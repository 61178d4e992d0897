import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { PlatformModelId } from './call.ts'

const SECONDS_DEFAULT = 2

/** What a fault of the models is to whoever asked: which backend it was, and what that said, is not for strangers. */
export function asChatFault(cause: Fault, model: PlatformModelId): Fault {
  switch (cause.code) {
    case 'model/none':
      return fault('chat/no-backend', { model, reason: 'no model that fits can be asked now' })
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
      return fault('chat/upstream', { model, reason: 'it gave no usable answer' })
    default:
      return cause
  }
}
