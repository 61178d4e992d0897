import { beforeAll, describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../../config/networks/rules.ts'
import { bodySize, decodeBlock, encodeBlock } from '../../../consensus/block/block.ts'
import { MemoryKeyValueStore } from '../../../consensus/chain/key-value.ts'
import { refundsPerBlockMax } from '../../../consensus/chain/params.ts'
import { UNPACED } from '../../../consensus/chain/ports.ts'
import { decodeReceipt, type Receipt } from '../../../consensus/ledger/receipt.ts'
import type { Address, TxId } from '../../../consensus/primitives/ids.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import { ESCROW_TOTALS } from '../../../marketplace/ledger/escrow.ts'
import { buildTemplate, type Template } from '../../../miner/template.ts'
import { importAll } from '../../support/branches.ts'
import { TestChain, WALLETS, wallet } from '../../support/chain.ts'
import { copyStore } from '../../support/stores.ts'
import { agentId, SAMPLE, serviceId, units } from '../../support/unsigned.ts'

/** The height at which everything falls due, and the terms that end there, longest first. */
const DUE = 9_700
const TERMS = [9_600, 1_200, 400, 100] as const
const { bytesMax, weightMax } = LAUNCH_RULES.block
const MINER = wallet(10).address
/** The shortest names, so that a block holds the most payments. */
const NAMES = { agentId: agentId('abc'), serviceId: serviceId('abcd') }

interface Load {
  readonly test: TestChain
  /** Another node at the same block. */
  readonly rival: TestChain
  /** Escrows that fall due, with their callers, by mining height and index. */
  readonly expected: readonly { readonly txId: TxId; readonly caller: Address }[]
  readonly perBlock: readonly number[]
}

/** Signs transactions of equal size, as many as a block can hold. */
async function fullBlock(make: (i: number) => Promise<Transaction>): Promise<readonly Transaction[]> {
  const txs = [await make(0)]
  const count = Math.floor(bytesMax / bodySize(txs))
  while (txs.length < count) txs.push(await make(txs.length))
  return txs
}

async function invokes(test: TestChain, term: number): Promise<readonly Transaction[]> {
  const payload = SAMPLE.agent_invoke({ ...NAMES, term, amount: units(100_000) })
  return fullBlock((i) => test.tx(WALLETS[i % 10]!, 'agent_invoke', payload))
}

/** A chain one block below the height at which four full blocks of invokes fall due. */
async function loadedChain(): Promise<Load> {
  const store = new MemoryKeyValueStore()
  const test = await TestChain.open(undefined, store)
  // Every wallet shows its keys in an earlier transaction, so that payments need not carry them.
  const agent = SAMPLE.agent_register({ ...NAMES, payout: wallet(2).address, settlers: [] })
  await test.mine([await test.tx(wallet(1), 'agent_register', agent)])
  await test.mine([await test.tx(wallet(1), 'service_publish', SAMPLE.service_publish(NAMES))])
  const pay = SAMPLE.transfer({ to: wallet(1).address, amount: units(1) })
  await test.mine(await Promise.all(WALLETS.slice(1).map((signer) => test.tx(signer, 'transfer', pay))))
  const expected: Load['expected'][number][] = []
  const perBlock: number[] = []
  for (const term of TERMS) {
    await test.mineTo(DUE - term - 1)
    const txs = await invokes(test, term)
    await test.mine(txs, { miner: MINER })
    perBlock.push(txs.length)
    expected.push(...txs.map(({ txId, body }) => ({ txId, caller: body.sender })))
  }
  await test.mineTo(DUE - 1)
  const rival = await TestChain.open(undefined, await copyStore(store))
  return { test, rival, expected, perBlock }
}

function ofType<K extends Receipt['type']>(receipts: readonly Receipt[], type: K): Extract<Receipt, { type: K }>[] {
  return receipts.filter((one): one is Extract<Receipt, { type: K }> => one.type === type)
}

async function timed<T>(work: () => Promise<T>): Promise<readonly [T, number]> {
  const start = performance.now()
  return [await work(), performance.now() - start]
}

/** The block at which everything falls due, as mined and imported. */
interface DueBlock extends Load {
  readonly template: Template
  readonly templateMs: number
  readonly outcome: unknown
  readonly importMs: number
  readonly receipts: readonly Receipt[]
  /** Balances in the block before. */
  readonly before: ReadonlyMap<Address, bigint>
}

async function dueBlock(): Promise<DueBlock> {
  const load = await loadedChain()
  const { test } = load
  const before = new Map(WALLETS.map(({ address }) => [address, test.balance(address)]))
  const pay = SAMPLE.transfer({ to: wallet(1).address, amount: units(1) })
  const candidates = await fullBlock((i) => test.tx(WALLETS[i % 10]!, 'transfer', pay))
  test.nowMs += 3_000
  const request = { miner: MINER, nowMs: test.nowMs, candidates, extra: new Uint8Array(32) }
  const [template, templateMs] = await timed(() => buildTemplate(test.chain, UNPACED, request))
  if (template === undefined) throw new Error('the head moved')
  const decoded = decodeBlock(encodeBlock(template.block))
  if (!decoded.ok) throw new Error(decoded.fault.code)
  const [outcome, importMs] = await timed(() => test.chain.import(decoded.value))
  const { database, head } = test.chain
  const receipts = (database.receipts(head.id) ?? []).map(decodeReceipt)
  return { ...load, template, templateMs, outcome, importMs, receipts, before }
}

let due: DueBlock

beforeAll(async () => {
  due = await dueBlock()
})

describe('a block at which four full blocks of invokes fall due', () => {
  it('was loaded with as many escrows as four blocks can hold', () => {
    const { perBlock, expected } = due
    console.log(`  invokes per block ${perBlock.join(', ')}; ${expected.length} fall due at ${DUE}`)
    for (const count of perBlock) expect(count).toBeGreaterThan(380)
    expect(expected.length).toBeLessThanOrEqual(refundsPerBlockMax(LAUNCH_RULES))
  })

  it('refunds exactly all of them, by mining height and then by index', () => {
    const { receipts, expected, test } = due
    const refunds = ofType(receipts, 'refund')
    expect(refunds.map(({ txId, caller }) => ({ txId, caller }))).toEqual(expected)
    expect(refunds.every(({ amount }) => amount === 100_000n)).toBe(true)
    expect(receipts.slice(1, 1 + refunds.length).every(({ type }) => type === 'refund')).toBe(true)
    expect(test.chain.database.get(ESCROW_TOTALS, undefined)).toEqual({ amount: 0n, count: 0 })
  })

  it('gives every caller back what its own escrows held', () => {
    const { test, expected, template, receipts, before } = due
    const fees = new Map<Address, bigint>()
    const senders = new Map(template.block.transactions.map(({ txId, body }) => [txId, body.sender]))
    for (const { txId, fee } of ofType(receipts, 'transaction')) {
      const sender = senders.get(txId) as Address
      fees.set(sender, (fees.get(sender) ?? 0n) + fee + 1n)
    }
    for (const { address } of WALLETS.slice(1, 8)) {
      const refunded = BigInt(expected.filter(({ caller }) => caller === address).length) * 100_000n
      expect(test.balance(address)).toBe((before.get(address) as bigint) + refunded - (fees.get(address) ?? 0n))
    }
  })

  it('has a full block of transactions besides, from the miner’s own template', () => {
    const { receipts, template } = due
    const { block, refused } = template
    expect(refused).toEqual([])
    expect(bytesMax - bodySize(block.transactions)).toBeLessThan(3_000)
    expect(block.header.weightUsed).toBeLessThanOrEqual(weightMax)
    expect(ofType(receipts, 'transaction').every(({ code }) => code === 0)).toBe(true)
    expect(ofType(receipts, 'transaction').length).toBe(block.transactions.length)
  })

  it('is valid, and imported in less than five seconds', () => {
    const { outcome, templateMs, importMs, template } = due
    const { length } = template.block.transactions
    console.log(
      `  template ${Math.round(templateMs)} ms, import ${Math.round(importMs)} ms with ${length} transactions`,
    )
    expect(outcome).toEqual({ ok: true, value: 'connected' })
    expect(importMs).toBeLessThan(5_000)
  })

  it('can be unwound for a heavier branch that refunds the same', async () => {
    const { test, rival } = due
    const blocks = [await rival.mine([], { extra: new Uint8Array(32).fill(1) }), await rival.mine()]
    test.nowMs = rival.nowMs
    const [outcome, ms] = await timed(() => importAll(test, blocks))
    console.log(`  reorganisation of two such blocks ${Math.round(ms)} ms`)
    expect(outcome).toBe('connected')
    expect([test.chain.head.id, test.stateRoot]).toEqual([rival.chain.head.id, rival.stateRoot])
    expect(test.chain.database.get(ESCROW_TOTALS, undefined)).toEqual({ amount: 0n, count: 0 })
  })
})
