import type { Block } from '../../consensus/block/block.ts'
import { MemoryKeyValueStore } from '../../consensus/chain/key-value.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { TestChain, wallet } from '../support/chain.ts'
import { units } from '../support/unsigned.ts'

/** A short chain shared by targets, and transactions that are not in it. */
export interface Fixture {
  readonly test: TestChain
  readonly store: MemoryKeyValueStore
  readonly blocks: readonly Block[]
  readonly waiting: readonly Transaction[]
  /** A block on the head that is not imported yet. */
  readonly next: Block
}

const BLOCKS = 8
let made: Promise<Fixture> | undefined

/** The fixture, made once. */
export function fixture(): Promise<Fixture> {
  made ??= make()
  return made
}

async function make(): Promise<Fixture> {
  const store = new MemoryKeyValueStore()
  const test = await TestChain.open(undefined, store)
  const pay = (from: number, to: number): Promise<Transaction> =>
    test.tx(wallet(from), 'transfer', { to: wallet(to).address, amount: units(5_000n), create: false })
  const blocks: Block[] = []
  for (let i = 0; i < BLOCKS; i++) blocks.push(await test.mine(i % 2 === 1 ? [await pay(1, 2), await pay(3, 4)] : []))
  const next = await test.build([await pay(1, 3), await pay(5, 6)])
  return { test, store, blocks, waiting: [await pay(7, 8), await pay(8, 9)], next }
}
