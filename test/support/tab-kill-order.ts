import { DEV_ADDRESSES, devSeed } from '../../config/networks/dev-keys.ts'
import { LAUNCH_RULES, TAB_RULES } from '../../config/networks/rules.ts'
import type { Address, AgentId } from '../../consensus/primitives/ids.ts'
import type { Operator } from '../../marketplace/till/shop.ts'
import { walletReceiptSigner } from '../../src/crypto/receipt-key.ts'
import { walletKey } from '../../src/crypto/wallet-key.ts'
import { testRuleBook } from './network.ts'

/** Where a seller kills itself: the `count`-th time that it comes to a step. */
export interface Death {
  readonly step: string
  readonly count: number
}

/** What a seller process is started with, as JSON. */
export interface SellerOrder {
  readonly folder: string
  /** URL of the network: it has the blocks, and takes transactions. */
  readonly network: string
  /** Number of the development wallet that claims. */
  readonly settler: number
  /** The store that replicas share; null for LevelDB in the folder. */
  readonly shared: { readonly url: string; readonly home: string; readonly leaseMs: number } | null
  readonly death: Death | null
}

/** The agent that sells. */
export const SELLER = 'tab-seller' as AgentId
/** Numbers of the wallets of its owner, its payout and its settlers. */
export const OWNER = 2
export const PAYOUT = 10
export const SETTLERS = [2, 4] as const

/** All processes of the seller sign receipts with one key. */
export const RECEIPT_SIGNER = walletReceiptSigner(devSeed(OWNER))

/** The rules of the network of these tests. */
export const killRuleBook = () => testRuleBook({ tx: { ...LAUNCH_RULES.tx, tabs: TAB_RULES } })

/** The operator, in a process that claims with this wallet. */
export function operatorWith(settler: number): Operator {
  const names = { agentId: SELLER, name: 'Seller', endpoint: '', url: null }
  return { ...names, owner: addressOf(OWNER), payout: addressOf(PAYOUT), settler: walletKey(devSeed(settler)) }
}

/** Address of a development wallet. */
export function addressOf(number: number): Address {
  return DEV_ADDRESSES[number - 1] as Address
}
