import { KeyBook, type KeyWrites } from '../../marketplace/chat/keys/key-book.ts'
import { type ChatKey, type ChatKeys, type KeyLimits, OPERATOR } from '../../marketplace/chat/keys/keys.ts'
import type { ModelUsage } from '../../marketplace/ports/models.ts'
import { keySeals } from '../../src/chat/stores/chat-key-seals.ts'
import { ManualTime } from './manual-time.ts'

/** Limits of a key that sets none. */
export const FREE: KeyLimits = { rpm: null, tpd: null }
/** Limits of a wallet. */
export const BOUNDS = { rpm: 10, tpd: 1_000, concurrent: 3, keys: 4 }
const DAY_MS = 86_400_000

/** The tokens that a chat used. */
export function usage(promptTokens: number, completionTokens: number): ModelUsage {
  return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens, estimated: false }
}

/** What a test may change in its book of keys. */
export interface KeyBookOptions {
  readonly keysInAllMax?: number
  readonly bounds?: Partial<typeof BOUNDS>
  readonly write?: (writes: KeyWrites) => Promise<void>
}

/** A book of keys in memory, and its clock. */
export function openBook({ keysInAllMax, bounds, write = async () => {} }: KeyBookOptions = {}) {
  const time = new ManualTime()
  time.pass(20_000 * DAY_MS)
  const seals = keySeals(new Uint8Array(32).fill(7))
  const room = keysInAllMax === undefined ? {} : { keysInAllMax }
  return {
    time,
    book: new KeyBook({
      bounds: { ...BOUNDS, ...bounds },
      clock: time,
      seals,
      write,
      kept: { keys: [], owners: [] },
      ...room,
    }),
  }
}

/** Makes a key of an owner, by default the operator. */
export async function made(book: ChatKeys, owner: string = OPERATOR, limits = FREE, expiresAtMs: number | null = null) {
  const result = await book.create({ label: 'a key', owner, limits, expiresAtMs })
  if (!result.ok) throw new Error(result.fault.code)
  return result.value
}

/** Code of the fault, or null for a success. */
export function codeOf(result: { readonly ok: boolean; readonly fault?: { readonly code: string } }): string | null {
  return result.ok ? null : (result.fault?.code ?? '?')
}

/** The key that a bearer secret identifies. */
export function seen(book: ChatKeys, secret: string): ChatKey {
  const key = book.identify(`Bearer ${secret}`)
  if (!key.ok) throw new Error(key.fault.code)
  return key.value
}
