import { referencePowHasher } from '../../consensus/block/pow.ts'
import { addressOfKeys, encodeAccountKeys, singleKey } from '../../consensus/crypto/account-keys.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { hybridPublicKey, SEED_BYTES, signHybrid } from '../../consensus/crypto/hybrid.ts'
import { REFERENCE_BACKEND } from '../../consensus/crypto/reference-backend.ts'
import { isKeyScheme, type KeyScheme } from '../../consensus/crypto/schemes.ts'
import { seedOfWords, wordsOfSeed } from '../../consensus/crypto/words.ts'
import { concat, fromHex, isHex, toHex } from '../../consensus/primitives/bytes.ts'
import type { BlockId } from '../../consensus/primitives/ids.ts'
import { voucherSeed } from '../../consensus/tx/tab-messages.ts'
import { fieldsOf } from './http.ts'
import { FarthingError } from './sdk/errors.ts'
import { factsOf } from './sdk/networks.ts'
import { checkGiven, checkOptions, KIND } from './sdk/options.ts'
import type { NetworkFacts, NetworkName, Signer } from './sdk/shapes.ts'

/** A key in memory that signs with both halves: Ed25519 and ML-DSA. */
export interface Wallet extends Signer {
  /** The address in the text form of a network, by default `mainnet`. */
  address(network?: NetworkName | NetworkFacts): string
}

/** A wallet and the words that restore it. */
export interface GeneratedWallet {
  readonly wallet: Wallet
  /** 24 English words (BIP-39). They give full control of the money. */
  readonly words: string
}

/** A new wallet. Write down the words before you send coins to it. */
export function generateWallet(): GeneratedWallet {
  const seed = crypto.getRandomValues(new Uint8Array(SEED_BYTES))
  return { wallet: walletOfSeed(seed, 1), words: wordsOfSeed(seed) }
}

/** The wallet of 24 words. Errors: `words_invalid`. */
export function walletFromWords(words: string): Wallet {
  return walletOfSeed(seedFrom(words), 1)
}

/**
 * The wallet of a keyfile, by its text, or by its path in Node. Keyfiles of `farthing wallet` fit. Deriving the key takes a
 * tenth of a second if the runtime has Argon2, and some seconds in a browser. Errors: `keyfile_invalid`, `keyfile_passphrase`.
 */
export async function walletFromKeyfile(pathOrText: string, options: { readonly passphrase: string }): Promise<Wallet> {
  checkGiven('walletFromKeyfile', 'pathOrText', pathOrText, KIND.text)
  const passphrase = passphraseOf('walletFromKeyfile', options)
  const isText = pathOrText.trimStart().startsWith('{')
  const file = readKeyfile(isText ? pathOrText : await readText(pathOrText))
  const key = await deriveKey(passphrase, file.salt, file.cost)
  const sealed = concat(file.ciphertext, file.tag) as Uint8Array<ArrayBuffer>
  const opened = await crypto.subtle
    .decrypt({ name: 'AES-GCM', iv: file.nonce, additionalData: file.address }, key, sealed)
    .catch(() => null)
  if (opened === null)
    throw new FarthingError('the passphrase is wrong, or the keyfile is damaged', { code: 'keyfile_passphrase' })
  const wallet = walletOfSeed(new Uint8Array(opened), file.scheme)
  // The scheme in the file is not authenticated. With another scheme the same seed is another wallet.
  if (addressHex(wallet) !== toHex(file.address)) throw invalidKeyfile('its key has another address')
  return wallet
}

/** The text of a new keyfile for a wallet, which `farthing wallet` and {@link walletFromKeyfile} can read. */
export async function keyfileOf(words: string, options: { readonly passphrase: string }): Promise<string> {
  const passphrase = passphraseOf('keyfileOf', options)
  const seed = seedFrom(words) as Uint8Array<ArrayBuffer>
  const address = fromHex(addressHex(walletOfSeed(seed, 1))) as Uint8Array<ArrayBuffer>
  const [salt, nonce] = [crypto.getRandomValues(new Uint8Array(16)), crypto.getRandomValues(new Uint8Array(12))]
  const key = await deriveKey(passphrase, salt, COST)
  const sealed = new Uint8Array(
    await crypto.subtle.encrypt({ name: 'AES-GCM', iv: nonce, additionalData: address }, key, seed),
  )
  const file = {
    ...{ version: 1, address: toHex(address), scheme: 1 },
    kdf: { name: 'argon2id', ...COST, salt: toHex(salt) },
    cipher: {
      name: 'aes-256-gcm',
      nonce: toHex(nonce),
      tag: toHex(sealed.subarray(SEED_BYTES)),
      ciphertext: toHex(sealed.subarray(0, SEED_BYTES)),
    },
  }
  return `${JSON.stringify(file, null, 2)}\n`
}

function walletOfSeed(seed: Uint8Array, scheme: KeyScheme): Wallet {
  const keys = singleKey(hybridPublicKey(REFERENCE_BACKEND, scheme, seed))
  const address = addressOfKeys(encodeAccountKeys(keys))
  return {
    keys,
    address: (network = 'mainnet') => formatAddress(factsOf(network).addressPrefix, address),
    sign: async (message, context) => [
      { keyIndex: 0, bytes: signHybrid(REFERENCE_BACKEND, { scheme, seed, message, context }) },
    ],
    voucherSeed: (genesis, nonce) => voucherSeed(seed, genesis as BlockId, nonce),
  }
}

function addressHex({ keys }: Wallet): string {
  return addressOfKeys(encodeAccountKeys(keys as Parameters<typeof encodeAccountKeys>[0]))
}

function passphraseOf(of: string, options: { readonly passphrase: string }): string {
  checkOptions(of, options, { passphrase: { what: 'a text', is: () => true } })
  const { passphrase } = options
  if (typeof passphrase === 'string') return passphrase
  throw new FarthingError('the keyfile needs its passphrase', { code: 'keyfile_passphrase' })
}

function seedFrom(words: string): Uint8Array {
  checkGiven('wallet', 'words', words, KIND.text)
  const seed = seedOfWords(words)
  if (!seed.ok)
    throw new FarthingError(`not the words of a wallet: ${seed.fault.detail.reason}`, { code: 'words_invalid' })
  return seed.value
}

/** Cost of the key derivation of new keyfiles, and the maximum accepted when reading. */
const COST = { memoryKiB: 65_536, passes: 3, lanes: 1 }
const COST_MAX = { memoryKiB: 1_048_576, passes: 1_000, lanes: 16 }

interface Keyfile {
  readonly scheme: KeyScheme
  readonly cost: typeof COST
  readonly address: Uint8Array<ArrayBuffer>
  readonly salt: Uint8Array
  readonly nonce: Uint8Array<ArrayBuffer>
  readonly tag: Uint8Array
  readonly ciphertext: Uint8Array
}

function readKeyfile(text: string): Keyfile {
  const { version, address, scheme, kdf, cipher } = fieldsOf(parsed(text))
  const { name: derivation, memoryKiB, passes, lanes, salt } = fieldsOf(kdf)
  const { name: sealing, nonce, tag, ciphertext } = fieldsOf(cipher)
  if (version !== 1 || derivation !== 'argon2id' || sealing !== 'aes-256-gcm')
    throw invalidKeyfile('its version or its algorithms are unknown')
  if (!isKeyScheme(scheme as number)) throw invalidKeyfile('its scheme is unknown')
  const cost = { memoryKiB, passes, lanes } as typeof COST
  for (const field of ['memoryKiB', 'passes', 'lanes'] as const)
    if (!Number.isInteger(cost[field]) || cost[field] < 1 || cost[field] > COST_MAX[field])
      throw invalidKeyfile('its key derivation is out of range')
  if (cost.memoryKiB < 8 * cost.lanes) throw invalidKeyfile('its key derivation is out of range')
  return {
    ...{ scheme: scheme as KeyScheme, cost },
    ...{ address: bytesOf(address, 32), salt: bytesOf(salt, 16), nonce: bytesOf(nonce, 12) },
    ...{ tag: bytesOf(tag, 16), ciphertext: bytesOf(ciphertext, SEED_BYTES) },
  }
}

function bytesOf(value: unknown, length: number): Uint8Array<ArrayBuffer> {
  if (typeof value !== 'string' || !isHex(value, length)) throw invalidKeyfile(`a field is not ${length} bytes in hex`)
  return fromHex(value) as Uint8Array<ArrayBuffer>
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidKeyfile('it is not JSON')
  }
}

function invalidKeyfile(reason: string): FarthingError {
  return new FarthingError(`the keyfile is unusable: ${reason}`, { code: 'keyfile_invalid' })
}

/** Node's modules, read at run time, so that a browser bundle needs no stub for them. */
interface Host {
  readonly process?: { getBuiltinModule?(name: string): unknown }
}

async function readText(path: string): Promise<string> {
  const fs = (globalThis as Host).process?.getBuiltinModule?.('node:fs/promises') as
    | { readFile(path: string, encoding: 'utf8'): Promise<string> }
    | undefined
  const text = await fs?.readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined)
    throw invalidKeyfile(fs === undefined ? 'there are no files here, give its text' : 'it cannot be read')
  return text
}

type Argon2Sync = (
  name: 'argon2id',
  options: {
    readonly message: Uint8Array
    readonly nonce: Uint8Array
    readonly parallelism: number
    readonly tagLength: number
    readonly memory: number
    readonly passes: number
  },
) => Uint8Array

async function deriveKey(passphrase: string, salt: Uint8Array, cost: typeof COST): Promise<CryptoKey> {
  const message = new TextEncoder().encode(passphrase.normalize('NFKC'))
  const native = (globalThis as Host).process?.getBuiltinModule?.('node:crypto') as
    | { readonly argon2Sync?: Argon2Sync }
    | undefined
  const { memoryKiB: memory, passes, lanes: parallelism } = cost
  const key =
    native?.argon2Sync?.('argon2id', { message, nonce: salt, parallelism, tagLength: 32, memory, passes }) ??
    referencePowHasher(message, salt, cost)
  return crypto.subtle.importKey('raw', new Uint8Array(key), 'AES-GCM', false, ['encrypt', 'decrypt'])
}
