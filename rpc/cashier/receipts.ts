import type { ChainReader } from '../../consensus/chain/reader.ts'
import { merkleProof, TRANSACTION_TREE } from '../../consensus/crypto/merkle.ts'
import { fromHex, toHex } from '../../consensus/primitives/bytes.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import type { StableIn } from '../../marketplace/till/rails/dollar/claim.ts'
import { type StableTerms, stableDollars } from '../../marketplace/till/rails/dollar/terms.ts'
import type { Claim } from '../../marketplace/till/rails/native/claim.ts'
import { addressText, coinNumber, merkleProofToJson, moment } from '../json/chain-json.ts'

/** The receipt of a call paid in the native coin, with the proof that the payment is in its block. */
export function nativeReceipt(
  chain: ChainReader,
  claim: Claim & { state: 'delivered' },
): { readonly caller: string } & Readonly<Record<string, unknown>> {
  const { params } = chain.ruleBook
  return {
    serviceId: claim.serviceId,
    caller: addressText(params.addressPrefix, claim.caller),
    amount: coinNumber(BigInt(claim.amount), params.decimals),
    txId: claim.txId,
    rail: 'native',
    asset: params.ticker,
    amountBaseUnits: claim.amount,
    resultHash: claim.resultHash,
    requestHash: claim.requestHash,
    durationMs: claim.durationMs,
    completedAt: moment(claim.finishedAtMs),
    ...paymentProof(chain, claim.txId),
  }
}

/** The receipt of a call paid with an authorization: `txId` is the transaction of the other chain. */
export function stableReceipt({ asset, network }: StableTerms, claim: StableIn<'settled'>): object {
  return {
    serviceId: claim.serviceId,
    caller: claim.payer,
    amount: stableDollars(asset, BigInt(claim.amount)),
    txId: claim.transaction,
    rail: 'stable',
    asset: asset.symbol,
    amountBaseUnits: claim.amount,
    network: network.word,
    resultHash: claim.resultHash,
    requestHash: claim.requestHash,
    durationMs: claim.durationMs,
    completedAt: moment(claim.settledAtMs),
  }
}

/** Where the payment was mined, and the proof of it; left out while a reorganisation has taken it off the chain. */
function paymentProof({ database }: ChainReader, txId: TxId): object {
  const location = database.location(txId)
  const blockId = location === undefined ? undefined : database.idAt(location.height)
  const entry = blockId === undefined ? undefined : database.entry(blockId)
  if (location === undefined || entry === undefined) return {}
  const ids = database.transactionIds(entry.id)?.map(fromHex)
  // The block was pruned: where it was mined is known still.
  if (ids === undefined) return { blockHeight: location.height, blockHash: entry.id }
  const proof = merkleProofToJson(merkleProof(TRANSACTION_TREE, ids, location.index))
  return { blockHeight: location.height, blockHash: entry.id, proof: { header: toHex(entry.bytes), ...proof } }
}
