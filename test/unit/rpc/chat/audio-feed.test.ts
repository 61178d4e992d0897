import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Share } from '../../../../marketplace/ports/shared-room.ts'
import { base64Feed, fileFeed } from '../../../../rpc/chat/audio-feed.ts'

const SECOND_BYTES = 48_000
const FILE = [new Uint8Array(44), new Uint8Array(20 * SECOND_BYTES).fill(7)]

const ROOM = {
  wasLate: false,
  isInTheWay: () => false,
  leave: () => {},
  shrink: () => {},
  yields: () => {},
  yieldsIf: () => {},
}

afterEach(() => vi.restoreAllMocks())

/** A reader that takes `pieceMs` for each piece. */
function reader(pieceMs: number) {
  let nowMs = 1_000
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  const taken: (string | Uint8Array)[] = []
  const write = async (piece: string | Uint8Array): Promise<void> => {
    nowMs += pieceMs
    taken.push(piece)
  }
  return { taken, out: { write, stop: () => {} } }
}

describe('a sound on its way', () => {
  it.each([
    ['as a file', (leave: () => void) => fileFeed(FILE, {}, { ...ROOM, leave })],
    ['in JSON', (leave: () => void) => base64Feed(['{"data":"', '"}'], FILE, {}, { ...ROOM, leave })],
  ])('is sent %s to a reader who listens meanwhile, and cut off for one who is slower', async (_, feed) => {
    const sent = vi.fn()
    const listener = reader(1_000)
    expect(await feed(sent).write(listener.out)).toBe(true)
    const slow = reader(10_000)
    expect(await feed(sent).write(slow.out)).toBe(false)
    expect(slow.taken.length).toBeLessThan(8)
    expect(sent).toHaveBeenCalledTimes(2)
  })

  it('is cut at once where others need its room, also while its reader takes nothing', async () => {
    const ends: ((() => void) | null)[] = []
    const leave = vi.fn()
    const room = { ...ROOM, leave, yields: (end: (() => void) | null) => void ends.push(end) }
    const whole = fileFeed(FILE, {}, room).write({ write: () => new Promise(() => {}) })
    ends[0]?.()
    expect(await whole).toBe(false)
    expect(leave).toHaveBeenCalledTimes(1)
  })

  it.each([
    ['plays it as it comes', 1_024, false],
    ['stops for a while', 4_000, true],
  ])('yields to others, if its reader %s: after %d ms a piece that is %s', async (_, pieceMs, isCut) => {
    let isBehind = (): boolean => true
    let end = (): void => {}
    const yieldsIf: Share['yieldsIf'] = (...[is, cut]) => {
      isBehind = is
      end = cut
    }
    const slow = reader(pieceMs)
    const write = (piece: string | Uint8Array): Promise<void> => {
      if (isBehind()) end()
      return slow.out.write(piece)
    }
    expect(await fileFeed(FILE, {}, { ...ROOM, yieldsIf }).write({ write })).toBe(!isCut)
  })

  it.each([
    [1_024, false],
    [9_000, true],
  ])('is of a caller who is late, if its reader goes after %d ms without a byte: %s', async (pieceMs, isLate) => {
    const leave = vi.fn()
    await fileFeed(FILE.slice(0, 1), {}, { ...ROOM, leave }).write(reader(pieceMs).out)
    expect(leave.mock.calls).toEqual([[isLate]])
  })

  it('yields at once if its caller was late before', async () => {
    const isCut = vi.fn()
    const yieldsIf: Share['yieldsIf'] = (isBehind) => isCut.mockImplementation(isBehind)
    const slow = reader(1_500)
    const write = (piece: string | Uint8Array): Promise<void> => {
      isCut()
      return slow.out.write(piece)
    }
    await fileFeed(FILE, {}, { ...ROOM, wasLate: true, yieldsIf }).write({ write })
    expect(isCut.mock.results.slice(0, 3).map(({ value }) => value)).toEqual([false, true, true])
  })

  it('is whole in base64', async () => {
    const all = reader(1)
    const odd = [Uint8Array.from([1, 2]), new Uint8Array(100_001).fill(5), Uint8Array.from([9])]
    await base64Feed(['<', '>'], odd, {}, ROOM).write(all.out)
    const text = all.taken.join('')
    expect(Buffer.from(text.slice(1, -1), 'base64')).toEqual(Buffer.concat(odd))
  })
})
