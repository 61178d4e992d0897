import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type KeyValueStore, MemoryKeyValueStore } from '../../consensus/chain/key-value.ts'
import { prefixKey } from '../../consensus/chain/layout.ts'
import { decodeOwn, encode } from '../../consensus/primitives/codec.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import { auditState } from '../../src/cli/commands/audit.ts'
import { type ReplyOf, replyCodec } from '../../src/p2p/wire/messages.ts'
import type { ProtocolName } from '../../src/p2p/wire/protocols.ts'
import { seeded } from '../sim/miners.ts'
import { TestChain } from '../support/chain.ts'
import { RandomChain, restlessRuleBook } from '../support/random-chain.ts'
import { runs } from '../support/runs.ts'
import {
  connect,
  copiedPin,
  type JoiningNode,
  joiningNode,
  type ServingNode,
  servingNode,
  takeSnapshot,
} from '../support/snapshot-nodes.ts'
import { stateOf } from '../support/snapshot-state.ts'
import { DyingStore } from '../support/stores.ts'

/**
 * A node downloads a state in many steps while the chain grows. It is cut off, restarted, killed and lied to. It must
 * end with exactly the served state, and the honest peer must have no points.
 */

const RULES = restlessRuleBook()

/** Changes every true reply of one protocol. */
function change<P extends ProtocolName>(protocol: P, lie: (reply: ReplyOf<P>) => ReplyOf<P>) {
  return ({ wire }: ServingNode): void => {
    wire.tamper = (asked, bytes) => {
      if (asked !== protocol || bytes[0] !== 0) return bytes
      const reply = decodeOwn(replyCodec(protocol), bytes.subarray(1))
      return Uint8Array.of(0, ...encode(replyCodec(protocol), lie(reply)))
    }
  }
}

function flipped(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte, i) => (i === bytes.length - 1 ? byte ^ 1 : byte))
}

function strayPage(id: Uint8Array) {
  return { id, form: new Uint8Array(4) }
}

/** Lies of a peer that is connected beside the honest one. */
const LIES: Record<string, (liar: ServingNode, older: KeyValueStore) => void> = {
  'pages with another hash': change('statePages', ({ pages, done }) => ({
    pages: pages.map(({ id, form }) => ({ id, form: flipped(form) })),
    done,
  })),
  'pages that end too early': change('statePages', ({ pages }) => ({ pages, done: true })),
  'a page left out': change('statePages', ({ pages, done }) => ({ pages: pages.filter((_, i) => i !== 1), done })),
  'a stray page before all': change('statePages', ({ pages, done }) => ({
    pages: [...pages, strayPage(new Uint8Array(0))],
    done,
  })),
  'a stray page behind all': change('statePages', ({ pages, done }) => ({
    pages: [...pages, strayPage(new Uint8Array(64).fill(0x66))],
    done,
  })),
  'a stray page in the place of the last': change('statePages', ({ pages, done }) => ({
    pages: [...pages.slice(0, -1), strayPage(pages.at(-1)?.id.subarray(0, -1) ?? new Uint8Array(0))],
    done,
  })),
  'other values': change('stateRecords', ({ records, done }) => ({
    records: records.map(({ key, value }) => ({ key, value: flipped(value) })),
    done,
  })),
  'records that end too early': change('stateRecords', ({ records }) => ({ records, done: true })),
  'records left out': change('stateRecords', ({ records, done }) => ({
    records: records.filter((_, i) => i !== 0 || records.length === 1),
    done,
  })),
  'pages and records of an older state': ({ past }, older) => {
    const old = copiedPin(older, 5)
    past.map = () => old
  },
  'records of an older state': ({ past }, older) => {
    const old = copiedPin(older, 5)
    past.map = (state) => ({
      read: (range, ...sizes) => (range.gte[0] === prefixKey('state')[0] ? old : state).read(range, ...sizes),
    })
  },
}

interface Step {
  readonly blocks: number
  readonly empty: boolean
  readonly restart: boolean
  /** `after` counts requests to peers or durable batches. */
  readonly cut: { readonly kind: 'none' | 'stopped' | 'withdrawn' | 'killed'; readonly after: number }
  readonly lie: string | null
}

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    blocks: fc.nat({ max: 10 }),
    empty: fc.boolean(),
    restart: fc.boolean(),
    cut: fc.record({
      kind: fc.constantFrom('none', 'stopped', 'stopped', 'withdrawn', 'withdrawn', 'killed', 'killed'),
      after: fc.integer({ min: 1, max: 40 }),
    }),
    lie: fc.option(fc.constantFrom(...Object.keys(LIES)), { freq: 2 }),
  }),
  { minLength: 2, maxLength: 7 },
)

/** The node, its disk and its peers. */
class Walk {
  readonly #source: TestChain
  readonly #random: RandomChain
  readonly #store: MemoryKeyValueStore
  readonly #most: number
  readonly #disk = new MemoryKeyValueStore()
  readonly #honest: ServingNode
  #older = new MemoryKeyValueStore()
  #node: JoiningNode | undefined
  #lives = 0

  private constructor(source: TestChain, store: MemoryKeyValueStore, seed: number, most: number) {
    this.#source = source
    this.#store = store
    this.#most = most
    this.#random = new RandomChain(source, seeded(seed))
    this.#honest = servingNode('honest', source, store, { most })
  }

  static async begin(seed: number, most: number): Promise<Walk> {
    const store = new MemoryKeyValueStore()
    const walk = new Walk(await TestChain.open(RULES, store), store, seed, most)
    await walk.#random.grow(18)
    return walk
  }

  async step({ blocks, empty, restart, cut, lie }: Step): Promise<void> {
    await this.#grow(blocks, empty)
    const liar = lie === null ? undefined : this.#liar(lie)
    if (restart || liar !== undefined || cut.kind === 'killed' || this.#node === undefined)
      await this.#live(cut.kind === 'killed' ? cut.after : Number.POSITIVE_INFINITY, liar)
    const taken = await this.#take(cut).catch((error: Error) => {
      expect([cut.kind, error.message]).toEqual(['killed', 'the process died'])
      return undefined
    })
    await this.#check(taken)
    if (cut.kind === 'killed') this.#node = undefined
  }

  /** Completes the download of the current snapshot and follows the chain from there. */
  async finish(): Promise<void> {
    await this.#grow(1, true)
    await this.#live(Number.POSITIVE_INFINITY)
    const taken = await this.#take({ kind: 'none', after: 0 })
    expect(taken).toEqual({ ok: true, value: undefined })
    await this.#check(taken)
    const { test } = this.#node as JoiningNode
    test.nowMs = this.#source.nowMs + 60_000
    for (const block of await this.#random.grow(8)) expect(await test.import(block)).toBe('connected')
    expect(await stateOf(test)).toEqual(await stateOf(this.#source))
  }

  async #grow(blocks: number, empty: boolean): Promise<void> {
    const older = new MemoryKeyValueStore()
    const listed = this.#store.entries(new Uint8Array(0))
    await older.batch(
      [...listed].map(([key, value]) => ({ key, value })),
      () => {},
    )
    if (blocks > 0) this.#older = older
    if (empty) for (let i = 0; i < blocks; i++) await this.#source.mine()
    else await this.#random.grow(blocks)
  }

  #liar(lie: string): ServingNode {
    const liar = servingNode(`liar ${++this.#lives}`, this.#source, this.#store, { most: this.#most })
    // The liar serves the same as the honest peer, except for the lie.
    const { snapshots } = this.#honest
    liar.snapshots.use = snapshots.use.bind(snapshots)
    LIES[lie]?.(liar, this.#older)
    return liar
  }

  async #live(batches: number, liar?: ServingNode): Promise<void> {
    const disk = batches < Number.POSITIVE_INFINITY ? new DyingStore(this.#disk, batches) : this.#disk
    // A new store must be initialised before it can be killed.
    if (this.#lives === 0) await TestChain.open(RULES, this.#disk)
    this.#node = await joiningNode(RULES, disk, `life ${++this.#lives}`)
    await connect(this.#node, this.#honest)
    if (liar !== undefined) await connect(this.#node, liar)
  }

  #take({ kind, after }: Step['cut']): Promise<Result<void>> {
    const node = this.#node as JoiningNode
    const snapshot = this.#honest.snapshots.refs()[0] as never
    let left = kind === 'stopped' || kind === 'withdrawn' ? after : Number.POSITIVE_INFINITY
    const over = (): boolean => left-- <= 0
    const all = () => node.peers.list().map(({ info }) => info.id)
    return takeSnapshot(node, this.#source, snapshot, {
      ...(kind === 'stopped' && { stopped: over }),
      peers: kind === 'withdrawn' ? () => (over() ? [] : all()) : all,
    })
  }

  async #check(taken: Result<void> | undefined): Promise<void> {
    const { test, peers, wire } = this.#node as JoiningNode
    const { self } = this.#honest.wire
    expect([peers.reputation.pointsOf(self), wire.ended.get(self)]).toEqual([0, undefined])
    if (!taken?.ok) return
    expect(test.chain.head.id).toBe(this.#source.chain.head.id)
    expect(await stateOf(test)).toEqual(await stateOf(this.#source))
    expect((await auditState(test.chain)).sound).toBe(true)
  }
}

describe('any sequence of snapshots, changes, cuts, restarts and lies', () => {
  it('ends in exactly the state that is served, and no honest peer is blamed', { timeout: runs(300_000) }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 9 }), steps, async (seed, most, walked) => {
        const walk = await Walk.begin(seed, most)
        for (const step of walked) await walk.step(step)
        await walk.finish()
      }),
      { numRuns: runs(30) },
    )
  })
})
