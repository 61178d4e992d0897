/** How far above the lowest unused number of a tab a call may be. */
export const SEQ_WINDOW = 256
/** The first number of a call on a tab. */
export const SEQ_FIRST = 1

/** Which numbers of a tab are used: all below `low`, and those of `used`, whose bit 0 stands for `low`. */
export interface SeqWindow {
  readonly low: number
  readonly used: bigint
}

/** The window of a tab without calls. */
export const NEW_WINDOW: SeqWindow = { low: SEQ_FIRST, used: 0n }

/** Whether a number is used, may be used, or is too far above the lowest unused one. */
export function standingOf({ low, used }: SeqWindow, seq: number): 'used' | 'free' | 'beyond' {
  if (seq < low) return 'used'
  if (seq >= low + SEQ_WINDOW) return 'beyond'
  return (used >> BigInt(seq - low)) & 1n ? 'used' : 'free'
}

/** The window after a free number was used. */
export function withUsed(window: SeqWindow, seq: number): SeqWindow {
  let { low, used } = window
  used |= 1n << BigInt(seq - low)
  for (; used & 1n; used >>= 1n) low += 1
  return { low, used }
}

/** The number that a client uses next: above all that were taken, or the lowest unused one where that would be too far ahead. */
export function nextSeqOf({ window, seqMax }: { readonly window: SeqWindow; readonly seqMax: number }): number {
  const above = Math.max(seqMax + 1, window.low)
  return above < window.low + SEQ_WINDOW ? above : window.low
}
