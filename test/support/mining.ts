import type { Block } from '../../consensus/block/block.ts'
import { searchNonce } from '../../consensus/block/pow.ts'
import type { Pacer, Timers } from '../../consensus/chain/ports.ts'
import { createInlineVerifier } from '../../consensus/crypto/verifier.ts'
import type { Fault } from '../../consensus/primitives/fault.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { Mempool } from '../../mempool/mempool.ts'
import { DEFAULT_MEMPOOL_POLICY } from '../../mempool/policy.ts'
import { Miner, type MiningJob, type NonceSearcher } from '../../miner/miner.ts'
import type { Template } from '../../miner/template.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { nativePowHasher } from '../../src/crypto/native-pow.ts'
import type { TestChain } from './chain.ts'
import { until } from './processes.ts'
import { filled } from './unsigned.ts'

/** The address that a test's miner mines for. */
export const REWARD_TO = filled<Address>(0x91)
/** The `extra` field of the headers that a test's miner makes. */
export const EXTRA = new Uint8Array(32).fill(0x42)

/** A nonce searcher that searches when the test says so, on the calling thread. It keeps every job it got. */
export class ManualSearcher implements NonceSearcher {
  readonly jobs: (MiningJob | null)[] = []
  readonly #listeners: ((nonce: bigint, job: MiningJob) => void)[] = []
  readonly #onAssign: (job: MiningJob | null) => void

  constructor(onAssign: (job: MiningJob | null) => void) {
    this.#onAssign = onAssign
  }

  assign(job: MiningJob | null): void {
    this.jobs.push(job)
    this.#onAssign(job)
  }

  onFound(listener: (nonce: bigint, job: MiningJob) => void): void {
    this.#listeners.push(listener)
  }

  /** The last job: the one that threads would search. */
  get job(): MiningJob | null {
    return this.jobs.at(-1) ?? null
  }

  /** Finds the nonce of a job, by default the last, and reports it to the miner. */
  solve(job: MiningJob | null = this.job): void {
    if (job === null) throw new Error('there is no job')
    const nonce = searchNonce({ ...job, start: 0n, stride: 1n }, nativePowHasher, {
      stopped: () => false,
      onHash: () => {},
    })
    for (const listener of this.#listeners) listener(nonce as bigint, job)
  }
}

/** Timers that go off when the test says so. */
export class ManualTimers implements Timers {
  #pending: { readonly ms: number; readonly callback: () => void }[] = []

  after(ms: number, callback: () => void): () => void {
    const timer = { ms, callback }
    this.#pending.push(timer)
    return () => {
      this.#pending = this.#pending.filter((one) => one !== timer)
    }
  }

  /** Lengths of the waiting timers. */
  get waits(): readonly number[] {
    return this.#pending.map(({ ms }) => ms)
  }

  /** Lets all waiting timers go off. */
  fire(): void {
    for (const { callback } of this.#pending.splice(0)) callback()
  }
}

/** A miner on a test chain with a mempool. Its clock runs `aheadMs` ahead of the chain's. */
export class TestMiner {
  readonly test: TestChain
  readonly mempool: Mempool
  readonly miner: Miner
  readonly searcher: ManualSearcher
  readonly timers = new ManualTimers()
  /** Templates in the order in which the threads got them. Undefined is a pause. */
  readonly templates: (Template | undefined)[] = []
  readonly mined: Block[] = []
  readonly refused: { readonly block: Block; readonly fault: Fault }[] = []
  readonly fatal: unknown[] = []
  /** How far the miner's clock is ahead of the chain's. */
  aheadMs = 3_000

  constructor(test: TestChain, pacer: Pacer) {
    this.test = test
    const { chain } = test
    this.mempool = new Mempool({
      chain,
      verifier: createInlineVerifier(NATIVE_BACKEND),
      policy: DEFAULT_MEMPOOL_POLICY,
    })
    this.searcher = new ManualSearcher(() => this.templates.push(this.miner.template))
    this.miner = new Miner(
      {
        chain,
        mempool: this.mempool,
        searcher: this.searcher,
        clock: { now: () => test.nowMs + this.aheadMs },
        pacer,
        timers: this.timers,
        extra: EXTRA,
        onMined: (block) => this.mined.push(block),
        onRefused: (block, fault) => this.refused.push({ block, fault }),
        onFatal: (error) => this.fatal.push(error),
      },
      REWARD_TO,
    )
  }

  async submit(...transactions: readonly Transaction[]): Promise<void> {
    for (const tx of transactions) {
      const submitted = await this.mempool.submit(tx)
      if (!submitted.ok) throw new Error(JSON.stringify(submitted.fault))
    }
  }

  /** Waits until the threads got `count` jobs; a pause counts as one. */
  async assigned(count: number): Promise<void> {
    await until(`assignment ${count}`, () => this.searcher.jobs.length >= count, { everyMs: 1 })
  }

  /** Waits until the miner searches a template that fits. */
  searching(what: string, fits: (template: Template) => boolean): Promise<Template> {
    const look = (): Template | undefined => {
      const { template } = this.miner
      return template !== undefined && fits(template) ? template : undefined
    }
    return until(`a template ${what}`, look, { everyMs: 1 })
  }
}

/** A pacer whose pauses wait for the test. */
export class HeldPacer implements Pacer {
  #held = true
  #release: (() => void)[] = []

  due(): boolean {
    return true
  }

  async pause(): Promise<void> {
    if (this.#held) await new Promise<void>((resolve) => this.#release.push(resolve))
  }

  /** Whether work is held in a pause. */
  get waiting(): boolean {
    return this.#release.length > 0
  }

  /** Releases the work. Later pauses do not hold. */
  release(): void {
    this.#held = false
    for (const resolve of this.#release.splice(0)) resolve()
  }
}
