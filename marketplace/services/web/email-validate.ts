import { Type } from 'typebox'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { MailDomain } from '../../ports/mail.ts'
import { orNull, UNKNOWN } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { delivered, SOURCE_ENVELOPE, sourceEnvelope } from '../envelope.ts'
import { unknownIn } from '../figures.ts'
import { unusable } from '../requests.ts'
import { defineService } from '../service.ts'
import { type MailAddress, type ReadAddress, readMailAddress } from './mail-address.ts'
import { isFreeProvider, isRoleAccount } from './mail-lists.ts'

const ID = 'node-email-validate' as ServiceId
const FORMAT = { requestFormat: '<email address>', example: 'ada@example.org' }
/** Longer than any valid address, so that a slightly too long one gets a precise reason. */
const REQUEST_CHARS_MAX = 400

const RESULT = Type.Object({
  ...SOURCE_ENVELOPE,
  email: Type.String({ maxLength: REQUEST_CHARS_MAX }),
  normalised: orNull(Type.String({ maxLength: 254 })),
  syntax: Type.Object({ valid: Type.Boolean(), reason: Type.Optional(Type.String()) }),
  domain: orNull(Type.String({ maxLength: 253 })),
  domainExists: orNull(Type.Boolean()),
  mx: Type.Array(Type.Object({ host: Type.String({ maxLength: 253 }), priority: Type.Integer({ minimum: 0 }) }), {
    maxItems: 20,
  }),
  hasMx: orNull(Type.Boolean()),
  nullMx: orNull(Type.Boolean()),
  implicitMx: orNull(Type.Boolean()),
  disposable: orNull(Type.Boolean()),
  roleAccount: orNull(Type.Boolean()),
  freeProvider: orNull(Type.Boolean()),
  deliverable: Type.Unsafe<'yes' | 'no' | 'unknown'>({ type: 'string', enum: ['yes', 'no', 'unknown'] }),
  checks: Type.Array(Type.Object({ check: Type.String(), passed: Type.Boolean(), detail: Type.String() })),
  unknown: UNKNOWN,
})

interface Asked {
  readonly email: string
  readonly read: ReadAddress
}

interface Check {
  readonly check: string
  readonly passed: boolean
  readonly detail: string
}

function parse(request: string): Result<Asked> {
  const email = request.trim()
  if (email === '') return unusable('there is no address', FORMAT)
  // Refused, not judged: control characters could change how the address is displayed.
  if (/\p{Cc}/u.test(email)) return unusable('one address without line breaks and control characters', FORMAT)
  return ok({ email, read: readMailAddress(email) })
}

const UNREAD = {
  normalised: null,
  domain: null,
  domainExists: null,
  hasMx: null,
  nullMx: null,
  implicitMx: null,
  disposable: null,
  roleAccount: null,
  freeProvider: null,
}

/** The result for an invalid address; no lookup is made. */
function refused(email: string, reason: string, context: ServiceContext) {
  const fetchedAt = new Date(context.clock.now()).toISOString()
  return {
    ...sourceEnvelope(ID, { name: 'syntax', fetchedAt, stale: false }, context),
    email,
    ...UNREAD,
    syntax: { valid: false, reason },
    mx: [],
    deliverable: 'no' as const,
    checks: [{ check: 'syntax', passed: false, detail: reason }],
    unknown: unknownIn(UNREAD),
  }
}

async function looked(email: string, address: MailAddress, context: ServiceContext, signal: AbortSignal) {
  const { local, domain } = address
  const { mail } = context.outside
  const { value: found, source } = delivered(await mail.lookUp(domain, signal))
  const disposable = mail.isDisposable(domain)
  return {
    ...sourceEnvelope(ID, source, context),
    email,
    normalised: `${local}@${domain}`,
    syntax: { valid: true },
    domain,
    domainExists: found.exists,
    mx: [...found.mx],
    hasMx: found.mx.length > 0,
    nullMx: found.nullMx,
    implicitMx: found.implicitMx,
    disposable,
    roleAccount: isRoleAccount(local),
    freeProvider: isFreeProvider(domain),
    deliverable: verdictOf(address, found),
    checks: checksOf(address, found, disposable),
    unknown: [],
  }
}

/** Whether the domain accepts mail for such an address. Its servers are not asked, so a mailbox is never proven. */
function verdictOf({ form }: MailAddress, found: MailDomain): 'yes' | 'no' | 'unknown' {
  if (!found.exists || found.nullMx || found.mxHasAddress === false) return 'no'
  if (found.mx.length === 0 && !found.implicitMx) return 'no'
  // A host with an address may serve something else, and few servers accept quoted or non-ASCII local parts.
  return found.mxHasAddress === true && form === 'plain' ? 'yes' : 'unknown'
}

const FORM_DETAIL = {
  plain: 'plain',
  quoted: 'the part before the @ is quoted, which many servers do not take',
  international: 'the part before the @ is not ASCII: only servers with SMTPUTF8 take it',
} as const

function checksOf({ form }: MailAddress, found: MailDomain, disposable: boolean): Check[] {
  const checks: Check[] = [
    { check: 'syntax', passed: true, detail: FORM_DETAIL[form] },
    { check: 'domain', passed: found.exists, detail: found.exists ? 'it exists' : 'there is no such domain' },
  ]
  if (found.exists) checks.push(mxCheck(found))
  if (found.mxHasAddress !== null) {
    const detail = found.mxHasAddress ? 'a mail server has an address' : 'no mail server has an address'
    checks.push({ check: 'mx-address', passed: found.mxHasAddress, detail })
  }
  const detail = disposable ? 'on the list of providers of disposable addresses' : 'not on the list'
  return [...checks, { check: 'disposable', passed: !disposable, detail }]
}

function mxCheck({ mx, nullMx, implicitMx }: MailDomain): Check {
  if (mx.length > 0) return { check: 'mx', passed: true, detail: `mail servers: ${mx.length}` }
  if (nullMx) return { check: 'mx', passed: false, detail: 'the domain says that it takes no mail (RFC 7505)' }
  return implicitMx
    ? { check: 'mx', passed: true, detail: "no mail servers: mail goes to the domain's own address (RFC 5321, 5.1)" }
    : { check: 'mx', passed: false, detail: 'neither mail servers nor an address' }
}

/** Whether mail to an address can arrive, judged by syntax, DNS and a list of disposable domains. */
export const emailValidate = defineService<Asked, typeof RESULT>({
  serviceId: ID,
  name: 'Email validation',
  description:
    'Checks an email address: syntax (RFC 5321/5322, international domains), DNS MX, null MX and implicit MX, whether a mail server has an address, disposable, role and free providers. Deliverable speaks of the domain: mailboxes are not asked.',
  brief: 'Checks an email address: syntax, mail servers, disposable and role addresses.',
  words: 'verify mailbox valid mx deliverable',
  capability: 'utility',
  priceUsdMicros: 2_000n,
  ...FORMAT,
  sample: {
    service: ID,
    asOf: '2026-11-20T12:00:00.000Z',
    source: { name: 'dns', fetchedAt: '2026-11-20T12:00:00.000Z', stale: false },
    email: 'ada@example.org',
    normalised: 'ada@example.org',
    syntax: { valid: true },
    domain: 'example.org',
    domainExists: true,
    mx: [{ host: 'mx1.example.org', priority: 10 }],
    hasMx: true,
    nullMx: false,
    implicitMx: false,
    disposable: false,
    roleAccount: false,
    freeProvider: false,
    deliverable: 'yes',
    checks: [
      { check: 'syntax', passed: true, detail: 'plain' },
      { check: 'domain', passed: true, detail: 'it exists' },
      { check: 'mx', passed: true, detail: 'mail servers: 1' },
      { check: 'mx-address', passed: true, detail: 'a mail server has an address' },
      { check: 'disposable', passed: true, detail: 'not on the list' },
    ],
    unknown: [],
  },
  timeoutMs: 10_000,
  resultBytesMax: 16_384,
  repeatable: true,
  reachesOut: true,
  requestCharsMax: REQUEST_CHARS_MAX,
  parse,
  ready: ({ outside }) => outside.mail.readiness(),
  resultSchema: RESULT,
  execute: async ({ email, read }, context, signal) =>
    read.valid ? looked(email, read.address, context, signal) : refused(email, read.reason, context),
})
