import { prunedFault } from '../../../consensus/chain/pruned.ts'
import { rebuildIndexes } from '../../storage/reindex.ts'
import type { Command } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { openOffline } from '../offline.ts'

/** Least time between two lines of progress. */
const PROGRESS_MS = 2_000

/** `farthing reindex`: makes the indexes again; the node must not be running on the folder. */
export const reindexCommand: Command = {
  name: 'reindex',
  usage: '',
  wordsMax: 0,
  about: 'Make the indexes of the data folder again from its chain; goes on where it was broken off',
  flags: {},
  run: async (context) => {
    const opened = await openOffline(context, false, { staleIndexes: true })
    if (!opened.ok) return opened.fault
    const { chain, store, close } = opened.value
    const { height: head } = chain.head.header
    if (chain.database.base > 0 || chain.database.held.witnessesFrom > 0) {
      await close()
      return prunedFault(chain.database, chain.database.base + 1)
    }
    let toldMs = performance.now()
    const onProgress = (height: number): void => {
      if (performance.now() - toldMs < PROGRESS_MS) return
      toldMs = performance.now()
      context.logger.info({ height, head }, 'rebuilding indexes')
    }
    await rebuildIndexes({ store, database: chain.database, ruleBook: chain.ruleBook, onProgress })
    await close()
    const names = chain.ruleBook.indexes.map(({ name }) => name).join(', ')
    context.print(`indexes rebuilt up to height ${head}: ${names}`)
    return EXIT.ok
  },
}
