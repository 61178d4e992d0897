import { createHash } from 'node:crypto'

const TAIL = 400

/** A digest of all events, and the text of the last ones. */
export class EventLog {
  readonly #hash = createHash('sha256')
  readonly #tail: string[] = []
  readonly #echo: ((line: string) => void) | undefined
  #count = 0

  /** `echo` gets every line. */
  constructor(echo?: (line: string) => void) {
    this.#echo = echo
  }

  note(line: string): void {
    this.#count++
    this.#hash.update(line)
    this.#hash.update('\n')
    this.#tail.push(line)
    if (this.#tail.length > 2 * TAIL) this.#tail.splice(0, TAIL)
    this.#echo?.(line)
  }

  get count(): number {
    return this.#count
  }

  /** Hash of all lines so far. */
  digest(): string {
    return this.#hash.copy().digest('hex')
  }

  /** The last lines, oldest first. */
  tail(lines: number): readonly string[] {
    return this.#tail.slice(-lines)
  }
}
