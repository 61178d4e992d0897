import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BlockRules } from '../../consensus/block/rules.ts'
import { UNPACED } from '../../consensus/chain/ports.ts'
import { createRuleBook, type RuleBook } from '../../consensus/chain/rule-book.ts'
import { encodeTransaction, type Transaction } from '../../consensus/tx/transaction.ts'
import { DEFAULT_MEMPOOL_POLICY, type MempoolPolicy } from '../../mempool/policy.ts'
import { buildTemplate } from '../../miner/template.ts'
import { type WalletKey, walletKey } from '../../src/crypto/wallet-key.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { seedOf } from '../support/actors.ts'
import { blocksFrom, importAll } from '../support/branches.ts'
import { type TestChain, wallet } from '../support/chain.ts'
import { behind, HeldVerifier, type PayOptions, TestMempool } from '../support/mempool.ts'
import { MempoolModel } from '../support/mempool-model.ts'
import { testParams } from '../support/network.ts'
import { runs } from '../support/runs.ts'

/** Three rich accounts, two with little money, and one unknown to genesis. */
const SENDERS: readonly WalletKey[] = [1, 2, 3, 4, 5].map(wallet)
const NEWCOMER = walletKey(seedOf(1))
const ALL_SENDERS = [...SENDERS, NEWCOMER]
const ELSEWHERE = wallet(9).address

/** A rule book whose base fee has room to fall, with blocks small enough to raise it, and little money for some accounts. */
function ruleBook(): RuleBook {
  const params = testParams()
  const [step] = params.steps as readonly [(typeof params.steps)[number]]
  const block: BlockRules = { ...step.rules.block, weightMax: 100_000 }
  const allocations = SENDERS.map(({ address }, i) => ({ address, amount: i < 3 ? 10n ** 12n : 30_000_000n }))
  const genesis = { ...params.genesis, baseFee: 1_000n, allocations }
  return createRuleBook({ ...params, genesis, steps: [{ ...step, rules: { ...step.rules, block } }] }, PROTOCOL)
}

const RULE_BOOK = ruleBook()
const RUNS = 50

const policies: fc.Arbitrary<MempoolPolicy> = fc
  .record({
    executablePerAccount: fc.integer({ min: 2, max: 6 }),
    gappedPerAccount: fc.integer({ min: 1, max: 3 }),
    unminableBlocksMax: fc.oneof(fc.constant(1_000), fc.integer({ min: 2, max: 6 })),
    countMax: fc.oneof(fc.integer({ min: 3, max: 9 }), fc.integer({ min: 10, max: 24 })),
    bytesMax: fc.integer({ min: 20_000, max: 80_000 }),
  })
  .map((change) => ({ ...DEFAULT_MEMPOOL_POLICY, ...change }))

/** One transfer: its sender, its distance to the next nonce, and its offer, relative to the current state. */
const pays = fc.record({
  who: fc.nat(ALL_SENDERS.length - 1),
  ahead: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: -3, max: 7 })),
  over: fc.integer({ min: -2, max: 12 }),
  tip: fc.oneof(fc.constant(0), fc.constant(1_000_000), fc.integer({ min: 0, max: 120 })),
  amount: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 40_000_000 })),
  valid: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: -1, max: 4 })),
  funds: fc.boolean(),
})
type Pay = typeof pays extends fc.Arbitrary<infer T> ? T : never

const steps = fc.oneof(
  { weight: 16, arbitrary: pays.map((pay) => ({ kind: 'submit', pay }) as const) },
  { weight: 1, arbitrary: fc.nat(99).map((pick) => ({ kind: 'again', pick }) as const) },
  { weight: 1, arbitrary: fc.nat(99).map((pick) => ({ kind: 'drop', pick }) as const) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('mine' as const), share: fc.nat(4), foreign: fc.nat(5) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('fork' as const),
      depth: fc.nat(3),
      keep: fc.nat(255),
      foreign: fc.nat(5),
    }),
  },
)
type Step = typeof steps extends fc.Arbitrary<infer T> ? T : never

/** Outcomes that the random steps must have reached. */
const MET: readonly string[] = [
  ...['admitted', 'evicted', 'mempool/known', 'mempool/mined', 'mempool/full', 'mempool/account-limit'],
  ...['mempool/fee-too-low', 'mempool/replacement-fee-too-low', 'mempool/balance-exceeded', 'tx/expired'],
  ...['tx/sender-unknown', 'tx/nonce-too-low', 'tx/nonce-too-high', 'tx/keys-missing'],
  ...['0 unwound', '1 unwound', '2 unwound', '3 unwound'],
]

/** A mempool and its model under the same steps. */
class Duel {
  readonly pool: TestMempool
  readonly model: MempoolModel
  readonly policy: MempoolPolicy
  /** Counts of each answer and of other events of the run. */
  readonly seen: Map<string, number>
  /** Whether unminable transactions may have been evicted under this head. After that the pool admits no unminable ones. */
  #unsure = false

  constructor(pool: TestMempool, policy: MempoolPolicy, seen = new Map<string, number>()) {
    this.seen = seen
    this.pool = pool
    this.policy = policy
    this.model = new MempoolModel(pool.test, policy)
  }

  get test(): TestChain {
    return this.pool.test
  }

  #note(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1)
  }

  async take(step: Step): Promise<void> {
    if (step.kind === 'submit') await this.#submit(await this.sign(step.pay))
    if (step.kind === 'again') await this.#again(step.pick)
    if (step.kind === 'drop') this.#drop(step.pick)
    if (step.kind === 'mine') await this.#mine(step.share, step.foreign)
    if (step.kind === 'fork') await this.#fork(step)
  }

  sign({ who, ahead, over, tip, amount, valid, funds }: Pay): Promise<Transaction> {
    const { model } = this
    const signer = ALL_SENDERS[who] as WalletKey
    const next = model.nextNonce(signer.address) + BigInt(ahead)
    const options: PayOptions = {
      ...{ maxFeeRate: model.baseFee + BigInt(over * 15), tip: BigInt(tip), amount: BigInt(amount) },
      ...{ validUntil: valid === 0 ? 0 : Math.max(1, model.nextHeight + valid) },
      ...(funds && who < 2 ? { to: NEWCOMER.address, amount: 20_000_000n, create: true } : { to: ELSEWHERE }),
    }
    return this.pool.pay(signer, next < 0n ? 0n : next, options)
  }

  async #submit(tx: Transaction): Promise<void> {
    if (this.#unsure && this.model.rankOf(tx) === 0n) return
    const refusals = this.model.refusals(tx)
    const before = this.model.minFeeRate
    if (refusals.length === 0) this.model.admit(tx)
    const stays = this.model.waiting.includes(tx)
    const fault = await this.pool.submit(tx)
    this.#note(fault?.code ?? 'admitted')
    if (this.model.minFeeRate > before) this.#note('evicted')
    if (refusals.length > 0) expect(refusals).toContain(fault?.code)
    else expect(fault).toEqual(stays ? null : full(this.model.minFeeRate))
    // Under one head a mempool only ever asks for more.
    expect(this.pool.mempool.minFeeRate).toBeGreaterThanOrEqual(before)
  }

  /** Submits a waiting or mined transaction again. */
  async #again(pick: number): Promise<void> {
    const seen = [...this.model.waiting, ...this.model.blocks.flat()]
    const tx = seen[pick % Math.max(1, seen.length)]
    if (tx !== undefined) await this.#submit(tx)
  }

  #drop(pick: number): void {
    const { waiting } = this.model
    const tx = waiting[pick % Math.max(1, waiting.length)]
    if (tx === undefined) return
    this.pool.mempool.drop(tx.txId)
    this.model.waiting = waiting.filter((other) => other !== tx)
  }

  /** Mines the best-paying candidates, `share` quarters of all, and perhaps a foreign transaction that never waited here. */
  async #mine(share: number, foreign: number): Promise<void> {
    const all = [...this.pool.mempool.candidates()]
    // All candidates together must be valid on the head.
    await this.test.build(all)
    const body = [...all.slice(0, Math.ceil((all.length * share) / 4)), ...(await this.#foreign(foreign, share))]
    const { transactions } = await extend(this.test, body)
    this.model.follow([...this.model.blocks, transactions])
    this.#unsure = false
  }

  /** A transfer of a rich account with the next nonce, if `who` names one. */
  async #foreign(who: number, mark: number): Promise<readonly Transaction[]> {
    const signer = SENDERS.slice(0, 3)[who]
    if (signer === undefined) return []
    const nonce = this.model.nonceOf(signer.address)
    return [await this.pool.pay(signer, nonce, { amount: 77n + BigInt(mark), maxFeeRate: 1n << 20n })]
  }

  /** A longer branch with some of the mined and some of the waiting transactions. */
  async #fork({ depth, keep, foreign }: Extract<Step, { kind: 'fork' }>): Promise<void> {
    const { model, test } = this
    const deep = Math.min(depth, test.height)
    const rival = await behind(test, deep)
    this.#note(`${deep} unwound`)
    const unwound = model.blocks.slice(test.height - deep).flat()
    const known = [...unwound, ...model.candidates()].filter((_, i) => ((keep >> (i % 8)) & 1) === 1)
    const candidates = foreign < 3 ? [...(await this.#foreignOn(rival, foreign)), ...known] : known
    const bodies: (readonly Transaction[])[] = []
    for (let i = 0; i <= deep; i++) bodies.push((await extend(rival, i === 0 ? candidates : [])).transactions)
    const crowd = [...model.waiting, ...unwound]
    expect(await importAll(test, blocksFrom(rival, test.height - deep + 1))).toBe('connected')
    model.follow([...model.blocks.slice(0, model.blocks.length - deep), ...bodies])
    this.#unsure = false
    if (crowd.length > this.policy.countMax || bytesOf(crowd) > this.policy.bytesMax) this.#yield()
  }

  async #foreignOn(rival: TestChain, who: number): Promise<readonly Transaction[]> {
    const pool = await TestMempool.open({ test: rival })
    const signer = SENDERS[who] as WalletKey
    const nonce = pool.mempool.nextNonce(signer.address)
    return [await pool.pay(signer, nonce, { amount: 55n, maxFeeRate: 1n << 20n })]
  }

  /** A full pool that gets transactions back may choose which to evict. The model takes over what is left. */
  #yield(): void {
    const { mempool } = this.pool
    const might = new Set(this.model.waiting.map(({ txId }) => txId))
    for (const { txId } of mempool.transactions()) expect(might).toContain(txId)
    this.model.waiting = mempool.transactions()
    this.model.floor = mempool.minFeeRate > this.model.baseFee ? mempool.minFeeRate : 0n
    this.#unsure = true
  }

  compare(): void {
    const { model, policy } = this
    const { mempool } = this.pool
    expect(idsOf(mempool.transactions())).toEqual(idsOf(model.waiting))
    expect([mempool.count, mempool.bytes]).toEqual([model.waiting.length, model.bytes])
    expect(mempool.count).toBeLessThanOrEqual(policy.countMax)
    expect(mempool.bytes).toBeLessThanOrEqual(policy.bytesMax)
    expect(mempool.minFeeRate).toBe(model.minFeeRate)
    expect(idsOf(mempool.candidates())).toEqual(idsOf(model.candidates()))
    for (const { address } of ALL_SENDERS) {
      const own = mempool.ofAccount(address)
      expect(idsOf(own)).toEqual(idsOf(model.of(address)))
      expect(mempool.nextNonce(address)).toBe(model.nextNonce(address))
      expect(model.needs(own)).toBeLessThanOrEqual(this.test.balance(address))
      expect(new Set(own.map(({ body }) => body.nonce)).size).toBe(own.length)
    }
  }
}

const full = (minFeeRate: bigint) => ({ code: 'mempool/full', detail: { minFeeRate: minFeeRate.toString() } })
const idsOf = (transactions: Iterable<Transaction>) => [...transactions].map(({ txId }) => txId)
const bytesOf = (transactions: readonly Transaction[]) =>
  transactions.reduce((sum, tx) => sum + encodeTransaction(tx).length + 4, 0)

/** Mines a block of as many candidates as fit. */
async function extend(test: TestChain, candidates: readonly Transaction[]) {
  test.nowMs = Math.max(test.nowMs, test.chain.head.header.timeMs) + 3_000
  const request = { miner: ELSEWHERE, nowMs: test.nowMs, candidates, extra: new Uint8Array(32).fill(candidates.length) }
  const template = await buildTemplate(test.chain, UNPACED, request)
  if (template === undefined) throw new Error('the head moved')
  await test.import(template.block)
  return template.block
}

describe('a mempool under random transactions, blocks and reorganisations', () => {
  it('does what a list that is walked for every question does', async () => {
    const seen = new Map<string, number>()
    await fc.assert(
      fc.asyncProperty(policies, fc.array(steps, { minLength: 25, maxLength: 75 }), async (policy, plan) => {
        const duel = new Duel(await TestMempool.open({ ruleBook: RULE_BOOK, policy }), policy, seen)
        for (const step of plan) {
          await duel.take(step)
          duel.compare()
        }
        await duel.take({ kind: 'mine', share: 4, foreign: 5 })
        duel.compare()
      }),
      { numRuns: runs(RUNS) },
    )
    // A run that reached too few outcomes proves little.
    if (runs(RUNS) >= RUNS) for (const what of MET) expect(seen.get(what), what).toBeGreaterThan(0)
  })
})

describe('a mempool whose signature checks take their time', () => {
  it('admits what is sound both when it comes and when it is checked', async () => {
    const bursts = fc.array(pays, { minLength: 5, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(policies, bursts, fc.nat(5), async (policy, burst, foreign) => {
        const verifier = new HeldVerifier()
        const pool = await TestMempool.open({ ruleBook: RULE_BOOK, policy, verifier })
        const duel = new Duel(pool, policy)
        await duel.take({ kind: 'mine', share: 1, foreign: 0 })
        await duel.take({ kind: 'mine', share: 1, foreign: 1 })
        const transactions: Transaction[] = []
        for (const pay of burst) transactions.push(await duel.sign(pay))
        const early = transactions.map((tx) => duel.model.refusals(tx).length === 0)
        const outcomes = transactions.map((tx) => pool.submit(tx))
        expect(pool.mempool.count).toBe(0)
        await duel.take({ kind: 'mine', share: 2, foreign })
        verifier.release()
        const faults = await Promise.all(outcomes)
        for (const [i, tx] of transactions.entries()) {
          const sound = early[i] === true && duel.model.refusals(tx).length === 0
          if (sound) duel.model.admit(tx)
          expect(faults[i] === null).toBe(sound && duel.model.waiting.includes(tx))
        }
        duel.compare()
      }),
      { numRuns: runs(20) },
    )
  })
})
