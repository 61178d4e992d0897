import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { Facilitator } from '../../marketplace/facilitator/facilitator.ts'
import { chainPrice } from '../../marketplace/till/rails/native/price.ts'
import type { FacilitatorApi } from '../../rpc/node/node-api.ts'
import { type Core, type DaemonOptions, repeat, type Stop } from '../daemon/open-core.ts'
import { systemClock } from '../daemon/runtime.ts'
import { folderPaths, storageFault } from '../storage/folder.ts'
import { LevelSettlements } from '../storage/level-settlements.ts'
import { settingsOf } from './open-market.ts'

const EXPIRE_MS = 60_000

/** Every node is a facilitator, even if it sells nothing. Faults: those of the disk. */
export async function openFacilitator(
  { config, onFatal }: Pick<DaemonOptions, 'config' | 'onFatal'>,
  { chain, mempool, verifier }: Pick<Core, 'chain' | 'mempool' | 'verifier'>,
  stops: Stop[],
): Promise<Result<FacilitatorApi>> {
  let records: LevelSettlements
  try {
    records = await LevelSettlements.open(folderPaths(config.dataDir).facilitator)
  } catch (error) {
    return fail(storageFault(config.dataDir, error))
  }
  stops.push(() => records.close())
  const [price, settings] = [chainPrice(chain), settingsOf(config)]
  const desk = new Facilitator({ chain, sink: mempool, price, settings, verifier, records, clock: systemClock })
  stops.push(repeat(EXPIRE_MS, () => desk.expire(), onFatal))
  return ok({ desk, price, settings })
}
