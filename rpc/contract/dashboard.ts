import { ERROR, type Route } from './route.ts'
import * as Type from './schema.ts'

/** A sign-in form with signatures of eight keys of the largest scheme, escaped for a form, fits in this. */
const SIGN_IN_BYTES_MAX = 262_144
/**
 * Maximum bytes of any other form: it has a few short fields, whose characters take up to twelve bytes each. Reading a form that
 * consists of blanks takes 0.1 ms a KiB.
 */
const FORM_BYTES_MAX = 32_768

const PAGE = (description: string) => ({ description, contentType: 'text/html' })
/** A page if the form was read. The error envelope if the server refuses before that. */
const REFUSAL = (description: string) => ({ description, schema: ERROR, alsoAs: 'text/html' })
const MOVED = { description: 'Done; `Location` is the dashboard' }
const REFUSED = REFUSAL('Not taken: the form is of another page, or older than the session')
const SIGNED_OUT = REFUSAL('The page to sign in, with what is wrong')
const UNUSABLE = REFUSAL('The page with the form, which says what is wrong with it')
const NO_KEY = REFUSAL('There is no such key of this owner')

const SHORT = Type.Optional(Type.String({ maxLength: 300 }))
const CSRF = Type.Optional(Type.String({ maxLength: 100, description: 'The hidden field of the page' }))
const KEY_PARAMS = Type.Object({ id: Type.String({ minLength: 1, maxLength: 40 }) })
const COOKIE = 'Who is signed in is told by a cookie that scripts and other sites do not see.'

/** Faults of a visit. Mistakes in a form are shown on its page instead. */
const VISIT_ERRORS = ['chat/off', 'rpc/foreign-host'] as const

const form = {
  tag: 'chat',
  takesForm: true,
  bodyBytesMax: FORM_BYTES_MAX,
  errors: VISIT_ERRORS,
  bucket: 'read',
} as const

/** The pages on which people make API keys. */
export const DASHBOARD_ROUTES = {
  getDashboard: {
    method: 'GET',
    path: '/dashboard',
    operationId: 'getDashboard',
    tag: 'chat',
    summary: 'The API keys of the signed-in owner, or the sign-in page',
    description: COOKIE,
    query: Type.Object({ page: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })) }),
    answers: { 200: PAGE('The page') },
    errors: VISIT_ERRORS,
    bucket: 'list',
  },
  signIn: {
    ...form,
    bodyBytesMax: SIGN_IN_BYTES_MAX,
    method: 'POST',
    path: '/dashboard/sign-in',
    operationId: 'signIn',
    summary: 'Sign in with a password or a signed text',
    description: `The password is the operator's; the text is the one that the page shows, as \`npx --no farthing wallet sign-text\` signs it. ${COOKIE}`,
    body: Type.Object({
      csrf: CSRF,
      password: SHORT,
      signed: Type.Optional(Type.String({ maxLength: 120_000, description: 'JSON of the signed text' })),
    }),
    answers: {
      303: MOVED,
      401: SIGNED_OUT,
      403: REFUSED,
      429: REFUSAL('Too many wrong passwords; `Retry-After` says when to come back'),
    },
    bucket: 'sign-in',
  },
  signOut: {
    ...form,
    method: 'POST',
    path: '/dashboard/sign-out',
    operationId: 'signOut',
    summary: 'End the session',
    body: Type.Object({ csrf: CSRF }),
    answers: { 303: MOVED, 403: REFUSED },
  },
  makeKey: {
    ...form,
    method: 'POST',
    path: '/dashboard/keys',
    operationId: 'makeKey',
    summary: 'Make an API key and show it once',
    body: Type.Object({ csrf: CSRF, turn: SHORT, label: SHORT, rpm: SHORT, tpd: SHORT, days: SHORT }),
    answers: {
      200: PAGE('The key'),
      400: UNUSABLE,
      401: SIGNED_OUT,
      403: REFUSED,
      409: REFUSAL('There are too many keys, or the form was sent before'),
      429: REFUSAL('From this address as many keys of wallets were made as may be within a day'),
      503: REFUSAL('The node keeps as many keys as it can'),
    },
  },
  getKeyPage: {
    method: 'GET',
    path: '/dashboard/keys/{id}',
    operationId: 'getKeyPage',
    tag: 'chat',
    summary: 'One API key: its use, its name and limits, and its revocation',
    params: KEY_PARAMS,
    answers: { 200: PAGE('The page'), 401: SIGNED_OUT, 404: NO_KEY },
    errors: VISIT_ERRORS,
    bucket: 'read',
  },
  saveKey: {
    ...form,
    method: 'POST',
    path: '/dashboard/keys/{id}',
    operationId: 'saveKey',
    summary: 'Rename an API key, or set its limits',
    params: KEY_PARAMS,
    body: Type.Object({ csrf: CSRF, label: SHORT, rpm: SHORT, tpd: SHORT }),
    answers: { 303: MOVED, 400: UNUSABLE, 401: SIGNED_OUT, 403: REFUSED, 404: NO_KEY },
  },
  endKey: {
    ...form,
    method: 'POST',
    path: '/dashboard/keys/{id}/revoke',
    operationId: 'endKey',
    summary: 'End an API key for good',
    params: KEY_PARAMS,
    body: Type.Object({ csrf: CSRF, sure: Type.Optional(Type.String({ maxLength: 10 })) }),
    answers: { 303: MOVED, 400: UNUSABLE, 401: SIGNED_OUT, 403: REFUSED, 404: NO_KEY },
  },
} as const satisfies Record<string, Route>
