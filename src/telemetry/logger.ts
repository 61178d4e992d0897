import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import { PinoPretty } from 'pino-pretty'
import { harmlessJson, plainJson, printable } from './terminal.ts'

/** A structured logger. */
export type { Logger } from 'pino'

/** Fields that could hold a secret: they are never written, whoever logs them and however deep. */
const SECRETS = ['passphrase', 'seed', 'words', 'secret', 'opener', 'privateKey', 'authorization', 'cookie']
const LOWER_CASE = new Set(SECRETS.map((name) => name.toLowerCase()))
const HIDDEN = '[hidden]'
/** Deeper objects are not written: they would be a mistake, and may be circular. */
const DEPTH_MAX = 8
/** What a child logger says of itself does not pass through {@link withoutSecrets}; it is hidden this deep. */
const BINDING_PATHS = SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`])

/** A copy without secrets. */
function withoutSecrets(value: unknown, depth = 0): unknown {
  if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value) || 'toJSON' in value) return value
  if (depth > DEPTH_MAX) return '[deep]'
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, depth + 1))
  const plain: object = value instanceof Error ? pino.stdSerializers.err(value) : value
  const fields = Object.entries(plain).map(([name, inner]) => [
    name,
    LOWER_CASE.has(name.toLowerCase()) ? HIDDEN : withoutSecrets(inner, depth + 1),
  ])
  return Object.fromEntries(fields)
}

/** A logger: JSON lines, or readable text on a terminal. */
export function createLogger({
  level,
  format,
}: {
  readonly level: string
  readonly format: 'auto' | 'json' | 'pretty'
}): Logger {
  const options: LoggerOptions = {
    level,
    base: null,
    redact: { paths: BINDING_PATHS, censor: HIDDEN },
    formatters: { log: (fields) => withoutSecrets(fields) as Record<string, unknown> },
    timestamp: pino.stdTimeFunctions.isoTime,
  }
  const pretty = format === 'pretty' || (format === 'auto' && process.stderr.isTTY)
  return pino(options, destination(pretty))
}

/** Logs go to standard error: standard output is for what a command prints. Synchronous, so that nothing is lost at exit. */
function destination(pretty: boolean): DestinationStream {
  if (!pretty) {
    const lines = pino.destination({ dest: 2, sync: true })
    return { write: (line) => void lines.write(harmlessJson(line)) }
  }
  const text = PinoPretty({
    destination: 2,
    sync: true,
    // What is logged takes one line of the screen; the stack of an error still has its own.
    singleLine: true,
    colorize: process.stderr.isTTY === true,
    ignore: 'pid,hostname',
    translateTime: 'SYS:HH:MM:ss',
    // What was said is one line: a stranger's part of it must not begin another.
    messageFormat: ({ msg }) => (typeof msg === 'string' ? printable(msg) : ''),
  })
  return { write: (line) => void text.write(plainJson(line)) }
}
