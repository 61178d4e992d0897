import { describe, expect, it } from 'vitest'
import { sealHeader } from '../../../../consensus/block/header.ts'
import {
  decodeEntry,
  decodeHistoryNode,
  decodePage,
  decodeSchema,
  encodeEntry,
  encodeHistoryNode,
  encodePage,
  encodeSchema,
  idOfKey,
  KEYS,
  prefixKey,
  SCHEMA_VERSION,
} from '../../../../consensus/chain/layout.ts'
import { compare, toHex } from '../../../../consensus/primitives/bytes.ts'
import { makeLeaf, PAGE_SLOTS, Page } from '../../../../consensus/state/page.ts'
import { testHeader } from '../../../support/headers.ts'
import { shownPage } from '../../../support/state.ts'
import { filled } from '../../../support/unsigned.ts'

describe('records of the chain’s store', () => {
  it('of blocks decode to what they were', () => {
    const anchor = { height: 3, timeMs: 9_007_199_254_740_991, target: 2n ** 255n }
    const base = { ...sealHeader(testHeader()), totalWork: 2n ** 200n, totalTransactions: 7, bodyBytes: 99 }
    for (const entry of [
      { ...base, anchor, invalid: false },
      { ...base, anchor: null, invalid: true },
    ]) {
      expect(decodeEntry(encodeEntry(entry))).toEqual(entry)
    }
  })

  it('of history nodes and the schema decode to what they were', () => {
    const node = { hash: new Uint8Array(32).fill(3), work: 2n ** 255n + 1n }
    expect(decodeHistoryNode(encodeHistoryNode(node))).toEqual(node)
    expect(decodeSchema(encodeSchema())).toBe(SCHEMA_VERSION)
  })

  it('of pages leave out what follows from the rest', () => {
    const leaf = makeLeaf({ path: new Uint8Array(32).fill(1), value: new Uint8Array(32).fill(2) })
    const page = Page.empty()
    for (let slot = 0; slot < PAGE_SLOTS; slot++) {
      if (slot % 5 === 0) page.setLeaf(slot, leaf)
      else if (slot % 3 === 0) page.setInner(slot, new Uint8Array(32).fill(slot))
    }
    Page.rehash([page])
    const decoded = decodePage(encodePage(page))
    expect(shownPage(decoded)).toEqual(shownPage(page))
    expect(encodePage(decoded)).toEqual(encodePage(page))
    expect(shownPage(decodePage(encodePage(Page.empty())))).toEqual(shownPage(Page.empty()))
  })

  it('that are damaged are not read as something else', () => {
    expect(() => decodeEntry(new Uint8Array(10))).toThrow()
    const twice = Uint8Array.of(0b1, 0, 0b1, 0, ...new Uint8Array(128))
    for (const bytes of [Uint8Array.of(1, 2, 3), Uint8Array.of(1, 0, 0, 0, ...new Uint8Array(64)), twice])
      expect(() => decodePage(bytes)).toThrow('does not decode')
  })
})

describe('keys of the chain’s store', () => {
  it('never meet, whatever they name', () => {
    const id = filled(7)
    const keys = [
      ...[KEYS.meta('head'), KEYS.meta('schema'), KEYS.meta('network'), KEYS.entry(id), KEYS.canonical(7)],
      ...[KEYS.bodies(id), KEYS.witnesses(id), KEYS.receipts(id), KEYS.undo(id), KEYS.location(id), KEYS.keys(id)],
      ...[KEYS.history(0, 7), KEYS.history(7, 0), KEYS.state(id as never), KEYS.page('77' as never), KEYS.side(id)],
    ].map(toHex)
    expect(new Set(keys).size).toBe(keys.length)
    expect(new Set(keys.map((key) => key.slice(0, 2))).size).toBe(13)
  })

  it('carry ids at their ends and sort heights as numbers', () => {
    expect(idOfKey(KEYS.side(filled(7)))).toBe(filled(7))
    expect(toHex(prefixKey('side'))).toBe(toHex(KEYS.side(filled(7))).slice(0, 2))
    const heights = [0, 255, 256, 2 ** 31, 2 ** 32 - 1].map(KEYS.canonical)
    expect(heights.toSorted(compare)).toEqual(heights)
  })
})
