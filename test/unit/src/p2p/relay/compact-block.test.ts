import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Block } from '../../../../../consensus/block/block.ts'
import { HEADER_BYTES, sealHeader } from '../../../../../consensus/block/header.ts'
import { fromHex, toHex } from '../../../../../consensus/primitives/bytes.ts'
import { encode } from '../../../../../consensus/primitives/codec.ts'
import { encodeTransaction, type Transaction } from '../../../../../consensus/tx/transaction.ts'
import { reconstruct } from '../../../../../src/p2p/relay/assembly.ts'
import {
  type CompactBlock,
  makeCompactBlock,
  readCompactBlock,
  type ShortIdHasher,
  type Slots,
  shortIdKey,
  shortIdsOf,
} from '../../../../../src/p2p/relay/compact-block.ts'
import { COMPACT_BLOCK } from '../../../../../src/p2p/wire/messages.ts'
import { testRuleBook } from '../../../../support/network.ts'
import { openedAtOnce } from '../../../../support/prefilled.ts'
import { filled, SAMPLE, unsigned } from '../../../../support/unsigned.ts'

const GENESIS = testRuleBook().genesis.block
const SALT = 0x0102_0304_0506_0708n

const transfer = (nonce: number): Transaction =>
  unsigned('transfer', SAMPLE.transfer(), { sender: filled(nonce % 200), nonce: BigInt(nonce) })
const POOL = Array.from({ length: 12 }, (_, i) => transfer(i + 1))
const BLOCK: Block = { ...sealHeader({ ...GENESIS.header, height: 1 }), transactions: POOL.slice(0, 10) }

const none = (): boolean => false
const sent = (block: Block, prefill: (tx: Transaction, index: number) => boolean): [CompactBlock, Slots] => {
  const compact = readCompactBlock(makeCompactBlock(block, SALT, prefill))
  if (!compact.ok) throw new Error(JSON.stringify(compact.fault))
  const slots = openedAtOnce(compact.value)
  if (!slots.ok) throw new Error(JSON.stringify(slots.fault))
  return [compact.value, slots.value]
}
const missing = (slots: Slots): readonly number[] => slots.flatMap((tx, i) => (tx === undefined ? [i] : []))
const idsOf = (slots: Slots): readonly (string | undefined)[] => slots.map((tx) => tx?.wtxId)

/** The message with some fields replaced. */
const altered = (change: {
  shortIds?: Uint8Array
  prefilled?: { index: number; transaction: Uint8Array }[]
}): Uint8Array =>
  encode(COMPACT_BLOCK, { header: BLOCK.bytes, salt: SALT, shortIds: new Uint8Array(0), prefilled: [], ...change })

describe('short ids', () => {
  it('are the first six bytes of SHA-256 over key and witness id', () => {
    const ids = POOL.map(({ wtxId }) => wtxId)
    const saltBytes = Uint8Array.of(8, 7, 6, 5, 4, 3, 2, 1)
    const tag = Buffer.from('farthing/short-id/1', 'ascii')
    const data = Buffer.concat([Uint8Array.of(tag.length), tag, fromHex(BLOCK.id), saltBytes])
    const key = hash('sha256', data, 'buffer')
    expect(toHex(shortIdKey(BLOCK.id, SALT))).toBe(key.toString('hex'))
    const expected = ids.map((id) => hash('sha256', Buffer.concat([key, fromHex(id)]), 'buffer').readUIntBE(0, 6))
    expect(shortIdsOf(key, ids)).toEqual(expected)
  })

  it('are the same however many are worked out at once', () => {
    const key = shortIdKey(BLOCK.id, 1n)
    const ids = Array.from({ length: 2_050 }, (_, i) => hash('sha256', `id ${i}`) as Transaction['wtxId'])
    const together = shortIdsOf(key, ids)
    for (const i of [0, 1, 2, 3, 1_023, 1_024, 2_047, 2_048, 2_049])
      expect([together[i]]).toEqual(shortIdsOf(key, [ids[i] as Transaction['wtxId']]))
  })

  it('differ with the salt and with the block', () => {
    const keys = [shortIdKey(BLOCK.id, 1n), shortIdKey(BLOCK.id, 2n), shortIdKey(GENESIS.id, 1n)]
    expect(new Set(keys.map(toHex)).size).toBe(3)
  })
})

describe('a compact block', () => {
  it('is put together from a pool that has everything, in the order of the block', () => {
    const [compact, slots] = sent(BLOCK, none)
    expect(compact.id).toBe(BLOCK.id)
    expect(missing(slots)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(idsOf(reconstruct(compact, slots, POOL.toReversed()))).toEqual(BLOCK.transactions.map(({ wtxId }) => wtxId))
  })

  it('carries what is prefilled and needs no pool for it', () => {
    const [compact, slots] = sent(BLOCK, (_, index) => index === 0 || index === 4 || index === 9)
    expect(missing(slots)).toEqual([1, 2, 3, 5, 6, 7, 8])
    expect(missing(reconstruct(compact, slots, POOL.slice(0, 3)))).toEqual([3, 5, 6, 7, 8])
    const [whole, all] = sent(BLOCK, () => true)
    expect(whole.shortIds).toEqual([])
    expect(missing(all)).toEqual([])
  })

  it('may have no transactions', () => {
    const [compact, slots] = sent({ ...BLOCK, transactions: [] }, none)
    expect(reconstruct(compact, slots, POOL)).toEqual([])
  })

  it('leaves places empty that two transactions answer to, however many do', () => {
    const [compact, slots] = sent(BLOCK, none)
    // The stub gives candidates 10 and 11 the short id of candidate 3.
    const colliding: ShortIdHasher = (key, ids) => {
      const honest = shortIdsOf(key, ids)
      return honest.map((id, i) => (i >= 10 ? (honest[3] as number) : id))
    }
    expect(missing(reconstruct(compact, slots, POOL, colliding))).toEqual([3])
    expect(
      missing(
        reconstruct(compact, slots, POOL.toReversed(), (key, ids) => [...colliding(key, [...ids].reverse())].reverse()),
      ),
    ).toEqual([3])
  })

  it('is not confused by the same transaction twice among the candidates', () => {
    const [compact, slots] = sent(BLOCK, none)
    expect(missing(reconstruct(compact, slots, [...POOL, ...POOL]))).toEqual([])
  })

  it('leaves both places empty where one id stands twice', () => {
    const [compact] = sent(BLOCK, none)
    const [first] = compact.shortIds as [number]
    const doubled = { ...compact, shortIds: compact.shortIds.map((id, i) => (i === 7 ? first : id)) }
    const slots = Array.from({ length: 10 }, () => undefined)
    expect(missing(reconstruct(doubled, slots, POOL))).toEqual([0, 7])
  })
})

describe('a compact block that breaks its own rules is malformed:', () => {
  const whole = (index: number): { index: number; transaction: Uint8Array } => ({
    index,
    transaction: encodeTransaction(POOL[index % POOL.length] as Transaction),
  })
  const cases: readonly [string, Uint8Array][] = [
    ['no bytes', new Uint8Array(0)],
    ['half a header', new Uint8Array(HEADER_BYTES / 2)],
    ['a piece of a short id', altered({ shortIds: new Uint8Array(7) })],
    ['an index beyond the block', altered({ shortIds: new Uint8Array(6), prefilled: [whole(2)] })],
    ['an index twice', altered({ shortIds: new Uint8Array(6), prefilled: [whole(0), whole(0)] })],
    ['indexes that fall', altered({ shortIds: new Uint8Array(6), prefilled: [whole(1), whole(0)] })],
    ['too many in all', altered({ shortIds: new Uint8Array(6 * 1_024), prefilled: [whole(0)] })],
    ['bytes behind it', Uint8Array.of(...makeCompactBlock(BLOCK, SALT, none), 0)],
  ]

  it.each(cases)('%s', (_, bytes) => {
    const read = readCompactBlock(bytes)
    expect(read.ok ? 'read' : read.fault.code).toBe('p2p/malformed')
  })

  it('a prefilled transaction that does not decode', () => {
    const read = readCompactBlock(altered({ prefilled: [{ index: 0, transaction: new Uint8Array(40) }] }))
    if (!read.ok) throw new Error('the form is good')
    const opened = openedAtOnce(read.value)
    expect(opened.ok ? 'opened' : opened.fault.code).toBe('p2p/malformed')
  })
})
