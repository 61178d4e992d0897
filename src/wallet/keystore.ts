import { argon2, createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { access, mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { SEED_BYTES } from '../../consensus/crypto/hybrid.ts'
import { isKeyScheme, type KeyScheme } from '../../consensus/crypto/schemes.ts'
import { isHex } from '../../consensus/primitives/bytes.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { type SellerKey, type WalletKey, walletKey } from '../crypto/wallet-key.ts'
import { createFileAtomically } from '../storage/atomic-file.ts'

const VERSION = 1
/** Cost of opening a wallet: about a tenth of a second, 64 MiB (RFC 9106 recommends at least this much memory). */
const COST = { memoryKiB: 65_536, passes: 3, lanes: 1 }
const KEY_BYTES = 32
const SALT_BYTES = 16
const NONCE_BYTES = 12
const TAG_BYTES = 16
const PRIVATE_MODE = 0o600
/** Lengths of the hex fields, in bytes. */
const FIELD_BYTES = { address: 32, salt: SALT_BYTES, nonce: NONCE_BYTES, tag: TAG_BYTES, ciphertext: SEED_BYTES }

/** A wallet file. All values but names are hex. The address is authenticated with the ciphertext (AAD). */
interface WalletFile {
  readonly version: number
  readonly address: string
  readonly scheme: KeyScheme
  readonly kdf: {
    readonly name: 'argon2id'
    readonly memoryKiB: number
    readonly passes: number
    readonly lanes: number
    readonly salt: string
  }
  readonly cipher: {
    readonly name: 'aes-256-gcm'
    readonly nonce: string
    readonly tag: string
    readonly ciphertext: string
  }
}

/** A seed with its key scheme. */
export interface WalletSeed {
  readonly seed: Uint8Array
  readonly scheme: KeyScheme
}

/** Names of the wallets in a folder. */
export async function walletNames(folder: string): Promise<readonly string[]> {
  const files = await readdir(folder).catch(() => [] as string[])
  return files.filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -'.json'.length))
}

/** An existing wallet is never overwritten. */
export async function saveWallet(
  folder: string,
  name: string,
  { seed, scheme }: WalletSeed,
  passphrase: string,
): Promise<Result<WalletKey>> {
  const path = join(folder, `${name}.json`)
  if (await exists(path)) return fail(fault('wallet/exists', { name, path }))
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const key = walletKey(seed, scheme)
  const salt = randomBytes(SALT_BYTES)
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', await deriveKey(passphrase, salt, COST), nonce)
  cipher.setAAD(Buffer.from(key.address, 'hex'))
  const ciphertext = Buffer.concat([cipher.update(seed), cipher.final()])
  const file: WalletFile = {
    version: VERSION,
    address: key.address,
    scheme,
    kdf: { name: 'argon2id', ...COST, salt: salt.toString('hex') },
    cipher: {
      name: 'aes-256-gcm',
      nonce: nonce.toString('hex'),
      tag: cipher.getAuthTag().toString('hex'),
      ciphertext: ciphertext.toString('hex'),
    },
  }
  const created = await createFileAtomically(path, `${JSON.stringify(file, null, 2)}\n`, PRIVATE_MODE)
  return created ? ok(key) : fail(fault('wallet/exists', { name, path }))
}

/** No passphrase is needed. */
export async function walletAddress(folder: string, name: string): Promise<Result<string>> {
  const file = await readWallet(folder, name)
  return file.ok ? ok(file.value.address) : file
}

/** Opens a wallet with its passphrase. */
export async function openWallet(folder: string, name: string, passphrase: string): Promise<Result<SellerKey>> {
  const opened = await openSeed(folder, name, passphrase)
  return opened.ok ? ok(walletKey(opened.value.seed, opened.value.scheme)) : opened
}

/** Opens a wallet and returns its seed, to export its words. */
export async function openSeed(folder: string, name: string, passphrase: string): Promise<Result<WalletSeed>> {
  const file = await readWallet(folder, name)
  if (!file.ok) return file
  const path = join(folder, `${name}.json`)
  const { kdf, cipher, address, scheme } = file.value
  const decipher = createDecipheriv(
    'aes-256-gcm',
    await deriveKey(passphrase, Buffer.from(kdf.salt, 'hex'), kdf),
    Buffer.from(cipher.nonce, 'hex'),
  )
  decipher.setAAD(Buffer.from(address, 'hex'))
  decipher.setAuthTag(Buffer.from(cipher.tag, 'hex'))
  try {
    const seed = Buffer.concat([decipher.update(Buffer.from(cipher.ciphertext, 'hex')), decipher.final()])
    const opened: WalletSeed = { seed: new Uint8Array(seed), scheme }
    // The scheme is not authenticated. With another scheme, the same seed is another wallet.
    if (walletKey(opened.seed, scheme).address === address) return ok(opened)
    return fail(fault('wallet/damaged', { path, reason: 'its key has another address' }))
  } catch {
    return fail(fault('wallet/passphrase', { path }))
  }
}

async function readWallet(folder: string, name: string): Promise<Result<WalletFile>> {
  const path = join(folder, `${name}.json`)
  // Only the command knows which flags select this folder.
  if (!(await exists(path))) return fail(fault('wallet/missing', { name, path, flags: '' }))
  const damaged = (reason: string): Result<never> => fail(fault('wallet/damaged', { path, reason }))
  try {
    const file = JSON.parse(await readFile(path, 'utf8')) as WalletFile
    const wrong = wrongField(file)
    return wrong === null ? ok(file) : damaged(wrong)
  } catch (error) {
    return damaged(
      error instanceof SyntaxError || error instanceof TypeError ? 'it is not a wallet file' : String(error),
    )
  }
}

/** Limits of the key derivation: a hostile file must not take hours or all memory. */
const MEMORY_KIB = { perLane: 8, most: 1_048_576 }
const PASSES_MAX = 1_000
const LANES_MAX = 16

function wrongField({ version, address, scheme, kdf, cipher }: WalletFile): string | null {
  if (version !== VERSION) return `version ${version} is unknown`
  if (kdf.name !== 'argon2id' || cipher.name !== 'aes-256-gcm' || !isKeyScheme(scheme)) return 'unknown algorithms'
  const hex = { address, salt: kdf.salt, nonce: cipher.nonce, tag: cipher.tag, ciphertext: cipher.ciphertext }
  for (const [field, bytes] of Object.entries(FIELD_BYTES)) {
    const value: unknown = hex[field as keyof typeof hex]
    if (typeof value !== 'string' || !isHex(value, bytes)) return `its ${field} is not ${bytes} bytes in hex`
  }
  const { memoryKiB, passes, lanes } = kdf
  const derivable =
    isWithin(lanes, 1, LANES_MAX) &&
    isWithin(passes, 1, PASSES_MAX) &&
    isWithin(memoryKiB, MEMORY_KIB.perLane * lanes, MEMORY_KIB.most)
  return derivable ? null : 'its key derivation is out of range'
}

function isWithin(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most
}

const argon2Async = promisify(argon2)

async function deriveKey(
  passphrase: string,
  salt: Uint8Array,
  { memoryKiB, passes, lanes }: typeof COST,
): Promise<Uint8Array> {
  const message = Buffer.from(passphrase.normalize('NFKC'), 'utf8')
  return argon2Async('argon2id', {
    message,
    nonce: salt,
    parallelism: lanes,
    tagLength: KEY_BYTES,
    memory: memoryKiB,
    passes,
  })
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
