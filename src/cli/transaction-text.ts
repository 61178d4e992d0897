import { decodeHeader } from '../../consensus/block/header.ts'
import { outcomeCode } from '../../consensus/ledger/outcome.ts'
import { fromHex, isHexBytes } from '../../consensus/primitives/bytes.ts'
import { fieldsOf } from '../../rpc/client/http.ts'
import { nativeAsset } from './assets.ts'
import { CALL_ENDS } from './ends.ts'
import { counted, factLines, textFact, timeFact } from './facts.ts'
import { outcomeText } from './outcome-text.ts'
import { payloadFacts } from './payload-text.ts'
import { type Asking, cellOf, type Fields, unitsCell } from './reading.ts'
import { unitsText } from './values.ts'

/** A transaction for people: its state, what it did, and its fee. */
export async function transactionLines(told: Fields, asking: Asking): Promise<readonly string[]> {
  const transaction = fieldsOf(told.transaction)
  const receipt = fieldsOf(told.receipt)
  const { fee } = receipt
  return factLines([
    ['Transaction', textFact(told.txId)],
    ['State', stateOf(told)],
    ['Time', timeOf(told)],
    ['Kind', textFact(transaction.kind)],
    ['Outcome', told.receipt === undefined ? undefined : endOf(receipt)],
    ['From', textFact(transaction.sender)],
    ...(await payloadFacts(transaction, Array.isArray(receipt.amounts) ? receipt.amounts : [], asking)),
    ['Call', callEnd(fieldsOf(told.closure))],
    ['Tab', told.tab === undefined ? undefined : tabText(fieldsOf(told.tab))],
    ['Fee', fee === undefined ? undefined : unitsText(fee, nativeAsset(asking.context))],
    ['Memo', memoOf(transaction)],
    ['Valid until', told.status === 'mempool' ? `height ${cellOf(transaction.validUntil)}` : undefined],
  ])
}

/** How a paid call ended. Undefined if it is open, or if the transaction is not a call. */
function callEnd({ how, height, receiptTxId }: Fields): string | undefined {
  if (how === undefined) return undefined
  const receipt = textFact(receiptTxId)
  const end = Object.hasOwn(CALL_ENDS, String(how)) ? CALL_ENDS[String(how)] : cellOf(how)
  return `${end} at height ${cellOf(height)}${receipt === undefined ? '' : ` (${receipt})`}`
}

/** How a tab stands, or how it ended. */
function tabText({ status, claimed, locked, dueAt, end }: Fields): string {
  const { how, height, returned } = fieldsOf(end)
  const said = `${unitsCell(claimed)} claimed`
  if (how === undefined)
    return `${cellOf(status)}, ${said}, ${unitsCell(locked)} locked until height ${cellOf(dueAt)} at most`
  const by = how === 'claim' ? 'closed by its seller' : 'ended by the chain'
  return `${by} at height ${cellOf(height)}, ${said}, ${unitsCell(returned)} returned`
}

function stateOf({ status, height, confirmations, executedFrom }: Fields): string {
  if (status === 'mined') return `mined at height ${cellOf(height)}, ${counted(confirmations, 'confirmation')}`
  if (status === 'mempool') return 'waiting for its block'
  return typeof executedFrom === 'number' && executedFrom > 0
    ? `unknown: not waiting, and in no block from height ${executedFrom} on`
    : 'unknown: neither waiting nor in a block'
}

/** The outcome in a receipt: `success`, or the failure's code and sentence. */
export function endOf({ code, outcome }: Fields): string {
  if (code === 0) return 'success'
  const known = typeof code === 'number' ? outcomeCode(code) : undefined
  return known === undefined ? cellOf(outcome) : outcomeText(known)
}

function timeOf(told: Fields): string | undefined {
  const { header } = fieldsOf(told.proof)
  if (typeof header !== 'string' || !isHexBytes(header)) return undefined
  const sealed = decodeHeader(fromHex(header))
  return sealed.ok ? timeFact(momentOf(sealed.value.header.timeMs)) : undefined
}

function momentOf(timeMs: number): string | undefined {
  const moment = new Date(timeMs)
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString()
}

function memoOf({ memo }: Fields): string | undefined {
  if (typeof memo !== 'string' || memo === '' || !isHexBytes(memo)) return undefined
  const text = new TextDecoder().decode(fromHex(memo))
  return text.includes('\ufffd') ? memo : text
}
