/** Failures in a row, or share of the newest calls, from which on an upstream is left alone. */
const IN_A_ROW_MAX = 5
const NEWEST = 20
const SHARE_MAX = 0.5
const PAUSE_MS_MIN = 30_000
const PAUSE_MS_MAX = 600_000

/**
 * Leaves an upstream alone that fails: after five failures in a row, or when more than half of its last twenty calls failed. After
 * a pause one call is let through; while that fails the pause doubles, up to ten minutes.
 */
export class UpstreamBreaker {
  #newest: boolean[] = []
  #inARow = 0
  #pauses = 0
  #openUntilMs = 0
  #trying = false

  /** Whether a call may be made now. Whoever is let through after a pause is alone until it says how it went. */
  admit(nowMs: number): boolean {
    if (this.#pauses === 0) return true
    if (nowMs < this.#openUntilMs || this.#trying) return false
    this.#trying = true
    return true
  }

  /** Whether calls are refused now, without asking for one. */
  isOpen(nowMs: number): boolean {
    return this.#pauses > 0 && (nowMs < this.#openUntilMs || this.#trying)
  }

  /** A call went well. */
  succeeded(): void {
    this.#inARow = 0
    if (this.#pauses > 0) this.#newest = []
    this.#pauses = 0
    this.#trying = false
    this.#note(true)
  }

  /** A call failed; `pauseMs` is the pause that the upstream asked for itself, if it did. */
  failed(nowMs: number, pauseMs = 0): void {
    this.#inARow += 1
    this.#note(false)
    const failures = this.#newest.filter((well) => !well).length
    const tooMany = this.#newest.length === NEWEST && failures > NEWEST * SHARE_MAX
    const again = this.#trying
    this.#trying = false
    if (!again && this.#inARow < IN_A_ROW_MAX && !tooMany && pauseMs === 0) return
    const own = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** Math.min(this.#pauses, 10))
    this.#pauses += 1
    this.#openUntilMs = nowMs + Math.min(PAUSE_MS_MAX, Math.max(own, pauseMs))
  }

  /** A call ended without telling anything about the upstream: whoever asked gave up. */
  abandoned(): void {
    this.#trying = false
  }

  #note(well: boolean): void {
    this.#newest = [...this.#newest.slice(-(NEWEST - 1)), well]
  }
}
