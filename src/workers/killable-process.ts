import { type ChildProcess, fork } from 'node:child_process'

/** What a process runs, and what it may have. */
export interface ProcessParts {
  /** Program; speaks as `process-port.ts` does. */
  readonly entry: URL
  readonly heapMb: number
  /** Files and folders that it may read; nothing else, no other file at all. */
  readonly readable: readonly string[]
}

/** What a process is asked to do, and for how long it may. */
export interface ProcessJob {
  readonly message: unknown
  /** From asking to the beginning of the work: a process that has just begun has its programs to load. */
  readonly startMs: number
  /** From the beginning of the work to its end. */
  readonly workMs: number
}

/** What processes say: that the work begins, and what it came to. */
export type ProcessWord =
  | { readonly kind: 'started' }
  | { readonly kind: 'done'; readonly output: unknown }
  | { readonly kind: 'failed'; readonly reason: string }

/** What became of a job. */
export type ProcessEnding =
  | { readonly kind: 'done'; readonly output: unknown }
  | { readonly kind: 'failed'; readonly reason: string }
  /** The limit of time or memory was reached, or whoever asked gave up: the process has been ended for it. */
  | { readonly kind: 'killed' }

const KILLED: ProcessEnding = { kind: 'killed' }
/** How a process ends that reached its limit of memory, or the system's. */
const MEMORY_SIGNALS: readonly (string | null)[] = ['SIGABRT', 'SIGKILL', 'SIGTRAP']
const ABORT_CODE = 134

interface Running {
  readonly settle: (ending: ProcessEnding) => void
  readonly started: () => void
}

/**
 * A process that does one job at a time, and is ended with a job that exceeds its limits. A thread would not do: one that
 * asks for more memory than it may have in one piece takes the whole process with it.
 */
export class KillableProcess {
  readonly #child: ChildProcess
  #running: Running | null = null
  #over = false
  /** Resolves when the process is gone. */
  readonly exited: Promise<void>

  constructor({ entry, heapMb, readable }: ProcessParts) {
    const mayRead = readable.map((path) => `--allow-fs-read=${path}`)
    this.#child = fork(entry, {
      // It may read its programs, and do nothing else with files, processes and the network; a thread of it watches over it.
      execArgv: [`--max-old-space-size=${heapMb}`, '--permission', ...mayRead, '--allow-addons', '--allow-worker'],
      // The environment may hold secrets, and what runs here reads what strangers wrote.
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

  /** Number of the process; undefined where it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Whether it can take another job. */
  get usable(): boolean {
    return !this.#over && this.#running === null
  }

  /** Does a job; never rejects. */
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

  /** Ends the process, with the job in it. */
  kill(): void {
    this.#end(KILLED)
    // Whoever waits for the end of this process would otherwise end before it.
    this.#child.ref()
    this.#child.kill('SIGKILL')
  }

  /** Whether this process waits for the other: only while that works. */
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
