import { type Fault, fault, faultMessage } from '../../consensus/primitives/fault.ts'

const LOCKED = 'it does not let this node in'
const ENOUGH = 'it takes no more questions now'
const QUESTION = 'it does not take the question'
const BROKEN = 'it answered with an error'
/** Texts for faults whose reason is the provider's text. */
const KINDS: Readonly<Record<string, string>> = {
  'model/unreachable': 'the connection failed',
  'model/refused': 'it does not say more',
  'model/answer': 'it is not what was asked for',
}
/** Texts for faults without a provider's text. */
const SILENT: Readonly<Record<string, string>> = {
  'model/timeout': 'it did not answer in time',
  'model/cut': 'its answer ended in the middle',
}

/**
 * Replaces the reason of a backend's fault by its kind, for texts that callers see: the reason may name accounts,
 * owners and balances. `inShort` is the part of the reason that is not the provider's text.
 */
export function withoutWords(cause: Fault): Fault {
  const { code, detail } = cause
  if (!(code in KINDS)) {
    const { inShort, ...others } = detail
    return inShort === undefined ? cause : fault(code, { ...others, reason: inShort })
  }
  return fault(code, { ...detail, reason: kindOf(cause), ...(isOfForm(cause) && { ofForm: true }) })
}

/** Whether a server refuses the form of the answer, not the question: some support only some forms or schemas. */
export function isOfForm({ detail: { status, reason, ofForm } }: Fault): boolean {
  return ofForm === true || (status === 400 && /response_format|json|schema/i.test(String(reason)))
}

/** With status 429 the backend works; the node may be using up its limit itself. */
export function checkedIll(cause: Fault): { readonly ok: boolean; readonly doubtful?: true; readonly detail: string } {
  const detail = faultMessage(cause)
  return statusOf(cause) === 429
    ? { ok: true, doubtful: true, detail: `answers, but takes no more questions now: ${detail}` }
    : { ok: false, detail }
}

function statusOf({ detail }: Fault): number {
  const [, said] = /^status (\d{3})\b/.exec(String(detail.reason)) ?? []
  return Number(detail.status ?? said ?? 0)
}

/** The kind of a fault, as text. */
export function kindOf(cause: Fault): string {
  const { code, detail } = cause
  const status = statusOf(cause)
  if (status === 401 || status === 402 || status === 403) return LOCKED
  if (status === 429) return ENOUGH
  if (status >= 500) return BROKEN
  if (status >= 400) return QUESTION
  return typeof detail.inShort === 'string' ? detail.inShort : (KINDS[code] ?? SILENT[code] ?? 'it cannot be asked')
}
