import { wordlist } from '@scure/bip39/wordlists/english.js'
import { hex, join, madeBytes, sha256, taggedSha256, toLittleEndian, utf8 } from './bytes.ts'
import { expandSeed } from './edwards25519.ts'
import { type KeyPair, keyPair } from './ml-dsa.ts'
import { PARAMS } from './ml-dsa-math.ts'
import { spell, spellTable, type VectorFile } from './render.ts'

/** A hybrid key with the secrets of both halves. */
export interface HybridKey {
  readonly scheme: 1 | 2
  readonly classical: ReturnType<typeof expandSeed>
  readonly lattice: KeyPair
  readonly publicKey: Uint8Array
}

/** The hybrid key of a wallet seed (encoding.md, section 5). */
export function hybridKey(scheme: 1 | 2, seed: Uint8Array): HybridKey {
  const derived = (tag: string) => taggedSha256(tag, Uint8Array.of(scheme), seed)
  const classical = expandSeed(derived('farthing/seed-ed25519/1'))
  const lattice = keyPair(PARAMS[scheme === 1 ? 44 : 65], derived('farthing/seed-ml-dsa/1'))
  return { scheme, classical, lattice, publicKey: join(classical.publicKey, lattice.publicKey) }
}

/** SSZ of AccountKeys, written out: two bytes, an offset, then a list of (scheme, offset, bytes). */
export function encodedAccountKeys(
  scheme: number,
  threshold: number,
  keys: readonly { readonly scheme: number; readonly publicKey: Uint8Array }[],
): Uint8Array {
  const elements = keys.map((key) => join(Uint8Array.of(key.scheme), uint32(5), key.publicKey))
  let offset = 4 * keys.length
  const offsets = elements.map((element) => {
    const at = uint32(offset)
    offset += element.length
    return at
  })
  return join(Uint8Array.of(scheme, threshold), uint32(6), ...offsets, ...elements)
}

function uint32(value: number): Uint8Array {
  return toLittleEndian(BigInt(value), 4)
}

/** BIP-39: the entropy and behind it the first bits of its SHA-256, eleven bits a word. */
function words(entropy: Uint8Array): string {
  const bits = [...join(entropy, sha256(entropy).subarray(0, entropy.length / 32))]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('')
  return Array.from(
    { length: bits.length / 11 },
    (_, i) => wordlist[Number.parseInt(bits.slice(11 * i, 11 * i + 11), 2)],
  ).join(' ')
}

const BECH32_LETTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const BECH32M = 0x2bc830a3

/** The checksum polynomial of BIP-173. */
function polymod(values: readonly number[]): number {
  const generator = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
  return values.reduce((check, value) => {
    const shifted = ((check & 0x1ffffff) << 5) ^ value
    return generator.reduce((sum, g, i) => (((check >>> 25) >> i) & 1 ? sum ^ g : sum), shifted)
  }, 1)
}

/** Text of five-bit groups behind a prefix; `constant` is 1 in BIP-173 (bech32) and another number in BIP-350 (bech32m). */
export function bech32Text(prefix: string, groups: readonly number[], constant = BECH32M): string {
  const expanded = [...utf8(prefix)].flatMap((code) => [code >> 5])
  const low = [...utf8(prefix)].map((code) => code & 31)
  const check = polymod([...expanded, 0, ...low, ...groups, 0, 0, 0, 0, 0, 0]) ^ constant
  const checksum = Array.from({ length: 6 }, (_, i) => (check >> (5 * (5 - i))) & 31)
  return `${prefix}1${[...groups, ...checksum].map((group) => BECH32_LETTERS[group]).join('')}`
}

/** Bytes in groups of five bits, the last filled up with zeros. */
export function fiveBitGroups(bytes: Uint8Array): number[] {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return Array.from({ length: Math.ceil(bits.length / 5) }, (_, i) =>
    Number.parseInt(bits.slice(5 * i, 5 * i + 5).padEnd(5, '0'), 2),
  )
}

/** Seeds, words, keys, AccountKeys, and addresses with their texts on all three networks. */
export function accountsFile(): VectorFile {
  const seeds: [string, Uint8Array][] = [
    ['zeros', new Uint8Array(32)],
    ['ones', new Uint8Array(32).fill(255)],
    ...['a', 'b', 'c'].map((name): [string, Uint8Array] => [name, madeBytes(`wallet ${name}`, 32)]),
  ]
  const keys = new Map<string, HybridKey>()
  for (const [name, seed] of seeds) {
    for (const scheme of [1, 2] as const) keys.set(`${name}-${scheme}`, hybridKey(scheme, seed))
  }
  const table = Object.fromEntries([...keys].map(([name, key]) => [name, key.publicKey]))
  const account = (name: string, scheme: number, threshold: number, keyNames: readonly string[]) => {
    const members = keyNames.map((keyName) => keys.get(keyName) as HybridKey)
    const encoded = encodedAccountKeys(scheme, threshold, members)
    const address = taggedSha256('farthing/address/1', encoded)
    const text = Object.fromEntries(
      ['far', 'tfar', 'dfar'].map((prefix) => [prefix, bech32Text(prefix, fiveBitGroups(address))]),
    )
    return { name, scheme, threshold, keys: keyNames, encoded: hex(encoded), address: hex(address), text }
  }
  const accounts = [
    ...[...keys.keys()].map((name) => account(`single ${name}`, name.endsWith('1') ? 1 : 2, 1, [name])),
    account('2 of 3, mixed', 3, 2, ['a-1', 'b-2', 'c-1']),
    account('2 of 3, in another order', 3, 2, ['c-1', 'b-2', 'a-1']),
    account('3 of 3, mixed', 3, 3, ['a-1', 'b-2', 'c-1']),
    account('1 of 1', 3, 1, ['a-1']),
    account('8 of 8', 3, 8, ['a-1', 'a-2', 'b-1', 'b-2', 'c-1', 'c-2', 'ones-1', 'ones-2']),
  ]
  return {
    about: 'seeds, their words and keys under schemes 1 and 2, AccountKeys, addresses and their text',
    counts: { seeds: seeds.length, keys: keys.size, accounts: accounts.length },
    values: spellTable(table),
    seeds: seeds.map(([name, seed]) => ({ name, seed: hex(seed), words: words(seed) })),
    keys: [...keys].map(([name, { scheme, publicKey }]) => ({
      name,
      seed: name.slice(0, name.lastIndexOf('-')),
      scheme,
      publicKey: spell(publicKey, table),
    })),
    accounts,
  }
}
