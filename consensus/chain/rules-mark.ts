import { fromHex, toHex } from '../primitives/bytes.ts'
import { byteVector, container, decodeOwn, encode, list, safeUint64 } from '../primitives/codec.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import type { BlockId } from '../primitives/ids.ts'
import type { KeyValueStore, Write } from './key-value.ts'
import { decodeEntry, KEYS } from './layout.ts'
import type { RuleBook } from './rule-book.ts'

/** Most rule steps that a network can have: one a day of blocks for decades. */
const STEPS_MAX = 4_096

const RULES_MARK = list(container('KnownStep', { fromHeight: safeUint64, fingerprint: byteVector(32) }), STEPS_MAX)

/** By which rules the further blocks of a store go. */
export function rulesWrite(ruleBook: RuleBook): Write & { readonly value: Uint8Array } {
  return { key: KEYS.meta('rules'), value: encode(RULES_MARK, stepsOf(ruleBook)) }
}

/**
 * Whether a store's chain went by the rules of this release as far as it goes. A release that brings a rule step and is started
 * only after the height of the step finds blocks that went by the old rules: built on, they would be a chain of their own.
 */
export function checkRules(
  { store, folder }: { readonly store: Pick<KeyValueStore, 'get'>; readonly folder: string },
  ruleBook: RuleBook,
): Fault | null {
  const head = toHex(store.get(KEYS.meta('head')) as Uint8Array) as BlockId
  const { height } = decodeEntry(store.get(KEYS.entry(head)) as Uint8Array).header
  const mark = store.get(KEYS.meta('rules'))
  // Releases before this mark knew the first step alone.
  const known = mark === undefined ? stepsOf(ruleBook).slice(0, 1) : decodeOwn(RULES_MARK, mark)
  const wentBy = known.findLast(({ fromHeight }) => fromHeight <= height)
  const same = wentBy !== undefined && toHex(wentBy.fingerprint) === ruleBook.fingerprintAt(height)
  return same ? null : fault('storage/other-rules', { folder, height })
}

function stepsOf({ params, fingerprintAt }: RuleBook) {
  return params.steps.map(({ fromHeight }) => ({ fromHeight, fingerprint: fromHex(fingerprintAt(fromHeight)) }))
}
