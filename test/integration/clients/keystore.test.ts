import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { REFERENCE_BACKEND } from '../../../consensus/crypto/reference-backend.ts'
import type { KeyScheme } from '../../../consensus/crypto/schemes.ts'
import { signingContext } from '../../../consensus/crypto/signing.ts'
import { verifyJob } from '../../../consensus/crypto/verifier.ts'
import { seedOfWords, wordsOfSeed } from '../../../consensus/crypto/words.ts'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import { NATIVE_BACKEND } from '../../../src/crypto/native-backend.ts'
import { walletKey } from '../../../src/crypto/wallet-key.ts'
import { openSeed, openWallet, saveWallet, walletAddress, walletNames } from '../../../src/wallet/keystore.ts'
import { DEV_PASSPHRASE, passphrase } from '../../../src/wallet/passphrase.ts'
import { removeFolder, temporaryFolder } from '../../support/processes.ts'

const PASSPHRASE = 'correct horse battery staple'
const SEEDS: Readonly<Record<KeyScheme, Uint8Array>> = {
  1: Uint8Array.from({ length: 32 }, (_, i) => 3 * i + 1),
  2: Uint8Array.from({ length: 32 }, (_, i) => 251 - 5 * i),
}
const NAMES = { 1: 'daily', 2: 'vault' } as const

let folder: string
const pathOf = (name: string): string => join(folder, `${name}.json`)

interface WalletFile {
  version: number
  address: string
  scheme: number
  kdf: { name: string; memoryKiB: number; passes: number; lanes: number; salt: string }
  cipher: { name: string; nonce: string; tag: string; ciphertext: string }
}

const readFile = (name: string): WalletFile => JSON.parse(readFileSync(pathOf(name), 'utf8')) as WalletFile

/** Writes a changed copy of the daily wallet's file. */
function tampered(name: string, change: (file: WalletFile) => void): void {
  const file = readFile(NAMES[1])
  change(file)
  writeFileSync(pathOf(name), JSON.stringify(file))
}

beforeAll(async () => {
  folder = join(temporaryFolder(), 'wallets')
  for (const scheme of [1, 2] as const) {
    const saved = await saveWallet(folder, NAMES[scheme], { seed: SEEDS[scheme], scheme }, PASSPHRASE)
    if (!saved.ok) throw new Error(saved.fault.code)
  }
})

afterAll(() => removeFolder(join(folder, '..')))

describe.each([1, 2] as const)('a wallet of scheme %i', (scheme) => {
  const name = NAMES[scheme]
  const expected = walletKey(SEEDS[scheme], scheme)

  it('gives back its seed and its key', async () => {
    expect(await openSeed(folder, name, PASSPHRASE)).toEqual({ ok: true, value: { seed: SEEDS[scheme], scheme } })
    const opened = await openWallet(folder, name, PASSPHRASE)
    if (!opened.ok) throw new Error(opened.fault.code)
    expect([opened.value.address, opened.value.keys]).toEqual([expected.address, expected.keys])
    const message = new Uint8Array(40).fill(7)
    const [signature] = await opened.value.sign(message, signingContext('text'))
    const parts = [{ key: expected.keys.keys[0]!, signature: signature!.bytes }]
    for (const backend of [NATIVE_BACKEND, REFERENCE_BACKEND]) {
      expect(verifyJob(backend, { domain: 'text', message, parts })).toBe(true)
    }
  })

  it('shows its address without a passphrase', async () => {
    expect(await walletAddress(folder, name)).toEqual({ ok: true, value: expected.address })
  })

  it('does not open with another passphrase', async () => {
    const fault = { code: 'wallet/passphrase', detail: { path: pathOf(name) } }
    for (const wrong of ['', `${PASSPHRASE} `, PASSPHRASE.toUpperCase()]) {
      expect(await openWallet(folder, name, wrong)).toEqual({ ok: false, fault })
    }
  })

  it('is restored from its words', async () => {
    const opened = await openSeed(folder, name, PASSPHRASE)
    if (!opened.ok) throw new Error(opened.fault.code)
    const words = wordsOfSeed(opened.value.seed)
    expect(words.split(' ').length).toBe(24)
    const seed = seedOfWords(words)
    if (!seed.ok) throw new Error(seed.fault.code)
    expect(walletKey(seed.value, scheme).address).toBe(expected.address)
  })
})

describe('a wallet file', () => {
  it('holds neither seed nor passphrase in the open, and names its algorithms', () => {
    const text = readFileSync(pathOf(NAMES[1]), 'utf8').toLowerCase()
    const open = [
      toHex(SEEDS[1]),
      wordsOfSeed(SEEDS[1]),
      PASSPHRASE,
      Buffer.from(SEEDS[1]).toString('base64').toLowerCase(),
    ]
    expect(open.filter((secret) => text.includes(secret))).toEqual([])
    const { version, address, scheme, kdf, cipher } = readFile(NAMES[1])
    expect({ version, address, scheme }).toEqual({ version: 1, address: walletKey(SEEDS[1], 1).address, scheme: 1 })
    expect([kdf.name, cipher.name]).toEqual(['argon2id', 'aes-256-gcm'])
    // At least the costs that RFC 9106 recommends for little memory.
    expect([kdf.memoryKiB >= 65_536, kdf.passes >= 3, kdf.lanes >= 1]).toEqual([true, true, true])
    const lengths = [kdf.salt, cipher.nonce, cipher.tag, cipher.ciphertext].map((hex) => hex.length / 2)
    expect(lengths).toEqual([16, 12, 16, 32])
  })

  it('is readable only by its owner, whatever the default rights', async () => {
    const umask = process.umask(0)
    try {
      const home = join(folder, '..', 'open')
      await saveWallet(home, 'open', { seed: SEEDS[1], scheme: 1 }, PASSPHRASE)
      expect(statSync(join(home, 'open.json')).mode & 0o777).toBe(0o600)
      expect(statSync(home).mode & 0o777).toBe(0o700)
      expect(readdirSync(home)).toEqual(['open.json'])
    } finally {
      process.umask(umask)
    }
  })

  it('is different each time: salt and nonce are never used twice', async () => {
    for (const name of ['twin-a', 'twin-b']) await saveWallet(folder, name, { seed: SEEDS[1], scheme: 1 }, PASSPHRASE)
    const [a, b] = [readFile('twin-a'), readFile('twin-b')]
    expect(a.address).toBe(b.address)
    for (const of of [({ kdf }: WalletFile) => kdf.salt, ({ cipher }: WalletFile) => cipher.nonce]) {
      expect(of(a)).not.toBe(of(b))
    }
    expect(a.cipher.ciphertext).not.toBe(b.cipher.ciphertext)
  })

  it('is never overwritten', async () => {
    const before = readFileSync(pathOf(NAMES[1]))
    const refused = await saveWallet(folder, NAMES[1], { seed: SEEDS[2], scheme: 2 }, 'another')
    const detail = { name: NAMES[1], path: pathOf(NAMES[1]) }
    expect(refused).toEqual({ ok: false, fault: { code: 'wallet/exists', detail } })
    expect(readFileSync(pathOf(NAMES[1]))).toEqual(before)
    writeFileSync(pathOf('empty'), '')
    expect(await saveWallet(folder, 'empty', { seed: SEEDS[1], scheme: 1 }, 'x')).toMatchObject({ ok: false })
    expect(statSync(pathOf('empty')).size).toBe(0)
  })

  it('that does not exist is named, and nothing is made', async () => {
    const fault = { code: 'wallet/missing', detail: { name: 'nobody', path: pathOf('nobody'), flags: '' } }
    expect(await openWallet(folder, 'nobody', PASSPHRASE)).toEqual({ ok: false, fault })
    expect(await walletAddress(folder, 'nobody')).toEqual({ ok: false, fault })
    expect(existsSync(pathOf('nobody'))).toBe(false)
  })

  it('is listed by its name; other files are not listed', async () => {
    const home = join(folder, '..', 'list')
    expect(await walletNames(home)).toEqual([])
    mkdirSync(home)
    for (const file of ['a.json', 'b c.json', 'note.txt', 'a.json.123.tmp']) writeFileSync(join(home, file), '')
    expect((await walletNames(home)).toSorted()).toEqual(['a', 'b c'])
  })
})

const flipped = (hex: string): string => `${hex.startsWith('0') ? '1' : '0'}${hex.slice(1)}`

describe('a wallet file that was tampered with does not open:', () => {
  const changes: readonly (readonly [string, (file: WalletFile) => void])[] = [
    ['another address', (file) => Object.assign(file, { address: walletKey(SEEDS[2], 2).address })],
    ['an address with a bit turned', (file) => Object.assign(file, { address: flipped(file.address) })],
    ['more memory', ({ kdf }) => Object.assign(kdf, { memoryKiB: kdf.memoryKiB + 8 })],
    ['less memory', ({ kdf }) => Object.assign(kdf, { memoryKiB: 8 })],
    ['other passes', ({ kdf }) => Object.assign(kdf, { passes: 1 })],
    ['other lanes', ({ kdf }) => Object.assign(kdf, { lanes: 2 })],
    ['another salt', ({ kdf }) => Object.assign(kdf, { salt: flipped(kdf.salt) })],
    ['another nonce', ({ cipher }) => Object.assign(cipher, { nonce: flipped(cipher.nonce) })],
    ['another tag', ({ cipher }) => Object.assign(cipher, { tag: flipped(cipher.tag) })],
    ['another ciphertext', ({ cipher }) => Object.assign(cipher, { ciphertext: flipped(cipher.ciphertext) })],
    [
      'cipher of another wallet',
      (file) => Object.assign(file, { cipher: readFile(NAMES[2]).cipher, kdf: readFile(NAMES[2]).kdf }),
    ],
  ]

  it.each(changes)('%s', async (name, change) => {
    tampered(name, change)
    const fault = { code: 'wallet/passphrase', detail: { path: pathOf(name) } }
    expect(await openWallet(folder, name, PASSPHRASE)).toEqual({ ok: false, fault })
  })

  it('another scheme: with it the same seed would be another wallet', async () => {
    tampered('scheme', (file) => Object.assign(file, { scheme: 2 }))
    const fault = { code: 'wallet/damaged', detail: { path: pathOf('scheme'), reason: 'its key has another address' } }
    expect(await openWallet(folder, 'scheme', PASSPHRASE)).toEqual({ ok: false, fault })
  })

  it('but the unchanged file does', async () => {
    tampered('untouched', () => {})
    expect(await openWallet(folder, 'untouched', PASSPHRASE)).toMatchObject({ ok: true })
  })
})

it('of two wallets saved under one name at once, one is kept and the other is refused', async () => {
  const seeds = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
  const saved = await Promise.all(seeds.map((seed) => saveWallet(folder, 'twice', { seed, scheme: 1 }, PASSPHRASE)))
  expect(saved.map(({ ok }) => ok).sort()).toEqual([false, true])
  const kept = seeds[saved.findIndex(({ ok }) => ok)]
  expect(await openSeed(folder, 'twice', PASSPHRASE)).toMatchObject({ ok: true, value: { seed: kept } })
})

describe('a file that is not a wallet of this release is called damaged:', () => {
  const damaged = (reason: string) => ({ code: 'wallet/damaged', detail: { path: pathOf('damaged'), reason } })

  it.each<readonly [string, string, (file: WalletFile) => unknown]>([
    ['another version', 'version 2 is unknown', (file) => Object.assign(file, { version: 2 })],
    ['no version', 'version undefined is unknown', (file) => Reflect.deleteProperty(file, 'version')],
    ['an unknown scheme', 'unknown algorithms', (file) => Object.assign(file, { scheme: 3 })],
    ['a scheme that is no number', 'unknown algorithms', (file) => Object.assign(file, { scheme: '1' })],
    ['an unknown derivation', 'unknown algorithms', ({ kdf }) => Object.assign(kdf, { name: 'scrypt' })],
    ['an unknown cipher', 'unknown algorithms', ({ cipher }) => Object.assign(cipher, { name: 'aes-128-gcm' })],
    ['no derivation', 'it is not a wallet file', (file) => Reflect.deleteProperty(file, 'kdf')],
    ['no cipher', 'it is not a wallet file', (file) => Reflect.deleteProperty(file, 'cipher')],
    ['a longer salt', 'its salt is not 16 bytes in hex', ({ kdf }) => Object.assign(kdf, { salt: `${kdf.salt}00` })],
    ['a salt with junk', 'its salt is not 16 bytes in hex', ({ kdf }) => Object.assign(kdf, { salt: `${kdf.salt}zz` })],
    ['no nonce', 'its nonce is not 12 bytes in hex', ({ cipher }) => Reflect.deleteProperty(cipher, 'nonce')],
    ['a shorter tag', 'its tag is not 16 bytes in hex', ({ cipher }) => Object.assign(cipher, { tag: 'abcd' })],
    [
      'no ciphertext',
      'its ciphertext is not 32 bytes in hex',
      ({ cipher }) => Object.assign(cipher, { ciphertext: '' }),
    ],
    ['no address', 'its address is not 32 bytes in hex', (file) => Reflect.deleteProperty(file, 'address')],
    ['no memory', 'its key derivation is out of range', ({ kdf }) => Object.assign(kdf, { memoryKiB: 0 })],
    ['all memory', 'its key derivation is out of range', ({ kdf }) => Object.assign(kdf, { memoryKiB: 2 ** 31 })],
    ['passes for years', 'its key derivation is out of range', ({ kdf }) => Object.assign(kdf, { passes: 2 ** 31 })],
    ['no lanes', 'its key derivation is out of range', ({ kdf }) => Object.assign(kdf, { lanes: 0 })],
    [
      'less memory than its lanes take',
      'its key derivation is out of range',
      ({ kdf }) => Object.assign(kdf, { lanes: 16, memoryKiB: 127 }),
    ],
  ])('%s', async (_, reason, change) => {
    tampered('damaged', change)
    for (const read of [openWallet(folder, 'damaged', PASSPHRASE), walletAddress(folder, 'damaged')]) {
      expect(await read).toEqual({ ok: false, fault: damaged(reason) })
    }
  })

  it.each(['', 'null', '[', 'wallet'])('the text "%s"', async (content) => {
    writeFileSync(pathOf('damaged'), content)
    expect(await openWallet(folder, 'damaged', PASSPHRASE)).toEqual({
      ok: false,
      fault: damaged('it is not a wallet file'),
    })
  })
})

describe('a passphrase', () => {
  it('is the same in every Unicode-compatible spelling', async () => {
    const spellings = [
      '\u212bngstr\u00f6m \ufb01ne \u2168',
      'A\u030angstro\u0308m fine IX',
      '\u00c5ngstr\u00f6m \uff46ine IX',
    ]
    await saveWallet(folder, 'unicode', { seed: SEEDS[1], scheme: 1 }, spellings[0] as string)
    for (const spelling of spellings) {
      expect(await openSeed(folder, 'unicode', spelling)).toMatchObject({ ok: true, value: { seed: SEEDS[1] } })
    }
    for (const other of ['Angstrom fine IX', '\u00e5ngstr\u00f6m fine ix']) {
      expect(await openSeed(folder, 'unicode', other)).toMatchObject({ fault: { code: 'wallet/passphrase' } })
    }
  })

  it('comes from its file, without the line end but with all other blanks', async () => {
    const path = join(folder, '..', 'passphrase')
    for (const [content, expected] of [
      ['secret', 'secret'],
      ['secret\n', 'secret'],
      ['secret\r\n', 'secret'],
      [' se cret \n\n', ' se cret \n'],
      ['\u{1f511}\n', '\u{1f511}'],
      ['', ''],
    ] as const) {
      writeFileSync(path, content)
      expect(await passphrase({ file: path, devnet: true })).toEqual({ ok: true, value: expected })
    }
  })

  it('from an unreadable file is a fault, on the devnet too', async () => {
    const path = join(folder, '..', 'nowhere')
    const fault = { code: 'config/file', detail: { path, reason: 'it cannot be read' } }
    for (const devnet of [true, false]) expect(await passphrase({ file: path, devnet })).toEqual({ ok: false, fault })
  })

  it('of a development wallet is known', async () => {
    expect(await passphrase({ file: null, devnet: true })).toEqual({ ok: true, value: DEV_PASSPHRASE })
  })
})
