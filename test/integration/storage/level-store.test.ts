import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type KeyValueStore, MemoryKeyValueStore, type Write } from '../../../consensus/chain/key-value.ts'
import { fromHex, toHex, uint32LE } from '../../../consensus/primitives/bytes.ts'
import { storageFault } from '../../../src/storage/folder.ts'
import { LevelStore } from '../../../src/storage/level-store.ts'
import { keyValueStoreSuite } from '../../contract/key-value-store.suite.ts'
import { blocksFrom } from '../../support/branches.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { removeFolder, temporaryFolder, until } from '../../support/processes.ts'
import { runScript, sourceUrl } from '../../support/script.ts'
import { dumpStore } from '../../support/stores.ts'
import { SAMPLE, units } from '../../support/unsigned.ts'

const SIZES = { cacheBytes: 1 << 20, writeBufferBytes: 1 << 20 }
const key = (...bytes: number[]): Uint8Array => Uint8Array.of(...bytes)
const put = (hex: string, value = hex): Write => ({ key: fromHex(hex), value: fromHex(value) })
const remove = (hex: string): Write => ({ key: fromHex(hex) })
const nothing = (): void => {}

let folder: string
let path: string
const open: LevelStore[] = []

beforeEach(() => {
  folder = temporaryFolder()
  path = join(folder, 'chain')
})

afterEach(async () => {
  for (const store of open.splice(0)) await store.close()
  removeFolder(folder)
})

async function opened(create = true): Promise<LevelStore> {
  const store = await LevelStore.open(path, SIZES, create)
  open.push(store)
  return store
}

async function closed(store: LevelStore): Promise<void> {
  open.splice(open.indexOf(store), 1)
  await store.close()
}

async function listed(store: KeyValueStore, prefix: Uint8Array): Promise<readonly string[]> {
  const keys: string[] = []
  for await (const [found, value] of store.entries(prefix)) keys.push(`${toHex(found)}=${toHex(value)}`)
  return keys
}

keyValueStoreSuite('a LevelDB', () => ({ open: () => opened(), remove: async () => {} }))

describe('a batch', () => {
  it('puts and deletes, and an empty value is a value', async () => {
    const store = await opened()
    await store.batch([put('01', 'aa'), put('02', ''), put('03', 'cc')], nothing)
    await store.batch([remove('01'), put('03', 'dd'), remove('99')], nothing)
    expect(await listed(store, key())).toEqual(['02=', '03=dd'])
    expect([store.get(key(1)), store.get(key(2))!.length, toHex(store.get(key(3))!)]).toEqual([undefined, 0, 'dd'])
  })

  it('is seen as a whole from the moment it is durable, and not at all before', async () => {
    const store = await opened()
    await store.batch([put('01', 'aa'), put('02', 'bb')], nothing)
    const seen = (): readonly (string | undefined)[] =>
      [1, 2, 3].map((byte) => store.get(key(byte))).map((value) => value && toHex(value))
    const looks: (readonly (string | undefined)[])[] = []
    const writing = store.batch([put('01', 'a1'), remove('02'), put('03', 'c1')], () => looks.push(seen()))
    looks.push(seen())
    // Polls until the end, so that some reads fall between the write and its announcement.
    let done = false
    const watching = (async () => {
      while (!done) {
        if (looks.length === 1) expect(seen()).toEqual(['aa', 'bb', undefined])
        else expect(seen()).toEqual(['a1', undefined, 'c1'])
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
    await writing
    done = true
    await watching
    expect(looks).toEqual([
      ['aa', 'bb', undefined],
      ['a1', undefined, 'c1'],
    ])
  })

  it('is not visible before this thread was told of it, however long it is on disk', async () => {
    const store = await opened()
    await store.batch([put('01', 'aa'), put('02', 'bb')], nothing)
    const writing = store.batch([put('00', 'a0'), put('01', 'a1'), remove('02')], nothing)
    // Another thread writes; this thread is only told when it yields.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60)
    expect([0, 1, 2].map((byte) => store.get(key(byte)))).toEqual([undefined, Buffer.from([0xaa]), Buffer.from([0xbb])])
    const listing = store.entries(key())[Symbol.asyncIterator]()
    const first = listing.next()
    await writing
    expect((await first).value.map(toHex)).toEqual(['01', 'aa'])
    await listing.return?.()
    expect(await listed(store, key())).toEqual(['00=a0', '01=a1'])
  })

  it('copies its input: the caller may change it afterwards', async () => {
    const store = await opened()
    const [name, value] = [key(1), key(2)]
    const writing = store.batch([{ key: name, value }], nothing)
    name[0] = 7
    value[0] = 7
    await writing
    expect(await listed(store, key())).toEqual(['01=02'])
  })
})

describe('a listing', () => {
  const KEYS = ['', '00', '0000', '01', '01ff', '01ffff', '02', '0200', 'fe', 'feff', 'ff', 'ff00', 'ffff', 'ffffff']

  it.each(['', '00', '01', '01ff', '0200', '03', 'fe', 'feff', 'ff', 'ffff', 'ffffffff'])(
    'of the prefix "%s" is what the store in memory lists, in the order of the keys',
    async (prefix) => {
      const keys = KEYS.filter((hex) => hex !== '')
      const writes = keys.toReversed().map((hex) => put(hex, `${hex}aa`))
      const [store, memory] = [await opened(), new MemoryKeyValueStore()]
      for (const each of [store, memory]) await each.batch(writes, nothing)
      const expected = keys.filter((hex) => hex.startsWith(prefix)).map((hex) => `${hex}=${hex}aa`)
      expect(await listed(store, fromHex(prefix))).toEqual(expected)
      expect(await listed(memory, fromHex(prefix))).toEqual(expected)
    },
  )

  it('goes on showing the state that it began with while batches are written', async () => {
    const store = await opened()
    await store.batch([put('01'), put('02'), put('03')], nothing)
    const seen: string[] = []
    for await (const [found] of store.entries(key())) {
      seen.push(toHex(found))
      await store.batch([remove('03'), put(`1${seen.length}`)], nothing)
    }
    expect(seen).toEqual(['01', '02', '03'])
    expect((await listed(store, key())).map((entry) => entry.slice(0, 2))).toEqual(['01', '02', '11', '12', '13'])
    await closed(store)
  })

  it('that is broken off does not block writing or closing', async () => {
    const store = await opened()
    await store.batch([put('01'), put('02'), put('03')], nothing)
    for await (const [found] of store.entries(key())) {
      expect(toHex(found)).toBe('01')
      break
    }
    await store.batch([put('04')], nothing)
    expect((await listed(store, key())).length).toBe(4)
    await closed(store)
  })
})

describe('a store that is opened again', () => {
  it('holds what was durable, to the byte', async () => {
    const store = await opened()
    await store.batch([put('0102', 'aabb'), put('ff', '')], nothing)
    await store.batch([remove('ff'), put('00', '01')], nothing)
    const before = await dumpStore(store)
    await closed(store)
    expect(await dumpStore(await opened(false))).toEqual(before)
    expect([...before]).toEqual([
      ['00', '01'],
      ['0102', 'aabb'],
    ])
  })

  it('must exist: a missing one is not made anew', async () => {
    for (const attempt of [1, 2]) {
      const error = await opened(false).then(
        () => null,
        (reason: unknown) => reason,
      )
      expect(storageFault(folder, error), `attempt ${attempt}`).toMatchObject({
        code: 'storage/damaged',
        detail: { folder },
      })
    }
  })

  it('after its process was killed has every durable batch, and no part of another', async () => {
    const each = 300
    const program = runScript(
      [
        `import { LevelStore } from ${JSON.stringify(sourceUrl('src/storage/level-store.ts'))}`,
        `const store = await LevelStore.open(process.argv[1], ${JSON.stringify(SIZES)}, true)`,
        'const value = (n) => { const bytes = new Uint8Array(64); new DataView(bytes.buffer).setUint32(0, n); return bytes }',
        'for (let n = 1; ; n++) {',
        `  const writes = Array.from({ length: ${each} }, (_, i) => ({ key: Uint8Array.of(i >> 8, i), value: value(n) }))`,
        '  await store.batch(writes, () => process.stdout.write(String(n).concat("\\n")))',
        '}',
      ],
      [path],
    )
    await until('some batches', () => program.stdout.split('\n').length > 25, { everyMs: 1 })
    await program.end('SIGKILL')
    const said = Number(program.stdout.trim().split('\n').at(-1))
    const store = await opened(false)
    const numbers: number[] = []
    for await (const [, value] of store.entries(key())) numbers.push(Buffer.from(value).readUInt32BE(0))
    expect([numbers.length, new Set(numbers).size]).toEqual([each, 1])
    expect(numbers[0]).toBeGreaterThanOrEqual(said)
  })
})

describe('a chain in a LevelDB', () => {
  it('is stored as in memory, entry by entry, and goes on after it was opened again', async () => {
    const [store, memory] = [await opened(), new MemoryKeyValueStore()]
    const test = await TestChain.open(undefined, store)
    const pay = SAMPLE.transfer({ to: wallet(2).address, amount: units(5_000) })
    for (let i = 0; i < 5; i++) await test.mine([await test.tx(wallet(1), 'transfer', pay)])
    const twin = await TestChain.open(undefined, memory)
    twin.nowMs = test.nowMs
    for (const block of blocksFrom(test, 1)) await twin.import(block)
    expect(await dumpStore(store)).toEqual(await dumpStore(memory))
    await closed(store)
    const again = await TestChain.open(undefined, await opened(false))
    expect([again.height, again.stateRoot]).toEqual([5, test.stateRoot])
    again.nowMs = test.nowMs
    await again.mine([await again.tx(wallet(1), 'transfer', pay)])
    expect(again.balance(wallet(2).address)).toBe(twin.balance(wallet(2).address) + 5_000n)
  })

  it('reads numbers that were written as bytes', async () => {
    const store = await opened()
    await store.batch([{ key: key(9), value: uint32LE(0x01020304) }], nothing)
    const value = store.get(key(9))
    expect(value).toBeInstanceOf(Uint8Array)
    expect(toHex(value!)).toBe('04030201')
  })
})
