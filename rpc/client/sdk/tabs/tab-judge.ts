import type { SigningNetwork } from '../../../../consensus/crypto/signing.ts'
import { amount } from '../../../../consensus/primitives/amount.ts'
import type { Hash, TxId } from '../../../../consensus/primitives/ids.ts'
import { voucherMessage } from '../../../../consensus/tx/tab-messages.ts'
import type { Disbelief, TabBook } from './tab-book.ts'
import { TAB_BEHIND } from './tab-errors.ts'
import { isSignedBy } from './tab-key.ts'
import { isReceiptOf } from './tab-receipts.ts'
import type { SaidState } from './tab-wire.ts'

/** Why a tab is stopped that two copies of a wallet use without common notes. */
export const OTHER_CLIENT = 'another client without these notes makes calls on this tab'

/** A state that is older than what the seller signed. */
export interface StaleState extends Disbelief {
  readonly code: typeof TAB_BEHIND
}

/** What a state of a seller is judged by. */
export interface JudgeBasis {
  readonly network: SigningNetwork
  readonly tabId: string
  readonly voucherKey: string
  readonly receiptKey: string
}

/**
 * What the seller had signed when the question was sent. A state can be on its way while newer receipts arrive.
 */
export interface TabFloor {
  readonly receipts: number
  readonly charged: bigint
}

/**
 * Whether to believe what a seller says of a tab. Null if so. The seller is believed only where its voucher is of this
 * wallet's own key, and where it charged no more than that ceiling, and no more than this client knows as charged and the
 * amounts of its own calls without an answer. `anyCharge`: this client has no notes, so every call is one without an answer.
 * Nothing but receipts proves anything: the rest of a state is not signed.
 */
export async function disbeliefOf(
  said: SaidState,
  book: TabBook,
  { basis, floor, anyCharge }: { readonly basis: JudgeBasis; readonly floor: TabFloor; readonly anyCharge: boolean },
): Promise<Disbelief | StaleState | null> {
  const { voucher, charged, lastReceipt } = said
  if (voucher !== null && !(await isOwnVoucher(basis, voucher)))
    return unproven('the voucher that the seller shows is not signed by the key of this tab')
  const ceiling = voucher === null ? 0n : voucher.ceiling
  if (charged > ceiling) return unproven(`it says ${charged} was charged, above the ceiling ${ceiling}`)
  if (!anyCharge && charged > book.bound)
    return moreThanAsked(said, book, `it says ${charged} was charged, this client asked for ${book.bound}`)
  if (lastReceipt === null) return behind(said, floor)
  if (lastReceipt.tabId !== basis.tabId || !(await isReceiptOf(basis.network, basis.receiptKey, lastReceipt)))
    return unproven('the last receipt that it shows is not signed for this tab')
  if (lastReceipt.n !== said.receipts || BigInt(lastReceipt.cumulative) !== charged)
    return unproven('its last receipt does not fit what it says was charged')
  const contradiction = anyCharge ? null : book.contradiction(lastReceipt)
  if (contradiction === null) return behind(said, floor)
  return { ...contradiction, reason: `its last receipt: ${contradiction.reason}` }
}

function unproven(reason: string): Disbelief {
  return { reason, proof: null }
}

/** A voucher of the tab's own key that these notes do not have is of another copy of the wallet: the seller did no wrong. */
export function moreThanAsked({ voucher }: SaidState, book: TabBook, reason: string): Disbelief {
  return unproven(voucher === null || book.hasCalled(voucher.context) ? reason : OTHER_CLIENT)
}

/** A seller that was set back to an old copy of its data has fewer receipts than it gave. So has an answer that came late. */
function behind({ receipts, charged }: SaidState, floor: TabFloor): StaleState | null {
  if (receipts >= floor.receipts && charged >= floor.charged) return null
  const reason = `it knows ${receipts} receipts, this client has its receipt ${floor.receipts}`
  return { ...unproven(reason), code: TAB_BEHIND }
}

function isOwnVoucher(
  { network, tabId, voucherKey }: JudgeBasis,
  { seq, ceiling, context, signature }: NonNullable<SaidState['voucher']>,
): Promise<boolean> {
  const voucher = { seq, ceiling: amount(ceiling), context: context as Hash }
  return isSignedBy(voucherKey, voucherMessage(network, tabId as TxId, voucher), signature)
}
