import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../../config/networks/rules.ts'
import { encodeBlock, sizeInBlock } from '../../../consensus/block/block.ts'
import type { BlockRules } from '../../../consensus/block/rules.ts'
import { UNPACED } from '../../../consensus/chain/ports.ts'
import { createInlineVerifier } from '../../../consensus/crypto/verifier.ts'
import { ACCOUNTS } from '../../../consensus/ledger/account.ts'
import { outcomeCode } from '../../../consensus/ledger/outcome.ts'
import { decodeReceipt, type Receipt } from '../../../consensus/ledger/receipt.ts'
import { formatAmount } from '../../../consensus/primitives/amount.ts'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import type { Address } from '../../../consensus/primitives/ids.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import { declaredWrites, weightOf } from '../../../consensus/tx/weight.ts'
import { Mempool } from '../../../mempool/mempool.ts'
import { DEFAULT_MEMPOOL_POLICY } from '../../../mempool/policy.ts'
import { buildTemplate, type Template, type TemplateRequest } from '../../../miner/template.ts'
import { NATIVE_BACKEND } from '../../../src/crypto/native-backend.ts'
import { walletKey } from '../../../src/crypto/wallet-key.ts'
import { fork, outcomeOf } from '../../support/branches.ts'
import { TestChain, type TxOptions, wallet } from '../../support/chain.ts'
import { feeText as feeTextOf } from '../../support/fee-text.ts'
import { testRuleBook } from '../../support/network.ts'
import { agentId, filled, SAMPLE, units } from '../../support/unsigned.ts'

const MINER = filled<Address>(0x91)
const EXTRA = new Uint8Array(32).fill(0x42)
const PAY = SAMPLE.transfer({ to: wallet(10).address, amount: units(5_000) })
/** Base fee while blocks are nearly empty: the floor. */
const BASE_FEE = LAUNCH_RULES.block.baseFeeMin

const pay = (test: TestChain, from: number, options: TxOptions = {}): Promise<Transaction> =>
  test.tx(wallet(from), 'transfer', PAY, options)

async function template(
  test: TestChain,
  candidates: Iterable<Transaction> = [],
  change: Partial<TemplateRequest> = {},
): Promise<Template> {
  const nowMs = test.chain.head.header.timeMs + 3_000
  test.nowMs = Math.max(test.nowMs, nowMs)
  const built = await buildTemplate(test.chain, UNPACED, { miner: MINER, nowMs, candidates, extra: EXTRA, ...change })
  if (built === undefined) throw new Error('the head moved')
  return built
}

/** Imports a template's block into a chain that has not seen its transactions. Returns the receipts. */
async function accepted(test: TestChain, { block }: Template): Promise<readonly Receipt[]> {
  const other = await fork(test)
  other.nowMs = test.nowMs
  expect(await outcomeOf(other, block)).toBe('connected')
  expect(await outcomeOf(test, block)).toBe('connected')
  expect(other.stateRoot).toBe(block.header.stateRoot)
  return other.chain.database.receipts(block.id)!.map(decodeReceipt)
}

const idsOf = (transactions: readonly Transaction[]): readonly string[] => transactions.map(({ txId }) => txId)

describe('a template without candidates', () => {
  it('is an empty block on the head that lacks only its nonce', async () => {
    const test = await TestChain.open()
    const parent = await test.mine()
    const nowMs = test.nowMs + 1_234
    const built = await template(test, [], { nowMs })
    const { header, transactions } = built.block
    const { target, historyRoot } = test.chain.childOf(test.chain.head)
    expect(header).toMatchObject({ height: 2, parent: parent.id, timeMs: nowMs, target, historyRoot, miner: MINER })
    expect([header.extra, header.nonce, header.weightUsed, header.baseFee]).toEqual([EXTRA, 0n, 0, BASE_FEE])
    expect([transactions, built.tips, built.refused, built.parent]).toEqual([[], 0n, [], test.chain.head])
    test.nowMs = nowMs
    expect((await accepted(test, built)).map(({ type }) => type)).toEqual(['close'])
  })

  it('lies after its parent even if the clock does not', async () => {
    const test = await TestChain.open()
    const { header } = await test.mine()
    const behind = await template(test, [], { nowMs: header.timeMs - 60_000 })
    expect(behind.block.header.timeMs).toBe(header.timeMs + 1)
    await accepted(test, behind)
  })

  it('pays a reward that matures in it', async () => {
    const test = await TestChain.open()
    await test.mine([], { miner: MINER })
    await test.mineTo(100)
    const [first, ...rest] = await accepted(test, await template(test))
    expect(first).toMatchObject({ type: 'reward', height: 1, miner: MINER })
    expect(rest.map(({ type }) => type)).toEqual(['close'])
    expect(test.balance(MINER)).toBe((first as { amount: bigint }).amount)
  })
})

describe('a template from a mempool', () => {
  it('takes the dearest first and each account in the order of its nonces', async () => {
    const test = await TestChain.open()
    const verifier = createInlineVerifier(NATIVE_BACKEND)
    const mempool = new Mempool({ chain: test.chain, verifier, policy: DEFAULT_MEMPOOL_POLICY })
    const cheap = await pay(test, 1, { tip: 5n })
    const behindCheap = await pay(test, 1, { tip: 1_000n })
    const dear = await pay(test, 2, { tip: 500n })
    const middle = await pay(test, 3, { tip: 50n })
    const middleToo = await pay(test, 4, { tip: 50n })
    const cheapest = await pay(test, 5, { tip: 1n })
    for (const tx of [cheapest, middle, cheap, middleToo, behindCheap, dear]) {
      expect(await mempool.submit(tx)).toMatchObject({ ok: true })
    }
    const built = await template(test, mempool.candidates())
    const expected = [dear, middle, middleToo, cheap, behindCheap, cheapest]
    expect(idsOf(built.block.transactions)).toEqual(idsOf(expected))
    const receipts = await accepted(test, built)
    expect(receipts.flatMap((receipt) => (receipt.type === 'transaction' ? receipt.txId : []))).toEqual(idsOf(expected))
    expect(mempool.count).toBe(0)
  })
})

describe('what a template earns', () => {
  it('is each weight times the rate above the base fee, as its miner’s reward says', async () => {
    const test = await TestChain.open()
    const empty = await accepted(await TestChain.open(), await template(await TestChain.open()))
    const candidates = [
      await pay(test, 1, { tip: 7n }),
      await pay(test, 1, { tip: 300n, maxFeeRate: BASE_FEE + 11n }),
      await pay(test, 2, { tip: 0n }),
      await pay(test, 3, { tip: 9n, maxFeeRate: BASE_FEE }),
    ]
    const [a, b] = candidates.map((tx) => BigInt(weightOf(tx, LAUNCH_RULES.tx))) as [bigint, bigint]
    const built = await template(test, candidates)
    expect(built.tips).toBe(a * 7n + b * 11n)
    const closing = (await accepted(test, built)).at(-1) as { reward: bigint; burned: bigint }
    const total = candidates.reduce((sum, tx) => sum + BigInt(weightOf(tx, LAUNCH_RULES.tx)), 0n)
    expect(closing.burned).toBe(total * BASE_FEE)
    expect(closing.reward - (empty.at(-1) as { reward: bigint }).reward).toBe(built.tips)
    expect(built.block.header.weightUsed).toBe(Number(total))
  })
})

type Limit = 'bytesMax' | 'weightMax' | 'writesMax'

const MEASURES: Readonly<Record<Limit, (tx: Transaction) => number>> = {
  bytesMax: sizeInBlock,
  weightMax: (tx) => weightOf(tx, LAUNCH_RULES.tx),
  writesMax: ({ body }) => declaredWrites(body),
}

describe.each(Object.keys(MEASURES) as Limit[])('the limit %s of a block', (limit) => {
  const measure = MEASURES[limit]
  const limited = (value: number) => {
    const block: BlockRules = { ...testRuleBook().at(0).block, [limit]: value }
    return TestChain.open(testRuleBook({ block }))
  }
  const small = (test: TestChain, from: number): Promise<Transaction> => pay(test, from)
  /** A transaction larger than two small ones by every measure except writes, by which it is larger than one. */
  const big = (test: TestChain, from: number): Promise<Transaction> =>
    test.tx(wallet(from), 'agent_register', {
      ...SAMPLE.agent_register({ agentId: agentId('big'), payout: wallet(from).address }),
      endpoint: `https://${'e'.repeat(192)}`,
      settlers: Array.from({ length: 8 }, (_, i) => filled<Address>(0x20 + i)),
    })

  it('may be used to the full and not exceeded', async () => {
    const size = measure(await small(await TestChain.open(), 1))
    const exact = await limited(2 * size)
    const candidates = [await small(exact, 1), await small(exact, 2), await small(exact, 3)]
    const full = await template(exact, candidates)
    expect([idsOf(full.block.transactions), full.refused]).toEqual([idsOf(candidates.slice(0, 2)), []])
    await accepted(exact, full)
    const short = await limited(2 * size - 2)
    const one = await template(short, [await small(short, 1), await small(short, 2)])
    expect(one.block.transactions.length).toBe(1)
    await accepted(short, one)
  })

  it('is one that validation holds as well', async () => {
    const size = measure(await small(await TestChain.open(), 1))
    const roomy = await limited(2 * size)
    const full = await template(roomy, [await small(roomy, 1), await small(roomy, 2)])
    const strict = await limited(2 * size - 2)
    const codes = { bytesMax: 'block/too-large', weightMax: 'block/weight-limit', writesMax: 'block/writes-limit' }
    expect(await outcomeOf(strict, full.block)).toMatchObject({ code: codes[limit] })
  })

  it('leaves room for smaller ones of others behind one that is too big, not for those of its own account', async () => {
    const unlimited = await TestChain.open()
    const [least, most] = [measure(await small(unlimited, 1)), measure(await big(unlimited, 2))]
    expect(most).toBeGreaterThan(least)
    const test = await limited(2 * least)
    const first = await small(test, 1)
    const tooBig = await big(test, 2)
    const behind = await small(test, 2)
    const fits = await small(test, 3)
    const built = await template(test, [first, tooBig, behind, fits])
    expect([idsOf(built.block.transactions), built.refused]).toEqual([idsOf([first, fits]), []])
    await accepted(test, built)
  })
})

describe('a candidate that cannot stand in the block', () => {
  const poor = walletKey(new Uint8Array(32).fill(0x31))
  const stranger = walletKey(new Uint8Array(32).fill(0x32))

  /** A chain whose next block is at height 3, with an account that cannot pay a fee. */
  async function opened(): Promise<TestChain> {
    const test = await TestChain.open()
    await test.mine([
      await test.tx(wallet(1), 'transfer', SAMPLE.transfer({ to: poor.address, amount: units(999), create: true })),
      await pay(test, 2),
    ])
    await test.mine()
    return test
  }

  it('is left out with its reason, and all others are mined', async () => {
    const test = await opened()
    const wrong = [
      await pay(test, 2, { nonce: 0n }),
      await pay(test, 3, { nonce: 1n }),
      await pay(test, 4, { validUntil: 2 }),
      await test.tx(stranger, 'transfer', PAY),
      await test.tx(poor, 'transfer', PAY),
      await pay(test, 5, { maxFeeRate: BASE_FEE - 1n }),
    ]
    const good = [
      await pay(test, 6),
      await pay(test, 7, { validUntil: 3 }),
      await pay(test, 8, { maxFeeRate: BASE_FEE }),
    ]
    const built = await template(test, [...wrong, ...good])
    const weight = BigInt(weightOf(wrong[4] as Transaction, LAUNCH_RULES.tx))
    const units = weight * (BASE_FEE + 1n)
    const [fee, feeText] = [units.toString(), `${formatAmount(units, 8)} FAR`]
    const cheap = wrong[5] as Transaction
    const belowBase = { feeText: feeTextOf(cheap, 31n), leastText: feeTextOf(cheap, 32n) }
    expect(built.refused).toEqual([
      { tx: wrong[0], fault: fault('tx/nonce-too-low', { nonce: '0', next: '1' }) },
      { tx: wrong[1], fault: fault('tx/nonce-too-high', { nonce: '1', next: '0' }) },
      { tx: wrong[2], fault: fault('tx/expired', { validUntil: 2, height: 3 }) },
      { tx: wrong[3], fault: fault('tx/sender-unknown') },
      {
        tx: wrong[4],
        fault: fault('tx/fee-unpayable', { balance: '999', fee, balanceText: '0.00000999 FAR', feeText }),
      },
      { tx: wrong[5], fault: fault('tx/fee-rate-below-base', { maxFeeRate: '31', baseFee: '32', ...belowBase }) },
    ])
    expect(idsOf(built.block.transactions)).toEqual(idsOf(good))
    await accepted(test, built)
  })

  it('takes those of its account behind it along', async () => {
    const test = await opened()
    const expired = await pay(test, 4, { validUntil: 2 })
    const behind = [await pay(test, 4), await pay(test, 4)]
    const other = await pay(test, 6)
    const built = await template(test, [expired, ...behind, other])
    expect(idsOf(built.refused.map(({ tx }) => tx))).toEqual([expired.txId])
    expect(idsOf(built.block.transactions)).toEqual([other.txId])
  })

  it('may have been taken before: the same transaction stands in a block once', async () => {
    const test = await opened()
    const tx = await pay(test, 6)
    const built = await template(test, [tx, tx])
    expect(idsOf(built.block.transactions)).toEqual([tx.txId])
    expect(built.refused).toEqual([{ tx, fault: fault('tx/nonce-too-low', { nonce: '0', next: '1' }) }])
    await accepted(test, built)
  })

  it('is not one whose payload fails: it is mined, pays its fee and leaves a receipt with its code', async () => {
    const test = await opened()
    const balance = test.balance(wallet(6).address)
    const amount = units(balance + 1n)
    const failing = await test.tx(wallet(6), 'transfer', SAMPLE.transfer({ to: wallet(7).address, amount }))
    const homeless = await test.tx(wallet(7), 'transfer', SAMPLE.transfer({ to: filled(0x55), amount: units(1) }))
    const built = await template(test, [failing, homeless])
    expect([built.block.transactions, built.refused]).toEqual([[failing, homeless], []])
    const receipts = await accepted(test, built)
    const codes = receipts.flatMap((receipt) => (receipt.type === 'transaction' ? outcomeCode(receipt.code) : []))
    expect(codes).toEqual(['ledger/insufficient-balance', 'ledger/no-account'])
    const { fee } = receipts[0] as { fee: bigint }
    expect(test.chain.database.get(ACCOUNTS, wallet(6).address)).toMatchObject({ nonce: 1n, balance: balance - fee })
  })
})

describe('building a template', () => {
  it('gives the same bytes for the same request, and changes nothing that is stored', async () => {
    const test = await TestChain.open()
    const candidates = [await pay(test, 1), await pay(test, 2), await pay(test, 1)]
    const root = test.stateRoot
    const [one, two] = [await template(test, candidates), await template(test, candidates)]
    expect(toHex(encodeBlock(two.block))).toBe(toHex(encodeBlock(one.block)))
    expect([test.stateRoot, test.height]).toEqual([root, 0])
    const other = await template(test, candidates, { extra: new Uint8Array(32) })
    expect(other.block.id).not.toBe(one.block.id)
    expect({ ...other.block.header, extra: EXTRA }).toEqual(one.block.header)
  })

  it('gives the same in slices as in one go', async () => {
    const test = await TestChain.open()
    const candidates = [await pay(test, 1), await pay(test, 2), await pay(test, 1)]
    const whole = await template(test, candidates)
    let pauses = 0
    const pacer = {
      due: () => true,
      pause: async () => {
        pauses++
      },
    }
    const { nowMs } = test
    const request = { miner: MINER, nowMs, candidates, extra: EXTRA }
    const sliced = await buildTemplate(test.chain, pacer, request)
    expect(sliced?.block.id).toBe(whole.block.id)
    expect(pauses).toBeGreaterThan(candidates.length)
  })

  it.each([1, 2, 4])('is given up if the head moves in pause %i', async (pause) => {
    const test = await TestChain.open()
    const candidates = [await pay(test, 1), await pay(test, 2), await pay(test, 3)]
    const rival = await test.build()
    let pauses = 0
    const pacer = {
      due: () => true,
      pause: async () => {
        pauses++
        if (pauses === pause) await test.import(rival)
      },
    }
    const request = { miner: MINER, nowMs: test.nowMs, candidates, extra: EXTRA }
    expect(await buildTemplate(test.chain, pacer, request)).toBeUndefined()
    expect([pauses, test.chain.head.id]).toEqual([pause, rival.id])
  })
})
