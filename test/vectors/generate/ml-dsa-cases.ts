import { flipped, join, madeBytes, patched, utf8 } from './bytes.ts'
import { type KeyPair, keyPair, signMlDsa, verifyMlDsa } from './ml-dsa.ts'
import { type Bench, type Draft, hintCases, type MlDsaParts } from './ml-dsa-hints.ts'
import { PARAMS } from './ml-dsa-math.ts'
import { countGroups, type SpelledBytes, spell, spellTable, type ValueTable, type VectorFile } from './render.ts'

/** One signature to judge. */
export interface MlDsaCase {
  readonly group: string
  readonly name: string
  readonly key: SpelledBytes
  readonly message: SpelledBytes
  readonly context: SpelledBytes
  readonly signature: SpelledBytes
  /** The verdict of a verifier that does not check the norm of z and the form of the hints. */
  readonly lenient: boolean
  readonly valid: boolean
}

const CONTEXT = utf8('farthing-transaction/1')
const MESSAGE = utf8('pay the bearer one farthing')

/**
 * Numbers of messages whose first attempt has a z with a norm of exactly gamma1 - beta (refused) and one less (good),
 * found by trying numbers from 0.
 */
const EDGE_MESSAGES = { 44: { at: 684, below: 1932 }, 65: { at: 966, below: 3321 } } as const

/** The file of one level. */
export function mlDsaFile(level: 44 | 65): VectorFile {
  const pair = keyPair(PARAMS[level], madeBytes(`ml-dsa-${level} signer`, 32))
  const honest = signed(pair, MESSAGE, CONTEXT)
  const bench: Bench = { pair, honest }
  const edge = zCases(bench)
  const table: Record<string, Uint8Array> = {
    key: honest.key,
    message: MESSAGE,
    context: CONTEXT,
    signature: honest.signature,
  }
  edge.forEach(([, , { signature }], i) => {
    if (i < KEPT_SIGNATURES) table[`z${i}`] = signature
  })
  const drafts = [
    ...honestCases(bench),
    ...lengthCases(bench),
    ...contextCases(bench),
    ...mixUpCases(bench),
    ...hintCases(bench),
    ...edge,
    ...flipCases(bench),
  ]
  const cases = drafts.map((draft) => judged(pair, draft, table))
  return {
    about: `ML-DSA-${level} (FIPS 204) with contexts; "lenient" leaves out the norm of z and the form of the hints`,
    counts: countGroups(cases),
    values: spellTable(table),
    cases,
  }
}

function judged({ params }: KeyPair, [group, name, parts]: Draft, table: ValueTable): MlDsaCase {
  const lenient = verifyMlDsa(params, parts, { z: true, hints: true })
  const valid = lenient && verifyMlDsa(params, parts)
  const { key, message, context, signature } = parts
  return {
    group,
    name,
    key: spell(key, table),
    message: spell(message, table),
    context: spell(context, table),
    signature: spell(signature, table),
    lenient,
    valid,
  }
}

function signed(pair: KeyPair, message: Uint8Array, context: Uint8Array): MlDsaParts {
  return { key: pair.publicKey, message, context, signature: signMlDsa(pair, message, context) }
}

function honestCases({ pair, honest }: Bench): Draft[] {
  const empty = new Uint8Array(0)
  const long = new Uint8Array(100_000).fill(0xa5)
  const made: [string, Uint8Array, Uint8Array][] = [
    ['empty message', empty, CONTEXT],
    ['empty context', MESSAGE, empty],
    ['empty message and context', empty, empty],
    ['context of one byte', MESSAGE, Uint8Array.of(0)],
    ['context of 255 bytes', MESSAGE, madeBytes('context', 255)],
    ['message of 100,000 bytes', long, CONTEXT],
  ]
  return [
    ['honest', 'message and context', honest],
    ...made.map(([name, message, context]): Draft => ['honest', name, signed(pair, message, context)]),
  ]
}

function lengthCases({ honest }: Bench): Draft[] {
  const draft = (part: 'key' | 'signature', name: string, bytes: Uint8Array): Draft => [
    'length',
    `${part} ${name}`,
    { ...honest, [part]: bytes },
  ]
  return (['key', 'signature'] as const).flatMap((part) => {
    const good = honest[part]
    return [
      draft(part, 'empty', new Uint8Array(0)),
      draft(part, 'without its last byte', good.subarray(0, -1)),
      draft(part, 'without its first byte', good.subarray(1)),
      draft(part, 'cut in the middle', good.subarray(0, good.length >> 1)),
      draft(part, 'with a zero byte behind', join(good, Uint8Array.of(0))),
      draft(part, 'with another byte behind', join(good, Uint8Array.of(0xff))),
      draft(part, 'with a zero byte before', join(Uint8Array.of(0), good)),
      draft(part, 'twice', join(good, good)),
    ]
  })
}

/** The hashed context length is one byte: a context of 256 bytes must not pass as an empty one. */
function contextCases({ pair, honest }: Bench): Draft[] {
  const empty = new Uint8Array(0)
  const long = madeBytes('context', 255)
  const tooLong = madeBytes('long context', 256)
  const under = (context: Uint8Array, over = signed(pair, MESSAGE, long)) => ({ ...over, context })
  const wrapped = signed(pair, join(tooLong, MESSAGE), empty)
  return [
    ['context', 'another context', { ...honest, context: utf8('farthing-text/1') }],
    ['context', 'no context', { ...honest, context: empty }],
    ['context', 'context with a byte behind', { ...honest, context: join(CONTEXT, Uint8Array.of(0)) }],
    ['context', 'context without its last byte', { ...honest, context: CONTEXT.subarray(0, -1) }],
    ['context', 'a context where none was signed', under(CONTEXT, signed(pair, MESSAGE, empty))],
    ['context', '255 other bytes', under(long.map((byte) => byte ^ 1))],
    ['context', '254 of 255 bytes', under(long.subarray(0, 254))],
    ['context', '256 bytes', { ...honest, context: tooLong }],
    ['context', '256 bytes, the length taken modulo 256', { ...wrapped, message: MESSAGE, context: tooLong }],
    ['context', '300 bytes', { ...honest, context: madeBytes('longer context', 300) }],
    [
      'context',
      'a byte of the context in the message',
      { ...honest, context: CONTEXT.subarray(0, -1), message: join(CONTEXT.subarray(-1), MESSAGE) },
    ],
  ]
}

function mixUpCases({ pair, honest }: Bench): Draft[] {
  const other = keyPair(pair.params, madeBytes('ml-dsa other signer', 32))
  const second = signed(pair, utf8('pay the bearer two farthings'), CONTEXT)
  const { hashBytes } = pair.params
  const { key, signature } = honest
  const draft = (name: string, parts: Partial<MlDsaParts>): Draft => ['mix-up', name, { ...honest, ...parts }]
  return [
    draft('another message', { message: second.message }),
    draft('the message with a byte behind', { message: join(MESSAGE, Uint8Array.of(0)) }),
    draft('the message without its last byte', { message: MESSAGE.subarray(0, -1) }),
    draft('the empty message', { message: new Uint8Array(0) }),
    draft('the key of another signer', { key: other.publicKey }),
    draft('the matrix seed of another signer', { key: join(other.publicKey.subarray(0, 32), key.subarray(32)) }),
    draft('the t1 of another signer', { key: join(key.subarray(0, 32), other.publicKey.subarray(32)) }),
    draft('the signature of another signer', { signature: signMlDsa(other, MESSAGE, CONTEXT) }),
    draft('the signature of another message', { signature: second.signature }),
    draft('the commitment of another message', {
      signature: join(second.signature.subarray(0, hashBytes), signature.subarray(hashBytes)),
    }),
    draft('a signature of zeros', { signature: new Uint8Array(signature.length) }),
    draft('a signature of ones', { signature: new Uint8Array(signature.length).fill(255) }),
    draft('a key of zeros', { key: new Uint8Array(key.length) }),
    draft('a key of ones', { key: new Uint8Array(key.length).fill(255) }),
  ]
}

/**
 * How many signatures of {@link zCases} become values of the table: the ones that are signed with other bounds on z.
 * The later cases vary the honest signature.
 */
const KEPT_SIGNATURES = 5

/** z around its bound and beyond it: by a signer that keeps attempts by other norms than the standard, and by hand. */
function zCases({ pair, honest }: Bench): Draft[] {
  const { gamma1, beta, hashBytes, zBits, l, level } = pair.params
  const bound = gamma1 - beta
  const crafted = (name: string, label: string, keeps: (norm: number) => boolean, attemptsMax?: number): Draft => {
    const message = utf8(label)
    const options = attemptsMax === undefined ? { keeps } : { keeps, attemptsMax }
    const signature = signMlDsa(pair, message, CONTEXT, options)
    return ['z-range', name, { ...honest, message, signature }]
  }
  const { at, below } = EDGE_MESSAGES[level]
  const put = (name: string, offset: number, bytes: number[]): Draft => [
    'z-range',
    name,
    { ...honest, signature: patched(honest.signature, offset, bytes) },
  ]
  const end = hashBytes + 32 * zBits * l
  return [
    crafted('norm gamma1 - beta', `z at the edge, ${at}`, (norm) => norm === bound, 1),
    crafted('norm gamma1 - beta - 1: good', `z at the edge, ${below}`, (norm) => norm === bound - 1, 1),
    ...[0, 1, 2].map((n) =>
      crafted(`norm too large, ${n}`, `z too large ${n}`, (norm) => norm >= bound && norm < gamma1),
    ),
    put('first coefficient gamma1', hashBytes, [0, 0]),
    put('first coefficient near -gamma1', hashBytes, [255, 255, 255]),
    put('last coefficient near gamma1', end - 2, [0, 0]),
    put('last coefficient near -gamma1', end - 2, [255, 255]),
    put('all of the first polynomial gamma1', hashBytes, new Array(32 * zBits).fill(0)),
  ]
}

function flipCases({ honest }: Bench): Draft[] {
  const flips = { signature: 96, key: 48, message: 24, context: 16 } as const
  return (Object.keys(flips) as (keyof typeof flips)[]).flatMap((part) => {
    const bits = honest[part].length * 8
    return Array.from({ length: flips[part] }, (_, i): Draft => {
      const bit = Math.floor((i * (bits - 1)) / (flips[part] - 1))
      return ['bit-flip', `${part}, bit ${bit}`, { ...honest, [part]: flipped(honest[part], bit) }]
    })
  })
}
