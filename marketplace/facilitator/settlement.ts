import type { ChainReader } from '../../consensus/chain/reader.ts'
import { type AccountKeys, addressOfKeys, decodeAccountKeys } from '../../consensus/crypto/account-keys.ts'
import { parseAddress } from '../../consensus/crypto/address.ts'
import type { SignatureVerifier } from '../../consensus/crypto/verifier.ts'
import { fromHex, isHex, ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import { type Fault, fault, faultMessage } from '../../consensus/primitives/fault.ts'
import type { Address, Hash, TxId } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { readSignedText, type SignedText, textJob } from '../../consensus/tx/signed-text.ts'
import { DURATION_MS_MAX } from '../till/rails/native/settler.ts'
import { settlementText } from './settlement-text.ts'

/** How a seller says that a paid call ended, with a signature that is not checked yet. */
export interface Settlement {
  readonly settler: Address
  readonly outcome: 'delivered' | 'failed'
  readonly requestHash: Hash
  /** Zeros if the call failed. */
  readonly resultHash: Hash
  readonly durationMs: number
  readonly signed: SignedText
}

/** Faults: `facilitator/settlement`. */
export function readSettlement(value: unknown, txId: TxId, addressPrefix: string): Result<Settlement> {
  if (value === null || typeof value !== 'object') return unusable('settlement', 'is missing')
  const { settler, outcome, requestHash, resultHash, durationMs = 0, signature, keys } = value as Fields
  if (!isHash(requestHash)) return unusable('requestHash', 'must be 64 lower-case hex digits')
  if (outcome !== 'delivered' && outcome !== 'failed') return unusable('outcome', 'must be delivered or failed')
  if (outcome === 'delivered' && !isHash(resultHash)) return unusable('resultHash', 'must be 64 lower-case hex digits')
  if (!Number.isInteger(durationMs) || (durationMs as number) < 0 || (durationMs as number) > DURATION_MS_MAX)
    return unusable('durationMs', `must be an integer from 0 to ${DURATION_MS_MAX}`)
  const text = settlementText(txId, requestHash)
  const signed = readSignedText(JSON.stringify({ address: settler, text, signature, keys }))
  if (!signed.ok) return unusable(fieldOf(signed.fault), String(signed.fault.detail.reason))
  const address = parseAddress(addressPrefix, signed.value.address)
  if (!address.ok) return unusable('settler', `is no address: ${faultMessage(address.fault)}`)
  return ok({
    settler: address.value,
    outcome,
    requestHash,
    resultHash: outcome === 'delivered' ? (resultHash as Hash) : (ZERO_HEX_32 as Hash),
    durationMs: durationMs as number,
    signed: signed.value,
  })
}

type Fields = Readonly<Record<string, unknown>>

/** The field `address` of the signed text is called `settler` here. */
function fieldOf({ detail }: Fault): string {
  return detail.field === 'address' ? 'settler' : String(detail.field)
}

/** The settler's keys, if all its signatures verify. If it sent no keys, the chain must know them. */
export async function checkSignature(
  { chain, verifier }: { readonly chain: Pick<ChainReader, 'keys' | 'network'>; readonly verifier: SignatureVerifier },
  { settler, signed }: Pick<Settlement, 'settler' | 'signed'>,
): Promise<Result<AccountKeys>> {
  const keys = signed.keys === null ? ok(chain.keys.keysOf(settler)) : decodeAccountKeys(fromHex(signed.keys))
  if (!keys.ok) return unusable('keys', faultMessage(keys.fault))
  if (keys.value === undefined) return unusable('keys', 'are missing: the chain has not seen those of the settler')
  if (signed.keys !== null && addressOfKeys(fromHex(signed.keys)) !== settler)
    return fail(fault('tx/keys-not-of-sender'))
  const job = textJob(signed, keys.value, chain.network)
  if (!job.ok) return fail(fault('tx/bad-signature'))
  try {
    const [good] = await verifier.verify([job.value])
    return good === true ? ok(keys.value) : fail(fault('tx/bad-signature'))
  } catch (error) {
    return fail(fault('mempool/unverified', { reason: String(error).slice(0, 120) }))
  }
}

function isHash(value: unknown): value is Hash {
  return typeof value === 'string' && isHex(value, 32)
}

function unusable(field: string, reason: string): Result<never> {
  return fail(fault('facilitator/settlement', { field, reason }))
}
