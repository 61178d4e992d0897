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
  /** Token of the browser: the one that it showed, or a fresh one where it showed none. */
  readonly token: string
  readonly isNew: boolean
  readonly session: Session | null
}

/**
 * Who comes to the dashboard. A browser that was let in under a name of a stranger's is turned away: the name may point here today
 * and elsewhere tomorrow. Faults: `chat/off`, `rpc/foreign-host`.
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

/** The operator's sessions end when the password is set anew. */
async function soundSession({ sessions, operator }: DashboardApi, token: string): Promise<Session | null> {
  const session = sessions.find(token)
  if (session === null || session.owner !== OPERATOR || session.stamp === (await operator.stamp())) return session
  sessions.end(token)
  return null
}

/** Mark that forms of this browser's pages carry. */
export function csrfOf({ dashboard, token }: Visit): string {
  return dashboard.marks.of('form', token)
}

/**
 * Whether a form was sent by a page of this node, shown to this browser. Browsers tell where a form comes from; what does not tell
 * must at least know what only the page says.
 */
export function isOwnForm({ dashboard, token, isNew, request }: Visit, csrf: string | undefined): boolean {
  const { origin, host, 'sec-fetch-site': site } = request.headers
  if (site !== undefined && site !== 'same-origin') return false
  const own = [originOf(request.baseUrl), originOf(`http://${host}`), originOf(`https://${host}`)]
  if (origin !== undefined && !own.includes(origin)) return false
  return !isNew && dashboard.marks.isOf(csrf, 'form', token)
}

/**
 * Whether a page of another site has led here. Then the browser keeps its cookie to itself, and one that was set in its place would
 * sign it out.
 */
export function isLedHere({ isNew, request }: Visit): boolean {
  const site = request.headers['sec-fetch-site']
  return isNew && (site === 'cross-site' || site === 'same-site')
}

/**
 * Whether wallets may sign in. What they sign names the host, so that nobody gets in with what was signed for a page of his own: that
 * holds where the host is certain, and not where the node goes by whatever it is called.
 */
export function takesWallets({ node: { publicUrl }, dashboard, request }: Visit): boolean {
  return dashboard.wallets.length > 0 && (publicUrl !== null || isLoopback(hostnameOf(request)))
}

/** What a challenge that is shown to this browser says and is bound to. */
export function placeOf({ node, request, token }: Visit): ChallengePlace {
  const { params } = node.chain.ruleBook
  const network = `${params.name}, genesis ${node.chain.network.genesis.slice(0, 16)}`
  return { host: hostOf(request), network, token }
}

/** Host that the page was asked under, or the node's public one. */
export function hostOf({ baseUrl }: ApiRequest): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl
}

function hostnameOf({ baseUrl }: ApiRequest): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).hostname : ''
}

/**
 * The header that leaves a token with a browser. Over TLS the name begins with `__Host-`, which keeps other hosts of the domain from
 * setting it, and asks for the path `/`.
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

/** Browsers keep cookies by host: nodes of one machine would sign each other's visitors out. */
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
