import { flipped, fromLittleEndian, join, madeBytes, toLittleEndian, utf8 } from './bytes.ts'
import {
  BASE,
  challenge,
  decodePoint,
  encodePoint,
  equationHolds,
  expandSeed,
  L,
  meetsRules,
  multiplyPoint,
  P,
  signEd25519,
  smallOrderEncodings,
  TORSION,
} from './edwards25519.ts'
import { countGroups, type SpelledBytes, spell, spellTable, type ValueTable, type VectorFile } from './render.ts'

/** One signature to judge. It is `valid` if `rules` and `equation` hold. */
export interface Ed25519Case {
  readonly group: string
  readonly name: string
  readonly key: SpelledBytes
  readonly message: SpelledBytes
  readonly signature: SpelledBytes
  /** Lengths, S < L, canonical y, no small order. */
  readonly rules: boolean
  /** The equation without cofactor over leniently decoded points: the verdict of a verifier without the rules. */
  readonly equation: boolean
  readonly valid: boolean
}

interface Parts {
  readonly key: Uint8Array
  readonly message: Uint8Array
  readonly signature: Uint8Array
}

const SIGNER = expandSeed(madeBytes('ed25519 signer', 32))
const OTHER = expandSeed(madeBytes('ed25519 other signer', 32))
const MESSAGE = utf8('pay the bearer one farthing')
const HONEST = honest(MESSAGE)
const R = HONEST.signature.subarray(0, 32)
const S = fromLittleEndian(HONEST.signature.subarray(32))
const VALUES: ValueTable = { key: HONEST.key, message: HONEST.message, signature: HONEST.signature }

/** The file of Ed25519 cases, group by group. */
export function ed25519File(): VectorFile {
  const cases = [
    ...honestCases(),
    ...smallOrderPairs(),
    ...smallOrderHalves(),
    ...mixedOrder(),
    ...scalars(),
    ...nonCanonical(),
    ...offCurve(),
    ...lengths(),
    ...mixUps(),
    ...bitFlips(),
  ]
  return {
    about: 'Ed25519: the rules in front of the equation, the equation without cofactor, and the verdict (both)',
    counts: countGroups(cases),
    values: spellTable(VALUES),
    cases,
  }
}

function judged(group: string, name: string, { key, message, signature }: Parts): Ed25519Case {
  const rules = meetsRules(key, signature)
  const equation = equationHolds(key, message, signature)
  const parts = { key: spell(key, VALUES), message: spell(message, VALUES), signature: spell(signature, VALUES) }
  return { group, name, ...parts, rules, equation, valid: rules && equation }
}

function honest(message: Uint8Array, secret = SIGNER): Parts {
  const { publicKey, signature } = signEd25519(secret, message)
  return { key: publicKey, message, signature }
}

function signature(r: Uint8Array, s: bigint): Uint8Array {
  return join(r, toLittleEndian(s, 32))
}

function honestCases(): Ed25519Case[] {
  const short = [0, 1, 31, 32, 63, 64, 65, 111, 112, 127, 128, 129, 1023, 4096].map((length) =>
    judged('honest', `message of ${length} bytes`, honest(madeBytes(`message ${length}`, length))),
  )
  return [...short, judged('honest', 'message of 100,000 bytes', honest(new Uint8Array(100_000).fill(0xa5)))]
}

/** Key and R both have small order. With S = 0 the equation holds for some messages without any signer. */
function smallOrderPairs(): Ed25519Case[] {
  const encodings = smallOrderEncodings()
  const message = utf8('nobody signed this')
  return [0n, 7n].flatMap((s) =>
    encodings.flatMap((key, i) =>
      encodings.map((r, j) =>
        judged('small-order-pair', `key ${i}, R ${j}, S = ${s}`, { key, message, signature: signature(r, s) }),
      ),
    ),
  )
}

/** One of key and R has small order, the other is honest. S makes the equation hold when the torsion cancels out. */
function smallOrderHalves(): Ed25519Case[] {
  return smallOrderEncodings().flatMap((small, i) => {
    const messages = Array.from({ length: 8 }, (_, n) => utf8(`small order ${i} ${n}`))
    const s = (challenge(small, SIGNER.publicKey, MESSAGE) * SIGNER.scalar) % L
    const onR = judged('small-order-half', `R ${i}, honest key`, {
      key: SIGNER.publicKey,
      message: MESSAGE,
      signature: signature(small, s),
    })
    const nonce = fromLittleEndian(madeBytes('nonce', 32)) % L
    const onKey = messages.map((message, n) =>
      judged('small-order-half', `key ${i}, honest R, message ${n}`, {
        key: small,
        message,
        signature: signature(encodePoint(multiplyPoint(BASE, nonce)), nonce),
      }),
    )
    return [onR, ...onKey]
  })
}

/** The signer adds torsion to key and R. A verifier with the cofactor accepts all of these. */
function mixedOrder(): Ed25519Case[] {
  return Array.from({ length: 4 }, (_, n) => utf8(`mixed order ${n}`)).flatMap((message, n) =>
    TORSION.flatMap((onKey, i) =>
      TORSION.map((onR, j) => {
        const { publicKey, signature } = signEd25519(SIGNER, message, { onKey, onR })
        return judged('mixed-order', `key + T${i}, R + T${j}, message ${n}`, { key: publicKey, message, signature })
      }),
    ),
  )
}

function scalars(): Ed25519Case[] {
  const replaced = (name: string, s: bigint) =>
    judged('scalar', name, { key: HONEST.key, message: MESSAGE, signature: signature(R, s) })
  const multiples: Ed25519Case[] = []
  for (let k = 1n; S + k * L < 2n ** 256n; k++) multiples.push(replaced(`S + ${k}L`, S + k * L))
  const edges: [string, bigint][] = [
    ['S = 0', 0n],
    ['S = 1', 1n],
    ['S = L - 1', L - 1n],
    ['S = L', L],
    ['S = L + 1', L + 1n],
    ['S = L - S', L - S],
    ['S = 2^252', 2n ** 252n],
    ['S = 2^253 - 1', 2n ** 253n - 1n],
    ['S = 2^255 - 1', 2n ** 255n - 1n],
    ['S = 2^256 - 1', 2n ** 256n - 1n],
    ['S with its top bit set', S + 2n ** 255n],
  ]
  return [...multiples, ...edges.map(([name, s]) => replaced(name, s))]
}

/** Every y from p up to 2^255 - 1, which a lenient decoder reads modulo p, and some y below p. */
function nonCanonical(): Ed25519Case[] {
  const ys = [...Array.from({ length: 19 }, (_, i) => P + BigInt(i)), P - 1n, P - 2n, P - 3n, 0n, 1n]
  return ys.flatMap((y) =>
    [0n, 1n].flatMap((sign) => {
      const spelled = toLittleEndian(y + (sign << 255n), 32)
      const name = `y = ${y < P ? (y < 2n ? y : `p - ${P - y}`) : `p + ${y - P}`}, sign ${sign}`
      return [
        judged('non-canonical', `key ${name}`, { ...HONEST, key: spelled }),
        judged('non-canonical', `R ${name}`, { ...HONEST, signature: signature(spelled, S) }),
        judged('non-canonical', `R ${name}, S = ka`, {
          ...HONEST,
          signature: signature(spelled, (challenge(spelled, HONEST.key, MESSAGE) * SIGNER.scalar) % L),
        }),
      ]
    }),
  )
}

function offCurve(): Ed25519Case[] {
  const found: Uint8Array[] = []
  for (let y = 2n; found.length < 8; y++) {
    const encoded = toLittleEndian(y, 32)
    if (decodePoint(encoded) === undefined) found.push(encoded)
  }
  return found.flatMap((encoded, i) => [
    judged('off-curve', `key ${i}`, { ...HONEST, key: encoded }),
    judged('off-curve', `R ${i}`, { ...HONEST, signature: signature(encoded, S) }),
  ])
}

function lengths(): Ed25519Case[] {
  const signatureOf = (name: string, bytes: Uint8Array) =>
    judged('length', `signature ${name}`, { ...HONEST, signature: bytes })
  const keyOf = (name: string, bytes: Uint8Array) => judged('length', `key ${name}`, { ...HONEST, key: bytes })
  const { key, signature: good } = HONEST
  return [
    ...[0, 1, 31, 32, 33, 62, 63].map((length) => signatureOf(`cut to ${length} bytes`, good.subarray(0, length))),
    signatureOf('without its first byte', good.subarray(1)),
    signatureOf('with a zero byte behind', join(good, Uint8Array.of(0))),
    signatureOf('with another byte behind', join(good, Uint8Array.of(0xff))),
    signatureOf('with a zero byte before', join(Uint8Array.of(0), good)),
    signatureOf('twice', join(good, good)),
    ...[0, 1, 16, 31].map((length) => keyOf(`cut to ${length} bytes`, key.subarray(0, length))),
    keyOf('without its first byte', key.subarray(1)),
    keyOf('with a zero byte behind', join(key, Uint8Array.of(0))),
    keyOf('with another byte behind', join(key, Uint8Array.of(0x80))),
    keyOf('twice', join(key, key)),
  ]
}

function mixUps(): Ed25519Case[] {
  const message = utf8('pay the bearer two farthings')
  const second = honest(message)
  const half = (parts: Parts, part: 0 | 1) => parts.signature.subarray(32 * part, 32 * part + 32)
  const case_ = (name: string, parts: Partial<Parts>) => judged('mix-up', name, { ...HONEST, ...parts })
  return [
    case_('another message', { message }),
    case_('the message with a byte behind', { message: join(MESSAGE, Uint8Array.of(0)) }),
    case_('the message without its last byte', { message: MESSAGE.subarray(0, MESSAGE.length - 1) }),
    case_('the empty message', { message: new Uint8Array(0) }),
    case_('the key of another signer', { key: OTHER.publicKey }),
    case_('the signature of another signer', { signature: honest(MESSAGE, OTHER).signature }),
    case_('the signature of another message', { signature: second.signature }),
    case_('R of another message', { signature: join(half(second, 0), half(HONEST, 1)) }),
    case_('S of another message', { signature: join(half(HONEST, 0), half(second, 1)) }),
    case_('S before R', { signature: join(half(HONEST, 1), half(HONEST, 0)) }),
    case_('R for the key', { key: half(HONEST, 0) }),
    case_('the negated key', { key: flipped(HONEST.key, 255) }),
    case_('the negated R', { signature: flipped(HONEST.signature, 255) }),
    case_('negated key, R and S', {
      key: flipped(HONEST.key, 255),
      signature: signature(flipped(half(HONEST, 0), 255), L - S),
    }),
    case_('all zero', { key: new Uint8Array(32), signature: new Uint8Array(64) }),
    case_('all ones', { key: new Uint8Array(32).fill(255), signature: new Uint8Array(64).fill(255) }),
  ]
}

function bitFlips(): Ed25519Case[] {
  const parts = ['signature', 'key', 'message'] as const
  return parts.flatMap((part) =>
    Array.from({ length: HONEST[part].length * 8 }, (_, bit) =>
      judged('bit-flip', `${part}, bit ${bit}`, { ...HONEST, [part]: flipped(HONEST[part], bit) }),
    ),
  )
}
