import { type Block, transactionsRoot, witnessRoot } from '../block/block.ts'
import { HEADER_VERSION, sealHeader } from '../block/header.ts'
import { historyRoot } from '../block/history.ts'
import { ACCOUNTS, openedAccount } from '../ledger/account.ts'
import { conserves } from '../ledger/conservation.ts'
import type { LedgerModule } from '../ledger/module.ts'
import { receiptsRoot } from '../ledger/receipt.ts'
import { SUPPLY } from '../ledger/supply.ts'
import { amount, ZERO } from '../primitives/amount.ts'
import { assert } from '../primitives/assert.ts'
import { ZERO_HEX_32 } from '../primitives/bytes.ts'
import type { Address, BlockId } from '../primitives/ids.ts'
import { runNow } from '../primitives/steps.ts'
import { encodeText } from '../primitives/text.ts'
import { Overlay } from '../state/overlay.ts'
import { NATIVE_ASSET } from '../state/table.ts'
import { type TreeUpdate, updateTreeNow } from '../state/tree.ts'
import { MemoryState, type StateChange } from '../state/view.ts'
import type { NetworkParams, Rules } from './params.ts'

/** The block at height 0 and its state. It has no proof of work: nodes compare its id instead of checking it. */
export interface Genesis {
  readonly block: Block
  readonly changes: readonly StateChange[]
  readonly tree: TreeUpdate
}

/** Computes a network's genesis from its parameters and its ledgers. */
export function computeGenesis({ genesis, steps }: NetworkParams, modules: readonly LedgerModule[]): Genesis {
  const { rules } = steps[0] as { rules: Rules }
  const { coin, block } = rules
  const overlay = new Overlay(new MemoryState())
  let minted = 0n
  for (const { address, amount: allocated } of genesis.allocations) {
    overlay.put(ACCOUNTS, address, openedAccount(amount(allocated)))
    minted += allocated
  }
  overlay.put(SUPPLY, NATIVE_ASSET, { minted: amount(minted), burned: ZERO, cap: amount(coin.supplyCap) })
  for (const module of modules) module.genesis?.(overlay, rules, genesis.ledgers)
  assert(conserves(overlay.changesSince(0)), 'genesis creates no coins out of nothing')
  const changes = runNow(overlay.diff())
  const tree = updateTreeNow({ page: () => undefined }, changes)
  const sealed = sealHeader({
    version: HEADER_VERSION,
    height: 0,
    parent: ZERO_HEX_32 as BlockId,
    timeMs: genesis.timeMs,
    target: block.powLimit,
    transactionsRoot: transactionsRoot([]),
    witnessRoot: witnessRoot([]),
    receiptsRoot: receiptsRoot([]),
    stateRoot: tree.root,
    historyRoot: historyRoot([], 0),
    miner: ZERO_HEX_32 as Address,
    baseFee: genesis.baseFee,
    weightUsed: 0,
    extra: paddedMessage(genesis.message),
    nonce: 0n,
  })
  return { block: { ...sealed, transactions: [] }, changes, tree }
}

function paddedMessage(message: string): Uint8Array {
  const bytes = encodeText(message)
  assert(bytes.length <= 32, 'the genesis message has at most 32 bytes')
  const padded = new Uint8Array(32)
  padded.set(bytes)
  return padded
}
