/** What stands around brackets with numbers in them. */
export interface Surroundings {
  /** What the line has before them, marks that were taken out left away; of a long line its end. */
  readonly before: string
  /** The next {@link AFTER_CHARS} characters; fewer at the end of the answer. They only ever speak against a mark. */
  readonly after: string
  /** Whether a mark was taken out before, and nothing but a comma and the like came since. */
  readonly isChained: boolean
  /** Whether any mark was taken out before. */
  readonly isCiting: boolean
  /** Whether [1, 2] and [1-3] are lists and intervals: so they are in code and mathematics. */
  readonly hasLists: boolean
}

/** Characters behind the brackets that must be known. */
export const AFTER_CHARS = 2
/** Characters before them that are looked at. */
export const BEFORE_CHARS = 80

const LIST = /[,;–-]/
/** Nothing but a bullet, a number or a sign of quoting before it: the brackets are the label of what follows. */
const LINE_HEAD = /^(?:\s|[-*+>#|]|\d{1,3}[.)])*$/
/** A link, or the inside of another pair of brackets. */
const LINK = /^[(\]]/
/** What goes on with an element of something: a field of it, an assignment, a call. */
const GOES_ON = /^(?:\.[\p{L}_]|\s?[=+/]|\s[<>]|[\p{L}\p{N}_])/u
const STATEMENT_END = /[\p{L}\p{N}.!?…"”’'»)*_>%°,;。！？」』，、；`]$/u
/** A bracket that stands alone in parentheses: "(as they say)" is none, "f([1])" neither. */
const OPENED = /(?:^|\s)\($/
const CALL = /[\p{L}\p{N}_$]\([^()\s]{0,40}\)$/u
const LAST_WORD = /[\p{L}\p{N}_$]{1,40}(?:\.[\p{L}\p{N}_$]{1,40}){0,4}$/u
/** Names that only programs have: x, row_1, $list, itemCount, arr2, this.items. */
const NAME = /^(?:\p{L}|.*[_$].*|[a-z]{1,20}[A-Z].*|[a-z]{1,8}\d{1,3}|.{1,40}\..{1,40})$/u
const NAMES = wordSet(
  'arr array arrays list lists tuple vec vector matrix mat grid nums num items args argv params data str string s buf buffer ' +
    'row rows col cols dict map keys values vals idx index ptr stack queue heap deque node nodes dp memo res result results ret ' +
    'words tokens lines chars bits bytes output input inputs outputs df series tensor batch parts fields match matches groups',
)
/** Words behind which brackets are a value, an element, a key to press or the number of a thing. */
const LEADS = wordSet(
  'equals equal becomes become returns return returned gives give yields prints print outputs contains contain has have ' +
    'step steps option options choice figure fig table item items element elements index position part section chapter exercise question ' +
    'answer result level line page note key keys button press type enter choose select case row column array arrays list lists tuple ' +
    'vector set sequence input output value values ergibt schritt étape paso шаг',
)
/** The same in code and mathematics alone: elsewhere "So it is [1]." is a whole sentence. */
const EXACT_LEADS = wordSet('is are was be ist sind est sont es son è sono это')
/** Words behind which two numbers are an interval or a list. */
const RANGE_LEADS = wordSet(
  'in on from over within between of to and or with for at by as like interval intervals range ranges domain span pair pairs point ' +
    'points coordinates numbers integers indices subarray segment im von zwischen aus intervall dans sur entre de intervalle en el la ' +
    'intervalo nel tra intervallo',
)
const ASCII_WORD = /^[a-z0-9]+$/

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' '))
}

/**
 * What brackets with numbers in them are, in an answer that no page stands behind: a mark of a source that there is none of, which
 * comes behind what it is said to prove; or something else: the label of a line, an element of an array, an interval, a link.
 */
export function isMadeUp(mark: string, around: Surroundings): boolean {
  const { before, after, isChained, isCiting, hasLists } = around
  if (LINK.test(after) || before.endsWith('\\')) return false
  // [1]: https://... defines a link of Markdown.
  if (LINE_HEAD.test(before)) return isCiting && !after.startsWith(':')
  if (isChained) return true
  const isList = LIST.test(mark)
  if (isList && hasLists) return false
  const said = before.trimEnd()
  if (said.length === before.length) return !isIndex(before, after) && (STATEMENT_END.test(said) || OPENED.test(said))
  if (!STATEMENT_END.test(said) || /\][,;]?$/.test(said)) return false
  const word = LAST_WORD.exec(said)?.[0].toLowerCase() ?? null
  if (word === null) return true
  if (LEADS.has(word) || ((hasLists || isList) && EXACT_LEADS.has(word))) return false
  return !isList || (ASCII_WORD.test(word) && !RANGE_LEADS.has(word))
}

/** Whether they follow a name without a space, as an index does: a[1], rows[2].name, f(x)[0]. */
export function isIndex(before: string, after: string): boolean {
  if (/[\]}]$/.test(before) || CALL.test(before)) return true
  const word = LAST_WORD.exec(before)?.[0]
  if (word === undefined) return false
  return NAME.test(word) || NAMES.has(word) || GOES_ON.test(after)
}
