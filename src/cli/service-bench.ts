import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlineVerifier } from '../../consensus/crypto/verifier.ts'
import { ok, type Result } from '../../consensus/primitives/result.ts'
import type { ServiceContext } from '../../marketplace/services/context.ts'
import { Mempool } from '../../mempool/mempool.ts'
import { DEFAULT_MEMPOOL_POLICY } from '../../mempool/policy.ts'
import { openOutside, type RunningOutside } from '../adapters/open-outside.ts'
import { NATIVE_BACKEND } from '../crypto/native-backend.ts'
import type { Stop } from '../daemon/open-core.ts'
import { systemClock, systemTimers } from '../daemon/runtime.ts'
import { serviceContext } from '../market/open-market.ts'
import { isInitialised } from '../storage/folder.ts'
import type { CommandContext } from './command.ts'
import { openOffline } from './offline.ts'

/** What services see, without a daemon: the chain of the data folder, or the genesis alone if there is no chain yet. */
export interface ServiceBench {
  readonly context: ServiceContext
  readonly outside: RunningOutside
  /** True if the chain is that of the data folder. */
  readonly hasChain: boolean
  readonly close: () => Promise<void>
}

/** Opens chain and providers to try services. The node must not be running. */
export async function openServiceBench(context: CommandContext): Promise<Result<ServiceBench>> {
  const stops: Stop[] = []
  const close = async (): Promise<void> => {
    for (const stop of stops.splice(0).reverse()) await stop()
  }
  const opened = await assemble(context, stops)
  if (opened.ok) return ok({ ...opened.value, close })
  await close()
  return opened
}

async function assemble(context: CommandContext, stops: Stop[]): Promise<Result<Omit<ServiceBench, 'close'>>> {
  const { config } = context
  const hasChain = await isInitialised(config.dataDir)
  const folder = hasChain ? config.dataDir : await mkdtemp(join(tmpdir(), 'farthing-trial-'))
  if (!hasChain) stops.push(() => rm(folder, { recursive: true, force: true }))
  const offline = await openOffline({ ...context, config: { ...config, dataDir: folder } }, !hasChain)
  if (!offline.ok) return offline
  const { chain, close } = offline.value
  stops.push(close)
  const parts = { config: config.outside, publicUrl: config.rpc.publicUrl, clock: systemClock, timers: systemTimers }
  const outside = await openOutside(parts, stops)
  if (!outside.ok) return outside
  await outside.value.looked()
  const verifier = createInlineVerifier(NATIVE_BACKEND)
  const mempool = new Mempool({ chain, verifier, policy: DEFAULT_MEMPOOL_POLICY })
  const world = serviceContext({ chain, mempool, peerCount: () => 0, outside: outside.value })
  return ok({ context: world, outside: outside.value, hasChain })
}
