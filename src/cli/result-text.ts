/** What a field of an answer holds. */
type Fields = Readonly<Record<string, unknown>>

const STEP = '  '
/** A list that is no longer stands in one line. */
const LINE_CHARS_MAX = 100
/** What is shown of a result: a seller can make it as deep, as wide and as long as an answer may be. */
const LEVELS_MAX = 16
const ITEMS_MAX = 500
const LINES_MAX = 2_000
const TEXT_CHARS_MAX = 8_000
/** A word that is longer is no word but a file in letters. */
const WORD_CHARS_MAX = 500
const WORD_CHARS_SHOWN = 60

/** Marks what was left out. */
type Cut = (what: string) => string

/**
 * A result of a service as lines for people: a field a line, lists below their names, texts as they are. Its depth, its width and
 * its length are bounded; where something is left out it is said there, and the last line says where the whole is.
 */
export function resultLines(result: unknown): readonly string[] {
  let isCut = false
  const cut: Cut = (what) => {
    isCut = true
    return `... ${what}`
  }
  const lines = linesOf(result, '', { level: 0, cut })
  const shown =
    lines.length > LINES_MAX ? [...lines.slice(0, LINES_MAX), cut(`${lines.length - LINES_MAX} more lines`)] : lines
  return isCut ? [...shown, 'not all of the result is shown: --json has the whole'] : shown
}

interface Place {
  readonly level: number
  readonly cut: Cut
}

function linesOf(value: unknown, indent: string, place: Place): readonly string[] {
  const line = inLine(value, place)
  if (line !== undefined) return [`${indent}${line}`]
  if (typeof value === 'string') return value.split('\n').map((text) => `${indent}${shortened(text, place)}`)
  if (place.level >= LEVELS_MAX) return [`${indent}${place.cut('what lies deeper')}`]
  const within = { ...place, level: place.level + 1 }
  if (!Array.isArray(value)) return fieldLines(withAmount(value as Fields), indent, within)
  const items = value.slice(0, ITEMS_MAX).flatMap((item: unknown) => itemLines(item, indent, within))
  return [...items, ...restLines(value.length, indent, place)]
}

function restLines(count: number, indent: string, { cut }: Place): readonly string[] {
  return count > ITEMS_MAX ? [`${indent}${cut(`${count - ITEMS_MAX} more`)}`] : []
}

/** A value that fits behind its name; undefined for what takes lines of its own. */
function inLine(value: unknown, place: Place): string | undefined {
  if (typeof value === 'string') return value.includes('\n') ? undefined : shortened(value, place)
  if (value === null || value === undefined) return '-'
  if (typeof value !== 'object') return String(value)
  if (!Array.isArray(value)) return bareAmount(value as Fields) ?? (Object.keys(value).length === 0 ? '-' : undefined)
  if (value.length > LINE_CHARS_MAX) return undefined
  const items = value.map((item: unknown) => (typeof item === 'object' && item !== null ? undefined : plain(item)))
  const line = items.every((item) => item !== undefined) ? items.join(', ') : undefined
  return line === '' ? '-' : line !== undefined && line.length <= LINE_CHARS_MAX ? line : undefined
}

function plain(item: unknown): string | undefined {
  return typeof item === 'string' && item.includes('\n') ? undefined : String(item ?? '-')
}

function shortened(text: string, { cut }: Place): string {
  const isFile = text.length > WORD_CHARS_MAX && !/\s/.test(text)
  const most = isFile ? WORD_CHARS_SHOWN : TEXT_CHARS_MAX
  return text.length > most ? `${text.slice(0, most)} ${cut(`${text.length - most} more characters`)}` : text
}

/** An amount of an asset as services give it: `1.5 FAR`, with what else the object says; undefined where it is none. */
function amountIn(fields: Fields): { readonly line: string; readonly more: Fields } | undefined {
  const { symbol, amount, decimals, ...rest } = fields
  const { text, units: _, ...others } = rest
  const [shown, more] = amount === undefined ? [text, others] : [amount, rest]
  const isAmount = typeof symbol === 'string' && typeof shown === 'string' && typeof decimals === 'number'
  return isAmount ? { line: `${shown} ${symbol}`, more } : undefined
}

/** Fields with the ones of an amount among them as one. */
function withAmount(fields: Fields): Fields {
  const amount = amountIn(fields)
  return amount === undefined ? fields : { amount: amount.line, ...amount.more }
}

/** An amount that an object says and nothing else. */
function bareAmount(fields: Fields): string | undefined {
  const amount = amountIn(fields)
  return amount !== undefined && Object.keys(amount.more).length === 0 ? amount.line : undefined
}

function fieldLines(fields: Fields, indent: string, place: Place): readonly string[] {
  const all = Object.keys(fields)
  const rows = all.slice(0, ITEMS_MAX).map((name) => {
    const short = name.length > LINE_CHARS_MAX ? `${name.slice(0, LINE_CHARS_MAX)}${place.cut('')}` : name
    return { name: short, value: fields[name], line: inLine(fields[name], place) }
  })
  const width = Math.max(...rows.filter(({ line }) => line !== undefined).map(({ name }) => name.length))
  const lines = rows.flatMap(({ name, value, line }) =>
    line === undefined
      ? [`${indent}${name}`, ...linesOf(value, `${indent}${STEP}`, place)]
      : [`${indent}${name.padEnd(width)}  ${line}`],
  )
  return [...lines, ...restLines(all.length, indent, place)]
}

/** An item of a list: its first line has a dash in the place of two blanks. */
function itemLines(item: unknown, indent: string, place: Place): readonly string[] {
  const [first = '', ...rest] = linesOf(item, `${indent}${STEP}`, place)
  return [`${indent}- ${first.slice(indent.length + STEP.length)}`, ...rest]
}
