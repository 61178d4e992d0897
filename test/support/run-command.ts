import { resolveConfig } from '../../config/load.ts'
import type { NetworkParams } from '../../consensus/chain/params.ts'
import { type Fault, faultMessage } from '../../consensus/primitives/fault.ts'
import { parseCommandLine } from '../../src/cli/args.ts'
import { COMMANDS } from '../../src/cli/table.ts'

/** How a command ended. */
export interface CommandEnd {
  /** The exit code, or the fault. */
  readonly outcome: number | Fault
  /** Lines for people (`notes`) and lines of output (`prints`). */
  readonly notes: readonly string[]
  readonly prints: readonly string[]
}

/** A node and a data folder. `heard` gets each note as it comes. */
export interface CommandPlace {
  readonly url: string
  readonly params: NetworkParams
  readonly folder: string
  readonly heard?: (note: string) => void
}

/** Runs a command as the program does. */
export async function runCommand(
  { url, params, folder, heard }: CommandPlace,
  args: readonly string[],
): Promise<CommandEnd> {
  const line = parseCommandLine(args)
  if (!line.ok) throw new Error(faultMessage(line.fault))
  const { words, flags } = line.value
  const named = (name: string) => COMMANDS.find((command) => command.name === name)
  const command = named(words.slice(0, 2).join(' ')) ?? named(words[0] as string)
  if (command === undefined) throw new Error(`no command ${words.join(' ')}`)
  const resolved = resolveConfig([{ origin: 'flag', values: { 'data-dir': folder }, callsIt: (name) => name }], folder)
  if (!resolved.ok) throw new Error(faultMessage(resolved.fault))
  const [prints, notes]: [string[], string[]] = [[], []]
  const outcome = await command.run({
    ...resolved.value,
    params,
    words: words.slice(command.name.split(' ').length),
    flags: { rpc: url, ...flags },
    logger: undefined as never,
    print: (text) => prints.push(text),
    printJson: (value, indent) => prints.push(JSON.stringify(value, null, indent)),
    note: (text) => {
      notes.push(text)
      heard?.(text)
    },
  })
  return { outcome, notes, prints }
}
