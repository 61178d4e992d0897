import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll } from 'vitest'
import { type Exit, type Finished, Program, removeFolder, temporaryFolder, until } from './processes.ts'
import { ROOT } from './source-tree.ts'

export const SHIPPED = join(ROOT, 'src/main.ts')
/** Entry of the program with the test services. */
export const WITH_TEST_SERVICES = join(ROOT, 'test/support/daemon-entry.ts')

export interface StartOptions {
  readonly entry?: string
  /** Flags after the command `start`. The data folder, a free API port and the mining threads are set already. */
  readonly flags?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Mining threads, one by default. */
  readonly mine?: number
  /** The Node.js that runs it, by default the pinned one. */
  readonly node?: string
}

/** How a test runs a command. */
export interface CommandOptions {
  readonly entry?: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  /** The Node.js that runs it, by default the pinned one. */
  readonly node?: string
  /** Working folder, by default that of this process. */
  readonly cwd?: string
}

/** A command that runs longer hangs. Other tests on the same machine can turn a second of work into a minute. */
const RUN_MS_MAX = 240_000

/** A daemon that has just printed its greeting may not handle signals yet. Another test looks at that moment. */
const SETTLED_MS = 20

/** Limits that a test reaches only when it lowers them. Flags and the `env` of a test override them. */
const UNLIMITED = {
  FARTHING_RPC_RATE_READ: '100000000',
  FARTHING_RPC_RATE_LIST: '100000000',
  FARTHING_RPC_RATE_TRANSACTION: '100000000',
  FARTHING_RPC_RATE_QUOTE: '100000000',
  FARTHING_RPC_RATE_SETTLE: '100000000',
  FARTHING_RPC_RATE_EVENTS: '100000000',
  FARTHING_RPC_RATE_MCP: '100000000',
  FARTHING_RPC_RATE_CHAT: '100000000',
  FARTHING_RPC_RATE_SIGN_IN: '100000000',
  FARTHING_RPC_DELAY_MAX_MS: '100000',
}

/** Nodes of one machine would find each other and share a chain. A test that wants peers turns them on. */
const ALONE = { FARTHING_P2P_ENABLED: 'false' }
/** Results must not depend on the internet. A test that needs a web starts a small one. */
const OFFLINE = { FARTHING_WEB_ENABLED: 'false' }

export type LogLine = Readonly<Record<string, unknown>> & { readonly msg?: string }

/** A running daemon in a process of its own. */
export class RunningDaemon {
  readonly url: string
  readonly dataDir: string
  readonly program: Program

  constructor(program: Program, url: string, dataDir: string) {
    this.program = program
    this.url = url
    this.dataDir = dataDir
  }

  /** What it logged so far. */
  get log(): readonly LogLine[] {
    return this.program.stderr
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as LogLine)
  }

  /** Stops it, by default as an operator does. */
  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> {
    return this.program.end(signal)
  }

  /** Kills it: it cannot tidy up. */
  kill(): Promise<Exit> {
    return this.program.end('SIGKILL')
  }
}

/**
 * Folders and processes of one test file. After its tests every process is ended, by its own id, and every folder removed. If the test
 * process exits earlier, it kills the processes.
 */
export class Workshop {
  readonly root = temporaryFolder()
  readonly #programs: Program[] = []
  readonly #ends: (() => Promise<unknown>)[] = []
  #folders = 0

  constructor() {
    const endAll = (): void => {
      for (const program of this.#programs) program.signal('SIGKILL')
    }
    process.once('exit', endAll)
    afterAll(async () => {
      for (const program of this.#programs) if (program.ended === null) await program.end('SIGKILL').catch(() => {})
      for (const end of this.#ends) await end()
      process.removeListener('exit', endAll)
      removeFolder(this.root)
    })
  }

  /** Closes something after the tests of this file, when their programs have ended. */
  atEnd(close: () => Promise<unknown>): void {
    this.#ends.push(close)
  }

  /** A new empty folder. */
  folder(): string {
    const path = join(this.root, String(this.#folders++))
    mkdirSync(path)
    return path
  }

  /** A path for a new file. */
  path(name: string): string {
    return join(this.folder(), name)
  }

  /** Starts a command and does not wait for it. */
  launch(args: readonly string[], { entry = SHIPPED, env, ...options }: CommandOptions = {}): Program {
    const program = new Program({
      entry,
      args,
      env: {
        ...(args.includes('start') && { ...ALONE, ...(env?.TEST_INTERNET === undefined && OFFLINE) }),
        ...env,
      },
      ...options,
    })
    this.#programs.push(program)
    return program
  }

  /** Runs a command to its end. A command that hangs is killed, and its result has the signal. */
  async run(args: readonly string[], options: CommandOptions = {}): Promise<Finished> {
    const program = this.launch(args, options)
    const timer = setTimeout(() => program.signal('SIGKILL'), RUN_MS_MAX)
    const finished = await program.finished()
    clearTimeout(timer)
    return finished
  }

  /** Starts a daemon on a folder and does not wait for it. */
  begin(
    dataDir: string,
    { entry = WITH_TEST_SERVICES, flags = [], env, mine = 1, ...options }: StartOptions = {},
  ): Program {
    const args = ['start', '--data-dir', dataDir, '--rpc-port', '0', '--mine-threads', String(mine), ...flags]
    return this.launch(args, { entry, env: { ...UNLIMITED, ...env }, ...options })
  }

  /** Starts a daemon on a folder and waits until it answers. */
  start(dataDir: string, options: StartOptions = {}): Promise<RunningDaemon> {
    return this.ready(this.begin(dataDir, options), dataDir)
  }

  /** Waits until a started daemon answers. */
  async ready(program: Program, dataDir: string): Promise<RunningDaemon> {
    const url = await until(
      'the daemon is ready',
      () => {
        if (program.ended !== null) throw new Error(`the daemon did not start: ${program.stderr}`)
        return /API at (http:\S+)/.exec(program.stderr)?.[1]
      },
      { everyMs: 10 },
    )
    await pause(SETTLED_MS)
    return new RunningDaemon(program, url, dataDir)
  }
}
