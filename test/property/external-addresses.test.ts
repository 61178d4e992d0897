import { base58 } from '@scure/base'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkExternalAddress, type ExternalFormat, externalAddressKind } from '../../consensus/external/address.ts'
import { BASE58_BYTES_MAX, decodeBase58, encodeBase58 } from '../../consensus/external/base58.ts'
import { eip55 } from '../../consensus/external/eip55.ts'
import { externalTxIdBytes, formatExternalTxId, parseExternalTxId } from '../../consensus/external/transaction-id.ts'
import { toHex } from '../../consensus/primitives/bytes.ts'
import {
  anyAddress,
  base58CheckAddress,
  nearlyAddress,
  oracleEip55,
  oracleKind,
  segwitAddress,
} from '../support/external-oracle.ts'
import { runs } from '../support/runs.ts'

const FORMATS: readonly ExternalFormat[] = ['evm', 'solana', 'bitcoin', 'litecoin']
const anyFormat = fc.constantFrom(...FORMATS)

/** Any string: characters of all planes, and code units that are not valid text. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 120 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 120 }).map((codes) => String.fromCharCode(...codes)),
)

const alphabetText = (letters: string, maxLength: number) =>
  fc.array(fc.constantFrom(...letters), { maxLength }).map((parts) => parts.join(''))

const BASE58_LETTERS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const BECH32_LETTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'

/** The text with one character replaced. */
const oneChanged = (text: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.nat({ max: text.length - 1 }),
      fc.oneof(
        fc.constantFrom(...BASE58_LETTERS),
        fc.constantFrom(...BECH32_LETTERS),
        fc.string({ unit: 'binary', size: 'xsmall' }),
      ),
    )
    .map(([at, letter]) => text.slice(0, at) + letter + text.slice(at + 1))
    .filter((changed) => changed !== text)

/**
 * The text with a defect: a character is changed, removed, repeated or swapped with the next one, something is added
 * at an end, or the case of all letters is changed.
 */
const damaged = (text: string): fc.Arbitrary<string> =>
  fc.oneof(
    oneChanged(text),
    fc.nat({ max: text.length - 1 }).map((at) => text.slice(0, at) + text.slice(at + 1)),
    fc.nat({ max: text.length - 1 }).map((at) => text.slice(0, at + 1) + text.slice(at)),
    fc.nat({ max: text.length - 2 }).map((at) => text.slice(0, at) + text[at + 1] + text[at] + text.slice(at + 2)),
    fc.constantFrom(text.toUpperCase(), text.toLowerCase(), `${text} `, `1${text}`, `0x${text}`),
  )

function expectVerdict(format: ExternalFormat, text: string): void {
  const kind = oracleKind(format, text)
  expect(externalAddressKind(format, text)).toBe(kind)
  const reason = checkExternalAddress(format, text)
  if (kind !== undefined) expect(reason).toBeNull()
  else expect(reason).toMatch(/^.{3,80}$/)
}

describe('an address that a library made', () => {
  it('is taken under its own format alone, as what it is', () => {
    fc.assert(
      fc.property(anyAddress, ({ format, text, kind }) => {
        expect(FORMATS.map((other) => externalAddressKind(other, text) ?? null)).toEqual(
          FORMATS.map((other) => (other === format ? kind : null)),
        )
        expect(checkExternalAddress(format, text)).toBeNull()
      }),
      { numRuns: runs(2_000) },
    )
  })

  it('in bech32 is refused with one or two characters changed', () => {
    // Certain, not only likely: the code detects four errors, and valid texts with the two checksums differ in at least three places.
    const changes = segwitAddress.chain((made) =>
      oneChanged(made.text)
        .chain((once) => fc.oneof(fc.constant(once), oneChanged(once)))
        .filter((text) => text !== made.text && text.length === made.text.length)
        .map((text) => ({ format: made.format, text })),
    )
    fc.assert(
      fc.property(changes, ({ format, text }) => {
        expect(externalAddressKind(format, text)).toBeUndefined()
      }),
      { numRuns: runs(4_000) },
    )
  })

  it('is judged like by the library once it is damaged', () => {
    const changes = fc
      .oneof(anyAddress, base58CheckAddress, segwitAddress)
      .chain(({ format, text }) => damaged(text).map((changed) => ({ format, changed })))
    fc.assert(
      fc.property(changes, ({ format, changed }) => expectVerdict(format, changed)),
      { numRuns: runs(4_000) },
    )
  })
})

describe('any text', () => {
  it('gets the verdict of the library, and nothing is thrown', () => {
    const texts = fc.oneof(
      anyText,
      nearlyAddress,
      alphabetText(BASE58_LETTERS, 100),
      alphabetText(BECH32_LETTERS, 92).map((rest) => `bc1${rest}`),
      alphabetText('0123456789abcdefABCDEF', 42).map((digits) => `0x${digits}`),
    )
    fc.assert(
      fc.property(anyFormat, texts, (format, text) => expectVerdict(format, text)),
      { numRuns: runs(5_000) },
    )
  })

  it('as a transaction id is refused or is the text of its bytes', () => {
    const hexText = fc.uint8Array({ minLength: 31, maxLength: 33 }).map(toHex)
    const base58Text = fc.uint8Array({ minLength: 63, maxLength: 64 }).map((bytes) => base58.encode(bytes))
    const texts = fc.oneof(
      anyText,
      hexText,
      hexText.map((text) => `0x${text}`),
      base58Text,
      base58Text.chain(damaged),
    )
    fc.assert(
      fc.property(anyFormat, texts, (format, text) => {
        const bytes = parseExternalTxId(format, text)
        if (bytes === undefined) return
        expect(bytes.length).toBe(externalTxIdBytes(format))
        expect(formatExternalTxId(format, bytes)).toBe(text)
      }),
      { numRuns: runs(4_000) },
    )
  })
})

describe('any bytes', () => {
  it('have one text as a transaction id, and it reads back', () => {
    const ids = anyFormat.chain((format) => {
      const length = externalTxIdBytes(format)
      return fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => ({ format, bytes }))
    })
    fc.assert(
      fc.property(ids, ({ format, bytes }) => {
        expect(parseExternalTxId(format, formatExternalTxId(format, bytes))).toEqual(bytes)
      }),
      { numRuns: runs(1_000) },
    )
  })

  it('have the base58 text of the library, and it reads back', () => {
    const bytes = fc
      .tuple(fc.nat({ max: 8 }), fc.uint8Array({ maxLength: BASE58_BYTES_MAX - 8 }))
      .map(([zeros, rest]) => Uint8Array.from([...new Uint8Array(zeros), ...rest]))
    fc.assert(
      fc.property(bytes, (given) => {
        const text = encodeBase58(given)
        expect(text).toBe(base58.encode(given))
        expect(decodeBase58(text)).toEqual(given)
      }),
      { numRuns: runs(2_000) },
    )
  })

  it('of 20 have the spelling of another Keccak', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }).map(toHex), (digits) => {
        expect(eip55(digits)).toBe(oracleEip55(digits))
      }),
      { numRuns: runs(1_000) },
    )
  })
})
