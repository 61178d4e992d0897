import { join } from 'node:path'
import { expect } from 'vitest'
import type { RuleBook } from '../../consensus/chain/rule-book.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { auditState } from '../../src/cli/commands/audit.ts'
import { LevelStore } from '../../src/storage/level-store.ts'
import { blocksFrom, fork, importAll, PROVEN_WORK } from './branches.ts'
import { type ChainParts, TestChain } from './chain.ts'
import { type MarketParts, TestMarket } from './market.ts'
import { testRuleBook } from './network.ts'
import { removeFolder, temporaryFolder } from './processes.ts'

const SIZES = { cacheBytes: 1 << 20, writeBufferBytes: 1 << 20 }
/** Marks blocks of the other half, so that they differ from those of the market's half. */
const OTHER = { extra: new Uint8Array(32).fill(0x5a) }

/** Transactions by block of a branch. Block 1 is the first after the fork. */
export type Plan = Readonly<Record<number, readonly Transaction[]>>

interface OpenStore {
  readonly folder: string
  store: LevelStore
}

const stores: OpenStore[] = []

/** A chain on a LevelDB of its own. */
export async function levelChain(ruleBook: RuleBook = testRuleBook(), parts: ChainParts = {}): Promise<TestChain> {
  const folder = temporaryFolder()
  const store = await LevelStore.open(join(folder, 'chain'), SIZES, true)
  stores.push({ folder, store })
  return TestChain.open(ruleBook, store, parts)
}

/** Restarts the chain that was opened last, on its LevelDB, with other settings. */
export async function restartedChain(test: TestChain, parts: ChainParts = {}): Promise<TestChain> {
  await test.chain.stop()
  const open = stores.at(-1) as OpenStore
  await open.store.close()
  open.store = await LevelStore.open(join(open.folder, 'chain'), SIZES, false)
  const again = await TestChain.open(test.ruleBook, open.store, parts)
  again.nowMs = test.nowMs
  return again
}

/** Closes the databases that tests have opened. */
export async function closeStores(): Promise<void> {
  for (const { store, folder } of stores.splice(0)) {
    await store.close()
    removeFolder(folder)
  }
}

/** A network in two halves: a market with its node in one, another chain in the other. `heal` joins them. */
export class Partition {
  readonly market: TestMarket
  readonly theirs: TestChain
  /** Height of the last block that both halves have. */
  readonly forkHeight: number

  private constructor(market: TestMarket, theirs: TestChain) {
    this.market = market
    this.theirs = theirs
    this.forkHeight = market.test.height
  }

  /** Opens a market and parts the network at its head. */
  static async open(parts: MarketParts = {}, chainParts: ChainParts = {}): Promise<Partition> {
    const test = parts.test ?? (await levelChain(parts.ruleBook, chainParts))
    const market = await TestMarket.open({ ...parts, test })
    await market.mine()
    return new Partition(market, await fork(test))
  }

  /** Mines the market's half to `count` blocks after the fork. */
  async growOurs(count: number, plan: Plan = {}): Promise<void> {
    const { market } = this
    while (market.test.height < this.forkHeight + count) {
      await market.mine(plan[market.test.height + 1 - this.forkHeight])
    }
  }

  /** Mines the other half to `count` blocks after the fork. */
  async growTheirs(count: number, plan: Plan = {}): Promise<void> {
    const { theirs, forkHeight } = this
    while (theirs.height < forkHeight + count) await theirs.mine(plan[theirs.height + 1 - forkHeight], OTHER)
  }

  /** Gives the market's half the blocks of the other half. Expects that they become its best chain. */
  async heal(): Promise<void> {
    const { market, theirs, forkHeight } = this
    expect(await importAll(market.test, blocksFrom(theirs, forkHeight + 1), PROVEN_WORK)).toBe('connected')
    expect(market.test.chain.head.id).toBe(theirs.chain.head.id)
    await market.quiet()
  }

  /** Expects that all balances add up and that every index agrees with the state. */
  async audit(): Promise<void> {
    expect(await auditState(this.market.test.chain)).toMatchObject({ sound: true })
  }

  /** How often the work of a payment's call was begun. */
  runsOf({ serviceId, request }: { readonly serviceId: string; readonly request: string }): number {
    return this.market.workbench.begun.filter((one) => one === `${serviceId} ${request}`).length
  }

  /** State and settlement of a payment's claim. Empty if there is no claim. */
  async claimOf({ txId }: { readonly txId: TxId }): Promise<readonly (string | undefined)[]> {
    const claim = await this.market.store.get(txId)
    return claim === undefined ? [] : [claim.state, 'settlement' in claim ? claim.settlement : undefined]
  }
}
