import { SETTINGS, type SettingName } from '../../config/settings.ts'
import { NETWORK_CLIENTS } from '../../consensus/primitives/fair-share.ts'
import { CONVERSATION_CHARS_MAX } from '../../marketplace/chat/context-window.ts'
import { WRONG_SIGNATURES } from '../../marketplace/till/rails/tab/bad-vouchers.ts'
import { NAME_CHARS_MAX, NAMES_MAX, VALUES_MAX } from '../../rpc/chat/body-values.ts'
import type { RateBucket } from '../../rpc/contract/route.ts'
import { NETWORK_FACTOR, PATIENCE_MS, PLACES_SHARE, UNREAD_SHARE } from '../../rpc/edge/places.ts'
import { KEYS_MAX } from '../../rpc/edge/rate-limiter.ts'
import {
  DEFAULT_HTTP_LIMITS,
  HOST_CHARS_MAX,
  KNOWN_PAYMENT_RATE,
  MESSAGE_BODY,
  PLAIN_BODY,
} from '../../rpc/server/limits.ts'

type Row = readonly [what: string, value: number | bigint | string, unit: string, where: string]

const percent = (share: number): string => String(Math.round(share * 100))

/** Bounds of the HTTP server: bodies, places, connections and rates. */
export const DOOR_LIMITS: readonly Row[] = [
  ['body of an HTTP request', DEFAULT_HTTP_LIMITS.bodyBytesMax, 'bytes', 'rpc/server/limits.ts'],
  ['values in a JSON body (chats have their own limit)', PLAIN_BODY.valuesMax, '', 'rpc/server/limits.ts'],
  ['different names of members in it', PLAIN_BODY.namesMax, '', 'rpc/server/limits.ts'],
  ['values in a message over MCP or A2A', MESSAGE_BODY.valuesMax, '', 'rpc/server/limits.ts'],
  ['different names of members in it', MESSAGE_BODY.namesMax, '', 'rpc/server/limits.ts'],
  [
    'values in the body of a chat, or of another request of the OpenAI interface',
    VALUES_MAX,
    '',
    'rpc/chat/body-values.ts',
  ],
  ['different names of members in it', NAMES_MAX, '', 'rpc/chat/body-values.ts'],
  [
    'characters of one chat, everything that goes to its model except pictures',
    CONVERSATION_CHARS_MAX,
    '',
    'marketplace/chat/context-window.ts',
  ],
  [
    'name of a member, over every protocol; not checked in bodies of up to 8,000 characters',
    NAME_CHARS_MAX,
    'characters',
    'rpc/chat/body-values.ts',
  ],
  ['requests answered at once', DEFAULT_HTTP_LIMITS.concurrentMax, '', 'rpc.concurrent-max'],
  ['of them, for one address', 'as many as are left', '', 'rpc/edge/places.ts'],
  ['of them, for one /24 (IPv6: /48)', `${NETWORK_FACTOR} times what is left`, '', 'rpc/edge/places.ts'],
  [
    'share of them open to lists, reads, quotes, transactions, calls whose bodies are not complete, known payments, health checks',
    Object.values(PLACES_SHARE).slice(0, -1).map(percent).join(', '),
    '%',
    'rpc/edge/places.ts',
  ],
  ['how long a slow client keeps its place when others need it', PATIENCE_MS, 'ms', 'rpc/edge/places.ts'],
  [
    'bodies of one /24 (IPv6: /48) that are waited for so long',
    Math.ceil(DEFAULT_HTTP_LIMITS.concurrentMax * UNREAD_SHARE),
    '',
    'rpc/edge/places.ts',
  ],
  ['unanswered requests of a connection', DEFAULT_HTTP_LIMITS.unansweredMax, '', 'rpc/server/limits.ts'],
  ['connections at once', DEFAULT_HTTP_LIMITS.connectionsMax, '', 'rpc/server/limits.ts'],
  ['idle connections of an address', DEFAULT_HTTP_LIMITS.idlePerAddressMax, '', 'rpc/server/limits.ts'],
  ['idle connections in all', DEFAULT_HTTP_LIMITS.connectionsMax / 2, '', 'rpc/server/limits.ts'],
  ['how long a connection may be idle', DEFAULT_HTTP_LIMITS.idleMsMax, 'ms', 'rpc/server/limits.ts'],
  ['how long a client may stop reading an answer', DEFAULT_HTTP_LIMITS.stuckMsMax, 'ms', 'rpc/server/limits.ts'],
  ['host name of a request', HOST_CHARS_MAX, 'characters', 'rpc/server/limits.ts'],
  ['time for a request to arrive', DEFAULT_HTTP_LIMITS.receiveTimeoutMs, 'ms', 'rpc/server/limits.ts'],
  ...(Object.keys(DEFAULT_HTTP_LIMITS.ratesPerMinute) as RateBucket[]).map((bucket): Row => {
    const name: SettingName = `rpc.rate-${bucket}`
    return [lowerFirst(SETTINGS[name].about), DEFAULT_HTTP_LIMITS.ratesPerMinute[bucket], '', name]
  }),
  ['each of these for one /24 (IPv6: /48)', `as for ${NETWORK_CLIENTS} addresses`, '', 'rpc/edge/rate-limiter.ts'],
  [
    'calls per minute with a known payment and its secret or signature, beyond the limit of the address',
    KNOWN_PAYMENT_RATE,
    '',
    'rpc/server/limits.ts',
  ],
  [
    'wrong signatures of tabs that are checked for one client, over calls and again over queries and refusals',
    WRONG_SIGNATURES.ofClient,
    'a minute',
    'marketplace/till/rails/tab/bad-vouchers.ts',
  ],
  [
    'those for one tab, by clients that never had a good one for it',
    WRONG_SIGNATURES.ofTab,
    'a minute',
    'marketplace/till/rails/tab/bad-vouchers.ts',
  ],
  [
    'addresses, and networks, that a rate limit remembers; the oldest are forgotten first',
    KEYS_MAX,
    '',
    'rpc/edge/rate-limiter.ts',
  ],
]

function lowerFirst(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`
}
