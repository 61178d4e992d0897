import { fieldsOf } from '../../rpc/client/http.ts'
import { nativeAsset } from './assets.ts'
import { counted, factLines, rowLines, textFact, timeFact } from './facts.ts'
import { type Asking, cellOf, type Fields, itemsOf } from './reading.ts'
import { endOf } from './transaction-text.ts'
import { unitsText } from './values.ts'

/** A block for people: its header, its reward, and its transactions. */
export function blockLines(block: Fields, { context }: Asking): readonly string[] {
  const coin = nativeAsset(context)
  const [transactions, receipts] = [itemsOf(block.transactions), itemsOf(block.receipts)]
  const close = receipts.find(({ type }) => type === 'close')
  const facts = factLines([
    ['Height', textFact(block.height)],
    ['Block', textFact(block.id)],
    ['Time', timeFact(block.time)],
    ['State', stateOf(block)],
    ['Parent', textFact(block.parent)],
    ['Miner', textFact(block.miner)],
    ['Reward', close === undefined ? undefined : unitsText(close.reward, coin)],
    ['Burned', close === undefined ? undefined : `${unitsText(close.burned, coin)} in fees`],
    ['Size', `${cellOf(block.size)} bytes, ${counted(transactions.length, 'transaction')}`],
  ])
  const rows = transactions.map(({ txId, kind, sender }) => {
    const receipt = receipts.find((one) => one.txId === txId)
    const fee = receipt === undefined ? '-' : unitsText(receipt.fee, coin)
    return [cellOf(kind), endOf(fieldsOf(receipt)), fee, cellOf(sender), cellOf(txId)]
  })
  return [...facts, ...rowLines(['KIND', 'OUTCOME', 'FEE', 'FROM', 'TRANSACTION'], rows)]
}

function stateOf({ canonical, confirmations }: Fields): string {
  return canonical === true ? `on the best chain, ${counted(confirmations, 'confirmation')}` : 'not on the best chain'
}
