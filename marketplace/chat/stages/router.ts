import { ok } from '../../../consensus/primitives/result.ts'
import type { Stage } from '../stage.ts'

/** A question with this many code points is not short. */
const SHORT_CHARS = 80
/** A longer question is not examined: it could be megabytes of blanks. */
const LOOKED_AT_MAX = 4_096

/** Words that indicate work. `*` matches any ending. */
const WORK_WORDS =
  'implement* refactor* debug* optimi* architect* algorithm* program programs programming script scripts function functions class ' +
  'classes code coding compile* deploy* migrat* benchmark* test tests testing api apis sdk sql query queries database* schema* regex* ' +
  'json yaml html css javascript typescript python rust golang java kotlin swift react vue blender bpy website* webpage* web-design* ' +
  'landing-page app apps application* game games component components build create creates develop* design* generate* rewrite* fix ' +
  'bug bugs exception* stacktrace crash* secur* concurren* thread threads async* parallel* prove proof derive* analy* compare* ' +
  'comparison* evaluate* explain* step-by-step plan research* essay report'
const WORDS = WORK_WORDS.split(' ')
const WHOLE = new Set(WORDS.filter((word) => !word.endsWith('*')))
const BEGINNINGS = new Set(WORDS.filter((word) => word.endsWith('*')).map((word) => word.slice(0, -1)))
const BEGINNING_CHARS = [...new Set([...BEGINNINGS].map(({ length }) => length))]

/**
 * `fast`: fewer than 80 code points (trimmed, without modes), no mode, no sign of code and no word that indicates work.
 * Thousands of blanks around a question also make it `full`.
 */
export function codeTier(question: string, mode: string | null): 'fast' | 'full' {
  if (question.length > LOOKED_AT_MAX) return 'full'
  const text = question.trim()
  // A code point has at most two units, so a longer text need not be counted.
  if (mode !== null || text.length >= 2 * SHORT_CHARS || [...text].length >= SHORT_CHARS) return 'full'
  if (/[`{}=<>]/.test(text)) return 'full'
  const words = text.toLowerCase().match(/[\p{L}\d]+(?:-[\p{L}\d]+)*/gu) ?? []
  return words.some(meansWork) ? 'full' : 'fast'
}

function meansWork(word: string): boolean {
  return WHOLE.has(word) || BEGINNING_CHARS.some((chars) => BEGINNINGS.has(word.slice(0, chars)))
}

const FAST_PATH = 'fast path'

/** The router of model-3. */
export const router: Stage = {
  name: 'Router',
  about: 'Sorts short, plain questions to planner, executor and evaluator alone; by rules, without a model.',
  run: async (state) => ok({ ...state, tier: codeTier(state.question, state.mode) }),
}

/** A stage that is skipped for short questions. */
export function fullOnly(stage: Stage): Stage {
  const { skip } = stage
  return {
    ...stage,
    skip: (state, context) => (state.tier === 'fast' ? FAST_PATH : (skip?.(state, context) ?? null)),
  }
}
