import type { Fault } from '../../../consensus/primitives/fault.ts'
import { type ChatKey, type KeyLimits, OPERATOR } from '../../../marketplace/chat/keys/keys.ts'
import { httpFault } from '../../contract/http-faults.ts'
import { addressKey, holderOf } from '../../edge/client-key.ts'
import type { NodeApi } from '../../node/node-api.ts'
import { isOperator } from '../../node/operator.ts'
import type { ApiRequest, Handler, PlainAnswer } from '../../server/answer.ts'
import {
  type DashboardFrame,
  dashboardAnswer,
  type FormTrouble,
  goOnPage,
  refusedPage,
} from '../pages/dashboard-frame.ts'
import { type KeyFacts, keyPage, madePage } from '../pages/dashboard-key.ts'
import { type KeysFacts, keysPage } from '../pages/dashboard-keys.ts'
import { signInPage } from '../pages/dashboard-sign-in.ts'
import type { Session } from './sessions.ts'
import {
  cookieFor,
  csrfOf,
  hostOf,
  isLedHere,
  isOwnForm,
  openVisit,
  placeOf,
  takesWallets,
  type Visit,
} from './visit.ts'
import { signerOf } from './wallet-sign-in.ts'

const DAY_MS = 86_400_000
const KEYS_A_PAGE = 50

type Form = Readonly<Record<string, string | undefined>>

type SignedIn = Visit & { readonly session: Session }

/** The page of the signed-in user with keys, or the page to sign in. */
export const getDashboard: Handler<'getDashboard'> = async (node, request) => {
  const visit = await openVisit(node, request)
  if ('code' in visit) return visit
  if (isLedHere(visit)) return goOnAnswer(visit)
  if (!isSignedIn(visit)) return signInAnswer(visit, 200)
  return dashboardAnswer(keysMarkup(visit, Number(request.query.page ?? 1)))
}

/** The browser gets a fresh token. */
export const signIn: Handler<'signIn'> = (node, request) =>
  withForm(node, request, (visit, { password, signed }) => {
    if (signed !== undefined) return signInByWallet(visit, signed)
    return signInByPassword(visit, password ?? '')
  })

/** Ends the session. */
export const signOut: Handler<'signOut'> = (node, request) =>
  withForm(node, request, ({ dashboard, token }) => {
    dashboard.sessions.end(token)
    return moved({})
  })

/** Makes a key and shows it. */
export const makeKey: Handler<'makeKey'> = (node, request) =>
  withSession(node, request, async (visit, form) => {
    const { dashboard, token, session, keys, request } = visit
    const from = session.owner === OPERATOR ? null : holderOf(addressKey(request.address))
    const again = (trouble: FormTrouble, status: number): PlainAnswer =>
      dashboardAnswer(keysMarkup(visit, 1, { sent: form, trouble }), status)
    const limits = limitsOf(form)
    const days = wholeNumber(form.days)
    if ('field' in limits) return again(limits, 400)
    if (days === undefined) return again({ field: 'days', reason: 'This is a whole number of days, 1 or more.' }, 400)
    if (from !== null && dashboard.makers.waitSeconds(from) > 0)
      return again(
        { field: null, reason: 'Too many keys were made from your address or its network: try again tomorrow.' },
        429,
      )
    if (!dashboard.sessions.takeTurn(token, form.turn)) {
      const reason = 'This form was sent before. If its key was not shown to you, revoke that key and make another.'
      return dashboardAnswer(refusedPage(frameOf(visit), reason), 409)
    }
    const expiresAtMs = days === null ? null : node.clock.now() + days * DAY_MS
    const made = await keys.create({ label: form.label ?? '', owner: session.owner, limits, expiresAtMs })
    if (made.ok && from !== null) dashboard.makers.made(from)
    if (made.ok) return dashboardAnswer(madePage(frameOf(visit), made.value.key, made.value.secret))
    const next = dashboard.sessions.find(token) ?? session
    const trouble = troubleOf(made.fault, { expiry: 'days' })
    const content = keysMarkup({ ...visit, session: next }, 1, { sent: form, trouble })
    return dashboardAnswer(content, httpFault(made.fault.code).status)
  })

/** The page of one key. */
export const getKeyPage: Handler<'getKeyPage'> = async (node, request) => {
  const visit = await openVisit(node, request)
  if ('code' in visit) return visit
  if (isLedHere(visit)) return goOnAnswer(visit)
  if (!isSignedIn(visit)) return signInAnswer(visit, 401)
  const key = keyOf(visit, request)
  return key === undefined ? noKey(visit) : dashboardAnswer(keyMarkup(visit, { key }))
}

/** Sets the name and the limits of a key. */
export const saveKey: Handler<'saveKey'> = (node, request) =>
  withKey(node, request, async (visit, key, form) => {
    const limits = limitsOf(form)
    if ('field' in limits) return dashboardAnswer(keyMarkup(visit, { key, sent: form, trouble: limits }), 400)
    const label = form.label ?? ''
    const changed = await visit.keys.change(key.id, visit.session.owner, { label, limits })
    if (changed.ok) return moved({})
    const trouble = troubleOf(changed.fault, {})
    return dashboardAnswer(keyMarkup(visit, { key, sent: form, trouble }), httpFault(changed.fault.code).status)
  })

/** Revokes a key, if the form confirms it. */
export const endKey: Handler<'endKey'> = (node, request) =>
  withKey(node, request, async (visit, key, { sure }) => {
    if (sure !== 'yes') {
      const trouble = { field: 'sure', reason: 'Say that you are sure: it cannot be undone.' }
      return dashboardAnswer(keyMarkup(visit, { key, trouble }), 400)
    }
    const ended = await visit.keys.revoke(key.id, visit.session.owner)
    return ended.ok ? moved({}) : noKey(visit)
  })

async function signInByPassword(visit: Visit, password: string): Promise<PlainAnswer | Fault> {
  const { dashboard, request, node } = visit
  const { guard, operator } = dashboard
  // The token of the data folder cannot be guessed, so it needs no guard: wrong passwords of strangers never keep the operator out.
  if (isOperator(node, `Bearer ${password.trim()}`)) return signedIn(visit, OPERATOR, await operator.stamp())
  const from = addressKey(request.address)
  const seconds = guard.waitSeconds(from)
  if (seconds > 0) {
    const trouble = { field: 'password', reason: tooMany(seconds) }
    return signInAnswer(visit, 429, trouble, { 'retry-after': String(seconds) })
  }
  // Counts the try before the check, so that parallel tries count too.
  guard.failed(from)
  // Read before the check: if the password changes meanwhile, this session ends.
  const stamp = await operator.stamp()
  const right = await operator.matches(password)
  if (!right.ok) {
    guard.unseen(from)
    return right.fault
  }
  if (!right.value) return signInAnswer(visit, 401, { field: 'password', reason: 'This is not the password.' })
  guard.succeeded(from)
  return signedIn(visit, OPERATOR, stamp)
}

function tooMany(seconds: number): string {
  return `Too many wrong passwords: try again in ${seconds} seconds, or sign in with the text in operator.token of the data folder.`
}

function signInByWallet(visit: Visit, signed: string): PlainAnswer {
  const signer = signerOf(visit, signed)
  if (signer.ok) return signedIn(visit, signer.value, '')
  return signInAnswer(visit, 401, { field: 'signed', reason: `Not signed in: ${String(signer.fault.detail.reason)}.` })
}

function signedIn({ dashboard, token, request }: Visit, owner: string, stamp: string): PlainAnswer {
  dashboard.sessions.end(token)
  const holder = holderOf(addressKey(request.address))
  return moved(cookieFor(request, dashboard.sessions.begin({ owner, stamp, holder })))
}

/** Handles a form, but only if a page of this node sent it from this browser. */
async function withForm(
  node: NodeApi,
  request: ApiRequest,
  act: (visit: Visit, form: Form) => PlainAnswer | Fault | Promise<PlainAnswer | Fault>,
): Promise<PlainAnswer | Fault> {
  const visit = await openVisit(node, request)
  if ('code' in visit) return visit
  const form = request.body as Form
  if (isOwnForm(visit, form.csrf)) return act(visit, form)
  const reason = 'This form did not come from a page that this node has shown to this browser. Open the page again.'
  return dashboardAnswer(refusedPage(frameOf(visit), reason), 403)
}

function withSession(
  node: NodeApi,
  request: ApiRequest,
  act: (visit: SignedIn, form: Form) => Promise<PlainAnswer>,
): Promise<PlainAnswer | Fault> {
  return withForm(node, request, (visit, form) => {
    const trouble = { field: null, reason: 'Your session is over: sign in again.' }
    return isSignedIn(visit) ? act(visit, form) : signInAnswer(visit, 401, trouble)
  })
}

function withKey(
  node: NodeApi,
  request: ApiRequest,
  act: (visit: SignedIn, key: ChatKey, form: Form) => Promise<PlainAnswer>,
): Promise<PlainAnswer | Fault> {
  return withSession(node, request, async (visit, form) => {
    const key = keyOf(visit, request)
    return key === undefined ? noKey(visit) : act(visit, key, form)
  })
}

function isSignedIn(visit: Visit): visit is SignedIn {
  return visit.session !== null
}

function keyOf({ keys, session }: SignedIn, { params }: ApiRequest): ChatKey | undefined {
  return keys.list(session.owner).find(({ id }) => id === params.id)
}

function noKey(visit: Visit): PlainAnswer {
  return dashboardAnswer(refusedPage(frameOf(visit), 'There is no such key of yours.'), 404)
}

function frameOf(visit: Visit): DashboardFrame {
  return { baseUrl: visit.request.baseUrl, csrf: csrfOf(visit) }
}

function signInAnswer(visit: Visit, status: number, trouble?: FormTrouble, more = {}): PlainAnswer {
  const { dashboard, request, token, isNew } = visit
  const { wallets, challenges } = dashboard
  const content = signInPage(frameOf(visit), {
    host: hostOf(request),
    challenge: takesWallets(visit) ? challenges.make(placeOf(visit)) : null,
    hasWallets: wallets === 'all' ? 'all' : 'some',
    ...(trouble && { trouble }),
  })
  return dashboardAnswer(content, status, { ...more, ...(isNew ? cookieFor(request, token) : {}) })
}

/** An intermediate page: the browser sends its cookie only when a page of this node leads to the dashboard. */
function goOnAnswer(visit: Visit): PlainAnswer {
  return dashboardAnswer(goOnPage(frameOf(visit)), 200, { refresh: '0;url=/dashboard' })
}

function keysMarkup(visit: SignedIn, wanted: number, more: Pick<KeysFacts, 'sent' | 'trouble'> = {}): string {
  const { keys, session, dashboard } = visit
  const { owner, turn } = session
  const all = keys.list(owner)
  const pages = Math.max(1, Math.ceil(all.length / KEYS_A_PAGE))
  const page = Math.min(wanted, pages)
  return keysPage(frameOf(visit), {
    owner,
    turn,
    page,
    pages,
    keys: all.slice((page - 1) * KEYS_A_PAGE, page * KEYS_A_PAGE),
    keyCount: all.length,
    liveCount: all.filter((key) => key.state === 'live' && key.owner === owner).length,
    usedToday: keys.usedToday(owner),
    bounds: keys.bounds,
    providers: owner === OPERATOR ? dashboard.providers() : null,
    ...more,
  })
}

function keyMarkup(visit: SignedIn, facts: Omit<KeyFacts, 'bounds'>): string {
  return keyPage(frameOf(visit), { ...facts, bounds: visit.keys.bounds })
}

function moved(headers: Readonly<Record<string, string>>): PlainAnswer {
  return dashboardAnswer('', 303, { location: '/dashboard', ...headers })
}

function limitsOf({ rpm, tpd }: Form): KeyLimits | FormTrouble {
  const [chats, tokens] = [wholeNumber(rpm), wholeNumber(tpd)]
  if (chats === undefined) return { field: 'rpm', reason: 'This is a whole number of 1 or more.' }
  if (tokens === undefined) return { field: 'tpd', reason: 'This is a whole number of 1 or more.' }
  return { rpm: chats, tpd: tokens }
}

/** A positive whole number; null if the field is empty, undefined if it holds something else. */
function wholeNumber(text: string | undefined): number | null | undefined {
  const bare = (text ?? '').trim()
  if (bare === '') return null
  return /^[0-9]{1,13}$/.test(bare) && Number(bare) > 0 ? Number(bare) : undefined
}

function troubleOf({ code, detail }: Fault, names: Readonly<Record<string, string>>): FormTrouble {
  if (code === 'chat/keys-full')
    return { field: null, reason: `There are ${String(detail.max)} keys already: revoke one first.` }
  if (code !== 'chat/invalid-request')
    return { field: null, reason: 'This node keeps as many keys as it can: try again later.' }
  const param = String(detail.param)
  const said = String(detail.reason)
  return { field: names[param] ?? param, reason: `${said[0]?.toUpperCase()}${said.slice(1)}.` }
}
