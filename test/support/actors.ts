import { devSeed } from '../../config/networks/dev-keys.ts'
import { hybridPublicKey, signHybrid } from '../../consensus/crypto/hybrid.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { hex, tagged } from './reference/bytes.ts'
import type { Sign } from './reference/craft.ts'
import { ACCOUNT_KEYS } from './reference/schemas.ts'

/** An account that can sign. Keys and address are made as the specification says. */
export interface Actor {
  readonly address: string
  readonly scheme: number
  readonly keys: Uint8Array
  readonly sign: Sign
}

/** One hybrid key, given by its scheme and its secret seed. */
export interface Part {
  readonly scheme: 1 | 2
  readonly seed: Uint8Array
}

/**
 * An account with these keys. If it has more keys than the threshold, the last byte of the message decides which of them sign. This
 * function refuses nothing: it also makes accounts whose keys the specification calls unsound.
 */
export function actor(scheme: number, threshold: number, parts: readonly Part[]): Actor {
  const keys = ACCOUNT_KEYS.encode({
    scheme,
    threshold,
    keys: parts.map((part) => ({
      scheme: part.scheme,
      bytes: hybridPublicKey(NATIVE_BACKEND, part.scheme, part.seed).bytes,
    })),
  })
  const sign: Sign = async (message, context) => {
    const first = (message[message.length - 1] as number) % parts.length
    const signers = Array.from(
      { length: Math.min(Math.max(threshold, 1), parts.length) },
      (_, i) => (first + i) % parts.length,
    )
    return signers
      .sort((a, b) => a - b)
      .map((keyIndex) => ({
        keyIndex,
        bytes: signHybrid(NATIVE_BACKEND, { ...(parts[keyIndex] as Part), message, context }),
      }))
  }
  return { address: hex(tagged('address', keys)), scheme, keys, sign }
}

/** A secret seed for a number. It differs from the seeds of all development wallets. */
export const seedOf = (number: number): Uint8Array => tagged('text', Uint8Array.of(number))

/** The ten funded development accounts. */
export const FUNDED: readonly Actor[] = Array.from({ length: 10 }, (_, i) =>
  actor(1, 1, [{ scheme: 1, seed: devSeed(i + 1) }]),
)

/** Accounts that genesis does not know, of every scheme. */
export const NEWCOMERS: readonly Actor[] = [
  actor(1, 1, [{ scheme: 1, seed: seedOf(1) }]),
  actor(1, 1, [{ scheme: 1, seed: seedOf(2) }]),
  actor(2, 1, [{ scheme: 2, seed: seedOf(3) }]),
  actor(3, 2, [
    { scheme: 1, seed: seedOf(4) },
    { scheme: 2, seed: seedOf(5) },
    { scheme: 1, seed: seedOf(6) },
  ]),
  actor(3, 1, [{ scheme: 2, seed: seedOf(7) }]),
]

export const ACTORS: readonly Actor[] = [...FUNDED, ...NEWCOMERS]
