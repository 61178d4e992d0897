import { parse as parseHost } from 'tldts'
import { Type } from 'typebox'
import type { Fault } from '../../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { orNull, UNKNOWN } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { fromSource, SOURCE_ENVELOPE } from '../envelope.ts'
import { unknownIn } from '../figures.ts'
import { refusal, unusable } from '../requests.ts'
import { defineService } from '../service.ts'

const ID = 'node-domain-info' as ServiceId
const FORMAT = { requestFormat: '<domain name>', example: 'example.com' }
const REQUEST_CHARS_MAX = 300
const ASCII_CHARS_MAX = 253
/** Characters of URLs, addresses with ports and mailboxes that no domain name has. */
const NO_NAME = /[\s/\\:@?#%[\]<>^|]/
const NAME = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const MOMENT = orNull(Type.String({ format: 'date-time' }))

const REGISTRAR = Type.Object({
  name: orNull(Type.String({ maxLength: 200 })),
  ianaId: orNull(Type.String({ pattern: '^[0-9]{1,10}$' })),
  url: orNull(Type.String({ pattern: '^https?://', maxLength: 500 })),
})

const RESULT = Type.Object({
  ...SOURCE_ENVELOPE,
  domain: Type.String({ maxLength: ASCII_CHARS_MAX }),
  registered: Type.Boolean(),
  registrar: orNull(REGISTRAR),
  createdAt: MOMENT,
  expiresAt: MOMENT,
  updatedAt: MOMENT,
  nameservers: Type.Array(Type.String({ maxLength: ASCII_CHARS_MAX }), { maxItems: 50 }),
  status: Type.Array(Type.String({ maxLength: 100 }), { maxItems: 50 }),
  dnssec: orNull(Type.Boolean()),
  rdapServer: Type.String({ pattern: '^https?://' }),
  unknown: UNKNOWN,
})

/** The registrable part of a name, in lower-case ASCII: `example.co.uk` of `www.example.co.uk`. */
function parse(request: string): Result<string> {
  const text = request.trim().replace(/\.$/, '')
  if (text === '' || NO_NAME.test(text)) return unusable('it is not a domain name alone', FORMAT)
  const ascii = URL.parse(`http://${text}`)?.hostname ?? ''
  const { isIp, domain, publicSuffix } = parseHost(ascii)
  if (isIp === true) return unusable('it is an IP address', FORMAT)
  if (ascii.length > ASCII_CHARS_MAX || !NAME.test(`x.${ascii}`)) return unusable('it is not a domain name', FORMAT)
  if (domain === null)
    return unusable(`${publicSuffix ?? ascii} itself cannot be registered: names are registered below it`, FORMAT)
  return ok(domain)
}

function check(domain: string, { outside }: ServiceContext): Fault | null {
  const isUncovered = outside.domains.covers(domain) === false
  return isUncovered ? refusal(`no RDAP for this TLD: ${domain.slice(domain.lastIndexOf('.'))}`, FORMAT) : null
}

/** Registration of a domain: registrar, dates and status. */
export const domainInfo = defineService<string, typeof RESULT>({
  serviceId: ID,
  name: 'Domain info',
  description:
    'Registration of a domain as its own registry tells it over RDAP: registrar, dates of registration and expiry, name servers, status and DNSSEC. That a domain is not registered is an answer.',
  brief: 'Tells who registered a domain, since when and until when, with name servers and status.',
  words: 'whois rdap owner expire website dns registered',
  capability: 'utility',
  priceUsdMicros: 4_000n,
  ...FORMAT,
  sample: {
    service: ID,
    asOf: '2026-11-20T12:00:00.000Z',
    source: {
      name: 'rdap.verisign.com',
      url: 'https://rdap.verisign.com/com/v1/',
      fetchedAt: '2026-11-20T12:00:00.000Z',
      stale: false,
    },
    domain: 'example.com',
    registered: true,
    registrar: { name: 'RESERVED-Internet Assigned Numbers Authority', ianaId: '376', url: null },
    createdAt: '1995-08-14T04:00:00.000Z',
    expiresAt: '2027-08-13T04:00:00.000Z',
    updatedAt: '2026-08-14T07:01:34.000Z',
    nameservers: ['a.iana-servers.net', 'b.iana-servers.net'],
    status: ['client delete prohibited', 'client transfer prohibited', 'client update prohibited'],
    dnssec: true,
    rdapServer: 'https://rdap.verisign.com/com/v1/',
    unknown: ['registrar.url'],
  },
  timeoutMs: 6_000,
  resultBytesMax: 65_536,
  repeatable: true,
  reachesOut: true,
  requestCharsMax: REQUEST_CHARS_MAX,
  parse,
  check,
  ready: ({ outside }) => outside.domains.readiness(),
  resultSchema: RESULT,
  execute: async (domain, context, signal) =>
    fromSource(ID, await context.outside.domains.ask(domain, signal), context, (facts) => {
      const { registrar, createdAt, expiresAt, updatedAt, dnssec } = facts
      const ofRegistrar = unknownIn(registrar ?? {}).map((name) => `registrar.${name}`)
      const unknown = [...unknownIn({ registrar, createdAt, expiresAt, updatedAt, dnssec }), ...ofRegistrar]
      return { domain, ...facts, nameservers: [...facts.nameservers], status: [...facts.status], unknown }
    }),
})
