import { assert } from '../primitives/assert.ts'
import { fromHex, isHex, toHex } from '../primitives/bytes.ts'
import type { ExternalFormat } from './address.ts'
import { decodeBase58, encodeBase58 } from './base58.ts'

/** Form of a network's transaction ids: base58, or lower-case hex with a prefix. */
interface TxIdForm {
  readonly bytes: 32 | 64
  readonly text: 'base58' | { readonly hexPrefix: string }
}

const FORMS: Readonly<Record<ExternalFormat, TxIdForm>> = {
  evm: { bytes: 32, text: { hexPrefix: '0x' } },
  solana: { bytes: 64, text: 'base58' },
  bitcoin: { bytes: 32, text: { hexPrefix: '' } },
  litecoin: { bytes: 32, text: { hexPrefix: '' } },
}

/** Bytes of a transaction id: a hash, or on Solana the transaction's first signature. */
export function externalTxIdBytes(format: ExternalFormat): 32 | 64 {
  return FORMS[format].bytes
}

/**
 * Bytes of an id in its one text form, undefined for every other text: `0x` and lower-case hex (evm), base58 (solana),
 * lower-case hex (bitcoin, litecoin). The bytes keep the order of the text: those of Bitcoin and Litecoin are not
 * reversed into hashing order. Never throws.
 */
export function parseExternalTxId(format: ExternalFormat, text: string): Uint8Array | undefined {
  const form = FORMS[format]
  if (form.text === 'base58') {
    const bytes = decodeBase58(text)
    return bytes?.length === form.bytes ? bytes : undefined
  }
  const { hexPrefix } = form.text
  const digits = text.slice(hexPrefix.length)
  return text.startsWith(hexPrefix) && isHex(digits, form.bytes) ? fromHex(digits) : undefined
}

/** The text that {@link parseExternalTxId} reads as these bytes. A wrong length is a bug. */
export function formatExternalTxId(format: ExternalFormat, bytes: Uint8Array): string {
  const form = FORMS[format]
  assert(bytes.length === form.bytes, `a transaction id of ${format} has ${form.bytes} bytes`)
  return form.text === 'base58' ? encodeBase58(bytes) : form.text.hexPrefix + toHex(bytes)
}
