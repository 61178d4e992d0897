import { hash } from 'node:crypto'
import { DEVNET } from '../../../config/networks/devnet.ts'
import { type PowHasher, targetOfWork } from '../../../consensus/block/pow.ts'
import type { NetworkParams } from '../../../consensus/chain/params.ts'
import { createRuleBook, type RuleBook } from '../../../consensus/chain/rule-book.ts'
import type { SignatureJob } from '../../../consensus/crypto/signing.ts'
import { createInlineVerifier, type SignatureVerifier } from '../../../consensus/crypto/verifier.ts'
import { concat } from '../../../consensus/primitives/bytes.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import { NATIVE_BACKEND } from '../../../src/crypto/native-backend.ts'
import { PROTOCOL } from '../../../src/protocol.ts'

/** Hashes of a block at the network's normal pace. */
export const HASHES_PER_BLOCK = 48n
const HASHES_LEAST = 4n
const VERDICTS_KEPT = 50_000

/** The devnet's rules with a proof of work of tens of hashes, and without the anchor reset after a long gap. */
export function cheapParams(): NetworkParams {
  const [step] = DEVNET.steps as readonly [NetworkParams['steps'][number]]
  const block = {
    ...step.rules.block,
    powLimit: targetOfWork(HASHES_LEAST),
    initialTarget: targetOfWork(HASHES_PER_BLOCK),
    anchorResetGapMs: null,
  }
  return { ...DEVNET, name: 'simulated', steps: [{ fromHeight: 0, rules: { ...step.rules, block } }] }
}

let book: RuleBook | undefined

/** Rule book of {@link cheapParams}, made once. */
export function cheapRuleBook(): RuleBook {
  book ??= createRuleBook(cheapParams(), PROTOCOL)
  return book
}

/** A proof of work that costs a microsecond: one SHA-256. */
export const cheapPow: PowHasher = (message, salt) => hash('sha256', concat(message, salt), 'buffer')

const verified = new LruMap<string, true>(VERDICTS_KEPT)
const inline = createInlineVerifier(NATIVE_BACKEND)

/**
 * A real verifier that all nodes of the process share. It remembers valid signatures, by everything that the verdict
 * depends on, as a node does between mempool and blocks.
 */
export const SHARED_VERIFIER: SignatureVerifier = {
  verify: async (jobs) => {
    const names = jobs.map(nameOf)
    const open = jobs.filter((_, i) => !verified.has(names[i] as string))
    const fresh = [...(await inline.verify(open))]
    return names.map((name) => {
      const good = verified.has(name) || fresh.shift() === true
      if (good) verified.set(name, true)
      return good
    })
  },
}

function nameOf({ domain, message, parts }: SignatureJob): string {
  const keyed = parts.flatMap(({ key, signature }) => [Uint8Array.of(key.scheme), key.bytes, signature])
  return `${domain} ${hash('sha256', concat(message, ...keyed), 'base64')}`
}
