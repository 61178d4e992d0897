import type { Task, Tier } from './tiers.ts'
import { isGreeting, type Mention, mentionsOf } from './words.ts'

/** What the rules made of a question. */
export interface Route {
  readonly tier: Tier
  readonly task: Task
  /** Name of the rule. */
  readonly rule: string
  /** Whether no rule knew it, and this is only what is done then. */
  readonly open: boolean
}

/** What a question is judged by. */
interface Features {
  /** In lower case, spaces joined; of a long question its beginning and its end. */
  readonly text: string
  /** Of the whole question. */
  readonly chars: number
  readonly lines: number
  readonly hasImages: boolean
  readonly mentions: ReadonlySet<Mention>
}

interface Rule {
  readonly name: string
  readonly tier: Tier
  readonly task: Task
  readonly when: (features: Features) => boolean
}

/** Of a long question no more is looked at: what it wants stands at its beginning or its end. */
const HEAD_CHARS = 1_500
const TAIL_CHARS = 500
const SHORT_CHARS = 160
/** Signs of Chinese, Japanese and Korean say as much as several letters. */
const SHORT_DENSE_CHARS = 60

const FENCE = /```|~~~/
const CODE_SIGNS =
  /\b(?:def|class|function|const|let|var|import|return|public|static|void|select|insert|update)\b[^\n]{0,80}[({;=*]|=>|<\/?[a-z][a-z0-9-]{0,20}>|#include|\bat [\w$.]{1,80}\([\w$.]{1,80}:\d{1,6}/
const FORMULA =
  /\d\s?(?:[-+*/^×÷=]|\*\*)\s?[(]?\d|\d\s?[a-z]\s?[-+=^]|[a-z]\^\d|\\(?:frac|int|sum|sqrt|begin)|\d ?% (?:of|von|de|di|от) \d|[∫∑√≤≥≠∞]|\$[^$\n]{1,200}\$/
const QUESTION = /[?？؟;]\s{0,3}$/u
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu
const NUMBERS = /\d+(?:[.,]\d+)*/g
/** Numbers in a question in words that make a word problem of it. */
const NUMBERS_MIN = 3

/** In their order; the first that fits decides. */
const RULES: readonly Rule[] = [
  { name: 'images', tier: 'fast', task: 'images', when: ({ hasImages }) => hasImages },
  { name: 'empty', tier: 'fast', task: 'question', when: ({ text }) => text === '' },
  { name: 'greeting', tier: 'instant', task: 'greeting', when: ({ text }) => isGreeting(text) },
  { name: 'code block', tier: 'standard', task: 'code', when: ({ text }) => FENCE.test(text) },
  {
    name: 'code',
    tier: 'standard',
    task: 'code',
    when: ({ text, mentions }) => mentions.has('code') || CODE_SIGNS.test(text),
  },
  { name: 'creative', tier: 'standard', task: 'creative', when: ({ mentions }) => mentions.has('creative') },
  { name: 'formula', tier: 'deep', task: 'math', when: ({ text }) => FORMULA.test(text) },
  { name: 'math', tier: 'deep', task: 'math', when: ({ mentions }) => mentions.has('math') },
  { name: 'reasoning', tier: 'deep', task: 'reasoning', when: ({ mentions }) => mentions.has('reasoning') },
  { name: 'word problem', tier: 'deep', task: 'math', when: isWordProblem },
  { name: 'knowledge', tier: 'standard', task: 'knowledge', when: ({ mentions }) => mentions.has('knowledge') },
  { name: 'fact', tier: 'fast', task: 'question', when: isShortAnd(isAboutFacts) },
  { name: 'short question', tier: 'fast', task: 'question', when: isShortAnd(({ text }) => QUESTION.test(text)) },
]

const OPEN_SHORT: Route = { tier: 'fast', task: 'question', rule: 'short', open: true }
const OPEN: Route = { tier: 'standard', task: 'knowledge', rule: 'none', open: true }

/**
 * What kind of work a question is, by rules alone: a pure function of the text, within a millisecond whatever the text
 * (`test/bench/chat-router.ts` measures it).
 */
export function route(question: string, hasImages = false): Route {
  const features = featuresOf(question, hasImages)
  const rule = RULES.find(({ when }) => when(features))
  if (rule === undefined) return isShort(features) ? OPEN_SHORT : OPEN
  return { tier: rule.tier, task: rule.task, rule: rule.name, open: false }
}

/** Whether a question is about what happens in the world, or about a fact that pages of the web tell. */
export function wantsSearch(question: string): boolean {
  const { task, tier } = route(question)
  if (tier === 'instant' || ['code', 'creative', 'math', 'reasoning'].includes(task)) return false
  return isAboutFacts(featuresOf(question, false))
}

function featuresOf(question: string, hasImages: boolean): Features {
  const chars = question.length
  const looked =
    chars <= HEAD_CHARS + TAIL_CHARS ? question : `${question.slice(0, HEAD_CHARS)}\n${question.slice(-TAIL_CHARS)}`
  const text = looked
    .toLowerCase()
    .replace(/[^\S\n]+/gu, ' ')
    .trim()
  return { text, chars, lines: text.split('\n').length, hasImages, mentions: mentionsOf(text) }
}

function isAboutFacts({ text, mentions }: Features): boolean {
  return mentions.has('current') || mentions.has('factual') || /\b20[2-9]\d\b/.test(text)
}

function isShort({ text, chars, lines }: Features): boolean {
  const dense = chars > SHORT_CHARS ? 0 : (text.match(DENSE)?.length ?? 0)
  return lines <= 3 && chars <= SHORT_CHARS && dense <= SHORT_DENSE_CHARS
}

function isShortAnd(fits: (features: Features) => boolean): (features: Features) => boolean {
  return (features) => isShort(features) && fits(features)
}

/** "Tom has 3 boxes with 12 eggs each and breaks 5. How many are whole?" */
function isWordProblem({ text }: Features): boolean {
  if (
    !/how (?:many|much|long|far|old|fast)|wie (?:viele?|lange|alt|weit)|combien|cuánt[oa]s?|quant[oiae]s?|сколько|多少|几个|いくつ|何個|몇/.test(
      text,
    )
  )
    return false
  return (text.match(NUMBERS)?.length ?? 0) >= NUMBERS_MIN
}
