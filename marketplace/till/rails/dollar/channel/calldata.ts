import { abiWords, keccakText } from '../../../../../consensus/external/eip712.ts'
import { concat, fromHex } from '../../../../../consensus/primitives/bytes.ts'
import { type ChannelConfig, type ChannelDeposit, type ClaimRow, DEPOSIT_COLLECTOR } from './channel.ts'

const CONFIG = '(address,address,address,address,address,uint40,bytes32)'
const WORD_BYTES = 32
/** Words of a row before its signature: the channel, the ceiling, where the signature is, what is claimed. */
const ROW_WORDS = 10n

/** Calls `deposit`, which pulls the money by the payer's authorization. */
export function depositCall(config: ChannelConfig, deposit: ChannelDeposit): Uint8Array {
  const { amount, validAfter, validBefore, salt, signature } = deposit
  const authorization = concat(
    abiWords(validAfter, validBefore, salt, offset(4n)),
    bytesOf(fromHex(signature.slice(2))),
  )
  const head = concat(configWords(config), abiWords(amount, DEPOSIT_COLLECTOR, offset(10n)))
  return call(`deposit(${CONFIG},uint128,address,bytes)`, head, bytesOf(authorization))
}

/** Calls `claimWithSignature` with the signature of the receiver's authorizer. */
export function claimCall(rows: readonly ClaimRow[], signature: string): Uint8Array {
  const encoded = rows.map(({ config, maxClaimable, signature: promise, totalClaimed }) =>
    concat(configWords(config), abiWords(maxClaimable, offset(ROW_WORDS), totalClaimed), hexBytes(promise)),
  )
  const list = listOf(encoded)
  const head = abiWords(offset(2n), offset(2n) + BigInt(list.length))
  return call(`claimWithSignature(((${CONFIG},uint128),bytes,uint128)[],bytes)`, head, list, hexBytes(signature))
}

/** Calls `settle`, which pays out what is claimed. */
export function settleCall(receiver: string, token: string): Uint8Array {
  return call('settle(address,address)', abiWords(receiver, token))
}

/** Calls `refundWithSignature` with the signature of the receiver's authorizer. */
export function refundCall(
  config: ChannelConfig,
  { amount, nonce }: { readonly amount: bigint; readonly nonce: bigint },
  signature: string,
): Uint8Array {
  const head = concat(configWords(config), abiWords(amount, nonce, offset(10n)))
  return call(`refundWithSignature(${CONFIG},uint128,uint256,bytes)`, head, hexBytes(signature))
}

/** Calls several functions: all succeed, or none. */
export function manyCalls(calls: readonly Uint8Array[]): Uint8Array {
  return call('multicall(bytes[])', abiWords(offset(1n)), listOf(calls.map(bytesOf)))
}

function call(name: string, ...parts: readonly Uint8Array[]): Uint8Array {
  return concat(fromHex(keccakText(name).slice(2, 10)), ...parts)
}

function configWords(config: ChannelConfig): Uint8Array {
  const { payer, payerAuthorizer, receiver, receiverAuthorizer, token, withdrawDelay, salt } = config
  return abiWords(payer, payerAuthorizer, receiver, receiverAuthorizer, token, BigInt(withdrawDelay), salt)
}

/** Items of any length, behind the places where each begins. */
function listOf(items: readonly Uint8Array[]): Uint8Array {
  let at = BigInt(items.length * WORD_BYTES)
  const places = items.map((item) => {
    const place = at
    at += BigInt(item.length)
    return place
  })
  return concat(abiWords(BigInt(items.length), ...places), ...items)
}

function hexBytes(hex: string): Uint8Array {
  return bytesOf(fromHex(hex.slice(2)))
}

/** Bytes behind their length, filled up to whole words. */
function bytesOf(bytes: Uint8Array): Uint8Array {
  const filling = new Uint8Array((WORD_BYTES - (bytes.length % WORD_BYTES)) % WORD_BYTES)
  return concat(abiWords(BigInt(bytes.length)), bytes, filling)
}

function offset(words: bigint): bigint {
  return words * BigInt(WORD_BYTES)
}
