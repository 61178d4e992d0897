/** Normalised for comparison. */
export interface FinalAnswer {
  /** Independent of the notation. */
  readonly value: string
  /** Empty if there is none. */
  readonly unit: string
}

const LINE_CHARS_MAX = 300
const TAIL_CHARS = 4_000
/** Sign, currency, number with optional thousands separators, denominator, unit. */
const NUMBER =
  /^([-+]?)([€$£¥]?)\s?((?:\d{1,3}(?:[, ']\d{3}){1,12}|\d{1,60})(?:\.\d{1,40})?|\.\d{1,40})(?:\s?\/\s?(\d{1,3}(?:[, ']\d{3}){1,8}|\d{1,30}))?\s?([^\d]{0,24})$/u
/** "Answer: ...", "The final result is ...", in several languages. */
const LABEL =
  /^[\s>#(-]{0,6}(?:the )?(?:final )?(?:answer|result|antwort|ergebnis|réponse|résultat|respuesta|resultado|risposta|risultato|resposta|ответ|答案|答え|정답|답)(?:\s{0,3}[:：=]|\s(?:is|ist|est|es|è|é)(?:\s{0,3}[:：=]|\s))\s{0,3}(.{1,300})$/iu
const YES: ReadonlySet<string> = new Set([
  'yes',
  'true',
  'ja',
  'oui',
  'sí',
  'si',
  'sì',
  'sim',
  'да',
  '是',
  'はい',
  '네',
  'wahr',
  'vrai',
])
const NO: ReadonlySet<string> = new Set([
  'no',
  'false',
  'nein',
  'non',
  'não',
  'нет',
  '否',
  '不是',
  'いいえ',
  '아니요',
  'falsch',
  'faux',
])

/** The last \boxed{...}, or a line "Answer: ..." or "#### ...", or the last line. */
export function finalAnswerOf(solution: string): FinalAnswer {
  const tail = solution.slice(-TAIL_CHARS)
  const boxed = lastBoxed(tail)
  if (boxed !== null) return normalised(boxed)
  const lines = tail
    .split('\n')
    .map((line) => line.trim().slice(0, LINE_CHARS_MAX))
    .filter((line) => line !== '')
  const labelled = lines.findLast((line) => line.startsWith('####') || LABEL.test(bare(line)))
  if (labelled === undefined) return normalised(lines.at(-1) ?? '')
  return normalised(labelled.startsWith('####') ? labelled.slice(4) : (LABEL.exec(bare(labelled))?.[1] ?? ''))
}

/** Equal answers get equal values: 1,000 and 1000.0, 2/4 and 0.5, "**Yes.**" and "yes". */
export function normalised(answer: string): FinalAnswer {
  const text = unfolded(bare(answer.normalize('NFKC').slice(0, LINE_CHARS_MAX)))
    .toLowerCase()
    .replace(/^[a-z]{1,2}(?:\([a-z]\))?\s{0,3}[=≈]\s{0,3}/, '')
    .replace(/[\s.,;:!?。！？]+$/u, '')
    .replace(/\s+/g, ' ')
    .trim()
  const [first = ''] = text.split(/[\s,.;:!]/, 1)
  if (YES.has(first)) return { value: 'yes', unit: '' }
  if (NO.has(first)) return { value: 'no', unit: '' }
  return asNumber(text) ?? { value: text, unit: '' }
}

/** Removes signs of Markdown, and the marks that begin and end a formula. */
function bare(text: string): string {
  return text.replace(/[*_`$]|\\[()[\],!;]/g, '').trim()
}

function unfolded(text: string): string {
  return text
    .replace(/\\[dt]?frac\s?\{([^{}]{1,60})\}\s?\{([^{}]{1,60})\}/g, '$1/$2')
    .replace(/\\(?:text|mathrm|mathbf)\s?\{([^{}]{0,100})\}/g, ' $1')
    .replace(/\\(?:left|right|displaystyle)/g, '')
    .replace(/\\%/g, '%')
    .replace(/\\(?:times|cdot)/g, '×')
    .replace(/[−–]/g, '-')
}

function lastBoxed(text: string): string | null {
  const at = text.lastIndexOf('\\boxed{')
  if (at < 0) return null
  let depth = 0
  for (let i = at + '\\boxed'.length; i < text.length; i += 1) {
    if (text[i] === '{') depth += 1
    if (text[i] === '}') depth -= 1
    if (depth === 0) return text.slice(at + '\\boxed{'.length, i)
  }
  return null
}

/** A reduced fraction with its unit. Null if the text is anything else, or if its denominator is 0. */
function asNumber(text: string): FinalAnswer | null {
  const found = NUMBER.exec(text)
  if (found === null) return null
  const [, sign = '', currency = '', above = '', below = '1', unit = ''] = found
  const [whole = '', places = ''] = above.replace(/[, ']/g, '').split('.')
  const denominator = BigInt(below.replace(/[, ']/g, '')) * 10n ** BigInt(places.length)
  if (denominator === 0n) return null
  const numerator = BigInt(`${whole}${places}` || '0')
  const divisor = gcd(numerator, denominator)
  const value = `${sign === '-' && numerator !== 0n ? '-' : ''}${numerator / divisor}/${denominator / divisor}`
  return { value, unit: currency || unit.trim().replace(/[.\s]+$/, '') }
}

function gcd(one: bigint, other: bigint): bigint {
  let [a, b] = [one, other]
  while (b !== 0n) [a, b] = [b, a % b]
  return a === 0n ? 1n : a
}
