import type { Chain } from '../../../consensus/chain/chain.ts'
import { rebuildIndexes } from '../../storage/reindex.ts'
import { rebuildLate } from '../../storage/reindex-late.ts'
import type { Command, CommandContext } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { openOffline } from '../offline.ts'

const PROGRESS_MS = 2_000

/** `farthing reindex`: rebuilds the indexes. */
export const reindexCommand: Command = {
  name: 'reindex',
  usage: '',
  wordsMax: 0,
  about: 'Make the indexes of the data folder again from its chain; goes on where it was broken off',
  flags: {},
  run: async (context) => {
    const opened = await openOffline(context, false, { staleIndexes: true })
    if (!opened.ok) return opened.fault
    const { chain, close } = opened.value
    // Executing blocks again needs their witnesses, since witness sizes count in fees.
    const told = chain.database.held.witnessesFrom > 0 ? await late(chain) : await whole(context, chain)
    await close()
    context.print(told)
    return EXIT.ok
  },
}

async function whole(context: CommandContext, { database, ruleBook, head }: Chain): Promise<string> {
  const top = head.header.height
  let toldMs = performance.now()
  const onProgress = (height: number): void => {
    if (performance.now() - toldMs < PROGRESS_MS) return
    toldMs = performance.now()
    context.logger.info({ height, head: top }, 'rebuilding indexes')
  }
  await rebuildIndexes({ store: database.store, database, ruleBook, onProgress })
  return `indexes rebuilt up to height ${top}: ${ruleBook.indexes.map(({ name }) => name).join(', ')}`
}

/** If blocks are missing, the chain cannot be executed again. */
async function late({ database, ruleBook }: Chain): Promise<string> {
  const { derived, kept, begun, indexedFrom } = await rebuildLate({ database, ruleBook })
  const { witnessesFrom } = database.held
  const lines = [
    `blocks before height ${witnessesFrom} are not held here in full, so the chain cannot be executed again:`,
    `  made from the state: ${derived.join(', ') || 'none'}`,
    `  kept as they were: ${kept.join(', ') || 'none'}`,
    `  begun anew, without anything older: ${begun.join(', ') || 'none'}`,
    `indexes over blocks are complete from height ${indexedFrom} on; a node in mode archive that holds all blocks can rebuild them whole`,
  ]
  return lines.join('\n')
}
