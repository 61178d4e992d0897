import { randomBytes } from 'node:crypto'
import { chmod, readFile } from 'node:fs/promises'
import { isHex } from '../../consensus/primitives/bytes.ts'
import { createFileAtomically, writeFileAtomically } from './atomic-file.ts'

const TOKEN_BYTES = 32
/** Whoever can read it can ban peers of the node. */
const OWNER_ONLY = 0o600

/** The token of a data folder that operators of the node show: 64 hex digits. A missing or damaged one is made anew. */
export async function makeOperatorToken(path: string): Promise<string> {
  const fresh = randomBytes(TOKEN_BYTES).toString('hex')
  if (await createFileAtomically(path, `${fresh}\n`, OWNER_ONLY)) return fresh
  await chmod(path, OWNER_ONLY)
  const found = await readOperatorToken(path)
  if (found !== undefined) return found
  await writeFileAtomically(path, `${fresh}\n`, OWNER_ONLY)
  return fresh
}

/** The token in a file; undefined where there is none that can be read. */
export async function readOperatorToken(path: string): Promise<string | undefined> {
  try {
    const text = (await readFile(path, 'utf8')).trim()
    return isHex(text, TOKEN_BYTES) ? text : undefined
  } catch {
    return undefined
  }
}
