import { createHash } from 'node:crypto'
import { hex, madeBytes } from './bytes.ts'
import { type AddressCase, addressCases, type Named, strayTexts, TOO_LONG, wrappedTexts } from './external-cases.ts'

/** EIP-55 with the Keccak-256 of Node. */
export function eip55Text(address: Uint8Array): string {
  const digits = hex(address)
  const hash = createHash('keccak-256').update(digits).digest('hex')
  return `0x${[...digits].map((digit, i) => ('01234567'.includes(hash[i] as string) ? digit : digit.toUpperCase())).join('')}`
}

const KIND = 'eoa-or-contract'
const NOT_HEX = 'not 0x and 40 hex digits'
const NOT_EIP55 = 'not in the upper and lower case of EIP-55'

/** The examples of EIP-55. */
const PUBLISHED = {
  upper: ['0x52908400098527886E0F7030069857D2E4169EE7', '0x8617E340B3D01FA5F11F306F4090FD50E238070D'],
  lower: ['0xde709f2102306220921060314715629080e2fb77', '0x27b1fdb04752bbc536007a920d24acb045561c26'],
  mixed: [
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
  ],
} as const

const upperDigits = (text: string): string => `0x${text.slice(2).toUpperCase()}`

function flipCase(text: string, at: number): string {
  const letter = text[at] as string
  const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
  return `${text.slice(0, at)}${other}${text.slice(at + 1)}`
}

/** Addresses of Ethereum and of the networks with its virtual machine. */
export function evmCases(): AddressCase[] {
  const [good] = PUBLISHED.mixed
  const published = Object.entries(PUBLISHED).flatMap(([spelling, texts]) =>
    texts.map((text, i): Named => [`EIP-55, ${spelling} ${i + 1}`, text, KIND]),
  )
  const valid: Named[] = [
    ...published,
    ['digits alone', `0x${'1'.repeat(40)}`, KIND],
    ['a precompiled contract', `0x${'0'.repeat(39)}1`, KIND],
    ['all ones', eip55Text(new Uint8Array(20).fill(255)), KIND],
    ...[1, 2, 3].map((i): Named => [`made ${i}`, eip55Text(madeBytes(`evm address ${i}`, 20)), KIND]),
  ]
  const letters = Array.from(good, (_, at) => at).filter((at) => at >= 2 && /[a-f]/i.test(good[at] as string))
  const invalid: Named[] = [
    ['the zero address', `0x${'0'.repeat(40)}`, 'the zero address'],
    ...PUBLISHED.mixed.flatMap((text, i): Named[] => [
      [`mixed ${i + 1} in lower case`, text.toLowerCase(), NOT_EIP55],
      [`mixed ${i + 1} in upper case`, upperDigits(text), NOT_EIP55],
    ]),
    ...PUBLISHED.upper.map((text, i): Named => [`upper ${i + 1} in lower case`, text.toLowerCase(), NOT_EIP55]),
    ...PUBLISHED.lower.map((text, i): Named => [`lower ${i + 1} in upper case`, upperDigits(text), NOT_EIP55]),
    ...letters.map((at): Named => [`the other case at ${at}`, flipCase(good, at), NOT_EIP55]),
    ['another digit', good.replace(/d$/, 'e'), NOT_EIP55],
    ['0X', good.replace('0x', '0X'), NOT_HEX],
    ['no 0x', good.slice(2), NOT_HEX],
    ['39 digits', good.slice(0, -1), NOT_HEX],
    ['41 digits', `${good}0`, NOT_HEX],
    ['32 bytes', `0x${'5a'.repeat(32)}`, NOT_HEX],
    ['a letter above f', good.replace(/d$/, 'g'), NOT_HEX],
    ['a full-width digit', good.replace(/5/, '\uff15'), NOT_HEX],
    ['the form with a chain name', `eth:${good}`, NOT_HEX],
    ['an ICAP text', 'XE7338O073KYGTWWZN0F2WZ0R8PX5ZPPZS', NOT_HEX],
    ['45 addresses at once', good.repeat(45), TOO_LONG],
    ...wrappedTexts(good, NOT_HEX),
    ...strayTexts(NOT_HEX),
  ]
  return addressCases('evm', valid, invalid)
}
