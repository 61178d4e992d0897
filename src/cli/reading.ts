import type { Fault } from '../../consensus/primitives/fault.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import { fieldsOf, textOf } from '../../rpc/client/http.ts'
import { LedgerClient } from '../../rpc/client/ledger-client.ts'
import { printable } from '../telemetry/terminal.ts'
import { type Command, type CommandContext, nodeUrl, RPC_FLAG } from './command.ts'
import { EXIT } from './exit-codes.ts'
import { bpsText } from './percent.ts'
import type { Session } from './session.ts'
import { countFlag, usage } from './values.ts'

/** An answer of a node, or an object in it. */
export type Fields = Readonly<Record<string, unknown>>

/** A command with the node that it asks. */
export type Asking = Pick<Session, 'context' | 'client'>

/** Rows have the heads on top. Lines may need further answers of the node. */
type Shown =
  | { readonly rows: (document: Fields, context: CommandContext) => readonly (readonly string[])[] }
  | { readonly lines: (document: Fields, asking: Asking) => readonly string[] | Promise<readonly string[]> }

/** A command that shows one document of the node. */
export type ReadingCommand = Omit<Command, 'run'> & {
  /** Path of the document below `/api/v1`. */
  readonly path: (context: CommandContext) => Result<string> | Promise<Result<string>>
  /** Default 200. */
  readonly rowsMax?: number
  /** Selects and orders what is shown. Default: the document as it is. */
  readonly arranged?: (document: Fields) => Fields
} & Shown

const DOCUMENT_INDENT = 2
const ROWS_MAX = 200
/** Flags of lists with pages. */
export const PAGE_FLAGS = { limit: 'Most rows of a page', cursor: 'Where a further page begins' }

/** Makes a command that shows a document. */
export function readingCommand(command: ReadingCommand): Command {
  const { name, usage, wordsMax, about, example } = command
  const run = async (context: CommandContext): Promise<number | Fault> => {
    const rowsMost = limitFlag(context, command.rowsMax)
    if (!rowsMost.ok) return rowsMost.fault
    const asked = await command.path(context)
    if (!asked.ok) return asked.fault
    const client = new LedgerClient(nodeUrl(context))
    const answer = await client.document(`/api/v1${asked.value}`)
    if (!answer.ok) return answer.fault
    const document = command.arranged?.(answer.value) ?? answer.value
    const isTable = 'rows' in command
    if (context.flags.json !== undefined) context.printJson(document, isTable ? undefined : DOCUMENT_INDENT)
    else if (isTable) showTable(context, command.rows(document, context), document)
    else for (const line of await command.lines(document, { context, client })) context.print(line)
    return EXIT.ok
  }
  const flags = { ...command.flags, ...RPC_FLAG, json: 'Print the answer of the node as JSON' }
  return { name, usage, wordsMax, about, ...(example !== undefined && { example }), flags, run }
}

/** The --limit of the command line, from 1 to `rowsMax`. Undefined if it is not given. */
export function limitFlag(context: Pick<CommandContext, 'flags'>, rowsMax = ROWS_MAX): Result<number | undefined> {
  const rows = countFlag(context, 'limit', rowsMax + 1)
  return rows.ok && rows.value !== 0 ? rows : usage(`--limit is a whole number from 1 to ${rowsMax}`)
}

/** The top row holds the heads. */
export function showTable(
  { print, note }: CommandContext,
  rows: readonly (readonly string[])[],
  { nextCursor }: Fields,
): void {
  for (const line of tableOf(rows)) print(line)
  if (rows.length === 1) note('there is nothing to list')
  if (typeof nextCursor === 'string') note(`there is more: --cursor ${printable(nextCursor)}`)
}

/** Lines of a table with aligned columns. */
export function tableOf(rows: readonly (readonly string[])[]): readonly string[] {
  const cells = rows.map((row) => row.map(printable))
  const widths = (cells[0] ?? []).map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)))
  return cells.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] as number))
      .join('  ')
      .trimEnd(),
  )
}

/** Objects of a list in an answer. */
export function itemsOf(list: unknown): readonly Fields[] {
  return Array.isArray(list) ? list.map(fieldsOf) : []
}

/** A field of an answer as text, `-` if missing. */
export function cellOf(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : textOf(value, '-')
}

/** An amount in an answer, such as `1.5 FAR`. */
export function unitsCell(value: unknown): string {
  const { text, symbol } = fieldsOf(value)
  return `${cellOf(text)} ${cellOf(symbol)}`
}

/** Basis points in an answer as a percentage: `0.3 %`. */
export function bpsCell(value: unknown): string {
  const text = cellOf(value)
  return /^[0-9]{1,15}$/.test(text) ? bpsText(BigInt(text)) : text
}

/** The named flags as a query string. Empty if none is given. */
export function queryOf({ flags }: Pick<CommandContext, 'flags'>, names: readonly string[]): string {
  const given = names.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]] as [string, string]]))
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}
