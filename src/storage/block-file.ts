import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { encodeBlock } from '../../consensus/block/block.ts'
import { prunedFault } from '../../consensus/chain/pruned.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import { assert } from '../../consensus/primitives/assert.ts'
import { fromHex, toHex, uint32LE } from '../../consensus/primitives/bytes.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { encodeText } from '../../consensus/primitives/text.ts'

/**
 * File format: a magic line, the genesis id (32 bytes), then for each block, by height, its length (4 bytes,
 * little-endian) and its wire encoding.
 */
const MAGIC = encodeText('farthing blocks 1\n')
const HEAD_BYTES = MAGIC.length + 32
/** Upper bound of a block's length; a longer length means that the file is damaged. */
const BLOCK_BYTES_MAX = 2 * 1_048_576

/** First and last height of a range of blocks. */
export interface HeightRange {
  readonly from: number
  readonly to: number
}

/** Returns the number of blocks. Faults: `storage/pruned`, before anything is written, and `file/unwritable`. */
export async function exportBlocks(chain: ChainReader, path: string, range: HeightRange): Promise<Result<number>> {
  const first = Math.max(1, range.from)
  const { witnessesFrom } = chain.database.held
  if (first <= range.to && first < witnessesFrom) return fail(prunedFault(chain.database, first))
  try {
    await writeBlocks(chain, path, range)
  } catch (error) {
    if ((error as { code?: string }).code === undefined) throw error
    return fail(fault('file/unwritable', { path, reason: (error as Error).message }))
  }
  return ok(Math.max(0, range.to - range.from + 1))
}

async function writeBlocks(chain: ChainReader, path: string, { from, to }: HeightRange): Promise<void> {
  const file = await open(path, 'w')
  try {
    await file.appendFile(MAGIC)
    await file.appendFile(fromHex(chain.network.genesis))
    for (let height = from; height <= to; height++) {
      const id = chain.database.idAt(height)
      const block = id === undefined ? undefined : chain.database.block(id)
      assert(block !== undefined, `block ${height} is missing from the store`)
      const bytes = encodeBlock(block)
      await file.appendFile(uint32LE(bytes.length))
      await file.appendFile(bytes)
    }
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Yields the blocks one by one. For a file of another network, the only result is a fault. */
export async function* readBlocks(path: string, genesis: string): AsyncGenerator<Result<Uint8Array>> {
  const damaged = (reason: string): Result<never> => fail(fault('file/unreadable', { path, reason }))
  let buffered: Buffer = Buffer.alloc(0)
  let head = false
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1_048_576 })) {
      buffered = Buffer.concat([buffered, chunk as Buffer])
      if (!head) {
        if (buffered.length < HEAD_BYTES) continue
        if (!buffered.subarray(0, MAGIC.length).equals(MAGIC)) return yield damaged('it is not a file of blocks')
        if (toHex(buffered.subarray(MAGIC.length, HEAD_BYTES)) !== genesis)
          return yield damaged('it is of another network')
        buffered = buffered.subarray(HEAD_BYTES)
        head = true
      }
      while (buffered.length >= 4) {
        const length = buffered.readUInt32LE(0)
        if (length > BLOCK_BYTES_MAX) return yield damaged('a length is out of range')
        if (buffered.length < 4 + length) break
        yield ok(Uint8Array.prototype.slice.call(buffered, 4, 4 + length))
        buffered = buffered.subarray(4 + length)
      }
    }
  } catch (error) {
    return yield damaged((error as Error).message)
  }
  if (!head || buffered.length > 0) yield damaged('it ends in the middle')
}
