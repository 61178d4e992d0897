import type { DomainFacts } from '../../../marketplace/ports/providers.ts'
import { instantText } from './instant.ts'
import type { JsonAt } from './json-at.ts'
import { plainText } from './plain-text.ts'

const NAME_CHARS_MAX = 200
const URL_CHARS_MAX = 500
const STATUS_CHARS_MAX = 100
/** Maximum name servers or statuses. No real domain has so many. */
const LISTED_MAX = 50
/** No name in DNS is longer. The conversion to ASCII takes time quadratic in the length. */
const UNICODE_NAME_CHARS_MAX = 512
const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/
const HOST_NAME = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?)*$/

/** The facts of a domain that its registry does not know. */
export function unregistered(rdapServer: string): DomainFacts {
  const unknown = { registrar: null, createdAt: null, expiresAt: null, updatedAt: null, dnssec: null }
  return { registered: false, ...unknown, nameservers: [], status: [], rdapServer }
}

/** Reads the error object of RFC 9083, 6. It proves that a 404 is about the domain, and not a missing page. */
export function readNotFound(json: JsonAt, rdapServer: string): DomainFacts {
  json.at('errorCode').number(404, 404)
  return unregistered(rdapServer)
}

/** RFC 9083, 5.3. */
export function readDomain(json: JsonAt, domain: string, rdapServer: string): DomainFacts {
  json.at('objectClassName').like(/^domain$/)
  if (nameOf(json) !== domain) return json.at('ldhName').wrong(`is not ${domain}`)
  const entities = listAt(json, 'entities')
  const registrar = entities.find((entity) => listAt(entity, 'roles').some((role) => role.text() === 'registrar'))
  const eventAt = (action: string): string | null => {
    const event = listAt(json, 'events').find((one) => one.at('eventAction').text() === action)
    return event === undefined ? null : dateOf(event.at('eventDate').text())
  }
  return {
    registered: true,
    registrar: registrar === undefined ? null : readRegistrar(registrar),
    createdAt: eventAt('registration'),
    expiresAt: eventAt('expiration'),
    updatedAt: eventAt('last changed'),
    nameservers: listAt(json, 'nameservers').slice(0, LISTED_MAX).map(readNameserver),
    status: listAt(json, 'status')
      .slice(0, LISTED_MAX)
      .map((one) => plainText(one.text(), STATUS_CHARS_MAX)),
    dnssec: json.at('secureDNS').maybe((dns) => dns.at('delegationSigned').maybe((here) => here.flag())),
    rdapServer,
  }
}

function listAt(json: JsonAt, key: string): readonly JsonAt[] {
  return json.at(key).maybe((here) => here.list()) ?? []
}

/** Lower-case ASCII; null if there is no name. Some registries give it in Unicode only. */
function nameOf(json: JsonAt): string | null {
  const name = json.at('ldhName').maybe((here) => here.text()) ?? json.at('unicodeName').maybe((here) => here.text())
  if (name === null || name.length > UNICODE_NAME_CHARS_MAX) return null
  const lower = name.toLowerCase().replace(/\.$/, '')
  return HOST_NAME.test(lower) ? lower : (URL.parse(`http://${lower}`)?.host ?? null)
}

function readNameserver(json: JsonAt): string {
  const name = nameOf(json)
  return name !== null && name.length <= 253 && HOST_NAME.test(name) ? name : json.wrong('has no name')
}

function readRegistrar(entity: JsonAt): NonNullable<DomainFacts['registrar']> {
  const card = entity.at('vcardArray').maybe((here) => here.list()[1]?.list()) ?? []
  const property = (wanted: string): string | null => {
    const found = card.map((one) => one.list()).find(([name]) => name?.text() === wanted)
    const text = found?.[3]?.maybe((here) => plainText(here.text(), NAME_CHARS_MAX)) ?? ''
    return text === '' ? null : text
  }
  const id = listAt(entity, 'publicIds').find((one) => /^iana registrar id$/i.test(one.at('type').text()))
  const about = listAt(entity, 'links').find((link) => link.at('rel').maybe((here) => here.text()) === 'about')
  const url = about?.at('href').maybe((here) => here.text()) ?? property('url')
  return {
    name: property('fn'),
    ianaId: /^\d{1,10}$/.exec(id?.at('identifier').text() ?? '')?.[0] ?? null,
    url: url !== null && /^https?:\/\//.test(url) && url.length <= URL_CHARS_MAX ? url : null,
  }
}

/** RFC 3339; null if the registry wrote something else. */
function dateOf(text: string): string | null {
  const ms = DATE_TIME.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? null : instantText(ms)
}
