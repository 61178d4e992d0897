import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { writeFileAtomically } from './atomic-file.ts'

/** Allowed length of a password. */
export const PASSWORD_CHARS = { min: 10, max: 200 } as const

/** Cost of new hashes: 32 MiB, and about 200 ms of one core (OWASP Password Storage, scrypt). */
const COST = { N: 32_768, r: 8, p: 3 } as const
const MEMORY_MAX = 64 * 1_048_576
const SALT_BYTES = 16
const HASH_BYTES = 32
const OWNER_ONLY = 0o600
const FORM = /^scrypt:32768:8:3:([0-9a-f]{32}):([0-9a-f]{64})$/

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt)

/** A stored password. */
export interface PasswordHash {
  /** Random for each stored password, so a changed salt means a changed password. */
  readonly salt: string
  readonly hash: string
}

/** Stores the hash of the operator's password in place of the previous one. */
export async function writeOperatorPassword(path: string, password: string): Promise<void> {
  const salt = randomBytes(SALT_BYTES)
  const hash = await hashOf(password, salt)
  const line = `scrypt:${COST.N}:${COST.r}:${COST.p}:${salt.toString('hex')}:${hash.toString('hex')}\n`
  await writeFileAtomically(path, line, OWNER_ONLY)
}

/** Null if there is no file; 'damaged' if it cannot be read or its content is malformed. */
export async function readOperatorPassword(path: string): Promise<PasswordHash | null | 'damaged'> {
  let line: string
  try {
    line = (await readFile(path, 'utf8')).trim()
  } catch (error) {
    return (error as { code?: string }).code === 'ENOENT' ? null : 'damaged'
  }
  const [, salt, hash] = FORM.exec(line) ?? []
  return salt === undefined || hash === undefined ? 'damaged' : { salt, hash }
}

/** Whether a password matches the stored one. */
export async function isPassword(password: string, { salt, hash }: PasswordHash): Promise<boolean> {
  return timingSafeEqual(await hashOf(password, Buffer.from(salt, 'hex')), Buffer.from(hash, 'hex'))
}

/** Normalised, because keyboards compose accented letters in different ways. */
function hashOf(password: string, salt: Buffer): Promise<Buffer> {
  return derive(password.normalize('NFKC'), salt, HASH_BYTES, { ...COST, maxmem: MEMORY_MAX })
}
