import { parseNodeAddress } from './node-address.ts'
import type { PeerRecords, RecordWriter } from './peer-records.ts'

/**
 * Most outbound peers that are kept as anchors. They are dialled after a restart before other known addresses, so that an attacker cannot
 * easily surround us then.
 */
export const ANCHORS_MAX = 2
const KIND = 'anchor'

/** Addresses of the outbound peers that have been connected for longest. They outlive the process. */
export class Anchors {
  readonly #writer: RecordWriter
  #texts: readonly string[] = []

  constructor(writer: RecordWriter) {
    this.#writer = writer
  }

  /** Multiaddrs. */
  get texts(): readonly string[] {
    return this.#texts
  }

  async load(records: PeerRecords): Promise<void> {
    const found = await records.load(KIND, ANCHORS_MAX)
    this.#texts = found.map(([, text]) => text).filter((text) => parseNodeAddress(text).ok)
  }

  /** Sets the anchors. An empty list changes nothing: old anchors are better than none. */
  set(texts: readonly string[]): void {
    if (texts.length === 0) return
    for (let i = 0; i < ANCHORS_MAX; i++) {
      if (texts[i] !== this.#texts[i]) this.#writer.put(`${KIND}/${i}`, texts[i] ?? null)
    }
    this.#texts = texts.slice(0, ANCHORS_MAX)
  }
}
