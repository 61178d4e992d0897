import { concat, fromHex, toHex } from '../primitives/bytes.ts'
import { keccak, signDigest } from './eip712.ts'

/** A call of a contract as a transaction of EIP-1559. It moves no coins. */
export interface EvmTransaction {
  readonly chainId: number
  readonly nonce: bigint
  /** In the smallest unit of the chain's coin for each unit of gas. */
  readonly priorityFee: bigint
  readonly maxFee: bigint
  readonly gas: bigint
  /** Contract, in hex with 0x. */
  readonly to: string
  readonly data: Uint8Array
}

type Item = Uint8Array | readonly Item[]

const TYPE = 2
const NONE = new Uint8Array(0)
/** First byte of the encoding of bytes and of lists, and the length from which the length itself is encoded. */
const RLP = { bytes: 0x80, list: 0xc0, long: 56 } as const

/** The signed transaction and its hash, both in hex with 0x. */
export function signTransaction(
  key: Uint8Array,
  transaction: EvmTransaction,
): { readonly raw: string; readonly hash: string } {
  const { chainId, nonce, priorityFee, maxFee, gas, to, data } = transaction
  const numbers = [BigInt(chainId), nonce, priorityFee, maxFee, gas].map(numberItem)
  const said: readonly Item[] = [...numbers, fromHex(to.slice(2).toLowerCase()), NONE, data, []]
  const signature = signDigest(key, keccak(typed(said)))
  const [r, s] = [`0x${signature.slice(2, 66)}`, `0x${signature.slice(66, 130)}`].map(BigInt) as [bigint, bigint]
  const parity = signature.endsWith('1c') ? 1n : 0n
  const raw = typed([...said, ...[parity, r, s].map(numberItem)])
  return { raw: `0x${toHex(raw)}`, hash: `0x${toHex(keccak(raw))}` }
}

function typed(items: readonly Item[]): Uint8Array {
  return concat(Uint8Array.of(TYPE), encoded(items))
}

function encoded(item: Item): Uint8Array {
  if (!(item instanceof Uint8Array)) {
    const body = concat(...item.map(encoded))
    return concat(lengthOf(body, RLP.list), body)
  }
  const isItself = item.length === 1 && (item[0] as number) < RLP.bytes
  return isItself ? item : concat(lengthOf(item, RLP.bytes), item)
}

function lengthOf({ length }: Uint8Array, first: number): Uint8Array {
  if (length < RLP.long) return Uint8Array.of(first + length)
  const digits = numberItem(BigInt(length))
  return concat(Uint8Array.of(first + RLP.long - 1 + digits.length), digits)
}

/** A number without leading zeros; nothing for 0. */
function numberItem(value: bigint): Uint8Array {
  if (value === 0n) return NONE
  const hex = value.toString(16)
  return fromHex(hex.length % 2 === 0 ? hex : `0${hex}`)
}
