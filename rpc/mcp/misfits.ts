import { INTERNAL_ERROR, INVALID_PARAMS } from '../server/json-rpc.ts'

interface Failed {
  readonly error?: { readonly code: number; readonly message: string }
}

interface Misfit {
  readonly path: readonly (string | number)[]
  readonly message: string
}

const SHOWN_MAX = 5
/** Characters of an answer that may be such a report: of what `messageMisfits` lets through there is never as much to say. */
const REPORT_CHARS_MAX = 65_536

/**
 * An answer whose error blames whom it should: parameters that do not fit a method are to the SDK an error of the server, with
 * the whole report of its validator as the message. All other answers stay as they are.
 */
export function blameClient(answer: string): string {
  if (answer.length > REPORT_CHARS_MAX || !answer.includes(`"code":${INTERNAL_ERROR}`)) return answer
  const { error, ...rest } = JSON.parse(answer) as Failed
  if (error?.code !== INTERNAL_ERROR) return answer
  const misfits = misfitsIn(error.message)
  if (misfits === null) return answer
  const list = misfits.slice(0, SHOWN_MAX).map(({ path, message }) => `${path.join('.')} ${message}`)
  return JSON.stringify({
    ...rest,
    error: { code: INVALID_PARAMS, message: `unusable parameters: ${list.join('; ')}` },
  })
}

function misfitsIn(message: string): readonly Misfit[] | null {
  if (!message.startsWith('[')) return null
  try {
    const issues = JSON.parse(message) as readonly Misfit[]
    return issues.every(({ path, message: said }) => Array.isArray(path) && typeof said === 'string') ? issues : null
  } catch {
    return null
  }
}
