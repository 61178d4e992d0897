import { readFile } from 'node:fs/promises'
import { fromHex, isHex, toHex } from '../../consensus/primitives/bytes.ts'
import { createFileAtomically } from './atomic-file.ts'

const KEY_BYTES = 32
const OWNER_ONLY = 0o600

/** The key in a file of 64 hex digits, made if there is no such file. Null if the file holds anything else: it is not replaced. */
export async function makeKeyFile(path: string, make: () => Uint8Array): Promise<Uint8Array | null> {
  const fresh = make()
  if (await createFileAtomically(path, `${toHex(fresh)}\n`, OWNER_ONLY)) return fresh
  const text = (await readFile(path, 'utf8')).trim()
  return isHex(text, KEY_BYTES) ? fromHex(text) : null
}
