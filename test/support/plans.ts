import fc from 'fast-check'
import { encodeBlock } from '../../consensus/block/block.ts'
import { UNPACED } from '../../consensus/chain/ports.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import { decodeTransaction, type Transaction } from '../../consensus/tx/transaction.ts'
import { buildTemplate } from '../../miner/template.ts'
import { ACTORS } from './actors.ts'
import type { Differential } from './differential.ts'
import { faulty } from './hostile.ts'
import type { ReferenceChain, Verdict } from './reference/chain.ts'
import { TRANSACTION_RECEIPT } from './reference/schemas.ts'
import { type Op, opArbitrary, type Place, Scenario } from './scenario.ts'

/** One step of a random chain. */
export interface Plan {
  readonly afterMs: number
  /** How far the local clock is behind the block's time. */
  readonly behindMs: number
  readonly miner: number
  /** The maker of the block: the node's template, the reference, or the reference with an invalid transaction in it. */
  readonly maker: 'template' | 'reference' | 'faulty'
  readonly ops: readonly Op[]
  /** Whether more than half of the block is filled, so that the base fee rises. */
  readonly flood: boolean
  /** How far below the head a branch begins that becomes the heavier one. 0 for none. */
  readonly fork: number
  readonly signal: number
  /** Empty blocks to mine afterwards. */
  readonly empty: number
}

const afterMs = fc.oneof(
  { arbitrary: fc.constant(3_000), weight: 3 },
  { arbitrary: fc.integer({ min: 1, max: 10 }), weight: 3 },
  { arbitrary: fc.integer({ min: 1, max: 10_000 }), weight: 3 },
  { arbitrary: fc.integer({ min: 1, max: 600_000 }), weight: 2 },
  { arbitrary: fc.integer({ min: 1, max: 24 * 3_600_000 }), weight: 1 },
)

const planArbitrary: fc.Arbitrary<Plan> = fc.record({
  afterMs,
  behindMs: fc.constantFrom(0, 0, 0, 1, 15_000, 15_001),
  miner: fc.nat(0xff),
  maker: fc.constantFrom(
    'template' as const,
    'template' as const,
    'reference' as const,
    'reference' as const,
    'faulty' as const,
  ),
  ops: fc.array(opArbitrary, { maxLength: 8 }),
  flood: fc.nat(24).map((choice) => choice === 24),
  fork: fc.oneof({ arbitrary: fc.constant(0), weight: 8 }, { arbitrary: fc.integer({ min: 1, max: 7 }), weight: 1 }),
  signal: fc.constantFrom(0, 0, 0, 1, 0xffff),
  empty: fc.oneof({ arbitrary: fc.constant(0), weight: 12 }, { arbitrary: fc.integer({ min: 1, max: 40 }), weight: 1 }),
})

export const plansArbitrary = fc.array(planArbitrary, { minLength: 10, maxLength: 40, size: 'max' })

/** Counts what a run met, so that a test can check that it met enough. */
export class Seen {
  readonly codes = new Map<string, number>()

  note({ reason, computed }: Verdict): void {
    if (reason !== null) this.#count(`refused ${reason}`)
    const kinds = [...(computed?.kinds ?? [])]
    for (const receipt of computed?.executed?.receipts ?? []) {
      this.#count(`receipt ${receipt[0]}`)
      if (receipt[0] === 1) this.#transaction(kinds.shift(), receipt.subarray(1))
    }
  }

  #transaction(kind: string | undefined, receipt: Uint8Array): void {
    const { code, entries, amounts } = TRANSACTION_RECEIPT.decode(receipt)
    this.#count(`code ${code}`)
    this.#count(`${kind} ${code}`)
    this.#count(`amounts ${amounts.length}`)
    for (const entry of entries) this.#count(`entry ${entry}`)
  }

  times(what: string): number {
    return this.codes.get(what) ?? 0
  }

  #count(what: string): void {
    this.codes.set(what, (this.codes.get(what) ?? 0) + 1)
  }
}

/** The `Place` of a child of the block: the state that it starts from, its height, base fee and rules. */
export function placeOn(reference: ReferenceChain, parentId: string): Place {
  const { header, records } = reference.block(parentId)
  return {
    genesisId: reference.genesisId,
    records,
    height: header.height + 1,
    baseFee: reference.expected(parentId).baseFee,
    rules: reference.rulesAt(header.height + 1),
  }
}

/** Runs plans against a pair of node and reference. */
export class Player {
  readonly #pair: Differential
  readonly #seen: Seen
  #blocks = 0

  constructor(pair: Differential, seen: Seen) {
    this.#pair = pair
    this.#seen = seen
  }

  async play(plan: Plan): Promise<void> {
    const { reference } = this.#pair
    if (plan.fork > 0) await this.#branch(plan)
    else if (plan.maker === 'template') await this.#feed(await this.#template(plan))
    else await this.#feed(await this.#propose(reference.headId, plan))
    for (let i = 0; i < plan.empty; i++)
      await this.#feed(await this.#propose(reference.headId, { ...plan, ops: [], flood: false, behindMs: 0 }))
  }

  /** Grows a branch from below the head until it is one block higher. Its blocks share the plan's operations. */
  async #branch(plan: Plan): Promise<void> {
    const { reference } = this.#pair
    let parentId = reference.headId
    for (let depth = plan.fork; depth > 0 && parentId !== reference.genesisId; depth--)
      parentId = reference.block(parentId).header.parent
    const top = this.#pair.test.height + 1
    const ops = [...plan.ops]
    while (reference.block(parentId).header.height < top) {
      const part = { ...plan, maker: 'reference', behindMs: 0, flood: false, ops: ops.splice(0, 2) } as const
      const id = await this.#feed(await this.#propose(parentId, part))
      // The block is invalid: on this branch an account cannot pay a fee.
      if (id === undefined) return
      parentId = id
    }
  }

  /** Makes the agents, services and accounts that most operations need. */
  async prepare(): Promise<void> {
    const plan = {
      afterMs: 3_000,
      behindMs: 0,
      miner: 0,
      maker: 'reference',
      fork: 0,
      signal: 0,
      empty: 0,
      flood: false,
    } as const
    const agents = [0, 1].map((i): Op => ({ kind: 'register', n: [i, i, 0, 0, i, 3 + i, 0, 0, 0, 0, 0, 0] }))
    const services = [0, 1, 2, 3].map(
      (i): Op => ({ kind: 'publish', n: [1, i >> 1, i, 2, 0, 0, i & 1, 0, 0, 0, 0, 0] }),
    )
    const newcomers = [10, 12, 13].map((i): Op => ({ kind: 'transfer', n: [2, i, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0] }))
    await this.play({ ...plan, ops: agents })
    await this.play({ ...plan, ops: services })
    await this.play({ ...plan, ops: newcomers })
  }

  /** Feeds a block to node and reference. Returns its id if it was accepted. */
  async #feed(wire: Uint8Array): Promise<string | undefined> {
    const verdict = await this.#pair.feed(wire)
    this.#seen.note(verdict)
    return verdict.reason === null ? verdict.id : undefined
  }

  /** Moves the clock and returns the time of the block. */
  #time(parentId: string, plan: Plan): number {
    const { reference, test } = this.#pair
    const time = reference.block(parentId).header.timeMs + plan.afterMs
    test.nowMs = Math.max(test.nowMs, time - plan.behindMs)
    return time
  }

  #miner({ miner }: Plan): string {
    return ACTORS[miner]?.address ?? miner.toString(16).padStart(2, '0').repeat(32)
  }

  async #propose(parentId: string, plan: Plan): Promise<Uint8Array> {
    const place = placeOn(this.#pair.reference, parentId)
    const scenario = new Scenario(place)
    const wires = plan.flood ? await scenario.flood() : []
    for (const [i, op] of plan.ops.entries()) {
      if (plan.maker === 'faulty' && i === plan.ops.length - 1) wires.push(...(await faulty(scenario, place, op)))
      else wires.push(await scenario.make(op))
    }
    return this.#pair.reference.propose(parentId, wires, {
      timeMs: this.#time(parentId, plan),
      miner: this.#miner(plan),
      version: 1 + 65_536 * plan.signal,
      extra: (this.#blocks++).toString(16).padStart(64, '0'),
    })
  }

  async #template(plan: Plan): Promise<Uint8Array> {
    const parentId = this.#pair.reference.headId
    const scenario = new Scenario(placeOn(this.#pair.reference, parentId))
    const wires = plan.flood ? await scenario.flood() : []
    for (const op of plan.ops) wires.push(await scenario.make(op))
    const { chain } = this.#pair.test
    const timeMs = this.#time(parentId, { ...plan, behindMs: 0 })
    const miner = this.#miner(plan)
    const template = await buildTemplate(chain, UNPACED, {
      miner: miner as Address,
      nowMs: timeMs,
      candidates: wires.map(decoded),
      extra: new Uint8Array(32),
    })
    if (template === undefined) throw new Error('the head moved')
    const block = encodeBlock(template.block)
    const { reference, test } = this.#pair
    const own = reference.propose(parentId, wires, { timeMs: template.block.header.timeMs, miner })
    const whole = reference.judge(own, test.nowMs).reason === null
    if (whole && template.block.transactions.length < wires.length)
      throw new Error(`template of ${template.block.header.height} refused ${JSON.stringify(template.refused)}`)
    return block
  }
}

function decoded(wire: Uint8Array): Transaction {
  const result = decodeTransaction(wire)
  if (!result.ok) throw new Error(result.fault.code)
  return result.value
}
