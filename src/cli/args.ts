import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'

/** A command line, split into words and flags but not yet interpreted. */
export interface CommandLine {
  readonly words: readonly string[]
  /** Flags without dashes. A switch has the value "true". */
  readonly flags: Readonly<Record<string, string>>
}

/** Flags that stand alone; every other flag takes the next word as its value. */
const SWITCHES = new Set([
  'json',
  'help',
  'version',
  'force',
  'no-pay',
  'no-check',
  'no-tab',
  'by-chain',
  'from-seller',
  'no-wait',
  'accept-impact',
  'accept-loss',
  'accept-slippage',
  'dry-run',
  'all',
  'exact-out',
  'freezable',
  'renounce',
  'bans',
])

/**
 * Separates `--name value`, `--name=value` and switches from the words. `--` ends the flags. A flag that is not in
 * `known` may lack its value: it is a typo, and the command can report it better.
 */
export function parseCommandLine(args: readonly string[], known?: ReadonlySet<string>): Result<CommandLine> {
  const words: string[] = []
  const flags: Record<string, string> = {}
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string
    if (arg === '--') {
      words.push(...args.slice(i + 1))
      break
    }
    if (arg === '-h') {
      flags.help = 'true'
      continue
    }
    // A short flag that passed as a word could become the request of a paid call.
    if (/^-[^-]/.test(arg)) return usage(shortFlag(arg.slice(0, 40)))
    if (!arg.startsWith('--')) {
      words.push(arg)
      continue
    }
    const [name, inline] = splitFlag(arg.slice(2))
    if (Object.hasOwn(flags, name)) return usage(`--${name} is given twice`)
    const value = valueFor({ name, inline, next: args[i + 1], known })
    if (!value.ok) return value
    flags[name] = value.value
    if (inline === undefined && value.value === args[i + 1] && !SWITCHES.has(name)) i++
  }
  return ok({ words, flags })
}

/** A flag with the value after its `=`, and the word that follows. */
interface Given {
  readonly name: string
  readonly inline: string | undefined
  readonly next: string | undefined
  readonly known: ReadonlySet<string> | undefined
}

function valueFor({ name, inline, next, known }: Given): Result<string> {
  if (SWITCHES.has(name))
    return inline === undefined ? ok('true') : usage(`--${name} takes no value: give it alone, or leave it out`)
  if (inline !== undefined) return ok(inline)
  if (next !== undefined && !next.startsWith('--')) return ok(next)
  if (known !== undefined && !known.has(name)) return ok('')
  const how =
    next === undefined ? '' : `, and ${next.slice(0, 40)} is a flag; a value may also stand as --${name}=VALUE`
  return usage(`--${name} needs a value${how}`)
}

function shortFlag(arg: string): string {
  const what = /^-[.0-9]/.test(arg) ? 'flags begin with --, and an amount is above zero' : 'flags begin with --'
  return `${arg} is no flag: ${what}; words that begin with - come after a -- of its own`
}

function usage(reason: string): Result<never> {
  return fail(fault('cli/usage', { reason }))
}

function splitFlag(text: string): readonly [string, string | undefined] {
  const at = text.indexOf('=')
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}
