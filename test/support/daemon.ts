import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll } from 'vitest'
import { type Exit, type Finished, Program, removeFolder, temporaryFolder, until } from './processes.ts'
import { ROOT } from './source-tree.ts'

/** The program as it is shipped. */
export const SHIPPED = join(ROOT, 'src/main.ts')
/** The same with the test services. */
export const WITH_TEST_SERVICES = join(ROOT, 'test/support/daemon-entry.ts')

/** How a test starts a daemon. */
export interface StartOptions {
  readonly entry?: string
  /** Flags behind `start`; data folder, free port and JSON logs are given. */
  readonly flags?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Mining threads, one unless said. */
  readonly mine?: number
  /** The Node that runs it; default the pinned one. */
  readonly node?: string
}

/** How a test runs a command. */
export interface CommandOptions {
  readonly entry?: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  /** The Node that runs it; default the pinned one. */
  readonly node?: string
  /** Folder that it works in; default that of this process. */
  readonly cwd?: string
}

/** Whoever takes longer hangs: a machine that is busy with other tests can make a second of work a minute. */
const RUN_MS_MAX = 240_000

/** A daemon that has just greeted may not hear signals yet; a test of its own looks at that moment. */
const SETTLED_MS = 20

/** Limits that no test reaches by itself, however busy the machine is; flags still go above them. */
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

/** Nodes of one machine would find each other and become one chain: a test that wants peers says so. */
const ALONE = { FARTHING_P2P_ENABLED: 'false' }
/** Whether this machine reaches the internet must not matter: a test that wants a web brings a little one along. */
const OFFLINE = { FARTHING_WEB_ENABLED: 'false' }

/** One line of a daemon's log. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly msg?: string }

/** A daemon in a process of its own, ready to answer. */
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

  /** Stops it as an operator does. */
  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> {
    return this.program.end(signal)
  }

  /** Ends it without a chance to tidy up. */
  kill(): Promise<Exit> {
    return this.program.end('SIGKILL')
  }
}

/**
 * Folders and processes of one test file. When its tests are over every process is ended, by its own id, and every folder
 * removed; should the test runner itself go, the processes go with it.
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

  /** Has something closed when the tests of this file are over and its programs have ended. */
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

  /** Runs a command to its end; one that does not end by itself is ended and shows it by its signal. */
  async run(args: readonly string[], options: CommandOptions = {}): Promise<Finished> {
    const program = this.launch(args, options)
    const timer = setTimeout(() => program.signal('SIGKILL'), RUN_MS_MAX)
    const finished = await program.finished()
    clearTimeout(timer)
    return finished
  }

  /** Begins to start a daemon on a folder. */
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

  /** Waits until a daemon that was begun answers. */
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
