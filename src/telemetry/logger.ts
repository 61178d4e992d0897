import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import { PinoPretty } from 'pino-pretty'
import { harmlessJson, plainJson, printable } from './terminal.ts'

/** A structured logger. */
export type { Logger } from 'pino'

/** Names of fields that could hold a secret. Their values are not written. */
const SECRETS = ['passphrase', 'seed', 'words', 'secret', 'opener', 'privateKey', 'authorization', 'cookie']
const LOWER_CASE = new Set(SECRETS.map((name) => name.toLowerCase()))
const HIDDEN = '[hidden]'
/** Deeper objects are not written: they are a mistake, and may be circular. */
const DEPTH_MAX = 8
/** Fields of child loggers do not pass {@link withoutSecrets}. In them only fields at these paths are hidden. */
const BINDING_PATHS = SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`])

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

/** Logs go to standard error, since standard output is for results. Synchronous, so that nothing is lost at exit. */
function destination(pretty: boolean): DestinationStream {
  if (!pretty) {
    const lines = pino.destination({ dest: 2, sync: true })
    return { write: (line) => void lines.write(harmlessJson(line)) }
  }
  const text = PinoPretty({
    destination: 2,
    sync: true,
    // Fields stay on one line. The stack of an error has its own lines.
    singleLine: true,
    colorize: process.stderr.isTTY === true,
    ignore: 'pid,hostname',
    translateTime: 'SYS:HH:MM:ss',
    // One line per message: untrusted text in it must not begin another one.
    messageFormat: ({ msg }) => (typeof msg === 'string' ? printable(msg) : ''),
  })
  return { write: (line) => void text.write(plainJson(line)) }
}
