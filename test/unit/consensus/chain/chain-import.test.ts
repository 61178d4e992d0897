import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../../../config/networks/rules.ts'
import { targetOfWork } from '../../../../consensus/block/pow.ts'
import { uintBE } from '../../../../consensus/primitives/bytes.ts'
import { faultRow } from '../../../../consensus/primitives/fault.ts'
import type { BlockId, Hash } from '../../../../consensus/primitives/ids.ts'
import { assembleTransaction, encodeWitness, type Transaction } from '../../../../consensus/tx/transaction.ts'
import { walletKey } from '../../../../src/crypto/wallet-key.ts'
import { countingRuleBook, outcomeOf, withBody } from '../../../support/branches.ts'
import { TestChain, wallet, withHeader } from '../../../support/chain.ts'
import { testRuleBook } from '../../../support/network.ts'
import { filled, SAMPLE, units } from '../../../support/unsigned.ts'

const PAY = SAMPLE.transfer({ to: wallet(2).address, amount: units(5_000) })

/** The same transaction with a signature that does not verify. */
function rewitnessed(tx: Transaction): Transaction {
  const signatures = tx.witness.signatures.map(({ keyIndex, bytes }) => ({
    keyIndex,
    bytes: bytes.map((byte, i) => (i === 100 ? byte ^ 1 : byte)),
  }))
  const assembled = assembleTransaction(tx.bodyBytes, encodeWitness({ ...tx.witness, signatures }))
  if (!assembled.ok) throw new Error(assembled.fault.code)
  return assembled.value
}

describe('importing a block', () => {
  it('connects a block on the head, once', async () => {
    const test = await TestChain.open()
    const block = await test.build([await test.tx(wallet(1), 'transfer', PAY)])
    expect(await outcomeOf(test, block)).toBe('connected')
    expect(test.chain.head.id).toBe(block.id)
    expect(await outcomeOf(test, block)).toEqual({ code: 'chain/known-block', detail: { id: block.id } })
  })

  it('wants the parent first', async () => {
    const test = await TestChain.open()
    const block = await test.build()
    const orphan = withHeader(block, { parent: filled<BlockId>(0x77) })
    expect(await outcomeOf(test, orphan)).toEqual({ code: 'chain/unknown-parent', detail: { parent: filled(0x77) } })
    expect(await outcomeOf(test, block)).toBe('connected')
  })

  it.each([
    [{ version: 2 }, { code: 'block/version', detail: { version: 2 } }],
    [{ height: 3 }, { code: 'block/height', detail: { height: 3, expected: 2 } }],
    [{ target: 7n }, { code: 'block/target', detail: {} }],
    [{ baseFee: 33n }, { code: 'block/base-fee', detail: { baseFee: '33', expected: '32' } }],
    [{ historyRoot: filled<Hash>(1) }, { code: 'block/history-root', detail: {} }],
  ])('refuses a header with %o and remembers nothing of it', async (change, fault) => {
    const test = await TestChain.open()
    await test.mine()
    const block = await test.build()
    const bad = withHeader(block, change)
    expect(await outcomeOf(test, bad)).toEqual(fault)
    expect(test.chain.database.entry(bad.id)).toBeUndefined()
    expect(await outcomeOf(test, block)).toBe('connected')
  })

  it('refuses a header whose hash misses the target, whatever else is right', async () => {
    const block = { ...LAUNCH_RULES.block, powLimit: targetOfWork(2n), initialTarget: targetOfWork(2n) }
    let hash = 0n
    const powHasher = () => uintBE(hash, 32)
    const test = await TestChain.open(testRuleBook({ block }), undefined, { powHasher })
    const built = await test.build()
    hash = targetOfWork(2n) + 1n
    expect(await outcomeOf(test, built)).toEqual({ code: 'block/proof-of-work', detail: {} })
    hash = targetOfWork(2n)
    expect(await outcomeOf(test, built)).toBe('connected')
  })

  it('holds a block from the future and takes it when its time has come', async () => {
    const test = await TestChain.open()
    const block = await test.build([], { afterMs: 60_000 })
    test.nowMs = block.header.timeMs - 15_001
    const fault = { code: 'block/time-too-new', detail: { time: block.header.timeMs, aheadMsMax: 15_000 } }
    expect(await outcomeOf(test, block)).toEqual(fault)
    test.nowMs += 1
    expect(await outcomeOf(test, block)).toBe('connected')
  })

  it('refuses everything once it is stopped', async () => {
    const test = await TestChain.open()
    const block = await test.build()
    await test.chain.stop()
    expect(await outcomeOf(test, block)).toEqual({ code: 'chain/stopped', detail: {} })
  })

  it('takes blocks one after another, however they are handed over', async () => {
    const test = await TestChain.open()
    const other = await TestChain.open()
    const blocks = [await other.mine(), await other.mine(), await other.mine()]
    test.nowMs = other.nowMs
    const outcomes = await Promise.all(blocks.map((block) => outcomeOf(test, block)))
    expect(outcomes).toEqual(['connected', 'connected', 'connected'])
  })
})

describe('a body that does not belong to its header', () => {
  it('with a witness swapped blames the sender, and the right body is taken afterwards', async () => {
    const test = await TestChain.open()
    const tx = await test.tx(wallet(1), 'transfer', PAY)
    const block = await test.build([tx])
    for (const swapped of [rewitnessed(tx), await test.tx(wallet(1), 'transfer', PAY, { nonce: 0n })]) {
      expect(swapped.txId).toBe(tx.txId)
      const fault = { code: 'block/witness-root', detail: {} }
      expect(await outcomeOf(test, { ...block, transactions: [swapped] })).toEqual(fault)
    }
    expect(faultRow('block/witness-root').blame).toBe('sender')
    expect(test.chain.database.entry(block.id)).toBeUndefined()
    expect(await outcomeOf(test, block)).toBe('connected')
  })

  it('with a transaction left out, added or doubled blames the sender alone', async () => {
    const test = await TestChain.open()
    const txs = [await test.tx(wallet(1), 'transfer', PAY), await test.tx(wallet(3), 'transfer', PAY)]
    const block = await test.build(txs)
    const fault = { code: 'block/transactions-root', detail: {} }
    for (const transactions of [[], txs.slice(1), txs.toReversed(), [...txs, txs[1]!]]) {
      expect(await outcomeOf(test, { ...block, transactions })).toEqual(fault)
    }
    expect(await outcomeOf(test, block)).toBe('connected')
  })
})

describe('an invalid block', () => {
  /** Imports a spoiled block twice and a child of it. */
  async function condemned(spoil: (test: TestChain) => Promise<Parameters<typeof outcomeOf>[1]>) {
    const { ruleBook, executions } = countingRuleBook()
    const test = await TestChain.open(ruleBook)
    await test.mine([await test.tx(wallet(1), 'transfer', PAY)])
    const head = test.chain.head.id
    const bad = await spoil(test)
    const first = await outcomeOf(test, bad)
    const counted = executions()
    expect(await outcomeOf(test, bad)).toEqual({ code: 'chain/invalid-ancestor', detail: { id: bad.id } })
    const child = withHeader(bad, { parent: bad.id, height: 3 })
    expect(await outcomeOf(test, child)).toEqual({ code: 'chain/invalid-ancestor', detail: { id: bad.id } })
    expect([test.chain.head.id, executions()]).toEqual([head, counted])
    return first
  }

  it.each([
    [{ stateRoot: filled<Hash>(1) }, { code: 'block/state-root', detail: {} }],
    [{ receiptsRoot: filled<Hash>(1) }, { code: 'block/receipts-root', detail: {} }],
    [{ weightUsed: 7 }, { code: 'block/weight-used', detail: { said: 7, weight: 0 } }],
  ])('for %o is remembered and never executed again', async (change, fault) => {
    expect(await condemned(async (test) => withHeader(await test.build(), change))).toEqual(fault)
  })

  it('for a signature that does not verify, which its header commits to, is remembered', async () => {
    const first = await condemned(async (test) => {
      const tx = await test.tx(wallet(1), 'transfer', PAY)
      return withBody(test, await test.build([tx]), [rewitnessed(tx)])
    })
    expect(first).toEqual({ code: 'block/transaction', detail: { index: 0, reason: 'tx/bad-signature' } })
  })

  it('for a malformed transaction is remembered', async () => {
    const first = await condemned(async (test) =>
      withBody(test, await test.build(), [await test.tx(wallet(1), 'transfer', { ...PAY, amount: units(0) })]),
    )
    expect(first).toEqual({ code: 'block/transaction', detail: { index: 0, reason: 'tx/amount' } })
  })

  it.each([
    ['tx/nonce-too-low', wallet(1), { nonce: 0n }],
    ['tx/nonce-too-high', wallet(1), { nonce: 2n }],
    ['tx/expired', wallet(1), { nonce: 1n, validUntil: 1 }],
    ['tx/fee-rate-below-base', wallet(1), { nonce: 1n, maxFeeRate: 31n }],
    ['tx/fee-unpayable', wallet(1), { nonce: 1n, maxFeeRate: 2n ** 63n, tip: 2n ** 63n }],
    ['tx/sender-unknown', walletKey(new Uint8Array(32)), { nonce: 0n }],
  ])('for a transaction of %s is remembered', async (reason, signer, options) => {
    const first = await condemned(async (test) =>
      withBody(test, await test.build(), [await test.tx(signer, 'transfer', PAY, options)]),
    )
    expect(first).toEqual({ code: 'block/transaction', detail: { index: 0, reason } })
  })

  it.each([
    ['tx/nonce-too-high', wallet(3)],
    ['tx/sender-unknown', walletKey(new Uint8Array(32))],
  ])('for %s is remembered even where the keys are unknown: the state alone says so', async (reason, signer) => {
    const first = await condemned(async (test) =>
      withBody(test, await test.build(), [await test.tx(signer, 'transfer', PAY, { nonce: 1n })]),
    )
    expect(first).toEqual({ code: 'block/transaction', detail: { index: 0, reason } })
  })
})
