import type { ChainReader } from '../../consensus/chain/reader.ts'
import { NATIVE_ASSET } from '../../consensus/state/table.ts'
import type { CallRecord } from '../../marketplace/queries/reputation.ts'
import type { RecordJson } from '../contract/reputation.ts'
import { assetAmountJson, percentText } from './asset-json.ts'

const PPM = 1_000_000

/** JSON of how paid calls ended. */
export function recordJson(chain: ChainReader, record: CallRecord): RecordJson {
  const { delivered, failed, expired, successPpm, topPayerPpm, p50Ms, p95Ms, byTab } = record
  const coins = (units: bigint) => assetAmountJson(chain, NATIVE_ASSET, units) as RecordJson['burned']
  return {
    indexedFrom: chain.database.indexedFrom,
    ...{ delivered, failed, expired, refunds: failed + expired },
    successPct: successPpm === null ? null : percentText(successPpm),
    successAtLeastPct: percentText(record.successAtLeastPpm),
    distinctPayers: record.payers,
    effectivePayers: (Number(record.effectivePayersPpm) / PPM).toFixed(2),
    topPayerPct: topPayerPpm === null ? null : percentText(topPayerPpm),
    ...{ p50Ms, p95Ms },
    burned: coins(record.burned),
    byTab: {
      provenCalls: byTab.provenCalls,
      failed: byTab.failed,
      distinctPayers: byTab.payers,
      volume: coins(byTab.volume),
      burned: coins(byTab.burned),
    },
  }
}
