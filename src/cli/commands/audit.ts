import type { ChainReader } from '../../../consensus/chain/reader.ts'
import type { RuleBook } from '../../../consensus/chain/rule-book.ts'
import { ACCOUNTS } from '../../../consensus/ledger/account.ts'
import { Balance } from '../../../consensus/ledger/conservation.ts'
import { TOKEN_BALANCES } from '../../../consensus/ledger/token-balances.ts'
import { decodeOwn } from '../../../consensus/primitives/codec.ts'
import type { ValueChange } from '../../../consensus/state/overlay.ts'
import type { Page } from '../../../consensus/state/page.ts'
import type { PageId } from '../../../consensus/state/tree.ts'
import { ROOT_PAGE, updateTreeNow } from '../../../consensus/state/tree.ts'
import type { StateChange } from '../../../consensus/state/view.ts'
import { lockedIn, TABS, type Tab } from '../../../marketplace/ledger/tab-records.ts'
import type { Command } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { IndexAudit, type IndexReport } from '../index-audit.ts'
import { openOffline } from '../offline.ts'

/** Result of an audit. */
export interface AuditReport {
  readonly height: number
  readonly blockId: string
  readonly records: number
  /** Assets that break conservation: what all records hold of them differs from minted minus burned. */
  readonly brokenAssets: readonly { readonly asset: string; readonly sum: string }[]
  /** Invariants of ledgers that break over all records: escrow and stake sums, pool shares, custody. */
  readonly brokenInvariants: readonly string[]
  /** Open tabs, and base units that they lock, added up over their records. */
  readonly tabs: { readonly open: number; readonly locked: string }
  /** State root computed from the records, and the one in the header of the head. */
  readonly computedStateRoot: string
  readonly headerStateRoot: string
  /** Indexes that are derived from the state. */
  readonly indexes: readonly IndexReport[]
  readonly sound: boolean
}

const BATCH = 4_096
/** Tables that grow with the number of users. No invariant sums over them, so they are not kept in memory. */
const CROWDED = new Set([ACCOUNTS.prefix, TOKEN_BALANCES.prefix])

class TreeBuilder {
  readonly #pages = new Map<PageId, Page>()
  root = ''

  add(batch: readonly StateChange[]): void {
    const update = updateTreeNow({ page: (id) => this.#pages.get(id) }, batch)
    this.root = update.root
    for (const [id, page] of update.pages) {
      if (page === null && id !== ROOT_PAGE) this.#pages.delete(id)
      else if (page !== null) this.#pages.set(id, page)
    }
  }
}

class LedgerSums {
  readonly #balance = new Balance()
  #open = 0
  #locked = 0n
  // As changes from an empty state, the records themselves can be given to the invariants.
  readonly #changes: ValueChange[] = []

  add({ table, key }: Pick<StateChange, 'table' | 'key'>, value: unknown): void {
    this.#balance.count(table, key, value, 1n)
    if (table.prefix === TABS.prefix) {
      this.#open += 1
      this.#locked += lockedIn(value as Tab)
    }
    if (!CROWDED.has(table.prefix)) this.#changes.push({ table, key, before: undefined, after: value })
  }

  get tabs(): AuditReport['tabs'] {
    return { open: this.#open, locked: this.#locked.toString() }
  }

  broken({ modules, at }: RuleBook, height: number): Pick<AuditReport, 'brokenAssets' | 'brokenInvariants'> {
    return {
      brokenAssets: this.#balance.broken().map(({ asset, sum }) => ({ asset, sum: sum.toString() })),
      brokenInvariants: modules.flatMap((module) => module.invariant?.(this.#changes, at(height)) ?? []),
    }
  }
}

/**
 * Recomputes conservation, ledger invariants and state root from every record of the data folder. Uses no index, and
 * compares the derived indexes with the state.
 */
export async function auditState({ database, ruleBook }: ChainReader): Promise<AuditReport> {
  const tree = new TreeBuilder()
  const sums = new LedgerSums()
  const audits = ruleBook.indexes
    .filter((index) => 'changesOf' in index)
    .map((index) => new IndexAudit(index, database))
  let batch: StateChange[] = []
  let records = 0
  const flush = (): void => {
    tree.add(batch)
    for (const audit of audits) audit.add(batch)
    batch = []
  }
  for await (const { key, value } of database.stateRecords()) {
    const table = ruleBook.tableOf(key)
    records += 1
    sums.add({ table, key }, decodeOwn(table.codec, value))
    batch.push({ table, key, before: undefined, after: value })
    if (batch.length >= BATCH) flush()
  }
  flush()
  const { header, id } = database.head
  const broken = sums.broken(ruleBook, header.height)
  const indexes = await Promise.all(audits.map((audit) => audit.finish()))
  const sound =
    broken.brokenAssets.length + broken.brokenInvariants.length === 0 &&
    tree.root === header.stateRoot &&
    indexes.every(({ wrong }) => wrong === 0)
  return {
    height: header.height,
    blockId: id,
    records,
    ...broken,
    tabs: sums.tabs,
    computedStateRoot: tree.root,
    headerStateRoot: header.stateRoot,
    indexes,
    sound,
  }
}

/** `farthing audit`: checks a data folder. */
export const auditCommand: Command = {
  name: 'audit',
  usage: '',
  wordsMax: 0,
  about: 'Recompute conservation, the sums of each ledger, the state root and the indexes over it from the data folder',
  flags: {},
  run: async (context) => {
    const opened = await openOffline(context, false)
    if (!opened.ok) return opened.fault
    const report = await auditState(opened.value.chain)
    await opened.value.close()
    context.printJson(report, 2)
    return report.sound ? EXIT.ok : EXIT.invariant
  },
}
