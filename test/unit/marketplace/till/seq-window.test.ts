import { describe, expect, it } from 'vitest'
import {
  NEW_WINDOW,
  nextSeqOf,
  SEQ_WINDOW,
  standingOf,
  withUsed,
} from '../../../../marketplace/till/rails/tab/seq-window.ts'

const used = (...seqs: readonly number[]) => seqs.reduce(withUsed, NEW_WINDOW)

describe('the numbers of the calls of a tab', () => {
  it('begin at 1, and are used once', () => {
    expect([0, 1, SEQ_WINDOW, SEQ_WINDOW + 1].map((seq) => standingOf(NEW_WINDOW, seq))).toEqual([
      'used',
      'free',
      'free',
      'beyond',
    ])
    expect(standingOf(used(1), 1)).toBe('used')
    expect(used(1, 2, 3)).toEqual({ low: 4, used: 0n })
  })

  it('leave holes, up to the window above the lowest', () => {
    const window = used(2, 3, 256)
    expect([1, 2, 4, 256, 257].map((seq) => standingOf(window, seq))).toEqual([
      'free',
      'used',
      'free',
      'used',
      'beyond',
    ])
    expect(withUsed(window, 1).low).toBe(4)
  })

  it('go on above all that were taken, or at the lowest hole where that is too far', () => {
    expect(nextSeqOf({ window: NEW_WINDOW, seqMax: 0 })).toBe(1)
    expect(nextSeqOf({ window: used(1), seqMax: 5 })).toBe(6)
    expect(nextSeqOf({ window: used(2), seqMax: 256 })).toBe(1)
  })
})
