import type { UpstreamAnswer, UpstreamHandler } from './upstream.ts'

/** Hosts of the registry of `com` in tests, and of another one that redirects to it. */
export const RDAP_HOST = 'rdap.registry.example'
export const OLD_RDAP_HOST = 'old.registry.example'

/**
 * IANA's list of registries. Its format is that of RFC 9224, 3 and 4 (https://www.rfc-editor.org/rfc/rfc9224), its
 * entries are like those of https://data.iana.org/rdap/dns.json.
 */
export const RDAP_LIST = {
  version: '1.0',
  publication: '2026-11-20T20:00:01Z',
  description: 'RDAP bootstrap file for Domain Name System registrations',
  services: [
    [
      ['com', 'NET'],
      [`http://${RDAP_HOST}/com/v1/`, `https://${RDAP_HOST}/com/v1`],
    ],
    [['old'], [`https://${OLD_RDAP_HOST}/`]],
    [['xn--p1ai'], [`https://${RDAP_HOST}/rf/`]],
    [['jp', 'co.jp'], [`https://${RDAP_HOST}/jp/`]],
  ],
}

/** A registry's answer for a domain, after the example of RFC 9083, 5.3 (https://www.rfc-editor.org/rfc/rfc9083). */
export const RDAP_DOMAIN = {
  rdapConformance: ['rdap_level_0', 'icann_rdap_technical_implementation_guide_0'],
  objectClassName: 'domain',
  handle: '2336799_DOMAIN_COM-VRSN',
  ldhName: 'EXAMPLE.COM',
  status: ['client delete prohibited', 'active'],
  entities: [
    { objectClassName: 'entity', handle: '1', roles: ['technical'] },
    {
      objectClassName: 'entity',
      handle: '376',
      roles: ['registrar'],
      publicIds: [{ type: 'IANA Registrar ID', identifier: '376' }],
      links: [{ rel: 'about', href: 'https://registrar.example/', type: 'text/html' }],
      vcardArray: [
        'vcard',
        [
          ['version', {}, 'text', '4.0'],
          ['fn', {}, 'text', 'Registrar & Sons'],
          ['tel', { type: 'voice' }, 'uri', 'tel:+1.5555555555'],
        ],
      ],
    },
  ],
  events: [
    { eventAction: 'registration', eventDate: '1995-08-14T04:00:00Z' },
    { eventAction: 'expiration', eventDate: '2027-08-13T06:00:00+02:00' },
    { eventAction: 'last update of RDAP database', eventDate: '2026-11-20T12:00:00Z' },
  ],
  nameservers: [
    { objectClassName: 'nameserver', ldhName: 'A.IANA-SERVERS.NET' },
    { objectClassName: 'nameserver', ldhName: 'b.iana-servers.net.' },
  ],
  secureDNS: { delegationSigned: true, dsData: [{ keyTag: 31589, algorithm: 8, digestType: 2, digest: 'CDE0' }] },
}

/** A registry's answer for an unknown domain (RFC 7480, 5.3; RFC 9083, 6). */
const NOT_FOUND = { rdapConformance: ['rdap_level_0'], errorCode: 404, title: 'Not Found' }
const AS_RDAP = { 'content-type': 'application/rdap+json' }

/** Answers of a registry by domain. Other domains are not registered. */
export type RdapAnswers = Readonly<Record<string, UpstreamAnswer | object>>

/** IANA's list and a registry in one server. Paths are those of RFC 9082 (https://www.rfc-editor.org/rfc/rfc9082). */
export function rdapUpstream(answers: RdapAnswers = { 'example.com': RDAP_DOMAIN }): UpstreamHandler {
  return ({ path, headers }): UpstreamAnswer => {
    if (path === '/rdap/dns.json') return { body: RDAP_LIST }
    const [, domain] = /^\/(?:com\/v1\/|rf\/|jp\/)?domain\/([^/]+)$/.exec(path) ?? []
    if (domain === undefined) return { status: 400, headers: AS_RDAP, body: { errorCode: 400 } }
    if (!String(headers.accept).includes('application/rdap+json')) return { status: 406, body: {} }
    const answer = answers[domain]
    if (answer === undefined) return { status: 404, headers: AS_RDAP, body: NOT_FOUND }
    return 'body' in answer ? (answer as UpstreamAnswer) : { headers: AS_RDAP, body: answer }
  }
}
