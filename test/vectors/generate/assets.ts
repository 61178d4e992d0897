import { hex, unhex, utf8 } from './bytes.ts'
import { tagged, u16, type VectorSet } from './tx-wire.ts'

/** Asset id and skeleton of a symbol. This file is written from docs/spec/ledgers.md, sections 5 and 7. */

export interface AssetCase {
  readonly symbol: string
  readonly asset: string
  readonly skeleton: string
}

export interface PoolCase {
  readonly assetA: string
  readonly assetB: string
  readonly feeBps: number
  readonly poolId: string
}

/** Asset id of a symbol, in hex. */
export function assetId(symbol: string): string {
  return (symbol === 'FAR' ? '' : hex(utf8(symbol))).padEnd(64, '0')
}

/** Id of the pool of two symbols at a fee, in hex. */
export function poolId(assetA: string, assetB: string, feeBps: number): string {
  const [x, y] = [assetId(assetA), assetId(assetB)].sort((a, b) => (a < b ? -1 : 1)) as [string, string]
  return hex(tagged('farthing/pool-id/1', unhex(x), unhex(y), u16(feeBps)))
}

const FIRST = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
const DIGITS = [...'0123456789']

const SYMBOLS = [
  ...[
    'FAR',
    'XUSD',
    'FUSD',
    'XBTC',
    'XLTC',
    'SALT',
    'WOOL',
    'FA',
    'FARR',
    'F4R',
    'A0',
    'AO',
    'Z123456789',
    'ABCDEFGHIJ',
  ],
  ...[
    'FU5D',
    'FUSO',
    'FUS0',
    'XB7C',
    'X8TC',
    'SA1T',
    'SAIT',
    'S0',
    'W00L',
    'B2B',
    'BZB',
    'I1I1I1I1I1',
    'O0258',
    'Q34679',
  ],
  ...FIRST.map((letter) => `${letter}X`),
  ...FIRST.map((letter) => `X${letter}`),
  ...DIGITS.map((digit) => `X${digit}`),
]

/** Replaces digits by the letters that they look like. */
function skeleton(symbol: string): string {
  return symbol.replaceAll('0', 'O').replaceAll('1', 'I').replaceAll('2', 'Z').replaceAll('5', 'S').replaceAll('8', 'B')
}

export function assetIds(): VectorSet<AssetCase> {
  return {
    about: 'Asset id and skeleton by symbol. FAR is the native coin.',
    spec: 'ledgers.md, section 5',
    cases: SYMBOLS.map((symbol) => ({ symbol, asset: assetId(symbol), skeleton: skeleton(symbol) })),
  }
}

const PAIRS = [
  ...[
    ['FAR', 'FUSD'],
    ['FAR', 'SALT'],
    ['SALT', 'WOOL'],
    ['XBTC', 'XLTC'],
    ['AB', 'ABC'],
    ['A9', 'AA'],
    ['ZZ', 'Z123456789'],
  ],
] as const

export function poolIds(): VectorSet<PoolCase> {
  return {
    about: 'Pool id by two assets, in either order, and a fee.',
    spec: 'ledgers.md, section 7',
    cases: PAIRS.flatMap(([one, other]) =>
      [5, 30, 100, 258].flatMap((feeBps) => [
        { assetA: one, assetB: other, feeBps, poolId: poolId(one, other, feeBps) },
        { assetA: other, assetB: one, feeBps, poolId: poolId(one, other, feeBps) },
      ]),
    ),
  }
}
