import { fault } from '../../consensus/primitives/fault.ts'
import { fail, type Result } from '../../consensus/primitives/result.ts'
import type { PoolAnswer } from './models/pool.ts'

/** Fields of a piece that a reader sees as words. */
const WORDS = ['content', 'reasoning_content', 'reasoning', 'refusal'] as const

/** Whether a piece of an answer has words in it: what was said cannot be taken back, who speaks and the like can be said again. */
export function isSpoken(delta: Readonly<Record<string, unknown>>): boolean {
  return WORDS.some((field) => typeof delta[field] === 'string' && delta[field] !== '')
}

/** An answer with a text, else the fault `model/answer`: a model that calls tools which were not offered said nothing of use to a stage. */
export function withWords(answered: Result<PoolAnswer>): Result<PoolAnswer> {
  if (!answered.ok || answered.value.text.trim() !== '') return answered
  return fail(fault('model/answer', { backend: answered.value.backend, reason: 'it has no text' }))
}
