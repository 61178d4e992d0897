import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { PageRules } from '../node/node-api.ts'

/** What the guard checks. */
export interface Visit {
  readonly host: string | undefined
  readonly origin: string | undefined
  readonly publicUrl: string | null
  readonly rules: PageRules
}

const SHOWN_CHARS_MAX = 100

/**
 * Keeps foreign web pages away. A browser would let them call a node on its user's machine, also under a host name of
 * theirs that points there. Programs other than browsers send no Origin. Then only the Host is checked, and only on a
 * node that does not listen for other machines.
 * Faults: `rpc/foreign-host`, `rpc/foreign-origin`.
 */
export function strangerFault({ host, origin, publicUrl, rules }: Visit): Fault | null {
  const called = authorityOf(`http://${host ?? ''}`)
  const known = publicUrl === null ? null : authorityOf(publicUrl)
  if (rules.loopback && !(called !== null && (isLoopback(called.hostname) || called.host === known?.host)))
    return fault('rpc/foreign-host', { host: shown(host ?? 'nothing') })
  if (origin === undefined || rules.allowedOrigins.includes('*') || rules.allowedOrigins.includes(origin)) return null
  const page = authorityOf(origin)
  const isOwn =
    page !== null && (page.origin === known?.origin || (page.host === called?.host && !isName(page.hostname)))
  return isOwn ? null : fault('rpc/foreign-origin', { origin: shown(origin) })
}

/** Whether the host of a URL is this machine: `localhost`, `::1` or an address in 127.0.0.0/8. */
export function isLoopback(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return bare === 'localhost' || bare === '::1' || /^127(\.\d{1,3}){3}$/.test(bare)
}

/** Whether a host is a name that its owner can point anywhere. IP addresses and `localhost` cannot be redirected. */
function isName(hostname: string): boolean {
  return hostname !== 'localhost' && !hostname.startsWith('[') && !/^\d{1,3}(\.\d{1,3}){3}$/.test(hostname)
}

function authorityOf(url: string): URL | null {
  const parsed = URL.canParse(url) ? new URL(url) : null
  return parsed === null || parsed.username !== '' || parsed.host === '' ? null : parsed
}

function shown(text: string): string {
  return text.slice(0, SHOWN_CHARS_MAX)
}
