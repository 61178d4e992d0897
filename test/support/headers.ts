import { baseFeeAfter } from '../../consensus/block/base-fee.ts'
import { anchorAfter, targetAfter } from '../../consensus/block/difficulty.ts'
import { type Header, type SealedHeader, sealHeader } from '../../consensus/block/header.ts'
import { appendLeaf, type HistoryPeak, historyLeaf, historyRoot } from '../../consensus/block/history.ts'
import { workOfTarget } from '../../consensus/block/pow.ts'
import type { BlockEntry } from '../../consensus/chain/layout.ts'
import type { Rules } from '../../consensus/chain/params.ts'
import type { Hash } from '../../consensus/primitives/ids.ts'
import { filled } from './unsigned.ts'

/** A header with every field set. */
export function testHeader(change: Partial<Header> = {}): Header {
  return {
    version: 1,
    height: 1_000,
    parent: filled(0x10),
    timeMs: 1_793_491_200_000,
    target: 2n ** 240n,
    transactionsRoot: filled(0x11),
    witnessRoot: filled(0x12),
    receiptsRoot: filled(0x13),
    stateRoot: filled(0x14),
    historyRoot: filled(0x15),
    miner: filled(0x16),
    baseFee: 32n,
    weightUsed: 0,
    extra: new Uint8Array(32).fill(0x17),
    nonce: 5n,
    ...change,
  }
}

/** The tip of a branch of headers, with what its children need. */
export interface HeaderTip {
  readonly entry: BlockEntry
  readonly peaks: readonly HistoryPeak[]
}

/** The tip at genesis. */
export function genesisTip(genesis: SealedHeader): HeaderTip {
  const leaf = historyLeaf(genesis)
  const entry = { ...genesis, totalWork: leaf.work, totalTransactions: 0, bodyBytes: 0, anchor: null, invalid: false }
  return { entry, peaks: appendLeaf([], leaf, 0).peaks }
}

/** A header that fits its parent in everything that a header alone can show; its state is made up unless told. */
export function childHeader({ entry, peaks }: HeaderTip, { block }: Rules, change: Partial<Header> = {}): SealedHeader {
  const parent = entry.header
  return sealHeader(
    testHeader({
      height: parent.height + 1,
      parent: entry.id,
      timeMs: parent.timeMs + 3_000,
      target: targetAfter(entry.anchor, parent, block),
      baseFee: baseFeeAfter(parent, block),
      historyRoot: historyRoot(peaks, parent.height + 1) as Hash,
      ...change,
    }),
  )
}

/** The branch with one more header. */
export function extendTip({ entry, peaks }: HeaderTip, header: SealedHeader, { block }: Rules): HeaderTip {
  const anchor = anchorAfter(entry.anchor, entry.header, header.header, block)
  const totalWork = entry.totalWork + workOfTarget(header.header.target)
  const next = { ...header, totalWork, totalTransactions: 0, bodyBytes: 0, anchor, invalid: false }
  return { entry: next, peaks: appendLeaf(peaks, historyLeaf(header), header.header.height).peaks }
}
