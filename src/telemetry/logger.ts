import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import { PinoPretty } from 'pino-pretty'

/** A structured logger. */
export type { Logger } from 'pino'

/** Fields that could hold a secret: they are never written, whoever logs them. */
const SECRET_PATHS = [
  'passphrase',
  'seed',
  'words',
  'secret',
  'opener',
  'privateKey',
  'authorization',
  'cookie',
].flatMap((name) => [name, `*.${name}`, `*.*.${name}`])

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
    redact: { paths: SECRET_PATHS, censor: '[hidden]' },
    timestamp: pino.stdTimeFunctions.isoTime,
  }
  const pretty = format === 'pretty' || (format === 'auto' && process.stderr.isTTY)
  return pino(options, destination(pretty))
}

/** Logs go to standard error: standard output is for what a command prints. Synchronous, so that nothing is lost at exit. */
function destination(pretty: boolean): DestinationStream {
  if (!pretty) return pino.destination({ dest: 2, sync: true })
  return PinoPretty({
    destination: 2,
    sync: true,
    colorize: process.stderr.isTTY === true,
    ignore: 'pid,hostname',
    translateTime: 'SYS:HH:MM:ss',
  })
}
