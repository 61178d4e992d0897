import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  collect,
  type KeyRange,
  type KeyValueListing,
  type KeyValueStore,
  keyAfter,
  prefixRange,
  type Write,
} from '../../consensus/chain/key-value.ts'
import { fromHex, toHex } from '../../consensus/primitives/bytes.ts'

/** A store under test; `open` gives it empty. */
export interface KeyValueStoreFixture {
  readonly open: () => Promise<KeyValueStore>
  readonly remove: () => Promise<void>
}

const put = (hex: string, value = hex): Write => ({ key: fromHex(hex), value: fromHex(value) })
const nothing = (): void => {}

/** The entries of a listing as `key=value`, in hex. */
function shown(listing: KeyValueListing): Promise<readonly string[]> {
  return collect(listing, ([key, value]) => `${toHex(key)}=${toHex(value)}`)
}

const KEYS = ['00', '0000', '01', '01ff', '01ffff', '02', '0200', 'fe', 'feff', 'ff', 'ff00', 'ffff', 'ffffff']
const BOUNDS = ['', '00', '01', '01ff00', '02', '03', 'fe', 'ff', 'ffff', 'ffffffff']

/** The expected entries in a range, filtered from {@link KEYS}. */
function expected({ gte, lt, reverse = false, limit = KEYS.length }: KeyRange): readonly string[] {
  const inside = KEYS.filter((hex) => hex >= toHex(gte) && (lt === undefined || hex < toHex(lt)))
  const ordered = reverse ? inside.toReversed() : inside
  return ordered.slice(0, limit).map((hex) => `${hex}=${hex}aa`)
}

/** Tests of ranges for every ordered store. */
export function keyValueStoreSuite(name: string, fixture: () => KeyValueStoreFixture): void {
  describe(`ranges of ${name}`, () => {
    let made: KeyValueStoreFixture
    let store: KeyValueStore

    beforeEach(async () => {
      made = fixture()
      store = await made.open()
      await store.batch(
        KEYS.toReversed().map((hex) => put(hex, `${hex}aa`)),
        nothing,
      )
    })

    afterEach(() => made.remove())

    it('begin with the first bound and end before the second, in either direction, at most so many', async () => {
      for (const from of BOUNDS) {
        for (const to of [undefined, ...BOUNDS.slice(1)]) {
          for (const [reverse, limit] of [
            [false, undefined],
            [true, undefined],
            [false, 2],
            [true, 3],
          ] as const) {
            const range = { gte: fromHex(from), lt: to && fromHex(to), reverse, ...(limit && { limit }) } as KeyRange
            expect(await shown(store.range(range)), JSON.stringify({ from, to, reverse, limit })).toEqual(
              expected(range),
            )
          }
        }
      }
    })

    it('of a prefix are what a listing of it has', async () => {
      for (const hex of BOUNDS) {
        const prefix = fromHex(hex)
        const keys = KEYS.filter((key) => key.startsWith(hex)).map((key) => `${key}=${key}aa`)
        expect(await shown(store.range(prefixRange(prefix)))).toEqual(keys)
        expect(await shown(store.entries(prefix))).toEqual(keys)
      }
    })

    it('can go on after a key', async () => {
      const all = expected({ gte: fromHex('') })
      for (const [i, hex] of KEYS.entries()) {
        expect(await shown(store.range({ gte: keyAfter(fromHex(hex)) }))).toEqual(all.slice(i + 1))
      }
    })

    it('may be of no entry', async () => {
      expect(await shown(store.range({ gte: fromHex('00'), limit: 0 }))).toEqual([])
      expect(await shown(store.range({ gte: fromHex('05'), lt: fromHex('05') }))).toEqual([])
      expect(await shown(store.range({ gte: fromHex('06'), lt: fromHex('05') }))).toEqual([])
    })

    it('show what reads showed when they were asked for, not when they are gone through', async () => {
      const before = expected({ gte: fromHex('') })
      const [range, prefix] = [store.range({ gte: fromHex('') }), store.entries(fromHex(''))]
      const seen = store.get(fromHex('01'))
      await store.batch([put('01', 'bb'), { key: fromHex('02') }, put('03')], nothing)
      expect(toHex(seen as Uint8Array)).toBe('01aa')
      expect(await shown(range)).toEqual(before)
      expect(await shown(prefix)).toEqual(before)
      const after = store.range({ gte: fromHex('01'), lt: fromHex('04') })
      expect(await shown(after)).toEqual(['01=bb', '01ff=01ffaa', '01ffff=01ffffaa', '0200=0200aa', '03=03'])
    })

    it('asked for while a batch is on its way to the disk show the state before it, as reads do', async () => {
      const writing = store.batch([put('01', 'bb')], nothing)
      const read = toHex(store.get(fromHex('01')) as Uint8Array)
      const range = store.range({ gte: fromHex('01'), limit: 1 })
      await writing
      expect(await shown(range)).toEqual([`01=${read}`])
    })

    it('that are broken off do not stand in the way of writing', async () => {
      for await (const [key] of store.range({ gte: fromHex('01'), reverse: true })) {
        expect(toHex(key)).toBe('ffffff')
        break
      }
      await store.batch([put('04')], nothing)
      expect(await shown(store.range({ gte: fromHex('04'), limit: 1 }))).toEqual(['04=04'])
    })
  })
}
