import type { Connection, StreamHandler } from '@libp2p/interface'
import type { Clock } from '../../../consensus/chain/ports.ts'
import type { Allowance } from '../../../consensus/primitives/bucket.ts'
import { ClockedBucket } from '../peers/budget.ts'
import { facade } from './facade.ts'
import { MessageScanner, type ScanOffence, type Shape } from './message-scanner.ts'

/** Limits for one connection in a protocol that libp2p speaks for us. */
export interface LibBounds {
  /** Bytes that we read from one stream, whichever end opened it. */
  readonly bytesMax: number
  /**
   * Shape of its messages, and most fields read from a stream. libp2p makes an object of each address, however short it is, so bytes alone
   * bound too little.
   */
  readonly message: Shape
  readonly fieldsMax: number
  /** Streams of the other end that are answered. More are reset. */
  readonly answered: Allowance
}

/** A record of a peer in its envelope: its id and the addresses where it listens. */
const SIGNED_RECORD: Shape = { 1: 'bytes', 2: 'bytes', 3: { 1: 'place', 2: 'number', 3: { 1: 'place' } }, 5: 'bytes' }
const IDENTIFY: LibBounds = {
  bytesMax: 8_192,
  message: { 1: 'bytes', 2: 'place', 3: 'bytes', 4: 'place', 5: 'bytes', 6: 'bytes', 8: SIGNED_RECORD },
  fieldsMax: 512,
  answered: { burst: 8, perSecond: 0.2 },
}
const AUTONAT: LibBounds = {
  bytesMax: 1_024,
  message: { 1: 'number', 2: { 1: { 1: 'place', 2: 'place' } }, 3: { 1: 'number', 2: 'bytes', 3: 'place' } },
  fieldsMax: 64,
  answered: { burst: 4, perSecond: 0.05 },
}

/** An honest identify message has one to two KiB, an autonat message some hundred bytes. */
export const LIB_BOUNDS: ReadonlyMap<string, LibBounds> = new Map([
  ['/ipfs/id/1.0.0', IDENTIFY],
  ['/ipfs/id/push/1.0.0', IDENTIFY],
  ['/libp2p/autonat/1.0.0', AUTONAT],
])

/** Passes on the bytes of a stream. */
export interface Dispatching {
  /** Empty until the protocol is negotiated. */
  readonly protocol: string
  dispatchEvent(event: Event): boolean
}

type Bytes = Event & { readonly data: Uint8Array | (Iterable<Uint8Array> & { readonly byteLength: number }) }

/**
 * Reads no more from a stream than its protocol may bring. libp2p would take ten messages where one is enough, and decode them at any cost.
 * This stands below the listeners, since bytes that come before the first listener are kept for that listener.
 */
export function boundBytes(stream: Dispatching, onOffence: (offence: ScanOffence, protocol: string) => void): void {
  const dispatch = stream.dispatchEvent.bind(stream)
  let bytes = 0
  let scanner: MessageScanner | undefined
  const offenceOf = (data: Bytes['data'], bounds: LibBounds): ScanOffence | null => {
    bytes += data.byteLength
    if (bytes > bounds.bytesMax) return 'oversize'
    scanner ??= new MessageScanner(bounds.bytesMax, bounds.message)
    for (const chunk of data instanceof Uint8Array ? [data] : data) {
      const offence = scanner.scan(chunk)
      if (offence !== null) return offence
    }
    return scanner.units > bounds.fieldsMax ? 'oversize' : null
  }
  stream.dispatchEvent = (event) => {
    const bounds = LIB_BOUNDS.get(stream.protocol)
    if (bounds === undefined || event.type !== 'message') return dispatch(event)
    const offence = offenceOf((event as Bytes).data, bounds)
    if (offence === null) return dispatch(event)
    onOffence(offence, stream.protocol)
    return false
  }
}

interface Registrar {
  handle(protocol: string, handler: StreamHandler, options?: object): Promise<void>
}

/** Makes a libp2p service answer each connection no more often than the limits allow. */
export function answeringSeldom<C extends { readonly registrar: object }, S>(
  build: (components: C) => S,
  clock: Clock,
): (components: C) => S {
  return (components) => {
    const registrar = components.registrar as Registrar
    const handle: Registrar['handle'] = (protocol, handler, options) =>
      registrar.handle(protocol, seldom(protocol, handler, clock), options)
    return build(facade(components, { registrar: facade(registrar, { handle }) } as Partial<Record<keyof C, unknown>>))
  }
}

function seldom(protocol: string, handler: StreamHandler, clock: Clock): StreamHandler {
  const bounds = LIB_BOUNDS.get(protocol)
  if (bounds === undefined) throw new Error(`${protocol} has no bounds`)
  const answered = new WeakMap<Connection, ClockedBucket>()
  return (stream, connection) => {
    const bucket = answered.get(connection) ?? new ClockedBucket(bounds.answered, clock)
    answered.set(connection, bucket)
    if (bucket.spend(1)) return handler(stream, connection)
    stream.abort(new Error('asked too often'))
  }
}

/** Writes an answer to every line of a negotiation. */
export interface Answering {
  send(data: never): boolean
  abort(error: Error): void
}

/** Our writes on a socket until it is a connection: answers of two negotiations, our part of the handshake, first frames. */
export const UPGRADE_WRITES_MAX = 32
/** Answers while the protocol of a stream is negotiated. Older releases name up to six gossip protocols one after another. */
export const STREAM_WRITES_MAX = 16

/**
 * Ends a negotiation without end. Each line of four bytes or more costs us an answer and a turn of the thread, and a stranger could send as
 * many as its network carries. `isOver` says whether the negotiation has ended.
 */
export function boundAnswers(target: Answering, max: number, isOver: () => boolean): void {
  const send = target.send.bind(target)
  let written = 0
  target.send = (data) => {
    if (!isOver() && ++written > max) {
      target.abort(new Error('it negotiates for ever'))
      throw new Error('it negotiates for ever')
    }
    return send(data)
  }
}
