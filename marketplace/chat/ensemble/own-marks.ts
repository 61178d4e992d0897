import type { ChatCall } from '../call.ts'
import { lastQuestion, textOfMessage } from '../conversation.ts'
import type { ChatMessage } from '../models/backend.ts'
import type { Source } from '../stage.ts'
import { CitationFilter } from './citation-filter.ts'
import { AFTER_CHARS, BEFORE_CHARS, isIndex } from './made-up-marks.ts'
import { route, wantsSearch } from './router.ts'

const BRACKETS = /\[\[?\d{1,3}(?: ?[,;–-] ?\d{1,3}){0,9} ?\]/gu
/** Words by which a caller asks for marks of the sources that the conversation holds. */
const ASKS =
  /(?<![\p{L}\p{N}])(?:cite|cites|cited|citing|citations?|footnotes?|endnotes?|bibliography|reference list|numbered references|square brackets|zitiere|zitate|fußnoten?|quellenangaben?|notes? de bas de page|notas? al pie|note a piè di pagina|сноск[аиу])(?![\p{L}\p{N}])|脚注|引用/iu

/**
 * What takes marks of sources that there are none of out of an answer; null where brackets are left as they are. That is where the
 * caller brings marks of their own, or asks for some: the sources are then in the conversation. What the web would be searched for is
 * asked of pages, so the words alone do not count there.
 */
export function filterFor(
  { messages }: Pick<ChatCall, 'messages'>,
  sources: readonly Source[] = [],
): CitationFilter | null {
  if (sources.length > 0) return new CitationFilter(sources)
  const known = PLANS.get(messages)
  const plan = known ?? planFor(messages)
  if (known === undefined) PLANS.set(messages, plan)
  return plan === 'leave' ? null : new CitationFilter([], plan)
}

/** What to do with the brackets of a conversation: it is read once, and may be long. */
type Plan = 'leave' | { readonly hasLists: boolean }
const PLANS = new WeakMap<readonly ChatMessage[], Plan>()

function planFor(messages: readonly ChatMessage[]): Plan {
  const question = lastQuestion(messages)
  const texts = messages.filter(isOfCaller).map(textOfMessage)
  const asks = !wantsSearch(question) && texts.some((text) => ASKS.test(text))
  if (asks || texts.some(hasMarks)) return 'leave'
  return { hasLists: ['code', 'math', 'reasoning'].includes(route(question).task) }
}

function isOfCaller({ role }: ChatMessage): boolean {
  return role !== 'assistant'
}

/** Whether there are brackets with numbers that are not elements of something. */
function hasMarks(text: string): boolean {
  for (const { index, 0: brackets } of text.matchAll(BRACKETS)) {
    const end = index + brackets.length
    const before = text.slice(Math.max(0, index - BEFORE_CHARS), index)
    if (!isIndex(before, text.slice(end, end + AFTER_CHARS))) return true
  }
  return false
}
