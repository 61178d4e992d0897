import fc from 'fast-check'
import { expect, it } from 'vitest'
import { BlockExecution } from '../../consensus/chain/execution.ts'
import { createRuleBook, type RuleBook } from '../../consensus/chain/rule-book.ts'
import { Balance } from '../../consensus/ledger/conservation.ts'
import { decodeOwn } from '../../consensus/primitives/codec.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import { runNow } from '../../consensus/primitives/steps.ts'
import type { ValueChange } from '../../consensus/state/overlay.ts'
import { MemoryState } from '../../consensus/state/view.ts'
import { TX_KIND_NAMES } from '../../consensus/tx/kinds.ts'
import { decodeTransaction } from '../../consensus/tx/transaction.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { ACTORS } from '../support/actors.ts'
import { paramsArbitrary } from '../support/random-networks.ts'
import { runs } from '../support/runs.ts'
import { type Op, opArbitrary, Scenario } from '../support/scenario.ts'

const RUNS = 1_000

/** Blocks that start every chain: agents, services, and accounts that most acts need. */
const BEGINNING: readonly (readonly Op[])[] = [
  [0, 1].map((i) => ({ kind: 'register', n: [i, i, 0, 0, i, 3 + i, 0, 0, 0, 0, 0, 0] })),
  [0, 1, 2, 3].map((i) => ({ kind: 'publish', n: [1, i >> 1, i, 2, 0, 0, i & 1, 0, 0, 0, 0, 0] })),
  [10, 12, 13].map((i) => ({ kind: 'transfer', n: [2, i, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0] })),
]

const blocksOf = (most: number) => fc.array(fc.array(opArbitrary, { maxLength: 8 }), { minLength: 1, maxLength: most })
/** Longer chains that start every run. On them every kind succeeds, also kinds that need several steps before. */
const FIRST = fc.sample(fc.tuple(paramsArbitrary, blocksOf(30)), { seed: 8, numRuns: 20 })

/** Ledgers that execute blocks without checks of proof of work and witnesses. */
class Books {
  readonly ruleBook: RuleBook
  readonly state = new MemoryState()
  readonly #met: Set<string>
  #height = 0

  constructor(ruleBook: RuleBook, met: Set<string>) {
    this.ruleBook = ruleBook
    this.#met = met
    this.state.apply(ruleBook.genesis.changes)
  }

  async play(ops: readonly Op[]): Promise<void> {
    const { ruleBook, state } = this
    const height = ++this.#height
    const { baseFee } = ruleBook.params.genesis
    const miner = (ACTORS[0] as { readonly address: string }).address as Address
    const records = new Map([...state.records()].map(({ key, value }) => [key as string, value]))
    const genesisId = ruleBook.genesis.block.id
    const scenario = new Scenario({ genesisId, records, height, baseFee, rules: ruleBook.at(height) })
    const execution = new BlockExecution(ruleBook, state, { height, miner, baseFee })
    runNow(execution.begin())
    const kinds: string[] = []
    for (const op of ops) {
      const tx = decodeTransaction(await scenario.make(op))
      // A transaction that cannot pay its fee stays out of the block, with the later ones of its sender.
      if (tx.ok && execution.apply(tx.value) === null) kinds.push(tx.value.body.kind)
    }
    const { changes, receipts } = runNow(execution.close())
    state.apply(changes)
    const codes = receipts.flatMap((receipt) => (receipt.type === 'transaction' ? [receipt.code] : []))
    for (const [i, kind] of kinds.entries()) if (codes[i] === 0) this.#met.add(kind)
  }

  /** Sums every record: all value minted and not burned must be found, and each ledger's sums must agree. */
  expectSound(): void {
    const balance = new Balance()
    const all: ValueChange[] = []
    for (const { table, key, value } of this.state.records()) {
      const after = decodeOwn(table.codec, value)
      balance.count(table, key, after, 1n)
      all.push({ table, key, before: undefined, after })
    }
    expect(balance.broken()).toEqual([])
    const rules = this.ruleBook.at(this.#height)
    expect(this.ruleBook.modules.flatMap((module) => module.invariant?.(all, rules) ?? [])).toEqual([])
  }
}

it('what was minted and not burned is somewhere, whatever mix of all kinds is mined', {
  timeout: 10_000_000,
}, async () => {
  const met = new Set<string>()
  await fc.assert(
    fc.asyncProperty(paramsArbitrary, blocksOf(4), async (params, plan) => {
      const books = new Books(createRuleBook(params, PROTOCOL), met)
      for (const ops of [...BEGINNING, ...plan]) {
        await books.play(ops)
        books.expectSound()
      }
    }),
    { numRuns: runs(RUNS), examples: FIRST },
  )
  // A kind that never succeeds proves nothing.
  if (runs(RUNS) >= FIRST.length) expect([...met].sort()).toEqual([...TX_KIND_NAMES].sort())
})
