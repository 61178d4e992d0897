import { COUNT, HEIGHT, MOMENT, type Route, UINT_TEXT } from './route.ts'
import * as Type from './schema.ts'

/** Longest ban: a year. */
export const BAN_HOURS_MAX = 8_760
/** Default length of a ban in hours. */
export const BAN_HOURS = 24

const PEER_ID = Type.String({ description: 'Id of a peer' })
const OPTIONAL_COUNT = Type.Union([COUNT, Type.Null()])

/** `Peer` of the OpenAPI document. */
export const PEER = Type.Object({
  id: PEER_ID,
  address: Type.Union([Type.String(), Type.Null()], { description: 'Multiaddr; null without the operator token' }),
  direction: Type.Union([Type.Literal('inbound'), Type.Literal('outbound')]),
  agent: Type.String(),
  height: HEIGHT,
  totalWork: UINT_TEXT,
  mode: Type.Union([Type.Literal('archive'), Type.Literal('full'), Type.Literal('pruned')]),
  latencyMs: Type.Union([Type.Number(), Type.Null()]),
  connectedSince: MOMENT,
  bytesIn: OPTIONAL_COUNT,
  bytesOut: OPTIONAL_COUNT,
  points: Type.Number({ description: 'Points for misbehaviour, fading: 50 disconnect, 100 ban' }),
  misbehaviour: Type.Record(Type.String(), COUNT, { description: 'Offences since it connected, by name' }),
  protected: Type.Boolean({ description: 'Whether it keeps its place when other peers want to connect' }),
})

/** `Ban` of the OpenAPI document. */
export const BAN = Type.Object({
  target: Type.String({ description: 'Id of a peer, or an IP address' }),
  reason: Type.String(),
  since: MOMENT,
  until: MOMENT,
})

const TARGET = Type.String({ minLength: 1, maxLength: 100 })

/** Operations on the peer-to-peer network. */
export const PEER_ROUTES = {
  listPeers: {
    method: 'GET',
    path: '/api/v1/peers',
    operationId: 'listPeers',
    tag: 'operations',
    summary: 'Peers that this node is connected to',
    description: 'Addresses of peers are shown to the operator alone.',
    operator: 'optional',
    answers: {
      200: {
        description: 'Peers, the longest connected first; none where the network is off',
        schema: Type.Object({ enabled: Type.Boolean(), peers: Type.Array(PEER), bans: COUNT }),
      },
    },
    bucket: 'read',
  },
  listBans: {
    method: 'GET',
    path: '/api/v1/peers/bans',
    operationId: 'listBans',
    tag: 'operations',
    summary: 'The bans',
    operator: 'required',
    answers: { 200: { description: 'Bans, the newest first', schema: Type.Object({ bans: Type.Array(BAN) }) } },
    errors: ['p2p/disabled'],
    bucket: 'read',
  },
  banPeer: {
    method: 'POST',
    path: '/api/v1/peers/bans',
    operationId: 'banPeer',
    tag: 'operations',
    summary: 'Ban a peer or an IP address',
    description: `One of \`peer\` and \`ip\`; for ${BAN_HOURS} hours unless others are given. Its connections end. A ban that lasts longer stands.`,
    operator: 'required',
    body: Type.Object(
      {
        peer: Type.Optional(TARGET),
        ip: Type.Optional(TARGET),
        hours: Type.Optional(Type.Integer({ minimum: 1, maximum: BAN_HOURS_MAX })),
      },
      { additionalProperties: false },
    ),
    answers: { 200: { description: 'The ban', schema: BAN } },
    errors: ['p2p/disabled', 'p2p/address'],
    bucket: 'read',
  },
  unbanPeer: {
    method: 'DELETE',
    path: '/api/v1/peers/bans/{peer}',
    operationId: 'unbanPeer',
    tag: 'operations',
    summary: 'End a ban',
    description: 'Of a peer id or an IP address. What the peer did before is forgotten.',
    operator: 'required',
    params: Type.Object({ peer: TARGET }),
    answers: { 200: { description: 'The ban that ended', schema: BAN } },
    errors: ['p2p/disabled', 'p2p/not-banned'],
    bucket: 'read',
  },
} as const satisfies Record<string, Route>
