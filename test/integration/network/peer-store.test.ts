import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AddressBook } from '../../../src/p2p/host/address-book.ts'
import { Anchors } from '../../../src/p2p/host/anchors.ts'
import { Bans } from '../../../src/p2p/host/bans.ts'
import { RecordWriter } from '../../../src/p2p/host/peer-records.ts'
import { LevelPeers } from '../../../src/storage/level-peers.ts'
import { makeOperatorToken, readOperatorToken } from '../../../src/storage/operator-token.ts'
import { addressOf, peerId } from '../../support/peering.ts'
import { removeFolder, temporaryFolder } from '../../support/processes.ts'

let folder: string
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => removeFolder(folder))

const clock = { now: () => 1_700_000_000_000 }
const unwanted = (reason: unknown): never => {
  throw new Error(`unexpected: ${String(reason)}`)
}

/** The stored knowledge of peers, on a real LevelDB. */
async function openLibrary(onDamage: (reason: string) => void = unwanted) {
  const records = await LevelPeers.open(join(folder, 'peers'), onDamage)
  const writer = new RecordWriter(records, unwanted)
  const book = new AddressBook({ clock, writer, allowPrivate: false, random: Math.random })
  const bans = new Bans(clock, writer)
  const anchors = new Anchors(writer)
  for (const part of [book, bans, anchors]) await part.load(records)
  const close = async (): Promise<void> => {
    await writer.close()
    await records.close()
  }
  return { book, bans, anchors, close }
}

const text = (number: number): string => addressOf(number, `60.${number % 256}.${number >> 8}.1`)

describe('the knowledge of peers', () => {
  it('outlives a restart', async () => {
    const first = await openLibrary()
    for (let i = 0; i < 200; i++) first.book.add(text(i), `from 4:1.${i % 5}`)
    first.book.succeeded(text(7))
    first.book.forget(peerId(8))
    first.bans.ban(peerId(8), 1_000, 'bad-block')
    first.bans.ban('2a00:1::1', 1_000, 'the operator')
    first.bans.ban(peerId(9), 1_000, 'flood')
    first.bans.lift(peerId(9))
    first.anchors.set([text(1), text(2)])
    await first.close()
    const next = await openLibrary()
    expect(next.book.size).toBe(199)
    expect(next.book.get(text(7))).toEqual(first.book.get(text(7)))
    expect(next.bans.list()).toEqual(expect.arrayContaining([...first.bans.list()]))
    expect(next.bans.list().length).toBe(2)
    expect(next.anchors.texts).toEqual([text(1), text(2)])
    await next.close()
  })

  it.each([
    ['its manifest is garbage', /^MANIFEST/],
    ['it does not say which manifest counts', /^CURRENT$/],
    ['a table or its log is garbage', /\.(ldb|log)$/],
  ])('is put aside and begun anew where %s', async (_, files) => {
    const first = await openLibrary()
    for (let i = 0; i < 200; i++) first.book.add(text(i), `from 4:1.${i % 5}`)
    await first.close()
    // Opening LevelDB again turns its log into a table.
    await (await openLibrary()).close()
    const path = join(folder, 'peers')
    for (const name of readdirSync(path).filter((each) => files.test(each))) {
      const size = statSync(join(path, name)).size
      writeFileSync(join(path, name), Buffer.alloc(Math.max(size, 64), 0x5a))
    }
    const reasons: string[] = []
    const next = await openLibrary((reason) => reasons.push(reason))
    expect(next.book.size).toBe(0)
    expect(reasons.length).toBe(1)
    expect(existsSync(`${path}.damaged`)).toBe(true)
    next.book.add(text(1), 'kad')
    await next.close()
    const last = await openLibrary()
    expect(last.book.size).toBe(1)
    await last.close()
  })

  it('is not moved aside if another process has it open', async () => {
    const first = await openLibrary()
    await expect(openLibrary()).rejects.toMatchObject({ cause: { code: 'LEVEL_LOCKED' } })
    expect(existsSync(join(folder, 'peers.damaged'))).toBe(false)
    await first.close()
  })
})

describe('the token of the operator', () => {
  it('is made once, readable only by its owner', async () => {
    const path = join(folder, 'operator.token')
    expect(await readOperatorToken(path)).toBeUndefined()
    const token = await makeOperatorToken(path)
    expect(token).toMatch(/^[0-9a-f]{64}$/)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    chmodSync(path, 0o644)
    expect(await makeOperatorToken(path)).toBe(token)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(await readOperatorToken(path)).toBe(token)
    expect(readdirSync(folder)).toEqual(['operator.token'])
  })

  it('is made anew if the file has none', async () => {
    const path = join(folder, 'operator.token')
    for (const content of ['', 'short\n', 'Z'.repeat(64)]) {
      writeFileSync(path, content)
      expect(await readOperatorToken(path)).toBeUndefined()
      const token = await makeOperatorToken(path)
      expect(readFileSync(path, 'utf8')).toBe(`${token}\n`)
      expect(statSync(path).mode & 0o777).toBe(0o600)
    }
  })
})
