import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../../../config/networks/rules.ts'
import { bodySize, transactionsRoot, witnessRoot } from '../../../../consensus/block/block.ts'
import { checkBody } from '../../../../consensus/block/check.ts'
import { sealHeader } from '../../../../consensus/block/header.ts'
import type { Transaction } from '../../../../consensus/tx/transaction.ts'
import { declaredWrites, weightOf } from '../../../../consensus/tx/weight.ts'
import { testHeader } from '../../../support/headers.ts'
import { filled, fillerSignature, SAMPLE, units, unsigned } from '../../../support/unsigned.ts'

const RULES = LAUNCH_RULES
const { bytesMax, weightMax, writesMax } = RULES.block

function weightSum(transactions: readonly Transaction[]): number {
  return transactions.reduce((sum, tx) => sum + weightOf(tx, RULES.tx), 0)
}

/** Checks a body under a header made for it, or for `promised` transactions in its place. */
function check(
  transactions: readonly Transaction[],
  { promised = transactions, weightUsed = weightSum(promised) } = {},
) {
  const roots = { transactionsRoot: transactionsRoot(promised), witnessRoot: witnessRoot(promised) }
  return checkBody({ ...sealHeader(testHeader({ ...roots, weightUsed })), transactions }, RULES)
}

/** Different transfers, each with a memo of the given length. */
function transfers(memos: readonly number[], fill = 0x5a): readonly Transaction[] {
  return memos.map((length, i) =>
    unsigned('transfer', SAMPLE.transfer({ amount: units(i + 1) }), {
      memo: new Uint8Array(length),
      witness: { signatures: [fillerSignature(0, 1, fill)] },
    }),
  )
}

/** Memo lengths of `count` transfers that add up to `total`. */
function memosOf(count: number, total: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => Math.min(128, Math.max(0, total - 128 * i)))
}

describe('a body under its header', () => {
  const three = transfers([0, 1, 2])

  it('passes, empty or not', () => {
    expect(check([])).toBeNull()
    expect(check(three)).toBeNull()
  })

  it('is refused with another transaction, with fewer, or in another order', () => {
    const fault = { code: 'block/transactions-root', detail: {} }
    expect(check([...three.slice(0, 2), ...transfers([9])], { promised: three })).toEqual(fault)
    expect(check(three.slice(0, 2), { promised: three })).toEqual(fault)
    expect(check(three.toReversed(), { promised: three })).toEqual(fault)
    expect(check([], { promised: three })).toEqual(fault)
  })

  it('is refused with another witness of the same transaction', () => {
    const swapped = [...three.slice(0, 2), ...transfers([0, 1, 2], 0x5b).slice(2)]
    expect(transactionsRoot(swapped)).toBe(transactionsRoot(three))
    expect(check(swapped, { promised: three })).toEqual({ code: 'block/witness-root', detail: {} })
  })

  it('is refused for its roots before anything else that is wrong with it', () => {
    const malformed = unsigned('transfer', SAMPLE.transfer(), { version: 2 })
    const fault = { code: 'block/transactions-root', detail: {} }
    expect(check([malformed, malformed], { promised: three })).toEqual(fault)
  })
})

describe('the transactions of a body', () => {
  const [tx] = transfers([0]) as [Transaction]

  it('are refused with one of them twice, even under another witness', () => {
    const [again] = transfers([0], 0x5b) as [Transaction]
    const fault = { code: 'block/duplicate-transaction', detail: { txId: tx.txId } }
    expect(check([tx, tx])).toEqual(fault)
    expect(check([tx, ...transfers([1, 1]).slice(1), again])).toEqual(fault)
  })

  it('are refused with a malformed one, named by its place', () => {
    const malformed = unsigned('transfer', SAMPLE.transfer({ amount: units(0) }))
    const fault = { code: 'block/transaction', detail: { index: 1, reason: 'tx/amount' } }
    expect(check([tx, malformed])).toEqual(fault)
    const keyless = unsigned('transfer', SAMPLE.transfer(), { nonce: 0n, sender: filled(1) })
    expect(check([keyless, malformed])).toEqual({
      code: 'block/transaction',
      detail: { index: 0, reason: 'tx/keys-misplaced' },
    })
  })

  it('are refused when the header says another weight', () => {
    const weight = weightSum([tx])
    for (const said of [weight - 1, weight + 1, 0]) {
      const fault = { code: 'block/weight-used', detail: { said, weight } }
      expect(check([tx], { weightUsed: said })).toEqual(fault)
    }
  })
})

describe('the byte limit', () => {
  const bare = bodySize(transfers([0]))
  const count = Math.floor(bytesMax / bare)
  const spare = bytesMax - count * bare

  it('is met exactly by a full block', () => {
    const full = transfers(memosOf(count, spare))
    expect(bodySize(full)).toBe(1_048_576)
    expect(check(full)).toBeNull()
  })

  it('is passed by one byte more', () => {
    const over = transfers(memosOf(count, spare + 1))
    const fault = { code: 'block/too-large', detail: { bytes: 1_048_577, bytesMax } }
    expect(check(over)).toEqual(fault)
  })
})

describe('the weight limit', () => {
  const registers = Array.from({ length: 80 }, (_, i) =>
    unsigned('agent_register', SAMPLE.agent_register({ capabilities: i }), { memo: new Uint8Array(64) }),
  )
  const bare = weightSum(transfers([0]))
  const spare = weightMax - weightSum(registers)
  const count = Math.floor(spare / bare)
  const filledUp = (weight: number) => [...registers, ...transfers(memosOf(count, weight - count * bare))]

  it('is met exactly by a full block', () => {
    const full = filledUp(spare)
    expect(weightSum(full)).toBe(2_000_000)
    expect(check(full)).toBeNull()
  })

  it('is passed by one unit more', () => {
    const fault = { code: 'block/weight-limit', detail: { weight: 2_000_001, weightMax } }
    expect(check(filledUp(spare + 1))).toEqual(fault)
  })
})

describe('the limit of declared writes', () => {
  const receipt = (entries: number) =>
    unsigned('agent_receipt', SAMPLE.agent_receipt(Array.from({ length: entries }, () => ({}))))
  const receipts = [255, 256, 254].map(receipt)
  const writesOf = (transactions: readonly Transaction[]) =>
    transactions.reduce((sum, tx) => sum + declaredWrites(tx.body), 0)
  const spare = writesMax - writesOf(receipts)

  it('is met exactly by a full block', () => {
    const full = [...receipts, ...transfers(memosOf(spare / 2, 0))]
    expect(writesOf(full)).toBe(4_000)
    expect(check(full)).toBeNull()
  })

  it('is passed by one write more', () => {
    const over = [
      ...receipts,
      ...transfers(memosOf(spare / 2 - 1, 0)),
      unsigned('agent_register', SAMPLE.agent_register()),
    ]
    const fault = { code: 'block/writes-limit', detail: { writes: 4_001, writesMax } }
    expect(check(over)).toEqual(fault)
  })
})
