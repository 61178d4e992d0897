import { stretches } from '../../../marketplace/services/text/sentence-ends.ts'
import type { Turn } from '../../../marketplace/services/text/speakers.ts'

/** Without time and speaker. */
export function saidIn({ start, text, saidAt }: Turn): string {
  return text.slice(saidAt - start).trim()
}

/** Phrases of greeting, leave, answer and thanks. */
const OPENING =
  /^(?:hi|hello|hallo|hey|good (?:morning|afternoon|evening|day|night)|dear|welcome|bye|goodbye|see you|take care|cheers|thanks?|thank you|thx|many thanks|you['\u2019]?re welcome|no (?:problem|worries)|my pleasure|sure|ok|okay|yes|no|great|perfect|fine|good|nice|cool|wonderful|alright|all right|right|done|understood|got it|sorry|one moment|just a moment|let me (?:check|see|look)|have an?|talk (?:to you )?(?:later|soon)|speak soon|nice to|pleased to|how are you|i am fine|i['\u2019]m fine|this is|my name is|with (?:best|kind)|best|kind regards)(?![\p{L}])/iu
/** Most words of a greeting with its name, and of a name. A longer part has content. */
const FORM_WORDS_MAX = 7
const NAME_WORDS_MAX = 2
const WORDS = /[\p{L}\p{N}][\p{L}\p{M}\p{N}'\u2019-]*/gu
/** A speaker looks for something or is surprised. */
const LOOKING =
  /^(?:oh (?:dear|no)|(?:please )?let me (?:(?:have|take) a |quickly )?(?:check|see|look|think|ask)\b[^.!?]{0,40})[.!]?$/iu
/** "This is the service of the shop, my name is Petra." */
const PRESENTATION =
  /^(?:[^.!?]{0,40}, )?(?:this is|my name is|you are (?:speaking|talking|chatting) (?:to|with)|thank you for (?:calling|contacting))\b/i
/** Figures, days and decisions: the content of a dialogue. */
const TELLING =
  /\d|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|october|november|december|tomorrow|next (?:week|month|year)|(?:at|until|by|before|till) (?:noon|midnight)|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|ninety|hundred|thousand|half|dozen|deadline|settled|ordered|booked|decided?|agreed?|confirmed?|approved|cancel(?:led|ed)?|refund|must|have to|has to|pays?|paid|costs?|free of charge|we(?:['\u2019]ll| will)|i(?:['\u2019]ll| will)|deal)\b/iu

const DECISION =
  /^(?:done|agreed|deal|settled|fixed|it is (?:changed|done|booked|ordered|paid|sent|confirmed|settled))(?!\p{L})|\b(?:decided?|agreed?|confirmed|approved|settled|cancelled|canceled|ordered|booked|refunded|changed|from now on|deal|we(?:['\u2019]ll| will)|i(?:['\u2019]ll| will)|then (?:we|i|it)|(?:money|parcel|order|refund) will)\b/iu

/** Whether a turn settles something. */
export function decides(said: string): boolean {
  return DECISION.test(said)
}

/** `idle`: greeting, thanks, leave or question. `telling`: figures, days or decisions. */
export function tellingOf(said: string): 'idle' | 'telling' | 'plain' {
  const sentences = [...stretches(said)].map(({ text }) => text.trim()).filter((text) => text !== '')
  const statements = sentences.filter((sentence) => !isIdle(sentence))
  if (statements.length === 0) return 'idle'
  return statements.some((sentence) => TELLING.test(sentence)) ? 'telling' : 'plain'
}

function isIdle(sentence: string): boolean {
  if (/\?["'\u201d\u2019)]*$/.test(sentence) || PRESENTATION.test(sentence)) return true
  return !TELLING.test(sentence) && sentence.split(/[,;] /).every(isForm)
}

/** "Hello", "welcome to our shop", "Anna": parts that only make up a greeting. */
function isForm(part: string): boolean {
  const words = part.match(WORDS)?.length ?? 0
  return (
    words <= NAME_WORDS_MAX || LOOKING.test(part.trim()) || (words <= FORM_WORDS_MAX && OPENING.test(part.trimStart()))
  )
}
