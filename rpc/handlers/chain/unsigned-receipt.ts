import type { ChainReader } from '../../../consensus/chain/reader.ts'
import { type AccountKeys, encodeAccountKeys } from '../../../consensus/crypto/account-keys.ts'
import { formatAddress } from '../../../consensus/crypto/address.ts'
import { signingContext, transactionMessage } from '../../../consensus/crypto/signing.ts'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import { type JsonObject, payloadToJson } from '../../../consensus/tx/json.ts'
import { OUTCOME_DELIVERED, OUTCOME_FAILED } from '../../../consensus/tx/payloads.ts'
import { encodeBody, TX_VERSION, type TxBody, transactionId } from '../../../consensus/tx/transaction.ts'
import type { SettlementRecord } from '../../../marketplace/facilitator/records.ts'

/** Suggested nonce and fee rates of a transaction. */
export interface Suggested {
  readonly nonce: bigint
  readonly maxFeeRate: bigint
  readonly tip: bigint
}

/**
 * The receipt that closes an escrow, for its settler to sign: JSON for `/api/v1/tx` whose `witness.signatures` is empty, and
 * the message to sign. It is valid only before the deadline, after which it would fail and still cost a fee.
 */
export function unsignedReceipt(
  chain: ChainReader,
  record: SettlementRecord,
  { keys, suggested }: { readonly keys: AccountKeys; readonly suggested: Suggested },
): JsonObject {
  const { addressPrefix } = chain.ruleBook.params
  const { txId: paid, settler, resultHash, opener, durationMs, deadline } = record
  const outcome = record.outcome === 'delivered' ? OUTCOME_DELIVERED : OUTCOME_FAILED
  const body: TxBody<'agent_receipt'> = {
    ...{ version: TX_VERSION, chainId: chain.network.chainId, sender: settler, ...suggested },
    ...{ kind: 'agent_receipt', payload: { entries: [{ txId: paid, outcome, resultHash, opener, durationMs }] } },
    ...{ validUntil: deadline - 1, memo: new Uint8Array(0) },
  }
  const bodyBytes = encodeBody(body)
  const txId = transactionId(bodyBytes)
  const transaction = {
    ...{ version: body.version, chainId: body.chainId, sender: formatAddress(addressPrefix, settler) },
    ...{ nonce: body.nonce.toString(), kind: body.kind, payload: payloadToJson(addressPrefix, body) },
    ...{ maxFeeRate: body.maxFeeRate.toString(), tip: body.tip.toString(), validUntil: body.validUntil, memo: '' },
    witness: { keys: body.nonce === 0n ? toHex(encodeAccountKeys(keys)) : '', signatures: [] },
  }
  return {
    txId,
    transaction,
    body: toHex(bodyBytes),
    signing: {
      message: toHex(transactionMessage(chain.network, keys.scheme, txId)),
      context: toHex(signingContext('transaction')),
    },
  }
}
