import { createHash } from 'node:crypto'
import { base58, bech32, bech32m, createBase58check } from '@scure/base'
import fc from 'fast-check'
import type { ExternalAddressKind, ExternalFormat } from '../../consensus/external/address.ts'

/**
 * A second implementation of the grammars of external addresses. It uses other libraries for base58, bech32 and Keccak than the node. A
 * text is an address only if decoding and encoding it gives the same text.
 */

const sha256 = (data: Uint8Array): Uint8Array => Uint8Array.from(createHash('sha256').update(data).digest())
const base58check = createBase58check(sha256)

const NETWORKS = {
  bitcoin: { prefix: 'bc', keyHash: 0x00, scriptHash: 0x05 },
  litecoin: { prefix: 'ltc', keyHash: 0x30, scriptHash: 0x32 },
} as const

type ScriptFormat = keyof typeof NETWORKS

/** The kind of address that the text is, according to the other libraries. Undefined if it is no address. */
export function oracleKind(format: ExternalFormat, text: string): ExternalAddressKind | undefined {
  if (format === 'evm') return isEvm(text) ? 'eoa-or-contract' : undefined
  if (format === 'solana') return isSolana(text) ? 'ed25519-key' : undefined
  return base58Kind(format, text) ?? segwitKind(format, text)
}

/** EIP-55 of 40 lower-case digits, with Node's own Keccak. */
export function oracleEip55(digits: string): string {
  const hash = createHash('keccak-256').update(digits, 'ascii').digest('hex')
  return [...digits]
    .map((digit, i) => (Number.parseInt(hash[i] as string, 16) > 7 ? digit.toUpperCase() : digit))
    .join('')
}

function isEvm(text: string): boolean {
  const digits = text.slice(2)
  const bytes = Buffer.from(digits, 'hex')
  return bytes.length === 20 && bytes.some((byte) => byte > 0) && text === `0x${oracleEip55(bytes.toString('hex'))}`
}

function isSolana(text: string): boolean {
  const bytes = attempt(() => base58.decode(text))
  return bytes?.length === 32 && bytes.some((byte) => byte > 0) && base58.encode(bytes) === text
}

function base58Kind(format: ScriptFormat, text: string): ExternalAddressKind | undefined {
  const content = attempt(() => base58check.decode(text))
  if (content?.length !== 21 || base58check.encode(content) !== text) return undefined
  if (content[0] === NETWORKS[format].keyHash) return 'p2pkh'
  return content[0] === NETWORKS[format].scriptHash ? 'p2sh' : undefined
}

function segwitKind(format: ScriptFormat, text: string): ExternalAddressKind | undefined {
  for (const [version, codec] of [bech32, bech32m].entries()) {
    const program = attempt(() => {
      const { prefix, words } = codec.decode(text as `${string}1${string}`)
      const bytes = codec.fromWords(words.slice(1))
      const again = codec.encode(prefix, [version, ...codec.toWords(bytes)])
      return prefix === NETWORKS[format].prefix && again === text ? bytes : undefined
    })
    if (version === 0 && program?.length === 20) return 'p2wpkh'
    if (program?.length === 32) return version === 0 ? 'p2wsh' : 'p2tr'
  }
  return undefined
}

function attempt<Value>(make: () => Value): Value | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}

/** An address and its kind, made by the other libraries. */
export interface MadeAddress {
  readonly format: ExternalFormat
  readonly text: string
  readonly kind: ExternalAddressKind
}

const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const notZero = (length: number) => bytesOf(length).filter((bytes) => bytes.some((byte) => byte > 0))

const evmAddress = notZero(20).map(
  (bytes): MadeAddress => ({
    format: 'evm',
    text: `0x${oracleEip55(Buffer.from(bytes).toString('hex'))}`,
    kind: 'eoa-or-contract',
  }),
)

const solanaAddress = notZero(32).map(
  (bytes): MadeAddress => ({ format: 'solana', text: base58.encode(bytes), kind: 'ed25519-key' }),
)

/** Valid base58check addresses of Bitcoin and Litecoin. */
export const base58CheckAddress: fc.Arbitrary<MadeAddress> = fc
  .tuple(fc.constantFrom('bitcoin', 'litecoin'), fc.constantFrom('p2pkh', 'p2sh'), bytesOf(20))
  .map(([format, kind, hash]) => {
    const version = NETWORKS[format][kind === 'p2pkh' ? 'keyHash' : 'scriptHash']
    return { format, kind, text: base58check.encode(Uint8Array.of(version, ...hash)) }
  })

/** Valid bech32 and bech32m addresses of Bitcoin and Litecoin. */
export const segwitAddress: fc.Arbitrary<MadeAddress> = fc
  .tuple(fc.constantFrom('bitcoin', 'litecoin'), fc.constantFrom('p2wpkh', 'p2wsh', 'p2tr'), bytesOf(32))
  .map(([format, kind, bytes]) => {
    const [codec, version] = kind === 'p2tr' ? [bech32m, 1] : [bech32, 0]
    const program = kind === 'p2wpkh' ? bytes.subarray(0, 20) : bytes
    return { format, kind, text: codec.encode(NETWORKS[format].prefix, [version, ...codec.toWords(program)]) }
  })

/** Valid addresses of all formats. */
export const anyAddress: fc.Arbitrary<MadeAddress> = fc.oneof(
  evmAddress,
  solanaAddress,
  base58CheckAddress,
  segwitAddress,
)

/** Correct encodings with various versions, lengths and networks. Most are not addresses, some are. */
export const nearlyAddress: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(fc.constantFrom(0, 5, 0x30, 0x32, 0x6f, 0xc4, 0x80), fc.uint8Array({ minLength: 19, maxLength: 22 }))
    .map(([version, hash]) => base58check.encode(Uint8Array.of(version, ...hash))),
  fc
    .record({
      codec: fc.constantFrom(bech32, bech32m),
      prefix: fc.constantFrom('bc', 'ltc', 'tb', 'bcrt'),
      version: fc.integer({ min: 0, max: 17 }).map((version) => version % 4),
      words: fc.oneof(
        fc.uint8Array({ minLength: 0, maxLength: 65, max: 31 }),
        fc
          .constantFrom(20, 32)
          .chain((length) => bytesOf(length).map((bytes) => Uint8Array.from(bech32.toWords(bytes)))),
      ),
    })
    .map(({ codec, prefix, version, words }) => codec.encode(prefix, [version, ...words])),
  fc.uint8Array({ minLength: 30, maxLength: 34 }).map((bytes) => base58.encode(bytes)),
)
