import { formatAddress } from '../../consensus/crypto/address.ts'
import type { SigningNetwork } from '../../consensus/crypto/signing.ts'
import { ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { Hash, TxId } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { transactionFromJson } from '../../consensus/tx/json.ts'
import { OUTCOME_DELIVERED, OUTCOME_FAILED } from '../../consensus/tx/payloads.ts'
import { type AccountSigner, addressOfSigner, signText, signTransaction } from '../../consensus/tx/sign.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { settlementText } from '../../marketplace/facilitator/settlement-text.ts'
import { fieldsOf } from './http.ts'
import { type ClientParams, FEE_MAX_DEFAULT, feeOf } from './transactions.ts'

/** How a paid call ended, from the seller's records. */
export interface EndedCall {
  readonly txId: TxId
  /** Hash of the service and the request, as `requestHash` of consensus/tx/request-hash.ts makes it. */
  readonly requestHash: Hash
  readonly outcome: 'delivered' | 'failed'
  /** Hash of the result's bytes. Zeros if the call failed. */
  readonly resultHash: Hash
  readonly durationMs: number
}

/** The network that a seller signs for. It never comes from the node that the seller asks. */
export interface SellingNetwork {
  readonly params: ClientParams
  readonly network: SigningNetwork
}

/** The `settlement` for `/facilitator/settle`. The signer must be a settler of the agent, or its owner. */
export async function signSettlement(
  call: EndedCall,
  signer: AccountSigner,
  { params, network }: SellingNetwork,
): Promise<object> {
  const { txId, requestHash, outcome, resultHash, durationMs } = call
  const text = settlementText(txId, requestHash)
  const { address, signature, keys } = await signText(text, signer, { network, prefix: params.addressPrefix })
  return { settler: address, outcome, requestHash, resultHash, durationMs, signature, keys }
}

/**
 * Signs the receipt transaction that a facilitator wrote. The facilitator is not trusted, and the settler's account can do more than post
 * receipts. So kind, sender, chain and fee are checked, and that the one entry has this payment, outcome and result hash. Faults:
 * `cli/refused`, `cli/fee-too-high`, and those of a transaction that cannot be read.
 */
export async function signReceipt(
  unsigned: unknown,
  { call, signer, feeMax = FEE_MAX_DEFAULT }: { call: EndedCall; signer: AccountSigner; feeMax?: bigint },
  { params, network }: SellingNetwork,
): Promise<Result<Transaction<'agent_receipt'>>> {
  const read = transactionFromJson(params.addressPrefix, fieldsOf(unsigned).transaction)
  if (!read.ok) return read
  const { body } = read.value
  if (body.kind !== 'agent_receipt') return other('kind')
  const [entry, more] = body.payload.entries
  const outcome = call.outcome === 'delivered' ? OUTCOME_DELIVERED : OUTCOME_FAILED
  const isOurs = entry?.txId === call.txId && entry.outcome === outcome && more === undefined
  if (!isOurs || entry.resultHash !== expectedHash(call)) return other('entry')
  if (body.sender !== addressOfSigner(signer))
    return other(`sender ${formatAddress(params.addressPrefix, body.sender)}`)
  if (body.chainId !== network.chainId) return other('chain')
  const tx = await signTransaction(body, signer, network)
  const fee = feeOf(params, tx)
  if (fee > feeMax) return fail(fault('cli/fee-too-high', { fee: String(fee), limit: String(feeMax) }))
  return ok(tx as Transaction<'agent_receipt'>)
}

function expectedHash({ outcome, resultHash }: EndedCall): string {
  return outcome === 'delivered' ? resultHash : ZERO_HEX_32
}

function other(what: string): Result<never> {
  return fail(fault('cli/refused', { message: `its receipt has another ${what} than was meant; it was not signed` }))
}
