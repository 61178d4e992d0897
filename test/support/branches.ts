import { type Block, decodeBlock, encodeBlock, transactionsRoot, witnessRoot } from '../../consensus/block/block.ts'
import type { ImportOutcome } from '../../consensus/chain/chain.ts'
import { type KeyValueStore, MemoryKeyValueStore } from '../../consensus/chain/key-value.ts'
import { createRuleBook, type RuleBook } from '../../consensus/chain/rule-book.ts'
import type { Fault } from '../../consensus/primitives/fault.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { weightOf } from '../../consensus/tx/weight.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { type ChainParts, TestChain, withHeader } from './chain.ts'
import { testParams } from './network.ts'

/** Proven work that is more than that of any chain in these tests. */
export const PROVEN_WORK = 1n << 200n

/** Imports a block through its wire bytes. Returns where the chain put it, or the fault. */
export async function outcomeOf({ chain }: TestChain, block: Block, provenWork = 0n): Promise<ImportOutcome | Fault> {
  const decoded = decodeBlock(encodeBlock(block))
  if (!decoded.ok) return decoded.fault
  const outcome = await chain.import(decoded.value, { provenWork })
  return outcome.ok ? outcome.value : outcome.fault
}

/** Blocks of a best chain from a height on. */
export function blocksFrom({ chain }: TestChain, from: number): readonly Block[] {
  const { database } = chain
  const heights = Array.from({ length: chain.head.header.height - from + 1 }, (_, i) => from + i)
  return heights.map((height) => database.block(database.idAt(height) as never) as Block)
}

/** Parts that `fork` gives to the new node. By default it has the rules of the given node and an empty store in memory. */
export interface ForkOptions {
  readonly ruleBook?: RuleBook
  readonly store?: KeyValueStore
  readonly parts?: ChainParts
}

/** Another node that has imported the same best chain. */
export async function fork(from: TestChain, options: ForkOptions = {}): Promise<TestChain> {
  const { ruleBook = from.ruleBook, store = new MemoryKeyValueStore(), parts = {} } = options
  const other = await TestChain.open(ruleBook, store, parts)
  other.nowMs = from.nowMs
  for (const block of blocksFrom(from, 1)) await other.import(block)
  return other
}

/** Mines `count` empty blocks; `mark` makes them differ from those of other branches. */
export async function mineBranch(test: TestChain, count: number, mark: number): Promise<readonly Block[]> {
  const blocks: Block[] = []
  for (let i = 0; i < count; i++) blocks.push(await test.mine([], { extra: new Uint8Array(32).fill(mark) }))
  return blocks
}

/** Imports all blocks and returns the last outcome. */
export async function importAll(
  test: TestChain,
  blocks: readonly Block[],
  provenWork = 0n,
): Promise<ImportOutcome | Fault> {
  let last: ImportOutcome | Fault = 'side'
  for (const block of blocks) {
    test.nowMs = Math.max(test.nowMs, block.header.timeMs)
    last = await outcomeOf(test, block, provenWork)
  }
  return last
}

/** The test rules, but with a doubled subsidy from a height on. Nodes with the test rules refuse blocks of that height or above. */
export function deviantRuleBook(fromHeight: number): RuleBook {
  const params = testParams()
  const { rules } = params.steps[0] as (typeof params.steps)[number]
  const deviant = { ...rules, coin: { ...rules.coin, subsidyDivisor: rules.coin.subsidyDivisor / 2n } }
  return createRuleBook({ ...params, steps: [...params.steps, { fromHeight, rules: deviant }] }, PROTOCOL)
}

/** The test rules, with a counter of the blocks executed under them. */
export function countingRuleBook(): { readonly ruleBook: RuleBook; readonly executions: () => number } {
  let count = 0
  const counter = {
    name: 'counter',
    tables: [],
    handlers: {},
    beginBlock: () => {
      count++
      return []
    },
  }
  const protocol = { ...PROTOCOL, modules: [...PROTOCOL.modules, counter] }
  return { ruleBook: createRuleBook(testParams(), protocol), executions: () => count }
}

/** The block with other transactions. Its header commits to them, but keeps the old state root and receipts root. */
export function withBody({ ruleBook }: TestChain, block: Block, transactions: readonly Transaction[]): Block {
  const { tx } = ruleBook.at(block.header.height)
  const weightUsed = transactions.reduce((sum, one) => sum + weightOf(one, tx), 0)
  const roots = { transactionsRoot: transactionsRoot(transactions), witnessRoot: witnessRoot(transactions) }
  return { ...withHeader(block, { ...roots, weightUsed }), transactions }
}
