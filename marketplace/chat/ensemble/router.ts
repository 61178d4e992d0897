import type { Task, Tier } from './tiers.ts'
import { type Wanted, wantedIn } from './wanted.ts'
import { isGreeting, type Mention, type Mentions, mentionsIn, wordsOf } from './words.ts'

/** The route that the rules chose for a question. */
export interface Route {
  readonly tier: Tier
  readonly task: Task
  readonly rule: string
  /** True if no rule matched, so that this is the default route. */
  readonly open: boolean
}

interface Features {
  /** In lower case, with single spaces. Of a long question, only its beginning and end. */
  readonly text: string
  /** Of the whole question. */
  readonly chars: number
  readonly lines: number
  readonly hasImages: boolean
  readonly mentions: ReadonlySet<Mention>
  readonly phrases: Mentions['phrases']
  readonly wanted: Wanted | null
}

interface Rule {
  readonly name: string
  readonly tier: Tier
  readonly task: Task
  readonly when: (features: Features) => boolean
}

/** Characters that are read of a long question: the request stands at its beginning or end. */
const HEAD_CHARS = 1_500
const TAIL_CHARS = 500
const SHORT_CHARS = 160
/** A CJK character says as much as several letters. */
const SHORT_DENSE_CHARS = 60

const FENCE = /```|~~~/
const CODE_SIGNS =
  /\b(?:def|function|fn|func)\s[\w$]{1,40}[(<]|\bfunction\s?\(|\b(?:const|let|var)\s[\w$]{1,40}(?:: \w{1,40})?\s?=|\b(?:class|struct|interface|enum)\s[\w$]{1,40}(?:\(|<|\s?\{|:\n|\s(?:extends|implements)\b)|\b(?:return|import|public|static|void)\b[^\n]{0,80}[{;]|\bselect\s[\w*,. ()]{1,60}\sfrom\s\w{1,60}(?:\s(?:where|join|group|order|limit)\b|;)|\b(?:insert into|delete from)\s\w|=>|<\/?[a-z][a-z0-9-]{0,20}>|#include|\bat [\w$.]{1,80}\([\w$.]{1,80}:\d{1,6}|\b[a-z]{3,30}(?:error|exception)\b(?<!\bterror)/
const FORMULA =
  /\d\s?(?:[+*^×÷=]|\*\*)\s?[(]?\d|\d\s[-/]\s\d|\d\s?[a-z]\s?[-+=^]\s?(?:\d|\(|[a-z]\b)|[a-z]\^\d|\\(?:frac|int|sum|sqrt|begin)|\d ?(?:%|percent|prozent|pour cent|por ciento|per cento|процентов) (?:of|von|de|di|от) \d|[∫∑√≤≥≠∞]|\$[^\s\d$][^$\n]{0,200}\$/
/** A text that is only an expression, perhaps after "what is". So 24/7 matches as the whole text, but not in a sentence. */
const EXPRESSION =
  /^(?:what is|what's|how much is|calculate|compute|was ist|combien font|cuánto es)? ?\(?\d[\d .,+*/()^-]{0,60}[+*/^-] ?\(?\d[\d .,()]{0,20}[=?]{0,2}$/
const DATE = /\d{4}-\d\d|\d{1,2}\/\d{1,2}\/\d{2,4}/
const QUESTION = /[?？؟;]\s{0,3}$/u
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu
const NUMBERS = /\d+(?:[.,]\d+)*/g
const YEAR = /^(?:1\d|20)\d\d$/
/** Least numbers of a word problem: in a question with "how many", and in one with other words of word problems. */
const NUMBERS_MIN = 3
const PROBLEM_NUMBERS_MIN = 2
const HOW_MANY =
  /how (?:many|much|long|far|old|fast)|wie (?:viele?|lange|alt|weit)|combien|cuánt[oa]s?|quant[oiae]s?|сколько|多少|几个|いくつ|何個|몇/
const NUMBER_WORDS = new Set(
  'two three four five six seven eight nine ten twelve twenty hundred twice half double triple zwei drei vier fünf deux trois quatre cinq dos tres два две три'.split(
    ' ',
  ),
)
/** A question for a fact on any topic: who wrote it, when it appeared, what a word stands for. */
const FACT_HEAD =
  /^(?:who|whose|when|where|in (?:which|what) (?:year|city|country)|(?:which|what) (?:year|country|city|time)|wer|wann|wo|qui|quand|où|quién|cuándo|dónde|chi|quando|dove|quem|onde|кто|когда|где)(?![\p{L}\p{N}'’])|\bstands? for\b|^(?:what is|what are|what's) (?:a |an |the )?[\p{L}\p{N}.#+-]{1,40}(?: [\p{L}\p{N}]{1,40})?\?{0,3}$/u

/** Names of languages and tools that are also other words. */
const OTHER_NAMES = new Set(
  'python java swift rust ruby react vue angular flask julia pandas docker redis scratch'.split(' '),
)
/** Programming words with other meanings. Two of these words, or one beside a name, show a question about programs. */
const USUAL_WORDS = new Set(
  (
    'code,function,functions,class,method,methods,script,program,bug,bugs,exception,implement,fix,crash,crashes,variable,variables,array,arrays,loop,loops,pointer,' +
    'debug,compile,parser,website,in go,in c,in r,en c,in scratch,' +
    'funktion,klasse,skript,programm,fonction,programme,función,programa,funzione,programma,função,código,codice,код,программу'
  ).split(','),
)

/** The first rule that matches decides. */
const RULES: readonly Rule[] = [
  { name: 'images', tier: 'fast', task: 'images', when: ({ hasImages }) => hasImages },
  { name: 'empty', tier: 'fast', task: 'question', when: ({ text }) => text === '' },
  { name: 'greeting', tier: 'instant', task: 'greeting', when: ({ text }) => isGreeting(text) },
  { name: 'code block', tier: 'standard', task: 'code', when: ({ text }) => FENCE.test(text) },
  { name: 'creative', tier: 'standard', task: 'creative', when: ({ wanted }) => wanted === 'creative' },
  {
    name: 'reworded',
    tier: 'standard',
    task: 'creative',
    when: ({ text }) => /^(?:please )?(?:rephrase|paraphrase|reword)\b/.test(text),
  },
  { name: 'program', tier: 'standard', task: 'code', when: ({ wanted }) => wanted === 'code' },
  { name: 'code', tier: 'standard', task: 'code', when: isAboutCode },
  {
    name: 'creative',
    tier: 'standard',
    task: 'creative',
    when: isNoFactAnd(({ mentions }) => mentions.has('creative')),
  },
  { name: 'formula', tier: 'deep', task: 'math', when: hasFormula },
  { name: 'math', tier: 'deep', task: 'math', when: isNoFactAnd(isAboutMath) },
  { name: 'reasoning', tier: 'deep', task: 'reasoning', when: ({ mentions }) => mentions.has('reasoning') },
  { name: 'word problem', tier: 'deep', task: 'math', when: isWordProblem },
  {
    name: 'knowledge',
    tier: 'standard',
    task: 'knowledge',
    when: isNoFactAnd(({ mentions }) => mentions.has('knowledge')),
  },
  { name: 'fact', tier: 'fast', task: 'question', when: isShortAnd(isAboutFacts) },
  { name: 'short question', tier: 'fast', task: 'question', when: isShortAnd(({ text }) => QUESTION.test(text)) },
]

const OPEN_SHORT: Route = { tier: 'fast', task: 'question', rule: 'short', open: true }
const OPEN: Route = { tier: 'standard', task: 'knowledge', rule: 'none', open: true }

/** A pure function that takes less than a millisecond for any text (measured by `test/bench/chat-router.ts`). */
export function route(question: string, hasImages = false): Route {
  const features = featuresOf(question, hasImages)
  const rule = RULES.find(({ when }) => when(features))
  if (rule === undefined) return isShort(features) ? OPEN_SHORT : OPEN
  return { tier: rule.tier, task: rule.task, rule: rule.name, open: false }
}

/** For facts and current events that a web search can find. */
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
  const { kinds: mentions, phrases } = mentionsIn(text)
  return { text, chars, lines: text.split('\n').length, hasImages, mentions, phrases, wanted: wantedIn(text) }
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

function isNoFactAnd(fits: (features: Features) => boolean): (features: Features) => boolean {
  return (features) => !(isShort(features) && FACT_HEAD.test(features.text)) && fits(features)
}

/**
 * Signs of code, or words used only for programs. Ambiguous names (java, rust) count beside a programming word, and
 * ambiguous words (class, function) in pairs.
 */
function isAboutCode({ text, phrases, ...features }: Features): boolean {
  if (CODE_SIGNS.test(text)) return true
  const found = [...phrases.code]
  const usual = found.filter((phrase) => USUAL_WORDS.has(phrase)).length
  const names = found.filter((phrase) => OTHER_NAMES.has(phrase)).length
  const isFact = isShort({ text, phrases, ...features }) && FACT_HEAD.test(text)
  if (found.length > usual + names) return !isFact || usual > 0 || found.length > usual + names + 1
  return usual > 1 || (names > 0 && usual + phrases.technical.size > 0)
}

function hasFormula({ text }: Features): boolean {
  return FORMULA.test(text) || (EXPRESSION.test(text) && !DATE.test(text))
}

/** Mathematical terms, an operation on a quantity, or a calculation with a number. */
function isAboutMath({ text, mentions }: Features): boolean {
  if (mentions.has('math')) return true
  const hasNumber = numbersIn(text) > 0
  if (mentions.has('reckoning'))
    return mentions.has('quantity') || (hasNumber && /\b(?:solve|calculate|compute)\b/.test(text))
  return false
}

/** In digits or words, without years. */
function numbersIn(text: string): number {
  const digits = (text.match(NUMBERS) ?? []).filter((number) => !YEAR.test(number)).length
  return digits + wordsOf(text).filter((word) => NUMBER_WORDS.has(word)).length
}

/** Such as "Tom has 3 boxes with 12 eggs each and breaks 5 of them. How many are whole?" */
function isWordProblem({ text, mentions }: Features): boolean {
  const digits = text.match(NUMBERS)?.length ?? 0
  if (HOW_MANY.test(text) && digits >= NUMBERS_MIN) return true
  return mentions.has('problem') && isTold(text) && numbersIn(text) >= PROBLEM_NUMBERS_MIN
}

/** Whether statements come before the question. */
function isTold(text: string): boolean {
  return QUESTION.test(text) && /[.,;:] /.test(text)
}
