import { TAB_SCHEME } from '../../../consensus/crypto/tab-signing.ts'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import type { Hash, TxId } from '../../../consensus/primitives/ids.ts'
import type { PayloadOf, TxKind } from '../../../consensus/tx/kinds.ts'
import { requestCommitment } from '../../../consensus/tx/request-hash.ts'
import { signTransaction } from '../../../consensus/tx/sign.ts'
import { tabQueryMessage, voucherMessage } from '../../../consensus/tx/tab-messages.ts'
import type { Transaction, TxBody } from '../../../consensus/tx/transaction.ts'
import { TABS, type Tab } from '../../../marketplace/ledger/tab-records.ts'
import type { TabPaidCall } from '../../../marketplace/till/rails/tab/tab-call.ts'
import { NATIVE_BACKEND } from '../../../src/crypto/native-backend.ts'
import type { WalletKey } from '../../../src/crypto/wallet-key.ts'
import { units } from '../unsigned.ts'
import type { Dice } from './dice.ts'
import type { SimNode } from './sim-node.ts'
import { SIM_CLOSE_DELAYS, SIM_TERMS } from './tab-rules.ts'
import type { TabStall } from './tab-stall.ts'

/** A tab of a simulation, as its payer has it. */
export interface SimTab {
  readonly tabId: TxId
  readonly opening: Transaction
  readonly wallet: WalletKey
  readonly stall: TabStall
  readonly seed: Uint8Array
  /** How the payer means to end it: by its own close, by asking the seller, or not at all. */
  readonly end: 'close' | 'refund' | 'expiry'
  /** Chance of a call in each block. */
  readonly busyness: number
  seq: number
  isBusy: boolean
  isEnding: boolean
}

/** Fees that any flood of the simulation lets pass. */
const RATES = { maxFeeRate: 100_000n, tip: 50_000n }

/** Signs a transaction with the next nonce that a node knows of, or another one. */
export function signedAt<K extends TxKind>(
  { life: { chain, mempool } }: SimNode,
  wallet: WalletKey,
  kind: K,
  payload: PayloadOf<K>,
  options: Partial<Pick<TxBody, 'nonce' | 'tip' | 'maxFeeRate'>> = {},
): Promise<Transaction> {
  const nonce = mempool.nextNonce(wallet.address)
  const head = { version: 1, chainId: 1, sender: wallet.address, nonce, kind, payload }
  const body = { ...head, ...RATES, ...options, validUntil: 0, memo: new Uint8Array(0) } as unknown as TxBody
  return signTransaction(body, wallet, chain.network)
}

interface OpeningParts extends Pick<SimTab, 'wallet' | 'stall'> {
  readonly dice: Dice
  readonly ends: readonly SimTab['end'][]
}

/** Opens a tab at a node, with terms by the dice. Null if the node refuses it. */
export async function openSimTab(node: SimNode, { wallet, stall, dice, ends }: OpeningParts): Promise<SimTab | null> {
  const seed = dice.bytes(32)
  const payload = {
    ...{ agentId: stall.agentId, deposit: units(100_000_000 + dice.below(800_000_000)), term: dice.pick(SIM_TERMS) },
    ...{ closeDelay: dice.pick(SIM_CLOSE_DELAYS), scheme: TAB_SCHEME },
    voucherKey: toHex(NATIVE_BACKEND.publicKeyEd25519(seed)) as Hash,
  }
  const opening = await signedAt(node, wallet, 'tab_open', payload)
  const admitted = await node.life.mempool.submit(opening)
  if (!admitted.ok) return null
  const plans = { end: dice.pick(ends), busyness: dice.between(0.1, 1) }
  return { tabId: opening.txId, opening, wallet, stall, seed, ...plans, seq: 1, isBusy: false, isEnding: false }
}

/** Makes one call on a tab, as a client that knows what it was charged. True if the seller delivered. */
export async function callOn(tab: SimTab, dice: Dice): Promise<boolean> {
  const { stall, tabId } = tab
  const { serviceId, rail, store } = stall
  const price = rail.priceOf(serviceId)
  if ('reason' in price || tab.isBusy) return false
  tab.isBusy = true
  const charged = store.peek(tabId)?.charged ?? 0n
  const answer = await rail.till.settle(signedCall(tab, charged + price.amount, dice.bytes(32)))
  tab.isBusy = false
  return answer.ok && answer.value.claim.state === 'delivered'
}

function signedCall(tab: SimTab, most: bigint, secret: Uint8Array): TabPaidCall {
  const { stall, tabId, seed } = tab
  const { agentId, serviceId, node } = stall
  const seq = tab.seq++
  const ceiling = units(most)
  const request = `ok ${tabId.slice(0, 8)} ${seq}`
  const context = requestCommitment(secret, { agentId, serviceId, request })
  const message = voucherMessage(node.life.chain.network, tabId, { seq, ceiling, context })
  const signature = NATIVE_BACKEND.signEd25519(message, seed)
  return { serviceId, request, payment: { tabId, voucher: { seq, ceiling, secret, signature }, transaction: null } }
}

/** Asks the seller to claim the tab and close it. */
export async function askRefund({ stall, tabId, seed }: SimTab): Promise<boolean> {
  const { chain, time } = stall.node.life
  const timeMs = time.now()
  const message = tabQueryMessage(chain.network, { tabId, what: 'refund', timeMs })
  const asked = await stall.rail.refund({ tabId, timeMs, signature: NATIVE_BACKEND.signEd25519(message, seed) })
  stall.claimer.check()
  return asked.ok
}

/** The record of a tab at a node. */
export function tabAt(node: SimNode, { tabId }: Pick<SimTab, 'tabId'>): Tab | undefined {
  return node.life.chain.database.get(TABS, tabId)
}
