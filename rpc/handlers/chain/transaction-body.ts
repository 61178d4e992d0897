import { fromHex, isHexBytes } from '../../../consensus/primitives/bytes.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import { unknownName } from '../../../consensus/primitives/likeness.ts'
import { fail, type Result } from '../../../consensus/primitives/result.ts'
import { transactionFromJson } from '../../../consensus/tx/json.ts'
import { decodeTransaction, type Transaction } from '../../../consensus/tx/transaction.ts'
import { TRANSACTION_JSON } from '../../contract/chain.ts'
import type { NodeApi } from '../../node/node-api.ts'

const FORMS = 'send {"raw": "<hex of its bytes>"}, its JSON form, or the bytes as application/octet-stream'

/** The transaction of a request body: its bytes, these in hex as `raw`, or its JSON form. */
export function readTransaction({ chain }: Pick<NodeApi, 'chain'>, body: unknown): Result<Transaction> {
  if (body instanceof Uint8Array) return decodeTransaction(body)
  const { raw } = body as { readonly raw?: unknown }
  if (raw === undefined) return readJson(chain, body as object)
  if (typeof raw !== 'string' || !isHexBytes(raw))
    return fail(fault('tx/json', { field: 'raw', reason: 'must be lower-case hex' }))
  return decodeTransaction(fromHex(raw))
}

/** The JSON form. What has nothing of it is told which forms there are: "kind: is missing" would say nothing of bytes in hex. */
function readJson({ ruleBook }: NodeApi['chain'], body: object): Result<Transaction> {
  const names = Object.keys(body)
  const stranger = names.find((name) => !Object.hasOwn(TRANSACTION_JSON.properties, name))
  if ('kind' in body || (stranger === undefined && names.length > 0))
    return transactionFromJson(ruleBook.params.addressPrefix, body)
  const what = stranger === undefined ? 'the body is empty' : unknownName('member', stranger, [])
  return fail(fault('rpc/invalid-request', { fields: [`${what}; ${FORMS}`] }))
}
