import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Block, transactionsRoot } from '../../consensus/block/block.ts'
import { sealHeader } from '../../consensus/block/header.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { reconstruct } from '../../src/p2p/relay/assembly.ts'
import { makeCompactBlock, readCompactBlock } from '../../src/p2p/relay/compact-block.ts'
import { testRuleBook } from '../support/network.ts'
import { openedAtOnce } from '../support/prefilled.ts'
import { runs } from '../support/runs.ts'
import { filled, SAMPLE, unsigned } from '../support/unsigned.ts'

const ALL: readonly Transaction[] = Array.from({ length: 64 }, (_, i) =>
  unsigned('transfer', SAMPLE.transfer(), { sender: filled(i + 1), nonce: BigInt(i) }),
)
const GENESIS = testRuleBook().genesis.block

const places = fc.uniqueArray(fc.nat(ALL.length - 1))

it('what is neither prefilled nor in the pool is exactly what is missing', () => {
  fc.assert(
    fc.property(
      places,
      places,
      fc.func(fc.boolean()),
      fc.bigInt(0n, 2n ** 64n - 1n),
      (inBlock, inPool, chosen, salt) => {
        const transactions = inBlock.map((i) => ALL[i] as Transaction)
        const sealed = sealHeader({ ...GENESIS.header, transactionsRoot: transactionsRoot(transactions) })
        const block: Block = { ...sealed, transactions }
        const compact = readCompactBlock(makeCompactBlock(block, salt, (_, index) => chosen(index)))
        if (!compact.ok) throw new Error(compact.fault.code)
        const prefilled = openedAtOnce(compact.value)
        if (!prefilled.ok) throw new Error(prefilled.fault.code)
        const pool = inPool.map((i) => ALL[i] as Transaction)
        const slots = reconstruct(compact.value, prefilled.value, pool)
        const expected = inBlock.map((i, index) => (chosen(index) || inPool.includes(i) ? ALL[i]?.wtxId : undefined))
        expect(slots.map((tx) => tx?.wtxId)).toEqual(expected)
      },
    ),
    { numRuns: runs(200) },
  )
})
