import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import type { ChatKeys } from '../../../marketplace/chat/keys/keys.ts'
import { OPERATOR } from '../../../marketplace/chat/keys/keys.ts'
import { isLoopback, strangerFault } from '../../mcp/guard.ts'
import type { NodeApi } from '../../node/node-api.ts'
import type { ApiRequest } from '../../server/answer.ts'
import type { ChallengePlace } from './challenges.ts'
import type { DashboardApi } from './desk.ts'
import type { Session } from './sessions.ts'
import { freshToken, isToken } from './tokens.ts'

const OWN_MACHINE = { loopback: true, allowedOrigins: [] }

/** A request to the dashboard. */
export interface Visit {
  readonly node: NodeApi
  readonly dashboard: DashboardApi
  readonly keys: ChatKeys
  readonly request: ApiRequest
  /** Token of the browser's cookie; a fresh one if it sent none. */
  readonly token: string
  readonly isNew: boolean
  readonly session: Session | null
}

/**
 * A browser that came under a foreign host name is turned away: the owner of that name may point it to another machine
 * later. Faults: `chat/off`, `rpc/foreign-host`.
 */
export async function openVisit(node: NodeApi, request: ApiRequest): Promise<Visit | Fault> {
  const { chat, dashboard, publicUrl, pages: rules = OWN_MACHINE } = node
  if (chat == null || dashboard == null) return fault('chat/off')
  const { headers } = request
  const stranger = strangerFault({ host: headers.host, origin: undefined, publicUrl, rules })
  if (stranger !== null) return stranger
  const shown = cookieOf(request)
  const token = isToken(shown) ? shown : freshToken()
  const session = await soundSession(dashboard, token)
  return { node, dashboard, keys: chat.keys, request, token, isNew: token !== shown, session }
}

/** The session of a token. The operator's sessions end when the password changes. */
async function soundSession({ sessions, operator }: DashboardApi, token: string): Promise<Session | null> {
  const session = sessions.find(token)
  if (session === null || session.owner !== OPERATOR || session.stamp === (await operator.stamp())) return session
  sessions.end(token)
  return null
}

/** CSRF mark for the forms of this browser's pages. */
export function csrfOf({ dashboard, token }: Visit): string {
  return dashboard.marks.of('form', token)
}

/** Whether a page of this node, shown to this browser, sent a form. */
export function isOwnForm({ dashboard, token, isNew, request }: Visit, csrf: string | undefined): boolean {
  const { origin, host, 'sec-fetch-site': site } = request.headers
  if (site !== undefined && site !== 'same-origin') return false
  const own = [originOf(request.baseUrl), originOf(`http://${host}`), originOf(`https://${host}`)]
  if (origin !== undefined && !own.includes(origin)) return false
  return !isNew && dashboard.marks.isOf(csrf, 'form', token)
}

/** Whether another site led here. Then the browser holds its cookie back, and a fresh cookie would sign the user out. */
export function isLedHere({ isNew, request }: Visit): boolean {
  const site = request.headers['sec-fetch-site']
  return isNew && (site === 'cross-site' || site === 'same-site')
}

/**
 * Whether wallets may sign in. A text signed for another site must be no use here, so the signed text names the host, and
 * the host must be certain: the Host header can say anything.
 */
export function takesWallets({ node: { publicUrl }, dashboard, request }: Visit): boolean {
  return dashboard.wallets.length > 0 && (publicUrl !== null || isLoopback(hostnameOf(request)))
}

/** What a challenge for this browser is bound to. */
export function placeOf({ node, request, token }: Visit): ChallengePlace {
  const { params } = node.chain.ruleBook
  const network = `${params.name}, genesis ${node.chain.network.genesis.slice(0, 16)}`
  return { host: hostOf(request), network, token }
}

/** Host under which the page was asked for, or the node's public one. */
export function hostOf({ baseUrl }: ApiRequest): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl
}

function hostnameOf({ baseUrl }: ApiRequest): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).hostname : ''
}

/**
 * The header that sets the browser's token. Over TLS the name begins with `__Host-`, so that other hosts of the domain
 * cannot set it. Browsers then require the path `/`.
 */
export function cookieFor(request: ApiRequest, token: string): Readonly<Record<string, string>> {
  const place = isSecure(request) ? 'Path=/; Secure' : 'Path=/dashboard'
  return { 'set-cookie': `${cookieName(request)}=${token}; ${place}; HttpOnly; SameSite=Strict` }
}

function cookieOf(request: ApiRequest): string | undefined {
  const name = cookieName(request)
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=')
    if (pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}

function cookieName(request: ApiRequest): string {
  return isSecure(request) ? '__Host-farthing-dashboard' : `farthing-dashboard${portOf(request)}`
}

/** The port is in the name, because cookies belong to a host: two nodes of one machine would share a cookie. */
function portOf(request: ApiRequest): string {
  const [, port] = /:(\d{1,5})$/.exec(hostOf(request)) ?? []
  return port === undefined ? '' : `-${port}`
}

function isSecure({ baseUrl }: ApiRequest): boolean {
  return baseUrl.startsWith('https:')
}

function originOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).origin : null
}
