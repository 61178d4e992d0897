import { fromLittleEndian, madeBytes } from './bytes.ts'
import type { VectorFile } from './render.ts'

const SUPPLY_BOUND = 2n ** 112n

/** Shortest text of an amount by long division, digit by digit. */
function textOf(units: bigint, decimals: number): string {
  const scale = 10n ** BigInt(decimals)
  let text = (units / scale).toString()
  let rest = units % scale
  if (rest > 0n) text += '.'
  for (let unit = scale / 10n; rest > 0n; unit /= 10n) {
    text += (rest / unit).toString()
    rest %= unit
  }
  return text
}

function made(label: string, bits: number): bigint {
  return fromLittleEndian(madeBytes(label, Math.ceil(bits / 8))) % 2n ** BigInt(bits)
}

function roundTrips() {
  const edges = [0n, 1n, 9n, 10n, 99_999_999n, 100_000_000n, 100_000_001n, 150_000_000n, 10n ** 16n, SUPPLY_BOUND - 1n]
  const random = Array.from({ length: 60 }, (_, i) => made(`amount ${i}`, 1 + ((i * 37) % 112)))
  return [...edges, ...random].flatMap((units, i) =>
    [8, [0, 1, 2, 6, 18, 33, 34, 38][i % 8] as number].map((decimals) => ({
      units: units.toString(),
      decimals,
      text: textOf(units, decimals),
    })),
  )
}

/** Texts of an amount that are not its shortest form. */
function longerTexts() {
  return [
    { text: '0.0', decimals: 8, units: '0' },
    { text: '0.00000000', decimals: 8, units: '0' },
    { text: '1.0', decimals: 8, units: '100000000' },
    { text: '1.50', decimals: 8, units: '150000000' },
    { text: '1.50000000', decimals: 8, units: '150000000' },
    { text: '0.10', decimals: 2, units: '10' },
    { text: '7.0', decimals: 1, units: '70' },
    { text: '51922968585348276285304963292.20096', decimals: 5, units: SUPPLY_BOUND.toString() },
  ].filter(({ units }) => BigInt(units) < SUPPLY_BOUND)
}

interface Refusal {
  readonly text: string
  readonly decimals: number
  readonly code: string
}

function refusals(): Refusal[] {
  const refused = (code: string, decimals: number, texts: readonly string[]): Refusal[] =>
    texts.map((text) => ({ text, decimals, code: `amount/${code}` }))
  const bound = SUPPLY_BOUND.toString()
  const above = (SUPPLY_BOUND + 1n).toString()
  return [
    ...refused('not-decimal', 8, [
      '',
      ' ',
      '.',
      '-',
      '+',
      '.5',
      '5.',
      '-1',
      '+1',
      '-0',
      '00',
      '01',
      '00.5',
      '1 ',
      ' 1',
      '1\n',
      '\n1',
      '1.5\n',
      '1e8',
      '1E8',
      '0x10',
      '1,5',
      '1.5.5',
      '1..5',
      '1_000',
      '1\u00a0000',
      'Infinity',
      'NaN',
      'null',
      '1n',
      '\u0661',
      '\uff11',
      '\u00b2',
      '1.\u0665',
      '\u0000',
      '1\u0000',
      '\ufeff1',
      '\u200e1',
    ]),
    ...refused('too-many-decimals', 8, ['0.000000001', '1.000000000', '0.123456789', '1.00000000000000000000']),
    ...refused('too-many-decimals', 0, ['0.0', '1.0', '5.5']),
    ...refused('too-many-decimals', 6, ['1.0000000']),
    ...refused('too-large', 0, [bound, above, '9'.repeat(38), `1${'0'.repeat(38)}`, '9'.repeat(39)]),
    ...refused('too-large', 8, [textOf(SUPPLY_BOUND, 8), textOf(SUPPLY_BOUND * 2n, 8), bound]),
    ...refused('too-large', 34, ['1', '0.9']),
  ]
}

/** Quotients of products below 2^256, rounded both ways. */
function products() {
  const edges: [bigint, bigint, bigint][] = [
    [0n, 0n, 1n],
    [0n, 5n, 7n],
    [1n, 1n, 1n],
    [1n, 1n, 2n],
    [7n, 3n, 21n],
    [7n, 3n, 20n],
    [7n, 3n, 22n],
    [2n ** 128n - 1n, 2n ** 128n - 1n, 1n],
    [2n ** 128n - 1n, 2n ** 128n - 1n, 2n ** 128n - 1n],
    [2n ** 256n - 1n, 1n, 1n],
    [2n ** 256n - 1n, 1n, 2n ** 300n],
    [2n ** 128n, 2n ** 128n - 1n, 3n],
  ]
  const random = Array.from({ length: 60 }, (_, i): [bigint, bigint, bigint] => [
    made(`factor ${i}`, 1 + ((i * 29) % 128)),
    made(`other factor ${i}`, 1 + ((i * 53) % 128)),
    made(`divisor ${i}`, 1 + ((i * 71) % 160)) + 1n,
  ])
  return [...edges, ...random].map(([a, b, divisor]) => {
    const remainder = (a * b) % divisor
    const down = (a * b - remainder) / divisor
    return {
      a: a.toString(),
      b: b.toString(),
      divisor: divisor.toString(),
      down: down.toString(),
      up: (remainder === 0n ? down : down + 1n).toString(),
    }
  })
}

/** Arguments that only a bug can produce. */
const MISUSES = [
  { a: '-1', b: '1', divisor: '1', message: 'mulDivDown takes unsigned numbers and a positive divisor' },
  { a: '1', b: '-1', divisor: '1', message: 'mulDivDown takes unsigned numbers and a positive divisor' },
  { a: '1', b: '1', divisor: '0', message: 'mulDivDown takes unsigned numbers and a positive divisor' },
  { a: '1', b: '1', divisor: '-1', message: 'mulDivDown takes unsigned numbers and a positive divisor' },
  { a: (2n ** 128n).toString(), b: (2n ** 128n).toString(), divisor: '1', message: 'product exceeds 256 bits' },
  { a: (2n ** 256n).toString(), b: '1', divisor: (2n ** 256n).toString(), message: 'product exceeds 256 bits' },
]

/** Decimal text both ways, refusals, products. */
export function amountsFile(): VectorFile {
  const parts = {
    roundTrips: roundTrips(),
    longerTexts: longerTexts(),
    refusals: refusals(),
    products: products(),
    misuses: MISUSES,
  }
  const counts = Object.fromEntries(Object.entries(parts).map(([name, { length }]) => [name, length]))
  return { about: 'amounts: decimal text, refusals, quotients of products', counts, ...parts }
}
