import { fault } from '../../consensus/primitives/fault.ts'
import { fail, type Result } from '../../consensus/primitives/result.ts'
import type { PoolAnswer } from './models/pool.ts'

const WORDS = ['content', 'reasoning_content', 'reasoning', 'refusal'] as const

/** Streamed words cannot be taken back, while fields such as the role can be repeated. */
export function isSpoken(delta: Readonly<Record<string, unknown>>): boolean {
  return WORDS.some((field) => typeof delta[field] === 'string' && delta[field] !== '')
}

/** An answer without text becomes `model/answer`: calls of tools that were not offered are useless to a stage. */
export function withWords(answered: Result<PoolAnswer>): Result<PoolAnswer> {
  if (!answered.ok || answered.value.text.trim() !== '') return answered
  return fail(fault('model/answer', { backend: answered.value.backend, reason: 'it has no text' }))
}
