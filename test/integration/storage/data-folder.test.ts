import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SCHEMA_VERSION } from '../../../consensus/chain/layout.ts'
import { createRuleBook, type RuleBook } from '../../../consensus/chain/rule-book.ts'
import { encodeText } from '../../../consensus/primitives/text.ts'
import { PROTOCOL } from '../../../src/protocol.ts'
import { folderPaths, isInitialised, isStorageFailure, openChain, storageFault } from '../../../src/storage/folder.ts'
import { LevelStore } from '../../../src/storage/level-store.ts'
import { TestChain } from '../../support/chain.ts'
import { testParams, testRuleBook } from '../../support/network.ts'
import { removeFolder, temporaryFolder } from '../../support/processes.ts'
import { runScript, sourceUrl } from '../../support/script.ts'

const SIZES = { cacheBytes: 1 << 20, writeBufferBytes: 1 << 20 }
const RULES = testRuleBook()
const GENESIS = RULES.genesis
const OTHER_PARAMS = { ...testParams(), name: 'other', genesis: { ...testParams().genesis, message: 'another' } }
const OTHER = createRuleBook(OTHER_PARAMS, PROTOCOL)

let home: string
let folder: string

beforeEach(() => {
  home = temporaryFolder()
  folder = home
})

afterEach(() => removeFolder(home))

const opened = (ruleBook: RuleBook = RULES) => openChain(folder, ruleBook, ruleBook.genesis, SIZES)

/** Opens and closes the folder: returns the head's height, or the fault. */
async function looked(ruleBook: RuleBook = RULES): Promise<unknown> {
  const result = await opened(ruleBook)
  if (!result.ok) return result.fault
  const { height } = result.value.database.head.header
  await result.value.store.close()
  return height
}

/** Fills the folder with a short chain, and opens its store more than once, so that it has tables and a log. */
async function used(): Promise<void> {
  const result = await opened()
  if (!result.ok) throw new Error(result.fault.code)
  const test = await TestChain.open(RULES, result.value.store)
  await test.mineTo(3)
  await result.value.store.close()
  expect(await looked()).toBe(3)
}

const chainFile = (name: RegExp): string => {
  const found = readdirSync(folderPaths(folder).chain).find((file) => name.test(file))
  if (found === undefined) throw new Error(`no file like ${name}`)
  return join(folderPaths(folder).chain, found)
}

/** Overwrites every byte of a file. Its size stays the same. */
function overwrite(path: string): void {
  writeFileSync(path, Buffer.alloc(statSync(path).size, 7))
}

describe('a data folder', () => {
  it('is made if there is none, with genesis and a marker that names the network', async () => {
    folder = join(home, 'deep', 'inside')
    expect(await isInitialised(folder)).toBe(false)
    expect(await looked()).toBe(0)
    expect(await isInitialised(folder)).toBe(true)
    expect(JSON.parse(readFileSync(folderPaths(folder).marker, 'utf8'))).toEqual({
      network: 'test',
      genesis: GENESIS.block.id,
    })
    expect(readdirSync(folder).toSorted()).toEqual(['chain', 'network.json'])
  })

  it('keeps its chain, and its marker as it was', async () => {
    await used()
    const { marker } = folderPaths(folder)
    const before = [readFileSync(marker, 'utf8'), statSync(marker).ino]
    expect(await looked()).toBe(3)
    expect([readFileSync(marker, 'utf8'), statSync(marker).ino]).toEqual(before)
  })

  it('is initialised even if the process died before the marker was written', async () => {
    await used()
    rmSync(folderPaths(folder).marker)
    expect(await looked()).toBe(3)
    expect(await isInitialised(folder)).toBe(true)
  })
})

describe('a data folder in use', () => {
  const locked = () => ({ code: 'storage/locked', detail: { folder } })

  it('cannot be opened a second time in this process until it is closed', async () => {
    const first = await opened()
    if (!first.ok) throw new Error(first.fault.code)
    expect(await looked()).toEqual(locked())
    expect(await looked()).toEqual(locked())
    await first.value.store.close()
    expect(await looked()).toBe(0)
  })

  it('cannot be opened by another process until the first has ended, in whatever way', async () => {
    const path = folderPaths(folder).chain
    mkdirSync(folder, { recursive: true })
    const program = runScript(
      [
        `import { LevelStore } from ${JSON.stringify(sourceUrl('src/storage/level-store.ts'))}`,
        `globalThis.store = await LevelStore.open(process.argv[1], ${JSON.stringify(SIZES)}, true)`,
        'console.log("open")',
        'setInterval(() => {}, 1000)',
      ],
      [path],
    )
    await expect.poll(() => program.stdout, { timeout: 20_000 }).toBe('open\n')
    expect(await looked()).toEqual(locked())
    await program.end('SIGKILL')
    expect(await looked()).toBe(0)
  })
})

describe('a foreign data folder is refused and left unchanged:', () => {
  const otherGenesis = (found: RuleBook, expected: RuleBook) => {
    const describeNetwork = ({ params }: RuleBook): string =>
      `${params.name} (genesis ${createRuleBook(params, PROTOCOL).genesis.block.id.slice(0, 12)})`
    return {
      code: 'storage/other-genesis',
      detail: { folder, found: describeNetwork(found), expected: describeNetwork(expected) },
    }
  }

  it('of another network, by its marker', async () => {
    await used()
    expect(await looked(OTHER)).toEqual(otherGenesis(RULES, OTHER))
    expect(await looked()).toBe(3)
  })

  it('of another network, by its database, when the marker is gone or lies', async () => {
    await used()
    rmSync(folderPaths(folder).marker)
    expect(await looked(OTHER)).toEqual(otherGenesis(RULES, OTHER))
    expect(await isInitialised(folder)).toBe(false)
    const lie = { network: 'other', genesis: createRuleBook(OTHER_PARAMS, PROTOCOL).genesis.block.id }
    writeFileSync(folderPaths(folder).marker, JSON.stringify(lie))
    expect(await looked(OTHER)).toEqual(otherGenesis(RULES, OTHER))
    rmSync(folderPaths(folder).marker)
    expect(await looked()).toBe(3)
  })

  it('with another schema', async () => {
    await used()
    const schema = Uint8Array.of(0, ...encodeText('schema'))
    const store = await LevelStore.open(folderPaths(folder).chain, SIZES, false)
    const before = store.get(schema)!.slice()
    await store.batch([{ key: schema, value: Uint8Array.of(SCHEMA_VERSION + 1, 0) }], () => {})
    await store.close()
    const detail = { folder, found: SCHEMA_VERSION + 1, expected: SCHEMA_VERSION }
    expect(await looked()).toEqual({ code: 'storage/other-schema', detail })
    const again = await LevelStore.open(folderPaths(folder).chain, SIZES, false)
    await again.batch([{ key: schema, value: before }], () => {})
    await again.close()
    expect(await looked()).toBe(3)
  })
})

describe('a damaged data folder is refused by name:', () => {
  const cases: readonly (readonly [string, () => void, RegExp])[] = [
    [
      'its chain is gone',
      () => rmSync(folderPaths(folder).chain, { recursive: true }),
      /does not exist \(create_if_missing is false\)/,
    ],
    ['CURRENT is gone', () => rmSync(chainFile(/^CURRENT$/)), /does not exist \(create_if_missing is false\)/],
    ['CURRENT is no name', () => writeFileSync(chainFile(/^CURRENT$/), 'zzz'), /^Corruption: /],
    ['the manifest is no manifest', () => writeFileSync(chainFile(/^MANIFEST/), 'zzz'.repeat(99)), /^Corruption: /],
    ['a table is gone', () => rmSync(chainFile(/\.ldb$/)), /^Corruption: .*missing files/],
    ['a table holds something else', () => overwrite(chainFile(/\.ldb$/)), /^Corruption: /],
    ['the manifest is gone', () => rmSync(chainFile(/^MANIFEST/)), /No such file/],
    ['a table is cut off', () => truncateSync(chainFile(/\.ldb$/), 40), /Invalid argument|Corruption/],
    ['the marker is empty', () => writeFileSync(folderPaths(folder).marker, ''), /network\.json/],
    ['the marker is no JSON', () => writeFileSync(folderPaths(folder).marker, '{"network":'), /network\.json/],
    ['the marker is another JSON', () => writeFileSync(folderPaths(folder).marker, '[]'), /network\.json/],
    ['the marker is null', () => writeFileSync(folderPaths(folder).marker, 'null'), /network\.json/],
  ]

  it.each(cases)('%s', async (_, damage, reason) => {
    await used()
    damage()
    const expected = { code: 'storage/damaged', detail: { folder, reason: expect.stringMatching(reason) } }
    expect(await looked()).toEqual(expected)
  })

  it('and is not locked afterwards', async () => {
    await used()
    overwrite(chainFile(/\.ldb$/))
    for (let i = 0; i < 2; i++) expect(await looked()).toMatchObject({ code: 'storage/damaged' })
  })

  it('no new database replaces a missing one', async () => {
    await used()
    rmSync(folderPaths(folder).chain, { recursive: true })
    await looked()
    expect(existsSync(join(folderPaths(folder).chain, 'CURRENT'))).toBe(false)
    expect(await looked()).toMatchObject({ code: 'storage/damaged' })
  })
})

describe('an error of storage', () => {
  const coded = (code: string, message = 'said'): Error => Object.assign(new Error(message), { code })

  it.each([
    ['LEVEL_LOCKED', 'storage/locked'],
    ['LEVEL_CORRUPTION', 'storage/damaged'],
    ['LEVEL_IO_ERROR', 'storage/full'],
    ['ENOSPC', 'storage/full'],
    ['EROFS', 'storage/full'],
    ['EACCES', 'storage/full'],
    ['EIO', 'storage/full'],
    ['EDQUOT', 'storage/full'],
    ['EFBIG', 'storage/full'],
  ])('%s is the fault %s, by itself and behind another', (code, expected) => {
    const wrapped = Object.assign(new Error('not open', { cause: coded(code) }), { code: 'LEVEL_DATABASE_NOT_OPEN' })
    for (const error of [coded(code), wrapped]) {
      const detail = expected === 'storage/locked' ? { folder } : { folder, reason: 'said' }
      expect(storageFault(folder, error)).toEqual({ code: expected, detail })
      expect(isStorageFailure(error)).toBe(true)
    }
  })

  it('that is a bug is thrown, not returned as a fault', () => {
    for (const error of [new TypeError('x is not a function'), coded('ERR_ASSERTION'), undefined, null, 'text']) {
      expect(isStorageFailure(error)).toBe(false)
      let thrown: unknown = 'nothing'
      try {
        storageFault(folder, error)
      } catch (reason) {
        thrown = reason
      }
      expect(thrown).toBe(error)
    }
  })
})
