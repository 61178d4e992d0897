import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../../support/processes.ts'
import { freePort } from '../../support/tcp-proxy.ts'

const DEBIAN = '/usr/lib/postgresql'
/** All other settings are PostgreSQL's defaults, with fsync and durable commits. */
const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=60',
  'logging_collector=off',
]

/** Debian's PostgreSQL server on a free port of 127.0.0.1, in a new folder. */
export class PostgresServer {
  readonly port: number
  readonly #folder: string
  #process: ChildProcess | null = null
  #log = ''

  private constructor(port: number, folder: string) {
    this.port = port
    this.#folder = folder
  }

  /** Creates a database cluster and starts its server. */
  static async start(): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), 'farthing-postgres-'))
    const owner = ownerOf()
    if (owner !== null) chownSync(folder, owner.uid, owner.gid)
    chmodSync(folder, 0o700)
    const args = ['-D', join(folder, 'data'), '-U', 'farthing', '-E', 'UTF8', '--locale=C', '-A', 'trust']
    execFileSync(binary('initdb'), args, { ...asOwner(), stdio: 'pipe' })
    const server = new PostgresServer(await freePort(), folder)
    await server.begin()
    return server
  }

  /** URL of this server's database, with the schema if given. */
  url(schema?: string): string {
    const place = schema === undefined ? '' : `?schema=${schema}`
    return `postgres://farthing:secret-of-tests@127.0.0.1:${this.port}/postgres${place}`
  }

  /** The server's log. */
  get log(): string {
    return this.#log
  }

  /** Starts the server on its port and folder, also again after {@link end}. */
  async begin(): Promise<void> {
    const flags = SETTINGS.flatMap((setting) => ['-c', setting])
    const child = spawn(binary('postgres'), ['-D', join(this.#folder, 'data'), '-p', String(this.port), ...flags], {
      ...asOwner(),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#process = child
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#log += text
      })
    }
    await until('PostgreSQL answers', () => {
      if (child.exitCode !== null) throw new Error(`PostgreSQL did not start: ${this.#log}`)
      return canConnect(this.port)
    })
    await until('PostgreSQL takes connections', () => this.#log.includes('ready to accept connections'))
  }

  /** Ends the server: `SIGINT` cuts its connections, `SIGQUIT` equals a crash. */
  async end(signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
    const child = this.#process
    if (child === null || child.exitCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await ended
    this.#process = null
    this.#log = ''
  }

  /** Ends the server and removes its folder. */
  async remove(): Promise<void> {
    await this.end()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

function binary(name: string): string {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
  const path = versions.map((version) => join(DEBIAN, version, 'bin', name)).find((file) => existsSync(file))
  if (path === undefined) throw new Error('these tests need PostgreSQL: apt-get install postgresql')
  return path
}

/** PostgreSQL refuses to run as root. A test run by root starts it as Debian's user `postgres`. */
function ownerOf(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

function asOwner() {
  const owner = ownerOf()
  return { cwd: tmpdir(), env: { PATH: process.env.PATH, LC_ALL: 'C' }, ...owner }
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
