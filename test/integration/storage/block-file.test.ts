import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { decodeBlock, encodeBlock } from '../../../consensus/block/block.ts'
import { createRuleBook } from '../../../consensus/chain/rule-book.ts'
import { concat, fromHex, toHex, uint32LE } from '../../../consensus/primitives/bytes.ts'
import { encodeText } from '../../../consensus/primitives/text.ts'
import { PROTOCOL } from '../../../src/protocol.ts'
import { exportBlocks, readBlocks } from '../../../src/storage/block-file.ts'
import { blocksFrom, outcomeOf } from '../../support/branches.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { testParams } from '../../support/network.ts'
import { removeFolder, temporaryFolder } from '../../support/processes.ts'
import { filled, SAMPLE, units } from '../../support/unsigned.ts'

const GENESIS = createRuleBook(testParams(), PROTOCOL).genesis.block.id
const HEAD = concat(encodeText('farthing blocks 1\n'), fromHex(GENESIS))
const HEIGHT = 12

let folder: string
let path: string
let test: TestChain

beforeAll(async () => {
  test = await TestChain.open()
  const pay = SAMPLE.transfer({ to: wallet(2).address, amount: units(5_000) })
  for (let height = 1; height <= HEIGHT; height++) {
    await test.mine(height % 3 === 0 ? [await test.tx(wallet(1), 'transfer', pay)] : [])
  }
})

beforeEach(() => {
  folder = temporaryFolder()
  path = join(folder, 'blocks.bin')
})

afterEach(() => removeFolder(folder))

/** The blocks of a file in hex, and the fault if reading ends with one. */
async function contents(
  genesis: string = GENESIS,
): Promise<{ readonly blocks: readonly string[]; readonly fault: unknown }> {
  const blocks: string[] = []
  let fault: unknown = null
  for await (const result of readBlocks(path, genesis)) {
    // A fault must be the last result.
    expect(fault).toBeNull()
    if (result.ok) blocks.push(toHex(result.value))
    else fault = result.fault
  }
  return { blocks, fault }
}

const unreadable = (reason: string) => ({ code: 'file/unreadable', detail: { path, reason } })
const IN_THE_MIDDLE = 'it ends in the middle'

const framed = (...blocks: readonly Uint8Array[]): Uint8Array =>
  concat(HEAD, ...blocks.flatMap((block) => [uint32LE(block.length), block]))

describe('blocks that were written to a file', () => {
  it('are read again to the byte, in the order of their heights', async () => {
    expect(await exportBlocks(test.chain, path, { from: 1, to: HEIGHT })).toEqual({ ok: true, value: HEIGHT })
    const blocks = blocksFrom(test, 1).map(encodeBlock)
    expect(await contents()).toEqual({ blocks: blocks.map(toHex), fault: null })
    expect(readFileSync(path)).toEqual(Buffer.from(framed(...blocks)))
  })

  it('give another node the same chain', async () => {
    await exportBlocks(test.chain, path, { from: 1, to: HEIGHT })
    const other = await TestChain.open()
    other.nowMs = test.nowMs
    for await (const bytes of readBlocks(path, GENESIS)) {
      const block = bytes.ok ? decodeBlock(bytes.value) : bytes
      if (!block.ok) throw new Error(block.fault.code)
      expect(await outcomeOf(other, block.value)).toBe('connected')
    }
    expect([other.chain.head.id, other.stateRoot]).toEqual([test.chain.head.id, test.stateRoot])
  })

  it.each([
    [1, 1],
    [5, 8],
    [HEIGHT, HEIGHT],
    [0, 2],
  ])('may be a part of the chain: %i to %i', async (from, to) => {
    expect(await exportBlocks(test.chain, path, { from, to })).toEqual({ ok: true, value: to - from + 1 })
    const { database } = test.chain
    const heights = Array.from({ length: to - from + 1 }, (_, i) => from + i)
    const blocks = heights.map((height) => toHex(encodeBlock(database.block(database.idAt(height)!)!)))
    expect(await contents()).toEqual({ blocks, fault: null })
  })

  it('may be empty', async () => {
    expect(await exportBlocks(test.chain, path, { from: HEIGHT + 1, to: HEIGHT })).toEqual({ ok: true, value: 0 })
    expect(readFileSync(path)).toEqual(Buffer.from(HEAD))
    expect(await contents()).toEqual({ blocks: [], fault: null })
  })

  it('replace what was in the file, a longer one too', async () => {
    await exportBlocks(test.chain, path, { from: 1, to: HEIGHT })
    await exportBlocks(test.chain, path, { from: 2, to: 3 })
    expect((await contents()).blocks.length).toBe(2)
  })

  it('cannot be written into a folder that does not exist', async () => {
    const nowhere = join(folder, 'nowhere', 'blocks.bin')
    const refused = await exportBlocks(test.chain, nowhere, { from: 1, to: 2 })
    const reason = expect.stringContaining('ENOENT')
    expect(refused).toEqual({ ok: false, fault: { code: 'file/unwritable', detail: { path: nowhere, reason } } })
  })

  it('must be on the chain: anything else is a bug of the calling code', async () => {
    await expect(exportBlocks(test.chain, path, { from: HEIGHT, to: HEIGHT + 1 })).rejects.toThrow(
      `block ${HEIGHT + 1} is missing from the store`,
    )
  })

  it('may be longer than a read of the file, and up to 2 MiB', async () => {
    const blocks = [700_000, 0, 1_048_576, 1, 2 * 1_048_576, 3].map((length, i) => new Uint8Array(length).fill(i))
    writeFileSync(path, framed(...blocks))
    const read: number[][] = []
    for await (const result of readBlocks(path, GENESIS)) {
      if (!result.ok) throw new Error(result.fault.code)
      read.push([result.value.length, ...new Set(result.value)])
    }
    expect(read).toEqual([[700_000, 0], [0], [1_048_576, 2], [1, 3], [2_097_152, 4], [3, 5]])
  })
})

describe('a file that is refused', () => {
  it('is a missing one, or a folder', async () => {
    expect(await contents()).toEqual({ blocks: [], fault: unreadable(expect.stringContaining('ENOENT')) })
    path = folder
    expect(await contents()).toEqual({ blocks: [], fault: unreadable(expect.stringContaining('EISDIR')) })
  })

  it('is one of another format', async () => {
    const block = encodeBlock(blocksFrom(test, 1)[0]!)
    const good = framed(block)
    for (const at of [0, 5, 16, 17]) {
      writeFileSync(path, good.with(at, good[at]! ^ 1))
      expect(await contents()).toEqual({ blocks: [], fault: unreadable('it is not a file of blocks') })
    }
    writeFileSync(path, 'x'.repeat(1_000))
    expect(await contents()).toEqual({ blocks: [], fault: unreadable('it is not a file of blocks') })
  })

  it('is one of another network', async () => {
    await exportBlocks(test.chain, path, { from: 1, to: 2 })
    expect(await contents(filled(0x77))).toEqual({ blocks: [], fault: unreadable('it is of another network') })
    const good = readFileSync(path)
    for (const at of [18, 49]) {
      writeFileSync(path, good.with(at, good[at]! ^ 1))
      expect(await contents()).toEqual({ blocks: [], fault: unreadable('it is of another network') })
    }
  })

  it('is a truncated one: the blocks before the cut are read, and then the fault comes', async () => {
    const blocks = blocksFrom(test, 1).slice(0, 3).map(encodeBlock)
    const whole = framed(...blocks)
    const ends = blocks.map((_, i) => framed(...blocks.slice(0, i + 1)).length)
    const cuts = Array.from({ length: Math.floor(whole.length / 29) }, (_, i) => i * 29)
    const edges = [HEAD.length, ...ends].flatMap((end) => [end - 1, end, end + 1, end + 3, end + 4, end + 5])
    for (const cut of [...cuts, ...edges].filter((length) => length < whole.length)) {
      writeFileSync(path, whole.subarray(0, cut))
      const complete = ends.filter((end) => end <= cut).length
      const onEdge = cut === HEAD.length || ends.includes(cut)
      expect(await contents(), `${cut} bytes`).toEqual({
        blocks: blocks.slice(0, complete).map(toHex),
        fault: onEdge ? null : unreadable(IN_THE_MIDDLE),
      })
    }
  })

  it('is one with bytes after its last block', async () => {
    const block = encodeBlock(blocksFrom(test, 1)[0]!)
    for (const behind of [[0], [1, 0, 0], [1, 0, 0, 0]]) {
      writeFileSync(path, concat(framed(block), Uint8Array.from(behind)))
      expect(await contents()).toEqual({ blocks: [toHex(block)], fault: unreadable(IN_THE_MIDDLE) })
    }
  })

  it('is one with a length that no block has, before those bytes are read', async () => {
    const block = encodeBlock(blocksFrom(test, 1)[0]!)
    for (const length of [2 * 1_048_576 + 1, 2 ** 31, 2 ** 32 - 1]) {
      writeFileSync(path, concat(framed(block), uint32LE(length), new Uint8Array(9)))
      expect(await contents()).toEqual({ blocks: [toHex(block)], fault: unreadable('a length is out of range') })
    }
  })
})
