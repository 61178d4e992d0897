import { decodeBlock } from '../../consensus/block/block.ts'
import type { PowHasher } from '../../consensus/block/pow.ts'
import { MemoryKeyValueStore } from '../../consensus/chain/key-value.ts'
import type { NetworkParams } from '../../consensus/chain/params.ts'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import type { BlockId } from '../../consensus/primitives/ids.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { PROVEN_WORK } from './branches.ts'
import { TestChain } from './chain.ts'
import { hex } from './reference/bytes.ts'
import { ReferenceChain, type Verdict } from './reference/chain.ts'
import type { ReferenceGenesis, ReferenceStep } from './reference/params.ts'
import type { Records } from './reference/table.ts'

/** A hash that meets every target: targets can be real and mining costs nothing. */
export const freePow: PowHasher = () => new Uint8Array(32)

/** Prefixes of the tables that the state root leaves out. */
const UNROOTED = ['e0', 'e1']

/** The node's records that count for the state root. */
export async function rootedRecords(test: TestChain): Promise<Records> {
  const records: Records = new Map()
  for await (const { key, value } of test.chain.database.stateRecords()) {
    if (!UNROOTED.includes(key.slice(0, 2))) records.set(key, value)
  }
  return records
}

/** A line for each record that differs. */
export function differences(node: Records, reference: Records): string[] {
  const keys = [...new Set([...node.keys(), ...reference.keys()])].sort()
  return keys.flatMap((key) => {
    const show = (records: Records): string => {
      const record = records.get(key)
      return record === undefined ? 'absent' : hex(record)
    }
    return show(node) === show(reference) ? [] : [`${key}: node ${show(node)}, reference ${show(reference)}`]
  })
}

/** Feeds the node and the reference the same bytes at the same time. They must agree on everything. */
export class Differential {
  readonly test: TestChain
  readonly store: MemoryKeyValueStore
  readonly reference: ReferenceChain
  /** Blocks that the reference accepted, in order. */
  readonly taken: Uint8Array[] = []
  /** How many blocks the reference refused, and how often the head moved to another branch. */
  readonly counts = { refused: 0, reorganisations: 0 }

  private constructor(test: TestChain, store: MemoryKeyValueStore, reference: ReferenceChain) {
    this.test = test
    this.store = store
    this.reference = reference
  }

  static async open(params: NetworkParams, pow?: PowHasher): Promise<Differential> {
    const store = new MemoryKeyValueStore()
    const test = await TestChain.open(createRuleBook(params, PROTOCOL), store, pow && { powHasher: pow })
    const genesis: ReferenceGenesis = params.genesis
    const steps: readonly ReferenceStep[] = params.steps
    const pair = new Differential(test, store, new ReferenceChain(genesis, steps, pow))
    if (test.chain.head.id !== pair.reference.genesisId) throw new Error('genesis differs')
    await pair.compareState()
    return pair
  }

  /** Gives the node a block. Returns where it put the block, or the code of the refusal. */
  async import(wire: Uint8Array): Promise<{ readonly outcome?: string; readonly refusal?: string }> {
    const block = decodeBlock(wire)
    if (!block.ok) return { refusal: block.fault.code }
    // The reference keeps every side block. Proven work makes the node keep light ones too.
    const result = await this.test.chain.import(block.value, { provenWork: PROVEN_WORK })
    return result.ok ? { outcome: result.value } : { refusal: result.fault.code }
  }

  /** A block on the reference's head with these transactions, `afterMs` later. */
  next(wires: readonly Uint8Array[] = [], afterMs = 3_000, miner = 'aa'.repeat(32)): Uint8Array {
    const { headId } = this.reference
    const timeMs = this.reference.block(headId).header.timeMs + afterMs
    this.test.nowMs = Math.max(this.test.nowMs, timeMs)
    return this.reference.propose(headId, wires, { timeMs, miner })
  }

  /** Gives node and reference the block, and throws where they differ. Returns the reference's verdict. */
  async feed(wire: Uint8Array): Promise<Verdict> {
    const before = this.reference.headId
    const verdict = this.reference.accept(wire, this.test.nowMs)
    const { reason, computed, id, header } = verdict
    const { outcome, refusal } = await this.import(wire)
    // The node stores a side block without executing it; the reference executes every block.
    const unexecuted = outcome === 'side' && computed !== undefined
    if ((refusal === undefined) !== (reason === null) && !unexecuted) {
      const own = computed?.executed?.records
      const found = own === undefined ? [] : differences(await rootedRecords(this.test), own)
      throw new Error(
        [`${id} at ${header?.height}: node ${refusal ?? outcome}, reference ${reason ?? 'accepts'}`, ...found].join(
          '\n',
        ),
      )
    }
    if (reason === null) this.taken.push(wire)
    else this.counts.refused++
    if (this.reference.headId === id && header?.parent !== before) this.counts.reorganisations++
    await this.compareState()
    return verdict
  }

  /** Compares the receipts of the whole best chain. */
  compareReceipts(): void {
    const { reference, test } = this
    for (let id = reference.headId; id !== reference.genesisId; id = reference.block(id).header.parent) {
      const { header, receipts } = reference.block(id)
      const stored = (test.chain.database.receipts(id as BlockId) ?? []).map(hex)
      const own = receipts.map(hex)
      if (stored.length !== own.length || stored.some((receipt, i) => receipt !== own[i]))
        throw new Error(`receipts of ${header.height}:\nnode ${stored.join()}\nreference ${own.join()}`)
    }
  }

  /** Compares the head and every record of its state. */
  async compareState(): Promise<void> {
    const { headId } = this.reference
    if (this.test.chain.head.id !== headId)
      throw new Error(`head: node ${this.test.chain.head.id}, reference ${headId}`)
    const found = differences(await rootedRecords(this.test), this.reference.block(headId).records)
    if (found.length > 0) throw new Error(`records at ${this.test.height}:\n${found.join('\n')}`)
  }
}
