import type { HeaderTip } from '../../../consensus/block/header-tip.ts'
import { keptWrite } from '../../../consensus/chain/adoption.ts'
import type { KeyValueStore, Write } from '../../../consensus/chain/key-value.ts'
import { decodeEntry, KEYS, prefixKey } from '../../../consensus/chain/layout.ts'
import {
  byteVector,
  container,
  decodeOwn,
  encode,
  list,
  uint8,
  uint32,
  uint256,
} from '../../../consensus/primitives/codec.ts'
import { clearPrefix } from './derived.ts'

const KEPT_MARK = container('KeptMark', {
  height: uint32,
  peaks: list(container('Peak', { level: uint8, hash: byteVector(32), work: uint256 }), 64),
})

/** When kept headers may be stale, at least so many of the newest are dropped. The rest is hardly stale. */
const BACK_BLOCKS = 100

/** Proven headers above the head, kept on disk for a snapshot whose state is not there yet. */
export class KeptHeaders {
  readonly #store: KeyValueStore
  #tip: HeaderTip | undefined

  constructor(store: KeyValueStore) {
    this.#store = store
    this.#tip = this.#read('kept')
  }

  get tip(): HeaderTip | undefined {
    return this.#tip
  }

  /** The header at a height as a block's entry, without facts of its body. */
  tipAt(height: number) {
    if (this.#tip === undefined || height > this.#tip.header.height) return undefined
    const bytes = this.#store.get(KEYS.kept(height))
    return bytes && decodeEntry(bytes)
  }

  async keep(headers: readonly HeaderTip[]): Promise<void> {
    const last = headers.at(-1)
    if (last === undefined) return
    const writes: Write[] = headers.map(keptWrite)
    const back = headers.at(-1 - BACK_BLOCKS)
    const marks: Write[] = [{ key: KEYS.meta('kept'), value: markOf(last) }]
    if (back !== undefined) marks.push({ key: KEYS.meta('keptBack'), value: markOf(back) })
    await this.#store.batch([...writes, ...marks], () => {
      this.#tip = last
    })
  }

  /** Drops the newest headers, at least a hundred. False if that was done before and as many have not come since. */
  async shorten(): Promise<boolean> {
    const back = this.#read('keptBack')
    if (back === undefined || this.#tip === undefined || back.header.height > this.#tip.header.height) return false
    const marks = [{ key: KEYS.meta('kept'), value: markOf(back) }, { key: KEYS.meta('keptBack') }]
    await this.#store.batch(marks, () => {
      this.#tip = back
    })
    return true
  }

  async drop(): Promise<void> {
    await this.#store.batch([{ key: KEYS.meta('kept') }, { key: KEYS.meta('keptBack') }], () => {
      this.#tip = undefined
    })
    await clearPrefix(this.#store, prefixKey('kept'))
  }

  #read(mark: 'kept' | 'keptBack'): HeaderTip | undefined {
    const bytes = this.#store.get(KEYS.meta(mark))
    if (bytes === undefined) return undefined
    const { height, peaks } = decodeOwn(KEPT_MARK, bytes)
    const entry = this.#store.get(KEYS.kept(height))
    return entry && { ...decodeEntry(entry), peaks }
  }
}

function markOf({ header, peaks }: HeaderTip): Uint8Array {
  return encode(KEPT_MARK, { height: header.height, peaks })
}
