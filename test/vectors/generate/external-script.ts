import { bech32Text, fiveBitGroups } from './accounts.ts'
import { base58Bytes, base58CheckText, base58Text } from './base58-text.ts'
import { join, madeBytes, sha256, unhex } from './bytes.ts'
import { type AddressCase, addressCases, type Named, strayTexts, TOO_LONG, wrappedTexts } from './external-cases.ts'

const BECH32 = 1
const BECH32M = 0x2bc830a3

const BAD_BECH32 = 'bad bech32 characters or checksum'
const NO_VERSION = 'no witness version'
const BAD_VERSION = 'a witness version that is not in use'
const BAD_CHECKSUM_KIND = 'witness version 0 takes bech32, version 1 bech32m'
const BAD_PADDING = 'bad padding'
const BAD_PROGRAM = 'a witness program of another length'
const UPPER_CASE = 'bech32 is written in lower case'
const NOT_21 = 'not a version byte and 20 bytes'
const OTHER_NETWORK = 'a version byte of another network'
const OLD_LITECOIN = 'a 3... address could be of Bitcoin, its M... form is the one taken here'
const NEITHER = {
  bc: 'neither bc1... nor base58 with its checksum',
  ltc: 'neither ltc1... nor base58 with its checksum',
}

type Prefix = keyof typeof NEITHER

/** Programs of BIP-173 and BIP-350: a key hash, a script hash, the x of the generator point. */
const KEY_HASH = unhex('751e76e8199196d454941c45d1b3a323f1433bd6')
const SCRIPT_HASH = unhex('1863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262')
const POINT = unhex('79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798')

function segwitText(prefix: string, version: number, program: Uint8Array, constant = version === 0 ? BECH32 : BECH32M) {
  return bech32Text(prefix, [version, ...fiveBitGroups(program)], constant)
}

/** Segwit texts with this prefix that Bitcoin and Litecoin refuse. */
function segwitRefusals(prefix: Prefix): Named[] {
  const good = segwitText(prefix, 0, KEY_HASH)
  const taproot = segwitText(prefix, 1, POINT)
  const groups = fiveBitGroups(POINT)
  const withPadding = (bits: number) => [1, ...groups.slice(0, -1), (groups.at(-1) as number) | bits]
  const lengths = (version: number, list: readonly number[]) =>
    list.map((length): Named => {
      const text = segwitText(prefix, version, madeBytes('program', length))
      return [`version ${version}, ${length} bytes`, text, BAD_PROGRAM]
    })
  return [
    ...lengths(0, [0, 2, 19, 21, 31, 33, 40]),
    ...lengths(1, [0, 2, 20, 31, 33, 40]),
    ...Array.from({ length: 30 }, (_, i): Named => {
      return [`version ${i + 2}`, segwitText(prefix, i + 2, POINT), BAD_VERSION]
    }),
    ['version 2 in bech32', segwitText(prefix, 2, POINT, BECH32), BAD_VERSION],
    ['version 0 in bech32m, 20 bytes', segwitText(prefix, 0, KEY_HASH, BECH32M), BAD_CHECKSUM_KIND],
    ['version 0 in bech32m, 32 bytes', segwitText(prefix, 0, SCRIPT_HASH, BECH32M), BAD_CHECKSUM_KIND],
    ['version 1 in bech32', segwitText(prefix, 1, POINT, BECH32), BAD_CHECKSUM_KIND],
    ['no group', bech32Text(prefix, []), NO_VERSION],
    ['no group, bech32', bech32Text(prefix, [], BECH32), NO_VERSION],
    ...[1, 2, 4, 8].map((bits): Named => [`padding ${bits}`, bech32Text(prefix, withPadding(bits)), BAD_PADDING]),
    ['a point and a group', bech32Text(prefix, [1, ...groups, 0]), BAD_PROGRAM],
    ['a key hash and a group', bech32Text(prefix, [0, ...fiveBitGroups(KEY_HASH), 0], BECH32), BAD_PADDING],
    ['the checksum alone', `${prefix}1qqqqqq`, BAD_BECH32],
    ['half a checksum', `${prefix}1qqqqq`, BAD_BECH32],
    ['the prefix', `${prefix}1`, BAD_BECH32],
    ['a second separator', good.replace('1q', '11'), BAD_BECH32],
    ['the letter b', good.replace(/.$/, 'b'), BAD_BECH32],
    ['another last letter', good.replace(/.$/, 'q'), BAD_BECH32],
    ['an upper-case letter within', good.replace('w', 'W'), BAD_BECH32],
    ['a full-width letter', good.replace(/.$/, '\uff51'), BAD_BECH32],
    ['90 characters', `${prefix}1`.padEnd(90, 'q'), BAD_BECH32],
    ['91 characters', `${prefix}1`.padEnd(91, 'q'), TOO_LONG],
    ['upper case', good.toUpperCase(), UPPER_CASE],
    ['upper-case taproot', taproot.toUpperCase(), UPPER_CASE],
    ['the prefix alone in upper case', good.replace(prefix, prefix.toUpperCase()), UPPER_CASE],
    ['no prefix', good.slice(prefix.length + 1), NEITHER[prefix]],
    ['the separator and what is behind', good.slice(prefix.length), NEITHER[prefix]],
    ['a payment link', `bitcoin:${good}`, NEITHER[prefix]],
    ...wrappedTexts(good, BAD_BECH32).map(
      ([name, text]): Named => [`${name} bech32`, text, text.startsWith(' ') ? NEITHER[prefix] : BAD_BECH32],
    ),
    ...wrappedTexts(taproot, BAD_BECH32)
      .slice(1)
      .map(([name, text, reason]): Named => [`${name} bech32m`, text, reason]),
  ]
}

/** Base58check texts that Bitcoin and Litecoin refuse. `version` is the network's own for key hashes. */
function base58Refusals(prefix: Prefix, version: number): Named[] {
  const good = base58CheckText(version, KEY_HASH)
  const neither = NEITHER[prefix]
  const versioned = join(Uint8Array.of(version), KEY_HASH)
  return [
    ['no checksum', base58Text(versioned), neither],
    ['single hash as checksum', base58Text(join(versioned, sha256(versioned).subarray(0, 4))), neither],
    ['the checksum one bit off', base58Text(flipLastBit(version)), neither],
    ['19 bytes', base58CheckText(version, KEY_HASH.subarray(1)), NOT_21],
    ['21 bytes', base58CheckText(version, join(KEY_HASH, Uint8Array.of(0))), NOT_21],
    ['no byte but the version', base58CheckText(version, new Uint8Array(0)), NOT_21],
    ['a zero byte more', `1${good}`, neither],
    ['another last character', good.replace(/.$/, good.endsWith('2') ? '3' : '2'), neither],
    ['a zero', good.replace(/.$/, '0'), neither],
    ['three characters', 'zzz', neither],
    ['a compressed private key', base58CheckText(0x80, join(KEY_HASH, new Uint8Array(12), Uint8Array.of(1))), NOT_21],
    ['an extended key', base58CheckText(0x04, madeBytes('extended key', 60)), NOT_21],
    ['Dogecoin', base58CheckText(0x1e, KEY_HASH), OTHER_NETWORK],
    ['a test network, key hash', base58CheckText(0x6f, KEY_HASH), OTHER_NETWORK],
    ['a test network, script hash', base58CheckText(0xc4, KEY_HASH), OTHER_NETWORK],
    ['a test network of Litecoin, script hash', base58CheckText(0x3a, KEY_HASH), OTHER_NETWORK],
    ['Ethereum', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', neither],
    ...wrappedTexts(good, neither),
    ...strayTexts(neither),
  ]
}

function flipLastBit(version: number): Uint8Array {
  const versioned = join(Uint8Array.of(version), KEY_HASH)
  const checksum = sha256(sha256(versioned)).subarray(0, 4)
  return join(versioned, checksum.with(3, (checksum[3] as number) ^ 1))
}

const published = (source: string, texts: readonly string[], verdict: string): Named[] =>
  texts.map((text, i) => [`${source} ${i + 1}`, text, verdict])

/** Texts for Bitcoin: valid addresses, many of them published ones, and texts that are refused. */
export function bitcoinCases(): AddressCase[] {
  const bip350 = {
    upper: ['BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4', 'BC1SW50QGDZ25J', 'BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P'],
    length: [
      'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y',
      'bc1pw5dgrnzv',
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav',
      'bc1qr508d6qejxtdg4y5r3zarvaryv98gj9p',
    ],
    version: [
      'bc1sw50qgdz25j',
      'bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs',
      'bc130xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq7zws8r',
      'bc1s0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq54well',
    ],
    checksumKind: [
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd',
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh',
    ],
    prefix: [
      'tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut',
      'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7',
      'tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c',
      'tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq',
    ],
  }
  const bip173 = {
    version: ['bc1sw50qa3jx3s', 'bc1zw508d6qejxtdg4y5r3zarvaryvg6kdaj', 'bc13w508d6qejxtdg4y5r3zarvary0c5xw7kn40wf2'],
    checksumKind: ['bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7k7grplx'],
  }
  const core = {
    p2pkh: ['1FsSia9rv4NeEwvJ2GvXrX7LyxYspbN2mo', '1FjL87pn8ky6Vbavd1ZHeChRXtoxwRGCRd'],
    p2sh: ['36j4NfKv6Akva9amjWrLG6MuSQym1GuEmm', '3BZECeAH8gSKkjrTx8PwMrNQBLG18yHpvf'],
    p2wpkh: ['bc1qvyq0cc6rahyvsazfdje0twl7ez82ndmuac2lhv', 'bc1qhxt04s5xnpy0kxw4x99n5hpdf5pmtzpqs52es2'],
    p2wsh: [
      'bc1qyucykdlhp62tezs0hagqury402qwhk589q80tqs5myh3rxq34nwqhkdhv7',
      'bc1qgc9ljrvdf2e0zg9rmmq86xklqwfys7r6wptjlacdgrcdc7sa6ggqu4rrxf',
    ],
    p2tr: [
      'bc1p83n3au0rjylefxq2nc2xh2y4jzz4pm6zxj4mw5pagdjjr2a9f36s6jjnnu',
      'bc1pve739yap4uxjvfk0jrey69078u0gasm2nwvv483ec6zkzulgw9xqu4w9fd',
    ],
  }
  const valid: Named[] = [
    ['the first block', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'p2pkh'],
    ['BIP-350, key hash', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'p2wpkh'],
    ['BIP-350, point', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0', 'p2tr'],
    ['BIP-86', 'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr', 'p2tr'],
    ...Object.entries(core).flatMap(([kind, texts]) => published(`Bitcoin Core, ${kind}`, texts, kind)),
    ['script hash of BIP-173', segwitText('bc', 0, SCRIPT_HASH), 'p2wsh'],
    ['the key hash of zeros', '1111111111111111111114oLvT2', 'p2pkh'],
    ['the key hash of ones', base58CheckText(0, new Uint8Array(20).fill(255)), 'p2pkh'],
    ['the script hash of ones', base58CheckText(5, new Uint8Array(20).fill(255)), 'p2sh'],
    ['a program of zeros', segwitText('bc', 0, new Uint8Array(20)), 'p2wpkh'],
  ]
  const invalid: Named[] = [
    ...published('BIP-350, upper case', bip350.upper, UPPER_CASE),
    ...published('BIP-350, length', bip350.length, BAD_PROGRAM),
    ...published('BIP-350, version', bip350.version, BAD_VERSION),
    ...published('BIP-350, checksum', bip350.checksumKind, BAD_CHECKSUM_KIND),
    ...published('BIP-350, prefix', bip350.prefix, NEITHER.bc),
    ['BIP-350, character', 'bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4', BAD_BECH32],
    ['BIP-350, empty data', 'bc1gmk9yu', NO_VERSION],
    ['BIP-350, padding', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf', BAD_PADDING],
    ...published('BIP-173, version', bip173.version, BAD_VERSION),
    ...published('BIP-173, checksum of old', bip173.checksumKind, BAD_CHECKSUM_KIND),
    ['BIP-173, checksum', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5', BAD_BECH32],
    ['an anchor output', 'bc1pfeessrawgf', BAD_PROGRAM],
    ['Litecoin, key hash', base58CheckText(0x30, KEY_HASH), OTHER_NETWORK],
    ['Litecoin, script hash', base58CheckText(0x32, KEY_HASH), OTHER_NETWORK],
    ['Litecoin, bech32', segwitText('ltc', 0, KEY_HASH), NEITHER.bc],
    ['a local network', segwitText('bcrt', 0, KEY_HASH), NEITHER.bc],
    ...segwitRefusals('bc'),
    ...base58Refusals('bc', 0),
  ]
  return addressCases('bitcoin', valid, invalid)
}

/** A key hash whose address begins with `start`, such as an upper-case prefix of bech32. */
function keyHashBehind(start: string): Uint8Array {
  return base58Bytes(start.padEnd(34, '5'), 25).subarray(1, 21)
}

/** Texts for Litecoin: valid addresses, many of them published ones, and texts that are refused. */
export function litecoinCases(): AddressCase[] {
  const core = {
    p2pkh: [
      'LT2KVaAy1ppRuxRgrS5RNU3vBsy7RibPeA',
      'LbfVMz974gbbGFqXF7FZUpSBWSbwBHDwR5',
      'LgUPnP2UZxmFBJb8FDgNd5JcU9b7CNfrw1',
    ],
    p2sh: [
      'MHrYRxAiMNBTku3eoDHwhA1LQGDjUStZW2',
      'M9dw1FAoWpHC6PcMzoCHhqQ9McvTyG5Ywj',
      'MWGEAUUZoN4r6puz8KsgnE9wNTQ8fGWCEy',
      'MNYP3h6XQQcVBohyVrxAtRGhbyvPpXzyFR',
    ],
  }
  const valid: Named[] = [
    ...Object.entries(core).flatMap(([kind, texts]) => published(`Litecoin Core, ${kind}`, texts, kind)),
    ['key hash of BIP-173', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9', 'p2wpkh'],
    ['script hash of BIP-173', segwitText('ltc', 0, SCRIPT_HASH), 'p2wsh'],
    ['point of BIP-350', segwitText('ltc', 1, POINT), 'p2tr'],
    ['base58 that begins like bech32', base58CheckText(0x30, keyHashBehind('LTC1')), 'p2pkh'],
    ['the key hash of zeros', base58CheckText(0x30, new Uint8Array(20)), 'p2pkh'],
    ['the script hash of ones', base58CheckText(0x32, new Uint8Array(20).fill(255)), 'p2sh'],
  ]
  const invalid: Named[] = [
    ['the old form of a script hash', base58CheckText(0x05, KEY_HASH), OLD_LITECOIN],
    ['Bitcoin, script hash', '36j4NfKv6Akva9amjWrLG6MuSQym1GuEmm', OLD_LITECOIN],
    ['Bitcoin, key hash', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', OTHER_NETWORK],
    ['Bitcoin, bech32', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', NEITHER.ltc],
    ['the checksum of Bitcoin', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', BAD_BECH32],
    ['a test network in bech32', segwitText('tltc', 0, KEY_HASH), NEITHER.ltc],
    ['an address of extension blocks', `ltcmweb1qq${'q'.repeat(110)}`, TOO_LONG],
    ['base58 like bech32, one letter off', base58CheckText(0x30, keyHashBehind('LTC1')).replace(/5/, '6'), UPPER_CASE],
    ...segwitRefusals('ltc'),
    ...base58Refusals('ltc', 0x30),
  ]
  return addressCases('litecoin', valid, invalid)
}
