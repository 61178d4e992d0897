import { soundMs } from '../../marketplace/chat/voice/speaking.ts'
import type { Share } from '../../marketplace/ports/shared-room.ts'
import type { Feed, FeedOut } from '../server/answer.ts'

/** Bytes per write: a multiple of three, because base64 encodes groups of three. */
const PIECE_BYTES = 49_152
/** A reader has the duration of the sound and this much more to read it, since the sound stays in memory meanwhile. */
const GRACE_MS = 30_000
/** A reader that is this far behind the time of listening may lose its room to another sound. */
const BEHIND_MS = 10_000
/** A reader that fell this far behind counts as late: its next sound may lose its room as soon as it is behind. */
const LATE_MS = 2_000

/** Sends a file as it is, and then gives its room back. */
export function fileFeed(file: readonly Uint8Array[], headers: Readonly<Record<string, string>>, room: Share): Feed {
  const length = { 'content-length': String(sizeOf(file)) }
  return {
    headers: { ...headers, ...length },
    isFile: true,
    write: writing(() => piecesOf(file), GRACE_MS + soundMs(sizeOf(file)), room),
  }
}

/** JSON around a file in base64, encoded piece by piece: encoding it at once would block the process. */
export function base64Feed(
  [before, after]: readonly [string, string],
  file: readonly Uint8Array[],
  headers: Readonly<Record<string, string>>,
  room: Share,
): Feed {
  const bytes = Buffer.byteLength(before) + 4 * Math.ceil(sizeOf(file) / 3) + Buffer.byteLength(after)
  const told = { 'content-type': 'application/json; charset=utf-8', 'content-length': String(bytes) }
  function* pieces(): Generator<string> {
    yield before
    yield* base64Of(file)
    yield after
  }
  return {
    headers: { ...headers, ...told },
    isFile: true,
    write: writing(pieces, GRACE_MS + soundMs(sizeOf(file)), room),
  }
}

function writing(pieces: () => Iterable<string | Uint8Array>, ms: number, room: Share): Feed['write'] {
  return async (out: FeedOut) => {
    const beganMs = performance.now()
    const cut = Promise.withResolvers<'cut'>()
    const end = (): void => cut.resolve('cut')
    const graceMs = room.wasLate ? 0 : BEHIND_MS
    let taken = 0
    let lateMs = 0
    const behindMs = (): number => performance.now() - beganMs - taken * soundMs(PIECE_BYTES)
    room.yields(end)
    room.yieldsIf(() => behindMs() > graceMs, end)
    try {
      for (const piece of pieces()) {
        const written = await Promise.race([out.write(piece), cut.promise])
        lateMs = Math.max(lateMs, behindMs())
        if (written === 'cut' || performance.now() - beganMs > ms) return false
        taken += 1
      }
      return true
    } finally {
      room.leave(lateMs > LATE_MS)
    }
  }
}

function* piecesOf(file: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const part of file)
    for (let at = 0; at < part.length; at += PIECE_BYTES) yield part.subarray(at, at + PIECE_BYTES)
}

/** A file as base64. Bytes that do not fill a group of three go with the next piece. */
function* base64Of(file: readonly Uint8Array[]): Generator<string> {
  let left = Buffer.alloc(0)
  for (const piece of piecesOf(file)) {
    const bytes = Buffer.concat([left, piece])
    const whole = bytes.length - (bytes.length % 3)
    yield bytes.toString('base64', 0, whole)
    left = bytes.subarray(whole)
  }
  yield left.toString('base64')
}

function sizeOf(file: readonly Uint8Array[]): number {
  return file.reduce((sum, { length }) => sum + length, 0)
}
