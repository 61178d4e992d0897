/**
 * Points for each offence of a peer. At {@link DISCONNECT_POINTS} it is disconnected, at {@link BAN_POINTS} banned; points halve every
 * {@link HALF_LIFE_MS}. An offence that no honest node of any release commits is a ban at once. An offence that a slow or misled node may
 * commit has few points.
 */
export const OFFENCES = {
  /** A message that cannot be decoded, or breaks its own rules. */
  malformed: 100,
  oversize: 100,
  'bad-work': 100,
  /** A header that contradicts its parent. */
  'bad-header': 100,
  'bad-block': 100,
  /** A part of the state that its root does not prove. */
  'bad-state': 100,
  'bad-keys': 100,
  /** A body that its header does not name. */
  'bad-body': 50,
  /** A transaction that no block can hold, or a false signature. */
  'bad-transaction': 20,
  unasked: 20,
  /** More than it may use of requests, bytes, verification, streams or pings. */
  flood: 10,
  timeout: 10,
  /** The peer did not have what it said it had. */
  useless: 5,
} as const satisfies Record<string, number>

/** Name of an offence. */
export type Offence = keyof typeof OFFENCES

/** Offences that a slow machine commits too. They lead to disconnection at most, never to a ban. */
export const OF_THE_SLOW: ReadonlySet<Offence> = new Set<Offence>(['timeout', 'useless'])

/** Points at which a peer is disconnected. */
export const DISCONNECT_POINTS = 50
/** Points at which a peer is banned. */
export const BAN_POINTS = 100
/** Time in which points fade by half. */
export const HALF_LIFE_MS = 600_000
/** How long a ban lasts. */
export const BAN_MS = 86_400_000
