import { type ChildProcess, fork } from 'node:child_process'

/** The program of a process, and its permissions. */
export interface ProcessParts {
  /** The program; speaks the protocol of `process-port.ts`. */
  readonly entry: URL
  readonly heapMb: number
  /** The only files and folders that it may read. */
  readonly readable: readonly string[]
}

/** A job for a process, with its time limits. */
export interface ProcessJob {
  readonly message: unknown
  /** From the request to the start of the work. A new process must load its program in this time. */
  readonly startMs: number
  /** From the start of the work to its end. */
  readonly workMs: number
}

/** Messages of a process: the work started, or how it ended. */
export type ProcessWord =
  | { readonly kind: 'started' }
  | { readonly kind: 'done'; readonly output: unknown }
  | { readonly kind: 'failed'; readonly reason: string }

/** How a job ended. */
export type ProcessEnding =
  | { readonly kind: 'done'; readonly output: unknown }
  | { readonly kind: 'failed'; readonly reason: string }
  /** The process was killed: it reached its limit of time or memory, or the caller gave up. */
  | { readonly kind: 'killed' }

const KILLED: ProcessEnding = { kind: 'killed' }
/** How a process ends that reaches its own memory limit, or the system's. */
const MEMORY_SIGNALS: readonly (string | null)[] = ['SIGABRT', 'SIGKILL', 'SIGTRAP']
const ABORT_CODE = 134

interface Running {
  readonly settle: (ending: ProcessEnding) => void
  readonly started: () => void
}

/**
 * A process that runs one job at a time, and is killed if a job exceeds its limits. A thread is not enough: a single
 * allocation beyond its limit can end the whole process.
 */
export class KillableProcess {
  readonly #child: ChildProcess
  #running: Running | null = null
  #over = false
  readonly exited: Promise<void>

  constructor({ entry, heapMb, readable }: ProcessParts) {
    const mayRead = readable.map((path) => `--allow-fs-read=${path}`)
    this.#child = fork(entry, {
      // No writing, no processes, no network. Workers are allowed for the thread that watches it, and addons for the native code of
      // libraries.
      execArgv: [`--max-old-space-size=${heapMb}`, '--permission', ...mayRead, '--allow-addons', '--allow-worker'],
      // No environment: it may hold secrets, and this process reads untrusted input.
      env: { TZ: 'UTC' },
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    this.#hold(false)
    this.#child.on('message', (word) => this.#hear(word as ProcessWord))
    this.exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        const isMemory = MEMORY_SIGNALS.includes(signal) || code === ABORT_CODE
        this.#end(isMemory ? KILLED : { kind: 'failed', reason: `its process ended (${signal ?? code})` })
        resolve()
      })
      this.#child.on('error', (error) => {
        this.#end({ kind: 'failed', reason: error.message })
        if (this.#child.pid === undefined) resolve()
      })
    })
  }

  /** Process id; undefined if it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid
  }

  get usable(): boolean {
    return !this.#over && this.#running === null
  }

  /** Never rejects. */
  run({ message, startMs, workMs }: ProcessJob, signal: AbortSignal): Promise<ProcessEnding> {
    if (signal.aborted || !this.usable) return Promise.resolve(KILLED)
    return new Promise((resolve) => {
      const kill = (): void => this.kill()
      let limit = setTimeout(kill, startMs)
      signal.addEventListener('abort', kill, { once: true })
      const started = (): void => {
        clearTimeout(limit)
        limit = setTimeout(kill, workMs)
      }
      const settle = (ending: ProcessEnding): void => {
        clearTimeout(limit)
        signal.removeEventListener('abort', kill)
        this.#running = null
        this.#hold(false)
        resolve(ending)
      }
      this.#running = { started, settle }
      this.#hold(true)
      this.#post(message)
    })
  }

  kill(): void {
    this.#end(KILLED)
    // Keeps this process alive until the child has ended, for callers that wait for `exited`.
    this.#child.ref()
    this.#child.kill('SIGKILL')
  }

  /** Whether the child keeps this process alive: only while it works. */
  #hold(held: boolean): void {
    if (held) {
      this.#child.ref()
      this.#child.channel?.ref()
    } else {
      this.#child.unref()
      this.#child.channel?.unref()
    }
  }

  #post(message: unknown): void {
    const failed = (error: Error | null): void => {
      if (error !== null) this.#end({ kind: 'failed', reason: error.message })
    }
    try {
      this.#child.send(message as object, failed)
    } catch (error) {
      failed(error as Error)
    }
  }

  #hear(word: ProcessWord): void {
    if (word.kind === 'started') this.#running?.started()
    else this.#running?.settle(word)
  }

  #end(ending: ProcessEnding): void {
    this.#over = true
    this.#running?.settle(ending)
  }
}
