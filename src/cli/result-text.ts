/** What a field of an answer holds. */
type Fields = Readonly<Record<string, unknown>>

const STEP = '  '
/** A list that is no longer stands in one line. */
const LINE_CHARS_MAX = 100

/** A result of a service as lines for people: a field a line, lists below their names, texts as they are. */
export function resultLines(result: unknown): readonly string[] {
  return linesOf(result, '')
}

function linesOf(value: unknown, indent: string): readonly string[] {
  const line = inLine(value)
  if (line !== undefined) return [`${indent}${line}`]
  if (typeof value === 'string') return value.split('\n').map((text) => `${indent}${text}`)
  if (Array.isArray(value)) return value.flatMap((item: unknown) => itemLines(item, indent))
  return fieldLines(value as Fields, indent)
}

/** A value that fits behind its name; undefined for what takes lines of its own. */
function inLine(value: unknown): string | undefined {
  if (typeof value === 'string') return value.includes('\n') ? undefined : value
  if (value === null || value === undefined) return '-'
  if (typeof value !== 'object') return String(value)
  if (!Array.isArray(value)) return amountIn(value as Fields) ?? (Object.keys(value).length === 0 ? '-' : undefined)
  const items = value.map((item: unknown) => (typeof item === 'object' && item !== null ? undefined : inLine(item)))
  const line = items.every((item) => item !== undefined) ? items.join(', ') : undefined
  return line === '' ? '-' : line !== undefined && line.length <= LINE_CHARS_MAX ? line : undefined
}

/** An amount of an asset, which services give as an object of its own: `1.5 FAR`. */
function amountIn(fields: Fields): string | undefined {
  const { symbol, amount, text, decimals } = fields
  const units = amount ?? text
  const isAmount = typeof symbol === 'string' && typeof units === 'string' && typeof decimals === 'number'
  return isAmount ? `${units} ${symbol}` : undefined
}

function fieldLines(fields: Fields, indent: string): readonly string[] {
  const names = Object.keys(fields)
  const width = Math.max(...names.filter((name) => inLine(fields[name]) !== undefined).map(({ length }) => length))
  return names.flatMap((name) => {
    const line = inLine(fields[name])
    if (line !== undefined) return [`${indent}${name.padEnd(width)}  ${line}`]
    return [`${indent}${name}`, ...linesOf(fields[name], `${indent}${STEP}`)]
  })
}

/** An item of a list: its first line has a dash in the place of two blanks. */
function itemLines(item: unknown, indent: string): readonly string[] {
  const [first = '', ...rest] = linesOf(item, `${indent}${STEP}`)
  return [`${indent}- ${first.slice(indent.length + STEP.length)}`, ...rest]
}
