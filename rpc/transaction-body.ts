import { fromHex, isHexBytes } from '../consensus/primitives/bytes.ts'
import { fault } from '../consensus/primitives/fault.ts'
import { fail, type Result } from '../consensus/primitives/result.ts'
import { transactionFromJson } from '../consensus/tx/json.ts'
import { decodeTransaction, type Transaction } from '../consensus/tx/transaction.ts'
import type { NodeApi } from './node.ts'

/** The transaction of a request body: its bytes, these in hex as `raw`, or its JSON form. */
export function readTransaction({ chain }: Pick<NodeApi, 'chain'>, body: unknown): Result<Transaction> {
  if (body instanceof Uint8Array) return decodeTransaction(body)
  const { raw } = body as { readonly raw?: unknown }
  if (typeof raw !== 'string') return transactionFromJson(chain.ruleBook.params.addressPrefix, body)
  if (!isHexBytes(raw)) return fail(fault('tx/json', { field: 'raw', reason: 'must be lower-case hex' }))
  return decodeTransaction(fromHex(raw))
}
