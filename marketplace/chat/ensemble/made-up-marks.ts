/** The text around brackets with numbers. */
export interface Surroundings {
  /** The line before the brackets, without removed marks. Only the end of a long line. */
  readonly before: string
  /** The next {@link AFTER_CHARS} characters, or fewer at the end. They can only show that the brackets are no citation. */
  readonly after: string
  /** Whether only a comma or the like stands between these brackets and a removed mark. */
  readonly isChained: boolean
  /** Whether any mark was removed before. */
  readonly isCiting: boolean
  /** Whether [1, 2] and [1-3] may be lists and intervals, as in code and mathematics. */
  readonly hasLists: boolean
}

/** Characters after the brackets that the decision needs. */
export const AFTER_CHARS = 2
/** Characters before the brackets that are read. */
export const BEFORE_CHARS = 80

const LIST = /[,;–-]/
/** Only blanks, list markers or quotation signs stand before the brackets: they label the line. */
const LINE_HEAD = /^(?:\s|[-*+>#|]|\d{1,3}[.)])*$/
/** What follows the brackets if they are the text of a link, or stand within brackets. */
const LINK = /^[(\]]/
/** Continues an indexed element: a field, an assignment, a call. */
const GOES_ON = /^(?:\.[\p{L}_]|\s?[=+/]|\s[<>]|[\p{L}\p{N}_])/u
const STATEMENT_END = /[\p{L}\p{N}.!?…"”’'»)*_>%°,;。！？」』，、；`]$/u
/** An opening parenthesis right before the brackets: "([1])". But "f([1])" is a call. */
const OPENED = /(?:^|\s)\($/
const CALL = /[\p{L}\p{N}_$]\([^()\s]{0,40}\)$/u
const LAST_WORD = /[\p{L}\p{N}_$]{1,40}(?:\.[\p{L}\p{N}_$]{1,40}){0,4}$/u
/** Names as programs have them: x, row_1, $list, itemCount, arr2, this.items. */
const NAME = /^(?:\p{L}|.*[_$].*|[a-z]{1,20}[A-Z].*|[a-z]{1,8}\d{1,3}|.{1,40}\..{1,40})$/u
const NAMES = wordSet(
  'arr array arrays list lists tuple vec vector matrix mat grid nums num items args argv params data str string s buf buffer ' +
    'row rows col cols dict map keys values vals idx index ptr stack queue heap deque node nodes dp memo res result results ret ' +
    'words tokens lines chars bits bytes output input inputs outputs df series tensor batch parts fields match matches groups',
)
/** Words before brackets that contain a value, an element, a key to press or a number. */
const LEADS = wordSet(
  'equals equal becomes become returns return returned gives give yields prints print outputs contains contain has have ' +
    'step steps option options choice figure fig table item items element elements index position part section chapter exercise question ' +
    'answer result level line page note key keys button press type enter choose select case row column array arrays list lists tuple ' +
    'vector set sequence input output value values ergibt schritt étape paso шаг',
)
/** Further {@link LEADS}, but only before lists, and in code and mathematics. Elsewhere "So it is [1]." ends with a citation. */
const EXACT_LEADS = wordSet('is are was be ist sind est sont es son è sono это')
/** Words before an interval, or before a list of numbers. */
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
 * Whether brackets with numbers are a made-up citation, in an answer without sources. A citation follows a statement.
 * Otherwise the brackets are a label, an array element, an interval or a link.
 */
export function isMadeUp(mark: string, around: Surroundings): boolean {
  const { before, after, isChained, isCiting, hasLists } = around
  if (LINK.test(after) || before.endsWith('\\')) return false
  // [1]: https://... defines a Markdown link.
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

/** Whether the brackets follow a name like an index: a[1], rows[2].name, f(x)[0]. */
export function isIndex(before: string, after: string): boolean {
  if (/[\]}]$/.test(before) || CALL.test(before)) return true
  const word = LAST_WORD.exec(before)?.[0]
  if (word === undefined) return false
  return NAME.test(word) || NAMES.has(word) || GOES_ON.test(after)
}
