import { STOP_WORDS } from './stop-words.ts'

const CONNECTIVES: ReadonlySet<string> =
  setOf(`accordingly additionally afterwards afterward also alternatively and besides but consequently
conversely earlier else eventually finally furthermore hence however importantly indeed instead later likewise meanwhile moreover
namely nevertheless next nonetheless nor or otherwise plus regardless similarly so soon specifically still subsequently then
thereafter thereby therefore though thus too yet worse ultimately overall`)
/** Openings of several words that continue the sentence before. */
const OPENINGS =
  /^(?:for (?:example|instance|one thing)|in (?:addition|contrast|turn|fact|short|other words|particular|comparison|response|return|the (?:meantime|process))|as (?:a (?:result|consequence)|such|well)|on (?:the (?:other hand|contrary)|top of)|at the same time|by (?:contrast|comparison|then)|until then|since then|even (?:so|then|more)|what is more|more importantly|most importantly|after(?:wards| all)|above all|in any case|not only|the (?:former|latter|others?|same|reason|reasons|first|second|third|last|two|three|result|rest|remainder|remaining)\b)(?!\w)/
const PRONOUNS: ReadonlySet<string> = setOf(
  'it its itself he him his himself she her hers herself they them their theirs themselves',
)
/** Words that point back if a sentence begins with them. */
const POINTERS: ReadonlySet<string> = setOf('this that these those such both neither either another others same')
/** "This year" and "those who" do not point at the text. */
const POINTED_OUTSIDE =
  /^(?:(?:this|these) (?:year|month|week|weekend|morning|afternoon|evening|spring|summer|autumn|fall|winter|season|century|decade|days?|article|paper|report|study|book|page|guide|document|section|chapter)|those who|such as|both [\p{Lu}]|either [\p{Lu}])/u
/** "It is clear that", "it takes years to": "it" has no referent. */
const EMPTY_IT =
  /^it (?:is|was|will be|would be|seems|seemed|appears|appeared|remains|turns out|turned out|follows|has been|may be|might be|takes|took|costs?|makes sense)(?: \S+){0,5}? (?:that|to|whether|how|why|if|when)(?!\S)/
/** "In that case", "of these rivers": a thing that was named before. */
const POINTED_INSIDE =
  /(?<![^\s(])(?:(?:of|for|in|at|on|by|with|from|to|before|after|than|behind|under|over|into|about|without) that|these|such) (\p{L}+)/giu
const PREPOSITIONS: ReadonlySet<string> = setOf(
  'in on at after before during since by for with without from under over until through within between near among',
)
const COUNTS: ReadonlySet<string> = setOf(
  `one two three four five six seven eight nine ten dozens hundreds thousands half third quarter part parts percent majority`,
)
/** A pronoun may point outside its sentence only among this many first words. */
const PRONOUN_WORDS_MAX = 12
const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}'\u2019-]*/gu

/** Whether a sentence needs the one before it: a word that points back stands at or near its beginning. */
export function leansBack(sentence: string): boolean {
  const opened = sentence.replace(/^[^\p{L}\p{N}]+/u, '')
  const lower = opened.toLowerCase().replaceAll('\u2019', "'")
  const words = opened.match(WORD) ?? []
  const first = bare(words[0] ?? '')
  if (OF_ITSELF.test(lower)) return false
  if (OPENINGS.test(lower) || (POINTERS.has(first) && !POINTED_OUTSIDE.test(uncapped(opened)))) return true
  if (CONNECTIVES.has(first) && !/^so (?:far|called)/.test(lower)) return true
  if (first === 'it') return !EMPTY_IT.test(lower)
  return hasForeignPronoun(words) || pointsInside(lower)
}

function bare(word: string): string {
  return (word.toLowerCase().split(/['\u2019]/, 1)[0] as string).replace(/-.*$/s, '')
}

/** A pronoun before anything it could stand for: "some of them", "in the second year its effect". */
function hasForeignPronoun(words: readonly string[]): boolean {
  const opensAside = PREPOSITIONS.has(bare(words[0] ?? ''))
  let isNamed = false
  for (const [i, written] of words.slice(0, PRONOUN_WORDS_MAX).entries()) {
    const word = bare(written)
    if (PRONOUNS.has(word)) return !isNamed
    if (i > 0 && /^\p{Lu}/u.test(written)) isNamed = true
    if (!opensAside && !STOP_WORDS.has(word) && !COUNTS.has(word)) isNamed = true
  }
  return false
}

/** Whether the sentence points at a thing that it has not named itself. */
function pointsInside(lower: string): boolean {
  for (const { index, 1: noun } of lower.matchAll(POINTED_INSIDE)) {
    const stem = (noun as string).slice(0, -1)
    if (!STOP_WORDS.has(noun as string) && !lower.slice(0, index).includes(stem)) return true
  }
  return false
}

/** "These terms apply to", "this agreement is made between". */
const OF_ITSELF =
  /^(?:this|these) (?:general |our |special )?(?:terms|conditions|agreement|contract|policy|notice|rules|statutes|guidelines|warranty|guarantee|licen[cs]e|regulations|lease|order form)(?: (?:and|of|for) [\p{L}-]{1,20}){0,3} (?:(?:shall|also|only|will) )?(?:appl(?:y|ies)|governs?|covers?|regulates?|contains?|sets? out|describes?|explains?|forms?|is (?:made|concluded|entered)|are part|tells?|says?)\b/u

function uncapped(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1)
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/))
}
