import type { KeyRange, KeyValueEntry, KeyValueStore, Write } from '../../../consensus/chain/key-value.ts'
import { prefixRange } from '../../../consensus/chain/key-value.ts'

/** A page is split when it has this many keys. */
const PAGE_KEYS = 256

/**
 * A store in memory with keys sorted in pages, so that reading a range forwards costs only what it yields. Keys are bytes as Latin-1 text,
 * which sorts like bytes.
 */
export class OrderedStore implements KeyValueStore {
  readonly #values = new Map<string, Uint8Array>()
  readonly #pages: string[][] = [[]]

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#values.get(text(key))
  }

  entries(prefix: Uint8Array): Iterable<KeyValueEntry> {
    return this.range(prefixRange(prefix))
  }

  range({ gte, lt, reverse = false, limit = Number.POSITIVE_INFINITY }: KeyRange): Iterable<KeyValueEntry> {
    const first = text(gte)
    const end = lt === undefined ? undefined : text(lt)
    const found: string[] = []
    const most = reverse ? Number.POSITIVE_INFINITY : limit
    for (let page = this.#pageOf(first); page < this.#pages.length && found.length < most; page++) {
      for (const key of this.#pages[page] as string[]) {
        if (key < first) continue
        if (end !== undefined && key >= end) return this.#listing(found, reverse, limit)
        if (found.length >= most) break
        found.push(key)
      }
    }
    return this.#listing(found, reverse, limit)
  }

  async batch(writes: readonly Write[], onDurable: () => void): Promise<void> {
    for (const { key, value } of writes) {
      const name = text(key)
      if (value === undefined) this.#remove(name)
      else this.#set(name, value)
    }
    onDurable()
  }

  #listing(keys: string[], reverse: boolean, limit: number): Iterable<KeyValueEntry> {
    const ordered = reverse ? keys.reverse() : keys
    return ordered.slice(0, limit).map((key) => [bytes(key), this.#values.get(key) as Uint8Array] as const)
  }

  #set(key: string, value: Uint8Array): void {
    const known = this.#values.has(key)
    this.#values.set(key, value)
    if (known) return
    const at = this.#pageOf(key)
    const page = this.#pages[at] as string[]
    page.splice(placeIn(page, key), 0, key)
    if (page.length >= PAGE_KEYS) this.#pages.splice(at + 1, 0, page.splice(PAGE_KEYS >> 1))
  }

  #remove(key: string): void {
    if (!this.#values.delete(key)) return
    const at = this.#pageOf(key)
    const page = this.#pages[at] as string[]
    page.splice(placeIn(page, key), 1)
    if (page.length === 0 && this.#pages.length > 1) this.#pages.splice(at, 1)
  }

  /** Index of the page where a key belongs: the last one whose first key is not greater, or else the first page. */
  #pageOf(key: string): number {
    let low = 0
    let high = this.#pages.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#pages[middle]?.[0] as string) <= key) low = middle
      else high = middle - 1
    }
    return low
  }
}

/** Index of the first key in a page that is not less than `key`. */
function placeIn(page: readonly string[], key: string): number {
  let low = 0
  let high = page.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((page[middle] as string) < key) low = middle + 1
    else high = middle
  }
  return low
}

function text(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1')
}

function bytes(key: string): Uint8Array {
  return new Uint8Array(Buffer.from(key, 'latin1'))
}
