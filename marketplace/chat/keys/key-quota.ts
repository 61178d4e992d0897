import type { Allowance, KeyUsage } from './keys.ts'

const SECONDS = 60
/** 60 full seconds, and the current one. */
const SLOTS = SECONDS + 1
const SECOND_MS = 1_000
const DAY_MS = 86_400_000

/**
 * Counts events of the last 60 seconds, so that no window of 60 seconds exceeds the limit. If the clock is set back,
 * counting restarts: old counts would otherwise last until the clock catches up.
 */
export class LastMinute {
  /** Allocated at the first event, since most keys are idle. */
  #counts: Uint32Array | null = null
  #second = 0
  #sum = 0

  /** `waitMs` is the time until something is left, 0 if something is. */
  left(limit: number, nowMs: number): Allowance & { readonly waitMs: number } {
    this.#turnTo(nowMs)
    const remaining = Math.max(0, limit - this.#sum)
    const waitMs = remaining > 0 ? 0 : this.#untilBelow(limit, nowMs)
    return { limit, remaining, resetMs: this.#untilBelow(1, nowMs), waitMs }
  }

  add(nowMs: number): void {
    this.#turnTo(nowMs)
    this.#counts ??= new Uint32Array(SLOTS)
    const slot = this.#second % SLOTS
    this.#counts[slot] = (this.#counts[slot] as number) + 1
    this.#sum += 1
  }

  /** Removes an event if it was counted within the last 60 seconds. */
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

/** `day` counts the days since 1970 (UTC). */
export interface DayUsage extends KeyUsage {
  readonly day: number
}

/** The day (UTC) of a time. */
export function dayOf(nowMs: number): number {
  return Math.floor(nowMs / DAY_MS)
}

/** Zero if the figures are of another day. */
export function usedOn(usage: DayUsage, nowMs: number): KeyUsage {
  const { day, requests, promptTokens, completionTokens } = usage
  return day === dayOf(nowMs) ? { requests, promptTokens, completionTokens } : UNUSED
}

/** The sum of two figures. */
export function plus(usage: KeyUsage, more: KeyUsage): KeyUsage {
  return {
    requests: usage.requests + more.requests,
    promptTokens: usage.promptTokens + more.promptTokens,
    completionTokens: usage.completionTokens + more.completionTokens,
  }
}

/** What is left of a day's tokens. */
export function tokensLeft(limit: number, used: KeyUsage, nowMs: number): Allowance {
  const remaining = Math.max(0, limit - used.promptTokens - used.completionTokens)
  return { limit, remaining, resetMs: (dayOf(nowMs) + 1) * DAY_MS - nowMs }
}

/** Time after which running chats may have released tokens that they reserved but did not use. */
const HELD_WAIT_MS = 1_000

/** Subtracts the tokens reserved for running chats. `waitMs` is the time until something may be left, 0 if something is. */
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

/** The one of which less is left; if as much is left of both, the one with the longer `waitMs`. */
export function narrower<A extends Allowance & { readonly waitMs: number }>(one: A, other: A): A {
  if (other.remaining === one.remaining) return other.waitMs > one.waitMs ? other : one
  return other.remaining < one.remaining ? other : one
}
