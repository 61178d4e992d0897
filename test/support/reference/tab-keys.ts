import { createPublicKey, verify } from 'node:crypto'
import { concat, hex, littleEndian, readLittleEndian, sha256, tagged, unhex, utf8 } from './bytes.ts'
import { u8, u32, u128 } from './ssz.ts'
import type { Voucher } from './tab-schemas.ts'

/** Scheme of a tab's keys: Ed25519 alone. */
export const TAB_SCHEME = 0x11

const PRIME = 2n ** 255n - 19n
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n
/** Values of y that points of small order have: encoding.md, section 6. */
const SMALL_ORDER = [
  0n,
  1n,
  PRIME - 1n,
  readLittleEndian(unhex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05')),
  readLittleEndian(unhex('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a')),
]

/** Whether the y of these 32 bytes is canonical and not of small order. */
export function isAcceptable(point: Uint8Array): boolean {
  const y = readLittleEndian(point) % 2n ** 255n
  return y < PRIME && !SMALL_ORDER.includes(y)
}

/** The chain that a tab is on. */
export interface TabChain {
  readonly genesisId: string
  readonly chainId: number
}

/** What a key of a tab signs: encoding.md, section 7. */
export function tabMessage(label: string, { chainId, genesisId }: TabChain, digest: Uint8Array): Uint8Array {
  const chain = concat(littleEndian(BigInt(chainId), 4), unhex(genesisId))
  return concat(utf8(label), chain, u8.encode(TAB_SCHEME), digest)
}

/** The message of a voucher. */
export function voucherMessage(
  tabId: string,
  { seq, ceiling, context }: Omit<Voucher, 'signature'>,
  chain: TabChain,
): Uint8Array {
  const fields = concat(unhex(tabId), u32.encode(seq), u128.encode(ceiling), unhex(context))
  return tabMessage('farthing-voucher/1', chain, tagged('tab-voucher', fields))
}

/** OpenSSL's verdict: without the cofactor, by encodings. Undefined bytes of a key have none. */
function openSslVerifies(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const x = Buffer.from(key).toString('base64url')
  const publicKey = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } })
  return verify(null, message, publicKey, signature)
}

const verdicts = new Map<string, boolean>()

/** Whether a signature verifies by the strict rules of encoding.md, section 6. */
export function tabSignatureVerifies(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const [point, scalar] = [signature.subarray(0, 32), signature.subarray(32)]
  if (!isAcceptable(key) || !isAcceptable(point) || readLittleEndian(scalar) >= ORDER) return false
  const id = hex(sha256(key, signature, message))
  const verdict = verdicts.get(id) ?? openSslVerifies(key, message, signature)
  verdicts.set(id, verdict)
  return verdict
}
