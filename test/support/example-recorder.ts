import { writeFileSync } from 'node:fs'
import type { Reply } from './api.ts'

/** How many entries of a list an example keeps: it shows the shape, not a node's whole state. */
const ENTRIES_KEPT = 2
/** The longest text that becomes an example. */
const CHARS_MAX = 6_000

interface Recorded {
  request?: unknown
  readonly answers: Record<string, unknown>
}

/** Collects examples for the API document: the first answer of each status that a real node gave. */
export class ExampleRecorder {
  readonly #operations = new Map<string, Recorded>()

  /** Records an answer, and the request body if it succeeded. Ignores an answer that is not JSON, is too long, or repeats a status. */
  record(operationId: string, { status, headers, text }: Reply, request?: unknown): void {
    const known: Recorded = this.#operations.get(operationId) ?? { answers: {} }
    this.#operations.set(operationId, known)
    const type = (headers.get('content-type') ?? '').split(';')[0]
    if (type !== 'application/json' || String(status) in known.answers) return
    const example = shortened(JSON.parse(text))
    if (JSON.stringify(example).length > CHARS_MAX) return
    known.answers[String(status)] = example
    if (status < 300 && request !== undefined && typeof request === 'object') known.request ??= request
  }

  /** Writes the examples, sorted by operation and status. */
  write(path: string): void {
    const sorted = [...this.#operations].sort(([a], [b]) => (a < b ? -1 : 1))
    writeFileSync(path, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`)
  }
}

function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, ENTRIES_KEPT).map(shortened)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shortened(inner)]))
}
