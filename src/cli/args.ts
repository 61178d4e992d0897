import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'

/** A command line, cut up but not yet understood. */
export interface CommandLine {
  readonly words: readonly string[]
  /** Flags without dashes; one without a value is "true". */
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
  'no-wait',
  'accept-impact',
  'dry-run',
  'all',
  'exact-out',
  'freezable',
  'renounce',
  'bans',
])

/** Cuts `--name value`, `--name=value` and switches from the words between them; `--` ends the flags. */
export function parseCommandLine(args: readonly string[]): Result<CommandLine> {
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
    // A short flag taken for a word could become the request of a call, and be paid for.
    if (/^-[^-]/.test(arg))
      return fail(
        fault('cli/usage', {
          reason: `${arg.slice(0, 40)} is no flag: flags begin with --; words that begin with - come after a -- of its own`,
        }),
      )
    if (!arg.startsWith('--')) {
      words.push(arg)
      continue
    }
    const [name, inline] = splitFlag(arg.slice(2))
    if (Object.hasOwn(flags, name)) return fail(fault('cli/usage', { reason: `--${name} is given twice` }))
    if (inline !== undefined) flags[name] = inline
    else if (SWITCHES.has(name)) flags[name] = 'true'
    else {
      const value = args[++i]
      if (value === undefined) return fail(fault('cli/usage', { reason: `--${name} needs a value` }))
      flags[name] = value
    }
  }
  return ok({ words, flags })
}

function splitFlag(text: string): readonly [string, string | undefined] {
  const at = text.indexOf('=')
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}
