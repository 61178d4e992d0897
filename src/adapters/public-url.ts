import { isIP } from 'node:net'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { LONG_HOST, URL_CHARS_MAX } from '../../marketplace/ports/web.ts'
import type { AddressGuard } from './address-guard.ts'

/** Rules that a caller's address must pass before anything is fetched. */
export interface UrlRules {
  readonly ports: readonly number[]
  readonly guard: AddressGuard
  /** Hosts of this node itself, as written in URLs. */
  readonly ownHosts: ReadonlySet<string>
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }
const HAS_SPACES = /[\s\p{Cc}]/u
/** Names for this machine, for its network, or for hosts outside the public internet. */
const INNER_NAME = /(^|\.)(localhost|localdomain|local|internal|onion|home\.arpa)$/

/** Reads a caller's address. Fault: `web/refused`. */
export function readPublicUrl(text: string, rules: UrlRules): Result<URL> {
  if (text.length > URL_CHARS_MAX) return refused(`it is longer than ${URL_CHARS_MAX} characters`)
  if (!/^https?:\/\//i.test(text) || HAS_SPACES.test(text) || LONG_HOST.test(text) || !URL.canParse(text))
    return refused('it is not an absolute http or https URL')
  const url = new URL(text)
  if (url.href.length > URL_CHARS_MAX) return refused(`it is longer than ${URL_CHARS_MAX} characters`)
  if (url.username !== '' || url.password !== '') return refused('it has credentials')
  if (!rules.ports.includes(portOf(url))) return refused(`port ${portOf(url)} is not read`)
  // The certificate and the rules below expect the name without a trailing dot.
  url.hostname = url.hostname.replace(/\.$/, '')
  const reason = hostRefusal(hostOf(url), rules)
  return reason === null ? ok(url) : refused(reason)
}

/** A name, or an address without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

/** Port of a URL, or the default port of its scheme. */
export function portOf({ port, protocol }: URL): number {
  return port === '' ? (DEFAULT_PORTS[protocol] ?? 0) : Number(port)
}

function hostRefusal(host: string, { guard, ownHosts }: UrlRules): string | null {
  if (ownHosts.has(host)) return 'its host is this node'
  if (isIP(host) !== 0) return guard.refusal([host])
  if (INNER_NAME.test(host)) return 'its host is not on the public internet'
  const labels = host.split('.')
  return labels.length < 2 || labels.includes('') ? 'its host is not a full name' : null
}

function refused(reason: string): Result<never> {
  return fail(fault('web/refused', { reason }))
}
