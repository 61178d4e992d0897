import { availableParallelism } from 'node:os'
import { Chain } from '../../consensus/chain/chain.ts'
import type { OpenOptions } from '../../consensus/chain/database.ts'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { useNativeSha256 } from '../crypto/native-backend.ts'
import { nativePowHasher } from '../crypto/native-pow.ts'
import { eventLoopPacer, systemClock } from '../daemon/runtime.ts'
import { PROTOCOL } from '../protocol.ts'
import { isInitialised, openChain } from '../storage/folder.ts'
import type { LevelStore } from '../storage/level-store.ts'
import { VerifyPool } from '../workers/verify-pool.ts'
import type { CommandContext } from './command.ts'

/** A chain opened from its data folder without a daemon. */
export interface OfflineChain {
  readonly chain: Chain
  readonly store: LevelStore
  readonly close: () => Promise<void>
}

const MIB = 1_048_576

/** With `create`, a missing chain is made. */
export async function openOffline(
  { config, params }: CommandContext,
  create: boolean,
  options: OpenOptions = {},
): Promise<Result<OfflineChain>> {
  useNativeSha256()
  if (!create && !(await isInitialised(config.dataDir)))
    return fail(fault('storage/not-initialised', { folder: config.dataDir, flags: '' }))
  const ruleBook = createRuleBook(params, PROTOCOL)
  const { genesis } = ruleBook
  const sizes = { cacheBytes: config.storage.cacheMib * MIB, writeBufferBytes: config.storage.writeBufferMib * MIB }
  const opened = await openChain(config.dataDir, ruleBook, genesis, sizes, options)
  if (!opened.ok) return opened
  const verifier = new VerifyPool(config.verify.threads || availableParallelism())
  const chain = new Chain({
    ruleBook,
    database: opened.value.database,
    network: { chainId: 1, genesis: genesis.block.id },
    verifier,
    powHasher: nativePowHasher,
    clock: systemClock,
    pacer: eventLoopPacer(),
    reorganisationDepthMax: config.chain.reorganisationMax,
  })
  const close = async (): Promise<void> => {
    await chain.stop()
    await verifier.close()
    await opened.value.store.close()
  }
  return ok({ chain, store: opened.value.store, close })
}
