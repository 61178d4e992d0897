import { randomBytes } from 'node:crypto'
import { chmod, readFile } from 'node:fs/promises'
import { isHex } from '../../consensus/primitives/bytes.ts'
import { createFileAtomically, writeFileAtomically } from './atomic-file.ts'

const TOKEN_BYTES = 32
/** The token allows, for example, to ban peers, so only the file's owner may read it. */
const OWNER_ONLY = 0o600

/** The token that proves the operator of a data folder: 64 hex digits. A missing or damaged one is replaced. */
export async function makeOperatorToken(path: string): Promise<string> {
  const fresh = randomBytes(TOKEN_BYTES).toString('hex')
  if (await createFileAtomically(path, `${fresh}\n`, OWNER_ONLY)) return fresh
  await chmod(path, OWNER_ONLY)
  const found = await readOperatorToken(path)
  if (found !== undefined) return found
  await writeFileAtomically(path, `${fresh}\n`, OWNER_ONLY)
  return fresh
}

/** Reads the token; undefined if the file has no valid one. */
export async function readOperatorToken(path: string): Promise<string | undefined> {
  try {
    const text = (await readFile(path, 'utf8')).trim()
    return isHex(text, TOKEN_BYTES) ? text : undefined
  } catch {
    return undefined
  }
}
