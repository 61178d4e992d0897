import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import type { Readable, Writable } from 'node:stream'

/** How the program is run. */
export interface ProgramRun {
  readonly program: string
  readonly args: readonly string[]
  readonly input: string
  readonly bytesMax: number
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** The output of a program, or why it is unusable. */
export type ProgramEnd =
  | { readonly is: 'said'; readonly bytes: Uint8Array }
  | { readonly is: 'failed'; readonly reason: string }
  /** Stopped by the signal or the time limit. */
  | { readonly is: 'late' }

/**
 * Runs a program without a shell, at low priority, and with only PATH of the node's environment. It is killed if it
 * takes too long, writes too much, or is not needed any more.
 */
export async function runProgram(run: ProgramRun): Promise<ProgramEnd> {
  if (run.signal.aborted) return { is: 'late' }
  try {
    const env = { PATH: process.env.PATH, LANG: 'C.UTF-8' }
    const child = spawn(run.program, run.args, { cwd: '/', env, stdio: ['pipe', 'pipe', 'ignore'] })
    return await endOf(child, run)
  } catch (error) {
    // A failure to start is an event in some cases, and thrown in others.
    return cannotRun(error as NodeJS.ErrnoException)
  }
}

function endOf(
  child: ChildProcessByStdio<Writable, Readable, null>,
  { input, bytesMax, timeoutMs, signal }: ProgramRun,
): Promise<ProgramEnd> {
  if (child.pid !== undefined) lower(child.pid)
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let bytes = 0
    let end: ProgramEnd | null = null
    const kill = (why: ProgramEnd): void => {
      end ??= why
      child.kill('SIGKILL')
      // A child of the program could keep the pipe open, and the wait would not end.
      child.stdout.destroy()
    }
    const late = (): void => kill({ is: 'late' })
    const limit = setTimeout(late, timeoutMs)
    signal.addEventListener('abort', late, { once: true })
    const over = (how: ProgramEnd): void => {
      clearTimeout(limit)
      signal.removeEventListener('abort', late)
      resolve(end ?? how)
    }
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > bytesMax) kill({ is: 'failed', reason: `it said more than ${bytesMax} bytes` })
      else chunks.push(chunk)
    })
    child.on('error', (error) => over(cannotRun(error)))
    child.on('close', (code, killed) => {
      const reason = `it ended with ${killed ?? code}`
      over(code === 0 ? { is: 'said', bytes: Buffer.concat(chunks) } : { is: 'failed', reason })
    })
    // A program may end before it has read all its input. The exit code tells whether that is a failure.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

function cannotRun({ code }: NodeJS.ErrnoException): ProgramEnd {
  return { is: 'failed', reason: code ?? 'it cannot be run' }
}

function lower(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch {
    // The program has ended already.
  }
}
