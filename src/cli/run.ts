import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { environmentSource, fileSource, flagOf, flagSource, resolveConfig, type Source } from '../../config/load.ts'
import { NETWORKS, type NetworkName } from '../../config/networks/table.ts'
import { SETTINGS } from '../../config/settings.ts'
import type { NetworkParams } from '../../consensus/chain/params.ts'
import { type Fault, fault, faultMessage } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { httpFault } from '../../rpc/contract/http-faults.ts'
import { VERSION } from '../daemon/version.ts'
import { folderPaths, storageFault } from '../storage/folder.ts'
import { createLogger } from '../telemetry/logger.ts'
import { jsonText, printable } from '../telemetry/terminal.ts'
import { type CommandLine, parseCommandLine } from './args.ts'
import type { Command, CommandContext } from './command.ts'
import { EXIT, exitCodeOf } from './exit-codes.ts'
import { likestCommands } from './likeness.ts'
import { withPlace } from './place.ts'

const GLOBAL_FLAGS = { config: 'Configuration file; default: farthing.json in the data folder', help: 'Show this help' }
/** Settings that matter to a command that asks a node or opens a wallet. All other settings are for the node itself. */
const CLIENT_SETTINGS: ReadonlySet<string> = new Set([
  'network',
  'data-dir',
  'rpc.host',
  'rpc.port',
  'wallet.passphrase-file',
  'dev-key',
])
/** Environment variables of Farthing that are not settings. */
const OTHER_VARIABLES = ['FARTHING_CONFIG', 'FARTHING_RUNS']

const SUGGESTIONS = 3
/** Characters of a mistyped word that are compared. */
const TYPED_CHARS_MAX = 30

/** Networks by the names that the `network` setting takes. */
export type Networks = Readonly<Record<NetworkName, NetworkParams>>

/** Returns the exit code. Every fault becomes one line on standard error. */
export async function runCommandLine(
  commands: readonly Command[],
  args: readonly string[],
  networks: Networks = NETWORKS,
): Promise<number> {
  const refuse = (cause: Fault, code: number): number => sayRefusal(cause, code, asksForJson(args))
  const line = parseCommandLine(args, namesOfFlags(commands))
  if (!line.ok) return refuse(line.fault, EXIT.usage)
  const { words, flags } = line.value
  if (flags.version !== undefined) return say(VERSION)
  const command = findCommand(commands, words)
  if (words[0] === undefined || words[0] === 'help' || flags.help !== undefined) {
    const text = helpText(commands, words[0] === 'help' ? words.slice(1) : words)
    return typeof text === 'string' ? say(text) : refuse(text, EXIT.usage)
  }
  if (command === undefined) return refuse(unknownCommand(commands, words), EXIT.usage)
  // An unknown flag may have taken a word as its value, so it is reported before a surplus word.
  const context = await createContext(command, line.value, networks)
  if (!context.ok) return refuse(context.fault, EXIT.usage)
  const extra = context.value.words[command.wordsMax]
  if (extra !== undefined)
    return refuse(
      fault('cli/usage', {
        reason:
          `"${extra.slice(0, 40)}" is one word too many; usage: farthing ${command.name} ${command.usage}`.trimEnd(),
      }),
      EXIT.usage,
    )
  const outcome = await runOnDisk(command, context.value)
  if (typeof outcome === 'number') return outcome
  return refuse(withPlace(outcome, context.value), exitCodeOf(outcome))
}

/** An error of the disk, which any command can meet, becomes a fault. */
async function runOnDisk(command: Command, context: CommandContext): Promise<number | Fault> {
  try {
    return await command.run(context)
  } catch (error) {
    return storageFault(context.config.dataDir, error)
  }
}

/** A name of two words counts more than one of a single word. */
function findCommand(commands: readonly Command[], words: readonly string[]): Command | undefined {
  const byName = (name: string): Command | undefined => commands.find((command) => command.name === name)
  return byName(words.slice(0, 2).join(' ')) ?? byName(words[0] ?? '')
}

async function createContext(
  command: Command,
  { words, flags }: CommandLine,
  networks: Networks,
): Promise<Result<CommandContext>> {
  const { settings, own } = splitFlags(command, flags)
  const flagged = flagSource(settings, [...Object.keys(command.flags), ...Object.keys(GLOBAL_FLAGS)])
  if (!flagged.ok) return flagged
  const environment = environmentSource(process.env, OTHER_VARIABLES)
  if (!environment.ok) return environment
  if (own.rpc !== undefined && !/^https?:$/.test(URL.parse(own.rpc)?.protocol ?? ''))
    return fail(
      fault('config/value', { key: '--rpc', value: own.rpc, allowed: 'an address like http://127.0.0.1:8420' }),
    )
  const file = await readConfigFile(own.config ?? process.env.FARTHING_CONFIG, [environment.value, flagged.value])
  if (!file.ok) return file
  const resolved = resolveConfig([...file.value, environment.value, flagged.value], homedir())
  if (!resolved.ok) return resolved
  const { config, resolution } = resolved.value
  return ok({
    config,
    resolution,
    params: networks[config.network],
    words: words.slice(command.name.split(' ').length),
    flags: own,
    logger: createLogger(config.log),
    print: (line) => process.stdout.write(`${printable(line)}\n`),
    printJson: (value, indent) => process.stdout.write(`${jsonText(value, indent)}\n`),
    note: (line) => process.stderr.write(`${printable(line)}\n`),
  })
}

function splitFlags(
  command: Command,
  flags: CommandLine['flags'],
): { readonly settings: Record<string, string>; readonly own: Record<string, string> } {
  const settings: Record<string, string> = {}
  const own: Record<string, string> = {}
  for (const [name, value] of Object.entries(flags)) {
    const isOwn = Object.hasOwn(command.flags, name) || Object.hasOwn(GLOBAL_FLAGS, name)
    if (isOwn) own[name] = value
    else settings[name] = value
  }
  return { settings, own }
}

/** The named configuration file, which must exist, or the one in the data folder, which is optional. */
async function readConfigFile(
  named: string | undefined,
  others: readonly Source[],
): Promise<Result<readonly Source[]>> {
  const preliminary = resolveConfig(others, homedir())
  if (!preliminary.ok) return preliminary
  const path = named ?? folderPaths(preliminary.value.config.dataDir).config
  let content: string
  try {
    content = await readFile(path, 'utf8')
  } catch (error) {
    if (named === undefined && (error as { code?: string }).code === 'ENOENT') return ok([])
    return fail(fault('config/file', { path, reason: 'it cannot be read' }))
  }
  const source = fileSource(path, content)
  return source.ok ? ok([source.value]) : source
}

function helpText(commands: readonly Command[], words: readonly string[]): string | Fault {
  const command = findCommand(commands, words)
  if (command !== undefined) return commandHelp(command, commands)
  const isKnown = words[0] === undefined || commands.some(({ name }) => name.split(' ')[0] === words[0])
  return isKnown ? usageText(groupOf(commands, words[0])) : unknownCommand(commands, words)
}

function groupOf(commands: readonly Command[], word: string | undefined): readonly Command[] {
  const group = commands.filter(({ name }) => name.split(' ')[0] === word)
  return group.length > 0 ? group : commands
}

function unknownCommand(commands: readonly Command[], words: readonly string[]): Fault {
  const [first = '', second] = words.map((word) => word.slice(0, TYPED_CHARS_MAX))
  const group = commands.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name)
  const isGroup = group.length > 0
  const typed = isGroup && second !== undefined ? `${first} ${second}` : first
  const meant = likestCommands(typed, isGroup ? group : commands.map(({ name }) => name), SUGGESTIONS)
  return fault('cli/usage', {
    reason: `there is no command "${typed}"; did you mean ${meant.join(', ')}? npx --no farthing help shows all`,
  })
}

function usageText(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name, usage }) => name.length + usage.length + 1))
  const lines = commands.map(({ name, usage, about }) => `  ${`${name} ${usage}`.padEnd(width)} ${about}`)
  return [
    'Usage: farthing <command> [flags]',
    '',
    ...lines,
    '',
    'npx --no farthing <command> --help shows its flags, npx --no farthing config print all settings.',
  ].join('\n')
}

function commandHelp({ name, usage, about, flags, example, isNode }: Command, commands: readonly Command[]): string {
  const own = Object.entries({ ...flags, ...GLOBAL_FLAGS }).map(([flag, text]) => `  ${`--${flag}`.padEnd(34)} ${text}`)
  const settings = Object.entries(SETTINGS)
    .filter(([setting]) => isNode || CLIENT_SETTINGS.has(setting))
    .map(([setting, { about: text }]) => `  ${flagOf(setting).padEnd(34)} ${text}`)
  const shown = example === undefined ? [] : [`Example: npx --no farthing ${example}`]
  const kin = commands.filter((other) => other.name.startsWith(`${name} `)).map((other) => other.name)
  const head = [
    `Usage: farthing ${name} ${usage}`.trimEnd(),
    about,
    ...shown,
    ...(kin.length === 0 ? [] : [`See also: ${kin.join(', ')}`]),
  ]
  const more = isNode
    ? []
    : ['', 'npx --no farthing start --help shows the settings of a node, npx --no farthing config print their values.']
  return [...head, '', ...own, '', 'Settings:', ...settings, ...more].join('\n')
}

function say(text: string): number {
  process.stdout.write(`${text}\n`)
  return EXIT.ok
}

function namesOfFlags(commands: readonly Command[]): ReadonlySet<string> {
  const own = commands.flatMap(({ flags }) => Object.keys(flags))
  return new Set([...own, ...Object.keys(GLOBAL_FLAGS), ...Object.keys(SETTINGS).map((name) => flagOf(name).slice(2))])
}

/** Whether errors are to be printed as JSON. Works even if the command line cannot be parsed. */
function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return (end < 0 ? args : args.slice(0, end)).includes('--json')
}

function sayRefusal(cause: Fault, exitCode: number, isJson: boolean): number {
  const message = faultMessage(cause)
  const error = { code: httpFault(cause.code).api, message, exitCode, details: cause.detail }
  process.stderr.write(isJson ? `${jsonText({ error })}\n` : `farthing: ${printable(message)}\n`)
  return exitCode
}
