import { hex } from './bytes.ts'
import type { AccountKeys } from './schemas.ts'

export const KEY_BYTES = [0, 1_344, 1_984]
export const SIGNATURE_BYTES = [0, 2_484, 3_373]

/** What is unsound about account keys (encoding.md, section 5). Undefined if they are sound. */
export function unsoundness({ scheme, threshold, keys }: AccountKeys): string | undefined {
  if (keys.some((key) => key.scheme !== 1 && key.scheme !== 2)) return 'scheme of a key'
  if (keys.some((key) => key.bytes.length !== KEY_BYTES[key.scheme])) return 'length of a key'
  if (scheme === 1 || scheme === 2) {
    return keys.length === 1 && keys[0]?.scheme === scheme && threshold === 1 ? undefined : 'not one key'
  }
  if (scheme !== 3) return 'scheme'
  if (threshold < 1 || threshold > keys.length) return 'threshold'
  const distinct = new Set(keys.map(({ bytes }) => hex(bytes))).size === keys.length
  return distinct ? undefined : 'not distinct'
}
