import type { ChatCall } from '../call.ts'
import { lastQuestion, textOfMessage } from '../conversation.ts'
import type { ChatMessage } from '../models/backend.ts'
import type { Source } from '../stage.ts'
import { CitationFilter } from './citation-filter.ts'
import { AFTER_CHARS, BEFORE_CHARS, isIndex } from './made-up-marks.ts'
import { route, wantsSearch } from './router.ts'

const BRACKETS = /\[\[?\d{1,3}(?: ?[,;–-] ?\d{1,3}){0,9} ?\]/gu
/** Words with which a caller asks for citations of sources in the conversation. */
const ASKS =
  /(?<![\p{L}\p{N}])(?:cite|cites|cited|citing|citations?|footnotes?|endnotes?|bibliography|reference list|numbered references|square brackets|zitiere|zitate|fußnoten?|quellenangaben?|notes? de bas de page|notas? al pie|note a piè di pagina|сноск[аиу])(?![\p{L}\p{N}])|脚注|引用/iu

/**
 * Null if all brackets stay: no search found sources, and the caller uses such marks or asks for citations, so the
 * marks may name sources in the conversation. If the question needs a web search, words that ask for citations mean web
 * pages, and do not count.
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

/** Cached, since the conversation may be long. */
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

/** Whether a text has brackets with numbers that are not indexes. */
function hasMarks(text: string): boolean {
  for (const { index, 0: brackets } of text.matchAll(BRACKETS)) {
    const end = index + brackets.length
    const before = text.slice(Math.max(0, index - BEFORE_CHARS), index)
    if (!isIndex(before, text.slice(end, end + AFTER_CHARS))) return true
  }
  return false
}
