type Fields = Readonly<Record<string, unknown>>

const STEP = '  '
/** A list that is not longer than this stands on one line. */
const LINE_CHARS_MAX = 100
/** Limits of what is shown: the seller controls how deep, wide and long a result is. */
const LEVELS_MAX = 16
const ITEMS_MAX = 500
const LINES_MAX = 2_000
const TEXT_CHARS_MAX = 8_000
/** A longer word without blanks is taken for an encoded file. */
const WORD_CHARS_MAX = 500
const WORD_CHARS_SHOWN = 60

/** Marks a place where something was left out. */
type Cut = (what: string) => string

/** Depth, width and length are bounded. Each cut is marked, and after any cut a last line says how to see the whole. */
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

/** Undefined if the value needs lines of its own. */
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

/** An amount as services write it, such as `1.5 FAR`, with the remaining fields. Undefined if it is no amount. */
function amountIn(fields: Fields): { readonly line: string; readonly more: Fields } | undefined {
  const { symbol, amount, decimals, ...rest } = fields
  const { text, units: _, ...others } = rest
  const [shown, more] = amount === undefined ? [text, others] : [amount, rest]
  const isAmount = typeof symbol === 'string' && typeof shown === 'string' && typeof decimals === 'number'
  return isAmount ? { line: `${shown} ${symbol}`, more } : undefined
}

function withAmount(fields: Fields): Fields {
  const amount = amountIn(fields)
  return amount === undefined ? fields : { amount: amount.line, ...amount.more }
}

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

/** An item of a list: a dash stands in the indent of its first line. */
function itemLines(item: unknown, indent: string, place: Place): readonly string[] {
  const [first = '', ...rest] = linesOf(item, `${indent}${STEP}`, place)
  return [`${indent}- ${first.slice(indent.length + STEP.length)}`, ...rest]
}
