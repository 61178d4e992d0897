import { assetIds, poolIds } from './assets.ts'
import { attestations } from './attestations.ts'
import { blockAnchor, blockAsert, blockBaseFee, blockStep } from './block-difficulty.ts'
import { blockEncoding, blockHeader, blockWork } from './block-header.ts'
import { blockHistory } from './block-history.ts'
import { blockReceipts } from './block-receipts.ts'
import { networkGenesis } from './network-genesis.ts'
import { stateRecords } from './state-records.ts'
import { stateTree } from './state-tree.ts'
import { tabClaims, tabSeeds, tabSigning } from './tabs.ts'
import { txEncoding, txKinds } from './tx-encoding.ts'
import { txJson } from './tx-json.ts'
import { txMalformed } from './tx-malformed.ts'
import { txSigned } from './tx-signed.ts'

/** Every set of vectors about transactions, blocks, state and networks, by the name of its file. */
export const CHAIN_VECTORS = {
  'tx-encoding': txEncoding,
  'tx-kinds': txKinds,
  'tx-json': txJson,
  'tx-malformed': txMalformed,
  'tx-signed': txSigned,
  'asset-ids': assetIds,
  'pool-ids': poolIds,
  attestations,
  'block-header': blockHeader,
  'block-work': blockWork,
  'block-encoding': blockEncoding,
  'block-receipts': blockReceipts,
  'block-base-fee': blockBaseFee,
  'block-asert': blockAsert,
  'block-anchor': blockAnchor,
  'block-step': blockStep,
  'block-history': blockHistory,
  'state-records': stateRecords,
  'state-tree': stateTree,
  'network-genesis': networkGenesis,
  'tab-signing': tabSigning,
  'tab-claims': tabClaims,
  'tab-seeds': tabSeeds,
} as const

/** Text of a vector file: a line per case. */
export function vectorText(set: { readonly cases: readonly unknown[] }): string {
  const { cases, ...head } = set
  const lines = cases.map((one) => `    ${JSON.stringify(one)}`)
  const opening = JSON.stringify(head, null, 2).replace(/\n}$/, ',')
  return `${opening}\n  "cases": [\n${lines.join(',\n')}\n  ]\n}\n`
}
