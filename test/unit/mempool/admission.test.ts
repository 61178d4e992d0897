import { describe, expect, it } from 'vitest'
import type { BlockRules } from '../../../consensus/block/rules.ts'
import { createRuleBook, type RuleBook } from '../../../consensus/chain/rule-book.ts'
import { formatAmount } from '../../../consensus/primitives/amount.ts'
import { type Fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import { signTransaction } from '../../../consensus/tx/sign.ts'
import { assembleTransaction, encodeWitness, type Transaction, type TxBody } from '../../../consensus/tx/transaction.ts'
import { weightOf } from '../../../consensus/tx/weight.ts'
import { nextBaseFee, nextHeight } from '../../../mempool/admission.ts'
import { walletKey } from '../../../src/crypto/wallet-key.ts'
import { PROTOCOL } from '../../../src/protocol.ts'
import { seedOf } from '../../support/actors.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { feeText } from '../../support/fee-text.ts'
import { HeldVerifier, TestMempool } from '../../support/mempool.ts'
import { testParams, testRuleBook } from '../../support/network.ts'
import { fillerSignature, SAMPLE, units, unsigned } from '../../support/unsigned.ts'

const ALICE = wallet(1)

/** The test network with another base fee at genesis. */
function withBaseFee(baseFee: bigint): RuleBook {
  const params = testParams()
  return createRuleBook({ ...params, genesis: { ...params.genesis, baseFee } }, PROTOCOL)
}

/** The test network with other limits of a block. */
function withLimits(limits: Partial<BlockRules>): RuleBook {
  const [step] = testParams().steps
  return testRuleBook({ block: { ...(step?.rules.block as BlockRules), ...limits } })
}

/** A mempool where the keys of wallet 1 are known and its next nonce is 1. */
async function afterFirst(parts: Parameters<typeof TestMempool.open>[0] = {}): Promise<TestMempool> {
  const pool = await TestMempool.open(parts)
  await pool.test.mine([await pool.pay(1, 0)])
  return pool
}

/** The same body with another witness. */
function withWitness(tx: Transaction, witness: Partial<Transaction['witness']>): Transaction {
  const assembled = assembleTransaction(tx.bodyBytes, encodeWitness({ ...tx.witness, ...witness }))
  if (!assembled.ok) throw new Error(assembled.fault.code)
  return assembled.value
}

describe('what is known already', () => {
  it('is refused as waiting, whatever its witness', async () => {
    const pool = await TestMempool.open()
    const tx = await pool.put(1, 0)
    const again = await signTransaction(tx.body, ALICE, pool.test.chain.network)
    expect([again.txId, again.wtxId === tx.wtxId]).toEqual([tx.txId, false])
    expect(await pool.submit(tx)).toEqual({ code: 'mempool/known', detail: {} })
    expect(await pool.submit(again)).toEqual({ code: 'mempool/known', detail: {} })
    expect(pool.mempool.count).toBe(1)
  })

  it('is refused as mined, whatever its witness', async () => {
    const pool = await TestMempool.open()
    const tx = await pool.pay(1, 0)
    await pool.test.mine([tx])
    const again = await signTransaction(tx.body, ALICE, pool.test.chain.network)
    expect(await pool.submit(tx)).toEqual({ code: 'mempool/mined', detail: {} })
    expect(await pool.submit(again)).toEqual({ code: 'mempool/mined', detail: {} })
  })
})

describe('what no block may ever hold', () => {
  it('is refused for what it is, before anything is asked of the state', async () => {
    const pool = await TestMempool.open()
    const stranger = unsigned('transfer', SAMPLE.transfer(), { version: 2 })
    expect(await pool.submit(stranger)).toEqual({ code: 'tx/version', detail: { version: 2 } })
    const foreign = unsigned('transfer', SAMPLE.transfer(), { chainId: 5 })
    expect(await pool.submit(foreign)).toEqual({ code: 'tx/chain-id', detail: { chainId: 5, expected: 1 } })
    const nothing = unsigned('transfer', SAMPLE.transfer({ amount: units(0) }))
    const detail = { field: 'amount', value: '0', least: '1' }
    expect(await pool.submit(nothing)).toEqual({ code: 'tx/amount', detail })
    const bare = withWitness(await pool.pay(1, 0), { keys: new Uint8Array(0) })
    expect(await pool.submit(bare)).toEqual({ code: 'tx/keys-misplaced', detail: {} })
  })

  it('is refused when no block has room for it', async () => {
    const { size } = await (await TestMempool.open()).pay(1, 0)
    const fits = await TestMempool.open({ ruleBook: withLimits({ bytesMax: size + 4 }) })
    expect(await fits.submit(await fits.pay(1, 0))).toBeNull()
    const small = await TestMempool.open({ ruleBook: withLimits({ bytesMax: size + 3 }) })
    const detail = { bytes: size + 4, bytesMax: size + 3 }
    expect(await small.submit(await small.pay(1, 0))).toEqual({ code: 'tx/too-large', detail })
  })

  it('is refused when it is heavier than a block', async () => {
    const bare = await (await TestMempool.open()).pay(1, 0)
    // A byte of memo weighs one. It makes the weight even, as a block's limit must be.
    const memo = new Uint8Array(weightOf(bare, testRuleBook().at(1).tx) % 2)
    const weightMax = weightOf(bare, testRuleBook().at(1).tx) + memo.length
    const pool = await TestMempool.open({ ruleBook: withLimits({ weightMax }) })
    const heavier = await pool.pay(1, 0, { memo: new Uint8Array(memo.length + 1) })
    const detail = { weight: weightMax + 1, weightMax }
    expect(await pool.submit(heavier)).toEqual({ code: 'block/weight-limit', detail })
    expect(await pool.submit(await pool.pay(1, 0, { memo }))).toBeNull()
  })

  it('is refused when it declares more writes than a block allows', async () => {
    const payload = SAMPLE.agent_receipt([{}, {}, {}])
    const fits = await TestMempool.open({ ruleBook: withLimits({ writesMax: 18 }) })
    expect(await fits.submit(await fits.test.tx(ALICE, 'agent_receipt', payload))).toBeNull()
    const narrow = await TestMempool.open({ ruleBook: withLimits({ writesMax: 17 }) })
    const detail = { writes: 18, writesMax: 17 }
    expect(await narrow.submit(await narrow.test.tx(ALICE, 'agent_receipt', payload))).toEqual({
      ...{ code: 'block/writes-limit', detail },
    })
  })

  it('is refused when the next block comes after the last one it may stand in', async () => {
    const pool = await TestMempool.open()
    await pool.test.mineTo(3)
    expect(nextHeight(pool.test.chain)).toBe(4)
    const late = await pool.pay(1, 0, { validUntil: 3 })
    expect(await pool.submit(late)).toEqual({ code: 'tx/expired', detail: { validUntil: 3, height: 4 } })
    expect(await pool.submit(await pool.pay(1, 0, { validUntil: 4 }))).toBeNull()
    expect(await pool.submit(await pool.pay(3, 0, { validUntil: 0 }))).toBeNull()
  })
})

describe('a fee', () => {
  it('is at least the base fee of the next block', async () => {
    const pool = await TestMempool.open({ ruleBook: withBaseFee(1_000n) })
    // A thirty-second less than the parent's base fee, because the parent was empty.
    expect([nextBaseFee(pool.test.chain), pool.mempool.minFeeRate]).toEqual([969n, 969n])
    const cheap = await pool.pay(1, 0, { maxFeeRate: 968n, tip: 968n })
    const texts = { feeText: feeText(cheap, 968n), leastText: feeText(cheap, 969n) }
    const detail = { feeRate: '968', minFeeRate: '969', ...texts }
    expect(await pool.submit(cheap)).toEqual({ code: 'mempool/fee-too-low', detail })
    expect(await pool.submit(await pool.pay(1, 0, { maxFeeRate: 969n, tip: 0n }))).toBeNull()
  })

  it('is compared with the base fee of the head as it is now', async () => {
    const pool = await TestMempool.open({ ruleBook: withBaseFee(1_000n) })
    const tx = await pool.pay(1, 0, { rate: 939n })
    expect(await pool.submit(tx)).toMatchObject({ code: 'mempool/fee-too-low' })
    await pool.test.mine()
    expect(pool.mempool.minFeeRate).toBe(939n)
    expect(await pool.submit(tx)).toBeNull()
  })
})

describe('an account', () => {
  it('must exist', async () => {
    const pool = await TestMempool.open()
    const newcomer = walletKey(seedOf(1))
    expect(await pool.submit(await pool.pay(newcomer, 0))).toEqual({ code: 'tx/sender-unknown', detail: {} })
    await pool.test.mine([await pool.pay(1, 0, { to: newcomer.address, amount: 10n ** 9n, create: true })])
    expect(await pool.submit(await pool.pay(newcomer, 0))).toBeNull()
  })

  it('uses a nonce once', async () => {
    const pool = await afterFirst()
    await pool.test.mine([await pool.pay(1, 1)])
    const detail = { nonce: '1', next: '2' }
    expect(await pool.submit(await pool.pay(1, 1, { amount: 1n }))).toEqual({ code: 'tx/nonce-too-low', detail })
    expect(await pool.submit(await pool.pay(1, 2))).toBeNull()
  })

  it('may go no further ahead than its executable and gapped transactions together could', async () => {
    const pool = await afterFirst()
    const { executablePerAccount, gappedPerAccount } = pool.mempool.policy
    expect([executablePerAccount, gappedPerAccount]).toEqual([64, 16])
    const detail = { nonce: '81', next: '1' }
    expect(await pool.submit(await pool.pay(1, 81))).toEqual({ code: 'tx/nonce-too-high', detail })
    expect(await pool.submit(await pool.pay(1, 80))).toBeNull()
  })

  it('has a limit of transactions that could be mined, which binds no other account', async () => {
    const pool = await TestMempool.open({ policy: { executablePerAccount: 3 } })
    await pool.putRun(1, 0, 2)
    const detail = { count: 3, countMax: 3 }
    expect(await pool.submit(await pool.pay(1, 3))).toEqual({ code: 'mempool/account-limit', detail })
    expect(await pool.submit(await pool.pay(3, 0))).toBeNull()
    await pool.test.mine([...pool.mempool.candidates()].slice(0, 1))
    expect(await pool.submit(await pool.pay(1, 3))).toBeNull()
  })

  it('has a limit of transactions behind a gap, which does not keep the gap from being closed', async () => {
    const pool = await afterFirst({ policy: { gappedPerAccount: 2 } })
    // Minable transactions do not count for this limit.
    await pool.put(1, 1)
    await pool.put(1, 4)
    await pool.put(1, 6)
    const detail = { count: 2, countMax: 2 }
    // A nonce between the two waiting ones is behind the gap too.
    expect(await pool.submit(await pool.pay(1, 5))).toEqual({ code: 'mempool/account-limit', detail })
    expect(await pool.submit(await pool.pay(1, 7))).toEqual({ code: 'mempool/account-limit', detail })
    await pool.putRun(1, 2, 3)
    expect(await pool.submit(await pool.pay(1, 5))).toBeNull()
    expect(pool.noncesOf(1)).toEqual([1n, 2n, 3n, 4n, 5n, 6n])
  })

  it('at its limits may still replace what waits', async () => {
    const pool = await afterFirst({ policy: { executablePerAccount: 1, gappedPerAccount: 1 } })
    await pool.put(1, 1, { rate: 100n })
    await pool.test.mine([...pool.mempool.candidates()])
    await pool.put(1, 3, { rate: 100n })
    await pool.put(1, 3, { rate: 200n })
    await pool.put(1, 2, { rate: 100n })
    await pool.put(1, 2, { rate: 200n })
    expect(pool.mempool.count).toBe(2)
  })

  it('must have what everything of it that waits could take, the gapped included', async () => {
    const pool = await afterFirst()
    const balance = pool.test.balance(ALICE.address)
    const probe = await pool.pay(1, 1)
    const fee = BigInt(weightOf(probe, pool.test.ruleBook.at(2).tx)) * probe.body.maxFeeRate
    await pool.put(1, 4, { amount: 7_000n })
    const left = balance - 7_000n - 2n * fee
    const coins = (units: bigint): string => `${formatAmount(units, 8)} FAR`
    const texts = { neededText: coins(balance + 1n), balanceText: coins(balance) }
    const detail = { needed: (balance + 1n).toString(), balance: balance.toString(), ...texts }
    const over = await pool.pay(1, 1, { amount: left + 1n })
    expect(await pool.submit(over)).toEqual({ code: 'mempool/balance-exceeded', detail })
    expect(await pool.submit(await pool.pay(1, 1, { amount: left }))).toBeNull()
  })

  it('need not have what a replaced transaction would have taken', async () => {
    const pool = await afterFirst()
    const most = pool.test.balance(ALICE.address) - 10n ** 9n
    await pool.put(1, 1, { amount: most, rate: 100n })
    expect(await pool.submit(await pool.pay(1, 1, { amount: most + 1n, rate: 200n }))).toBeNull()
    expect(await pool.submit(await pool.pay(1, 2, { amount: most, rate: 100n }))).toMatchObject({
      ...{ code: 'mempool/balance-exceeded' },
    })
  })
})

describe('a replacement', () => {
  it.each([
    [100n, 109n, 110n],
    // 101 and a tenth is 111.1.
    [101n, 111n, 112n],
  ])('of a rate of %d is not had for %d but for %d', async (old, refused, accepted) => {
    const pool = await TestMempool.open()
    await pool.put(1, 0, { rate: old })
    const cheap = await pool.pay(1, 0, { rate: refused, amount: 1n })
    const texts = { leastText: feeText(cheap, accepted), tipText: feeText(cheap, old) }
    const detail = { minFeeRate: accepted.toString(), minTip: old.toString(), ...texts }
    const refusal = await pool.submit(cheap)
    expect(refusal).toEqual({ code: 'mempool/replacement-fee-too-low', detail })
    expect(faultMessage(refusal as Fault)).toContain(`takes a fee of at least ${texts.leastText}, and a tip`)
    const better = await pool.put(1, 0, { rate: accepted, amount: 1n })
    expect(pool.mempool.transactions()).toEqual([better])
  })

  it('raises what it pays now and what it would pay at most', async () => {
    const pool = await TestMempool.open()
    await pool.put(1, 0, { maxFeeRate: 1_000n, tip: 10n })
    const pay = (maxFeeRate: bigint, tip: bigint) => pool.pay(1, 0, { maxFeeRate, tip, amount: 1n })
    const one = await pay(1_100n, 14n)
    const texts = { leastText: feeText(one, 1_100n), tipText: feeText(one, 10n) }
    const detail = { minFeeRate: '1100', minTip: '10', ...texts }
    const refusal = { code: 'mempool/replacement-fee-too-low', detail }
    // The old one pays 42 now, so the least is 46.2.
    expect(await pool.submit(one)).toEqual(refusal)
    expect(await pool.submit(await pay(1_099n, 500n))).toEqual(refusal)
    expect(await pool.submit(await pay(1_100n, 15n))).toBeNull()
  })

  it('pays no less when the base fee falls', async () => {
    const pool = await TestMempool.open({ ruleBook: withBaseFee(66n) })
    await pool.put(1, 0, { maxFeeRate: 100n, tip: 1_000n })
    // The replacement offers 110 against 100 now. At a base fee of 32 it would offer 78 against 100.
    const worse = await pool.pay(1, 0, { maxFeeRate: 110n, tip: 46n, amount: 1n })
    expect(await pool.submit(worse)).toMatchObject({
      code: 'mempool/replacement-fee-too-low',
      detail: { minTip: '100' },
    })
    await pool.put(1, 0, { maxFeeRate: 110n, tip: 100n, amount: 2n })
  })

  it('for which there is no room leaves the old one where it was', async () => {
    const { size } = await (await TestMempool.open()).pay(1, 0)
    const pool = await TestMempool.open({ policy: { bytesMax: 2 * (size + 4) + 10 } })
    await pool.put(1, 0, { rate: 40n })
    await pool.put(3, 0, { rate: 100n })
    const larger = await pool.pay(1, 0, { rate: 50n, memo: new Uint8Array(100) })
    expect(await pool.submit(larger)).toMatchObject({ code: 'mempool/full' })
    expect(pool.noncesOf(1)).toEqual([0n])
    expect(pool.mempool.get(larger.txId)).toBeUndefined()
  })

  it('may be of a nonce behind a gap, and in the middle', async () => {
    const pool = await afterFirst()
    await pool.putRun(1, 1, 3, { rate: 100n })
    await pool.put(1, 7, { rate: 100n })
    const middle = await pool.put(1, 2, { rate: 110n })
    const gapped = await pool.put(1, 7, { rate: 110n })
    expect(pool.noncesOf(1)).toEqual([1n, 2n, 3n, 7n])
    expect([pool.mempool.get(middle.txId), pool.mempool.get(gapped.txId)]).toEqual([middle, gapped])
  })
})

describe('keys', () => {
  it('are known from the chain, or from the first transaction that waits', async () => {
    const pool = await TestMempool.open()
    const second = await pool.pay(1, 1)
    expect(await pool.submit(second)).toEqual({ code: 'tx/keys-missing', detail: {} })
    await pool.put(1, 0)
    expect(await pool.submit(second)).toBeNull()
    const other = await afterFirst()
    expect(await other.submit(await other.pay(1, 5))).toBeNull()
  })

  it('of another account do not help', async () => {
    const pool = await TestMempool.open()
    await pool.put(3, 0)
    expect(await pool.submit(await pool.pay(1, 1))).toEqual({ code: 'tx/keys-missing', detail: {} })
  })
})

describe('a witness', () => {
  it('must be signed by the sender’s keys, wherever they are known from', async () => {
    for (const pool of [await TestMempool.open(), await afterFirst()]) {
      if (pool.test.height === 0) await pool.put(1, 0)
      const { body } = await pool.pay(1, 1)
      const forged = await signTransaction(body as TxBody, wallet(3), pool.test.chain.network)
      expect(await pool.submit(forged)).toEqual({ code: 'tx/bad-signature', detail: {} })
      expect(pool.test.chain.verified.has(forged.wtxId)).toBe(false)
    }
  })

  it('at nonce 0 must carry the sender’s keys and be signed by them', async () => {
    const pool = await TestMempool.open()
    const tx = await pool.pay(1, 0)
    const foreign = withWitness(tx, { keys: (await pool.pay(3, 0)).witness.keys })
    expect(await pool.submit(foreign)).toEqual({ code: 'tx/keys-not-of-sender', detail: {} })
    const forged = withWitness(tx, { signatures: [fillerSignature()] })
    expect(await pool.submit(forged)).toEqual({ code: 'tx/bad-signature', detail: {} })
    expect(await pool.submit(tx)).toBeNull()
  })

  it('has exactly the signatures that the known keys want', async () => {
    const pool = await afterFirst()
    const tx = await pool.pay(1, 1)
    const two = withWitness(tx, { signatures: [...tx.witness.signatures, fillerSignature(1)] })
    const detail = { count: 2, expected: 1 }
    expect(await pool.submit(two)).toEqual({ code: 'tx/signature-count', detail })
  })

  it('is looked at last', async () => {
    const test = await TestChain.open()
    const verifier = new HeldVerifier()
    const pool = await TestMempool.open({ test, verifier, policy: { countMax: 1, executablePerAccount: 2 } })
    const first = pool.mempool.submit(await pool.pay(1, 0, { rate: 100n }))
    expect(verifier.held).toBe(1)
    verifier.release()
    expect((await first).ok).toBe(true)
    const refused = [
      [await pool.pay(1, 0, { rate: 100n, amount: 1n }), 'mempool/replacement-fee-too-low'],
      [await pool.pay(1, 1, { rate: 100n }), 'mempool/full'],
      [await pool.pay(3, 0, { rate: 100n }), 'mempool/full'],
      [await pool.pay(3, 1, { rate: 200n }), 'tx/keys-missing'],
      [await pool.pay(3, 0, { rate: 31n }), 'mempool/fee-too-low'],
      [await pool.pay(3, 0, { rate: 200n, amount: 10n ** 15n }), 'mempool/balance-exceeded'],
    ] as const
    for (const [tx, code] of refused) expect(await pool.submit(tx)).toMatchObject({ code })
    expect(verifier.held).toBe(0)
  })
})
