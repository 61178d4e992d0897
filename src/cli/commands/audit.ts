import type { Chain } from '../../../consensus/chain/chain.ts'
import { Balance } from '../../../consensus/ledger/conservation.ts'
import { decodeOwn } from '../../../consensus/primitives/codec.ts'
import type { Page } from '../../../consensus/state/page.ts'
import type { PageId } from '../../../consensus/state/tree.ts'
import { ROOT_PAGE, updateTreeNow } from '../../../consensus/state/tree.ts'
import type { Command } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { openOffline } from '../offline.ts'

/** What an audit found. */
export interface AuditReport {
  readonly height: number
  readonly blockId: string
  readonly records: number
  /** Conservation: assets whose places do not sum to what was minted and not burned. */
  readonly brokenAssets: readonly { readonly asset: string; readonly sum: string }[]
  /** State root computed from every record, and the one in the head's header. */
  readonly computedStateRoot: string
  readonly headerStateRoot: string
  readonly sound: boolean
}

const BATCH = 4_096

/** Recomputes conservation and the state root from every record of the data folder, trusting no index. */
export async function auditState({ database, ruleBook }: Chain): Promise<AuditReport> {
  const balance = new Balance()
  const pages = new Map<PageId, Page>()
  const reader = { page: (id: PageId) => pages.get(id) }
  let batch: {
    table: ReturnType<typeof ruleBook.tableOf>
    key: Parameters<typeof ruleBook.tableOf>[0]
    before: undefined
    after: Uint8Array
  }[] = []
  let records = 0
  let root = ''
  const flush = (): void => {
    const update = updateTreeNow(reader, batch)
    root = update.root
    for (const [id, page] of update.pages) {
      if (page === null && id !== ROOT_PAGE) pages.delete(id)
      else if (page !== null) pages.set(id, page)
    }
    batch = []
  }
  for await (const { key, value } of database.stateRecords()) {
    const table = ruleBook.tableOf(key)
    records += 1
    balance.count(table, key, decodeOwn(table.codec, value), 1n)
    batch.push({ table, key, before: undefined, after: value })
    if (batch.length >= BATCH) flush()
  }
  flush()
  const { header, id } = database.head
  const brokenAssets = balance.broken().map(({ asset, sum }) => ({ asset, sum: sum.toString() }))
  const sound = brokenAssets.length === 0 && root === header.stateRoot
  return {
    height: header.height,
    blockId: id,
    records,
    brokenAssets,
    computedStateRoot: root,
    headerStateRoot: header.stateRoot,
    sound,
  }
}

/** `farthing audit`: checks a data folder; the node must not be running on it. */
export const auditCommand: Command = {
  name: 'audit',
  usage: '',
  wordsMax: 0,
  about: 'Recompute conservation and the state root from the data folder',
  flags: {},
  run: async (context) => {
    const opened = await openOffline(context, false)
    if (!opened.ok) return opened.fault
    const report = await auditState(opened.value.chain)
    await opened.value.close()
    context.print(JSON.stringify(report, null, 2))
    return report.sound ? EXIT.ok : EXIT.invariant
  },
}
