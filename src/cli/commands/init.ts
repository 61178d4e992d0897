import { createRuleBook } from '../../../consensus/chain/rule-book.ts'
import { useNativeSha256 } from '../../crypto/native-backend.ts'
import { PROTOCOL } from '../../protocol.ts'
import { openChain } from '../../storage/folder.ts'
import type { Command } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { importDevWallets } from '../wallets.ts'

const MIB = 1_048_576

/** `farthing init`: creates the data folder without running a node. */
export const initCommand: Command = {
  name: 'init',
  usage: '',
  wordsMax: 0,
  about: 'Make the data folder of a network',
  flags: {},
  run: async ({ config, params, print }) => {
    useNativeSha256()
    const sizes = { cacheBytes: config.storage.cacheMib * MIB, writeBufferBytes: config.storage.writeBufferMib * MIB }
    const opened = await openChain(
      config.dataDir,
      createRuleBook(params, PROTOCOL),
      createRuleBook(params, PROTOCOL).genesis,
      sizes,
    )
    if (!opened.ok) return opened.fault
    await opened.value.store.close()
    const imported = await importDevWallets(config, params)
    if (!imported.ok) return imported.fault
    print(`${config.dataDir} is ready for ${params.name} (height ${opened.value.database.head.header.height})`)
    return EXIT.ok
  },
}
