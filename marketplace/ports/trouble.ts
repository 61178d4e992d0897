import { type Fault, fault, faultMessage } from '../../consensus/primitives/fault.ts'

const LOCKED = 'it does not let this node in'
const ENOUGH = 'it takes no more questions now'
const QUESTION = 'it does not take the question'
const BROKEN = 'it answered with an error'
/** Kinds of faults whose reasons are the words of others. */
const KINDS: Readonly<Record<string, string>> = {
  'model/unreachable': 'the connection failed',
  'model/refused': 'it does not say more',
  'model/answer': 'it is not what was asked for',
}
/** What is said of troubles without words of others. */
const SILENT: Readonly<Record<string, string>> = {
  'model/timeout': 'it did not answer in time',
  'model/cut': 'its answer ended in the middle',
}

/**
 * A fault of a model's backend with the kind of its reason in place of the reason, which may name accounts, owners and balances: what
 * strangers may be told. Adapters say in `inShort` what of their reason is no word of the provider's, where it has some.
 */
export function withoutWords(cause: Fault): Fault {
  const { code, detail } = cause
  if (!(code in KINDS)) {
    const { inShort, ...others } = detail
    return inShort === undefined ? cause : fault(code, { ...others, reason: inShort })
  }
  return fault(code, { ...detail, reason: kindOf(cause), ...(isOfForm(cause) && { ofForm: true }) })
}

/** Whether a server refuses the form of the answer, and not the question: some take one kind of it, or some schemas. */
export function isOfForm({ detail: { status, reason, ofForm } }: Fault): boolean {
  return ofForm === true || (status === 400 && /response_format|json|schema/i.test(String(reason)))
}

/**
 * What a check says of what it failed with, for the operator. An answer that it is asked too often comes of something that works, and
 * that a node beside this check may be asking.
 */
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

/** What kind of trouble a fault is. */
export function kindOf(cause: Fault): string {
  const { code, detail } = cause
  const status = statusOf(cause)
  if (status === 401 || status === 402 || status === 403) return LOCKED
  if (status === 429) return ENOUGH
  if (status >= 500) return BROKEN
  if (status >= 400) return QUESTION
  return typeof detail.inShort === 'string' ? detail.inShort : (KINDS[code] ?? SILENT[code] ?? 'it cannot be asked')
}
