import type { Socket } from 'node:net'

/** A stream of the muxer, as far as its windows go. */
export interface WindowedStream {
  readonly state: number
  /** Bytes of a whole window, and how many of them its other end may still send. */
  readonly recvWindow: number
  readonly recvWindowCapacity: number
  sendWindowUpdate(): void
}

/** What makes the streams of a connection. */
export interface StreamMaker<S extends WindowedStream = WindowedStream> {
  _newStream(...init: readonly unknown[]): S
}

/** A frame of yamux as it comes in. */
export interface Frame {
  readonly header: { readonly flag: number; readonly streamID: number }
}

/** Flag of yamux on the first frame of a stream. */
const SYN = 1

/** State of a stream of yamux that both ends know of and that is not paused. */
const ESTABLISHED = 3
/** Small enough that pages are answered frame by frame as ever: by these answers the muxer learns how large a window may be. */
const USED_SHARE = 1 / 8
/** So much is on its way at once, while more is made. */
const TOGETHER_BYTES = 16_384

/** Whether a frame opens a stream. */
export function opensStream({ header }: Frame): boolean {
  return header.streamID !== 0 && (header.flag & SYN) === SYN
}

/**
 * Hands small frames that are written in one go, and the pieces that each consists of, to the system in one go. Else each
 * piece, and the length of a frame is one, would be a call of the system here, a packet on the line, and an event over there.
 * Call the result before every write.
 */
export function writeTogether(socket: Pick<Socket, 'cork' | 'uncork' | 'writableLength'>): () => void {
  let corked = false
  const flush = (): void => {
    if (!corked) return
    corked = false
    socket.uncork()
  }
  return () => {
    if (socket.writableLength >= TOGETHER_BYTES) flush()
    if (corked) return
    corked = true
    socket.cork()
    process.nextTick(flush)
  }
}

/**
 * Lets streams tell of their windows only once a share of one is used up. The muxer would answer every frame with a frame,
 * every small message with one; no sender is held up, since what is left lasts until the news is there.
 */
export function updateWindowsRarely(muxer: StreamMaker): void {
  const make = muxer._newStream.bind(muxer)
  muxer._newStream = (...init) => {
    const stream = make(...init)
    const update = stream.sendWindowUpdate.bind(stream)
    stream.sendWindowUpdate = () => {
      const used = stream.recvWindow - stream.recvWindowCapacity
      if (stream.state === ESTABLISHED && used < stream.recvWindow * USED_SHARE) return
      update()
    }
    return stream
  }
}
