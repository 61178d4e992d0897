import { readFileSync } from 'node:fs'
import type { PoolConfig } from 'pg'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'

/** The location of a claim store, from its URL. */
export interface PostgresPlace {
  /** Options of the driver; contain the password. */
  readonly connection: PoolConfig
  /** Schema of the tables: a plain lower-case name. */
  readonly schema: string
  /** The location without its password, for messages. */
  readonly name: string
}

const SCHEMA = /^[a-z_][a-z0-9_]{0,40}$/
/** Driver options for each `sslmode`. Encrypting modes also verify the certificate, except `no-verify`. */
const SSL_MODES: Readonly<Record<string, PoolConfig['ssl']>> = {
  disable: false,
  require: true,
  'verify-full': true,
  'no-verify': { rejectUnauthorized: false },
}
/** The known parameters. All others are refused: they could disable the settings that make claims durable. */
const PARAMETERS = ['schema', 'sslmode', 'sslrootcert', 'host']

/**
 * Reads the URL of a claim store: `postgres://user:password@host:port/database?schema=farthing&sslmode=verify-full`.
 * `?host=` names the folder of a Unix socket. Without a password the driver uses `PGPASSWORD` or `~/.pgpass`. Faults
 * never contain the password.
 */
export function postgresPlace(text: string): Result<PostgresPlace> {
  const url = URL.parse(text)
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol))
    return fail(unusable('the URL', 'it is no postgres:// URL'))
  const strange = [...url.searchParams.keys()].find((key) => !PARAMETERS.includes(key))
  const name = nameOf(url)
  if (strange !== undefined)
    return fail(unusable(name, `unknown parameter ${strange}; known are ${PARAMETERS.join(', ')}`))
  const schema = url.searchParams.get('schema') ?? 'farthing'
  if (!SCHEMA.test(schema)) return fail(unusable(name, 'the schema must be a name of a-z, 0-9 and _'))
  const mode = url.searchParams.get('sslmode')
  if (mode !== null && !(mode in SSL_MODES))
    return fail(unusable(name, `unknown sslmode; known are ${Object.keys(SSL_MODES).join(', ')}`))
  try {
    return ok({ schema, name, connection: connectionOf(url, mode) })
  } catch (error) {
    return fail(unusable(name, (error as Error).message))
  }
}

function unusable(place: string, reason: string) {
  return fault('market/claims-unusable', { place, reason })
}

function nameOf(url: URL): string {
  const host = url.searchParams.get('host') ?? (url.host || 'localhost')
  return `${host}${url.pathname || '/'}`
}

/** Passes on only what the URL says; the driver takes everything else from the environment. */
function connectionOf(url: URL, mode: string | null): PoolConfig {
  const host = url.searchParams.get('host') ?? url.hostname
  const database = decodeURIComponent(url.pathname.slice(1))
  const certificate = url.searchParams.get('sslrootcert')
  const ssl = mode === null ? undefined : SSL_MODES[mode]
  const trusted = certificate === null ? ssl : { ca: readFileSync(certificate, 'utf8') }
  return {
    ...(host !== '' && { host }),
    ...(url.port !== '' && { port: Number(url.port) }),
    ...(url.username !== '' && { user: decodeURIComponent(url.username) }),
    ...(url.password !== '' && { password: decodeURIComponent(url.password) }),
    ...(database !== '' && { database }),
    ...(trusted !== undefined && { ssl: trusted }),
  }
}
