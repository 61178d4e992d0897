import type { Allowance, KeyUsage } from './keys.ts'

const SECONDS = 60
/** The seconds that count, and the one that has begun. */
const SLOTS = SECONDS + 1
const SECOND_MS = 1_000
const DAY_MS = 86_400_000

/**
 * Counts what happened within the last 60 seconds, by the second, so that no 60 seconds whatever hold more than the limit. A
 * clock that is set back begins anew: what it counted before would come back only when the clock has caught up.
 */
export class LastMinute {
  /** Made when something is counted: most keys are idle most of the time. */
  #counts: Uint32Array | null = null
  #second = 0
  #sum = 0

  /** How much of a limit is left at a time; `waitMs` is the time until something of it is, 0 where something is left. */
  left(limit: number, nowMs: number): Allowance & { readonly waitMs: number } {
    this.#turnTo(nowMs)
    const remaining = Math.max(0, limit - this.#sum)
    const waitMs = remaining > 0 ? 0 : this.#untilBelow(limit, nowMs)
    return { limit, remaining, resetMs: this.#untilBelow(1, nowMs), waitMs }
  }

  /** Counts one more. */
  add(nowMs: number): void {
    this.#turnTo(nowMs)
    this.#counts ??= new Uint32Array(SLOTS)
    const slot = this.#second % SLOTS
    this.#counts[slot] = (this.#counts[slot] as number) + 1
    this.#sum += 1
  }

  /** Counts one less that was counted at a time, where that still matters. */
  takeBack(countedMs: number, nowMs: number): void {
    this.#turnTo(nowMs)
    const second = Math.floor(countedMs / SECOND_MS)
    if (this.#counts === null || second < this.#second - SECONDS || second > this.#second) return
    const slot = second % SLOTS
    const count = this.#counts[slot] as number
    if (count === 0) return
    this.#counts[slot] = count - 1
    this.#sum -= 1
  }

  /** Time until fewer than so many are counted. */
  #untilBelow(count: number, nowMs: number): number {
    let sum = this.#sum
    if (sum < count) return 0
    for (let second = this.#second - SECONDS; second <= this.#second; second++) {
      sum -= this.#at(second)
      if (sum < count) return (second + SECONDS + 1) * SECOND_MS - nowMs
    }
    return SECONDS * SECOND_MS
  }

  #at(second: number): number {
    return second < 0 ? 0 : (this.#counts?.[second % SLOTS] ?? 0)
  }

  /** Gives up the seconds that are over. */
  #drop(counts: Uint32Array, second: number): void {
    for (let gone = this.#second + 1; gone <= second; gone++) {
      const slot = gone % SLOTS
      this.#sum -= counts[slot] as number
      counts[slot] = 0
    }
  }

  #turnTo(nowMs: number): void {
    const second = Math.floor(nowMs / SECOND_MS)
    const passed = second - this.#second
    if (passed === 0) return
    if (passed < 0 || passed > SECONDS || this.#sum === 0) {
      this.#counts = null
      this.#sum = 0
    } else this.#drop(this.#counts as Uint32Array, second)
    this.#second = second
  }
}

/** Nothing used. */
export const UNUSED: KeyUsage = { requests: 0, promptTokens: 0, completionTokens: 0 }

/** What was used on one day (UTC), the days since 1970. */
export interface DayUsage extends KeyUsage {
  readonly day: number
}

/** The day (UTC) of a time. */
export function dayOf(nowMs: number): number {
  return Math.floor(nowMs / DAY_MS)
}

/** What was used on the day of a time: nothing where the figures are another day's. */
export function usedOn(usage: DayUsage, nowMs: number): KeyUsage {
  const { day, requests, promptTokens, completionTokens } = usage
  return day === dayOf(nowMs) ? { requests, promptTokens, completionTokens } : UNUSED
}

/** Figures with some more. */
export function plus(usage: KeyUsage, more: KeyUsage): KeyUsage {
  return {
    requests: usage.requests + more.requests,
    promptTokens: usage.promptTokens + more.promptTokens,
    completionTokens: usage.completionTokens + more.completionTokens,
  }
}

/** How much of a day's tokens is left. */
export function tokensLeft(limit: number, used: KeyUsage, nowMs: number): Allowance {
  const remaining = Math.max(0, limit - used.promptTokens - used.completionTokens)
  return { limit, remaining, resetMs: (dayOf(nowMs) + 1) * DAY_MS - nowMs }
}

/** When chats that are under way may have given back what they hold and did not use. */
const HELD_WAIT_MS = 1_000

/**
 * The same, where some of them are held for chats that are under way; `waitMs` is the time until something of it may be left, 0
 * where something is.
 */
export function tokensUnheld(
  limit: number,
  { used, held }: { readonly used: KeyUsage; readonly held: number },
  nowMs: number,
): Allowance & { readonly waitMs: number; readonly isHeld: boolean } {
  const left = tokensLeft(limit, used, nowMs)
  const remaining = Math.max(0, left.remaining - held)
  const isHeld = remaining === 0 && left.remaining > 0
  return { ...left, remaining, isHeld, waitMs: remaining > 0 ? 0 : isHeld ? HELD_WAIT_MS : left.resetMs }
}

/** The one of two allowances that ends first; of two that have ended the one that is longer away. */
export function narrower<A extends Allowance & { readonly waitMs: number }>(one: A, other: A): A {
  if (other.remaining === one.remaining) return other.waitMs > one.waitMs ? other : one
  return other.remaining < one.remaining ? other : one
}
