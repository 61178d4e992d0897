import { epochOf } from '../../../consensus/ledger/epoch.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import type { TabRules } from '../../../consensus/tx/rules.ts'
import { claimFee } from '../../../marketplace/till/rails/tab/claim-fee.ts'
import { feeBudget } from '../../../marketplace/till/rails/tab/claim-policy.ts'
import { DEFAULT_MARKET_SETTINGS } from '../../../marketplace/till/settings.ts'
import { auditState } from '../../../src/cli/commands/audit.ts'
import { dueOf, type TabBook, TabBooks } from './tab-books.ts'
import type { SimTab } from './tab-payer.ts'
import { tabSimRuleBook } from './tab-rules.ts'
import type { TabStall, Unwound } from './tab-stall.ts'
import type { TabTown } from './tab-town.ts'

/** What came of a run. */
export interface TabVerdict {
  readonly wrong: readonly string[]
  readonly height: number
  readonly calls: number
  /** Tabs of the best chain, by how they ended. */
  readonly ended: { readonly claim: number; readonly return: number }
  readonly deepest: number
  /** Transactions about tabs that reorganisations took from a seller's chain, by kind. */
  readonly undone: Readonly<Record<string, number>>
  readonly floodedBlocks: number
  /** Tabs and top-ups that a thief spent elsewhere after the seller had served on them. */
  readonly stolen: number
  /** Tabs of which a flood kept the last claim out at every price that the seller may bid. */
  readonly outbid: number
}

/** Blocks before its due height in which a tab that no payer closed is surely claimed. */
const LAST_BLOCKS = 60
/** Blocks after which a waiting claim doubles its tip, and those until it is made and after a reorganisation is sent again. */
const PATIENCE = 3
const SETTLING = 6

/** Judges a town in which every tab has ended. */
export async function tabVerdictOn(town: TabTown): Promise<TabVerdict> {
  const { nodes, stalls, tabs, complaints, counts } = town
  const [{ life }] = nodes as readonly [(typeof nodes)[number]]
  const { height } = life.chain.head.header
  const books = new TabBooks(life.chain.database, height)
  const wrong = [...complaints, ...disagreements(town), ...books.faults()]
  for (const { name, life: one } of nodes) {
    const report = await auditState(one.chain)
    if (!report.sound) wrong.push(`${name} is unsound: ${JSON.stringify(report)}`)
  }
  const losses = new Losses(town, books)
  for (const tab of tabs) await losses.judge(tab)
  const ends = [...books.tabs.values()].flatMap((book) => book.ends)
  const undone = Object.fromEntries(
    ['tab_open', 'tab_fund', 'tab_claim', 'tab_close'].map((kind) => [
      kind,
      stalls.reduce((sum, stall) => sum + (stall.undone.get(kind as never) ?? 0), 0),
    ]),
  )
  return {
    wrong: [...wrong, ...losses.faults()].map((what) => `seed ${town.seed}: ${what}`),
    ...{ height, calls: counts.calls, floodedBlocks: counts.floodedBlocks, undone },
    ended: {
      claim: ends.filter(({ how }) => how === 'claim').length,
      return: ends.filter(({ how }) => how === 'return').length,
    },
    deepest: Math.max(...stalls.map(({ deepest }) => deepest)),
    ...{ stolen: losses.stolen, outbid: losses.outbid },
  }
}

function disagreements({ nodes }: TabTown): readonly string[] {
  const roots = new Set(nodes.map(({ life }) => `${life.chain.head.id} ${life.chain.head.header.stateRoot}`))
  return roots.size === 1 ? [] : [`the nodes have ${roots.size} heads`]
}

/** What sellers lost, and whether they had to. */
class Losses {
  stolen = 0
  outbid = 0
  readonly #town: TabTown
  readonly #books: TabBooks
  readonly #wrong: string[] = []
  /** What was lost with the money that each block had brought, in millionths of a dollar. */
  readonly #atOnce = new Map<BlockId, { readonly depth: number; micros: bigint }>()

  constructor(town: TabTown, books: TabBooks) {
    this.#town = town
    this.#books = books
  }

  async judge(tab: SimTab): Promise<void> {
    const { tabId, stall } = tab
    const charged = (await stall.store.tab(tabId))?.charged ?? 0n
    const book = this.#books.tabs.get(tabId)
    if (charged === 0n) return
    if (book === undefined) return this.#steal(tab, 'tab_open', charged)
    if (charged > book.deposit) this.#steal(tab, 'tab_fund', charged - book.deposit)
    const owed = charged < book.deposit ? charged : book.deposit
    if (owed > book.claimed) this.#miss(tab, book, owed - book.claimed)
  }

  /** One block brought money to several tabs: what is lost with it stays below the limit of the depth that it had. */
  faults(): readonly string[] {
    const over = [...this.#atOnce.values()].filter(({ depth, micros }) => micros >= limitAt(depth))
    return [
      ...this.#wrong,
      ...over.map(({ depth, micros }) => `${micros} millionths were lost with a block that was ${depth} deep`),
    ]
  }

  #steal({ tabId, stall }: SimTab, kind: Unwound['kind'], amount: bigint): void {
    this.stolen += 1
    const taken = stall.unwound.filter((one) => one.tabId === tabId && one.kind === kind)
    const [deepest] = taken.toSorted((a, b) => b.depth - a.depth)
    if (deepest === undefined) return void this.#wrong.push(`tab ${tabId}: ${amount} lost, but no block left the chain`)
    const sum = this.#atOnce.get(deepest.blockId) ?? { depth: deepest.depth, micros: 0n }
    sum.micros += microsOf(stall, amount)
    this.#atOnce.set(deepest.blockId, sum)
  }

  /** A seller loses what it did not claim only if the blocks that it heard of refused its claim at each price that it may bid. */
  #miss({ tabId, stall }: SimTab, book: TabBook, amount: bigint): void {
    const rules = tabSimRuleBook().at(1)
    const due = dueOf(book)
    const ended = book.ends[0]?.height ?? due
    const from = book.closesAt === 0 ? due - LAST_BLOCKS : due - book.opening.closeDelay
    const weight = claimFee(1, 1n, rules.tx, rules.tx.tabs as TabRules)
    const tab = { ...book, closeDelay: book.opening.closeDelay }
    let chances = 0
    let highestTip = 1n
    for (const { id, height, baseFee, weightUsed, lowestRate } of this.#books.blocks) {
      if (height <= from || height >= ended || this.#town.heardBy.get(id)?.has(stall.node) !== true) continue
      const isFull = BigInt(weightUsed) + weight > BigInt(rules.block.weightMax)
      const rate = isFull ? lowestRate + 1n : baseFee + 1n
      // What earns no more than its fee is left to the payer.
      if (weight * (baseFee + 1n) > amount || weight * rate > feeBudget(tab, amount, height - 1)) continue
      chances += 1
      if (rate - baseFee > highestTip) highestTip = rate - baseFee
    }
    const doublings = highestTip.toString(2).length
    if (chances > SETTLING + PATIENCE * doublings)
      this.#wrong.push(`tab ${tabId}: ${amount} never claimed, though ${chances} blocks would have taken a claim`)
    this.outbid += 1
  }
}

function limitAt(depth: number): bigint {
  const steps = DEFAULT_MARKET_SETTINGS.confirmationSteps.filter(({ confirmations }) => confirmations <= depth)
  return steps.at(-1)?.belowUsdMicros ?? 0n
}

function microsOf({ price, node }: TabStall, amount: bigint): bigint {
  const { chain } = node.life
  const { height } = chain.head.header
  return price.microsOfAmount(amount, epochOf(height, chain.ruleBook.at(height).market)) as bigint
}
