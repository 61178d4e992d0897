import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Program, until } from '../support/processes.ts'

/** CPU time of a process with all its threads, in microseconds. */
export function cpuMicros(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') as string[]
  const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK']).toString())
  return ((Number(fields[11]) + Number(fields[12])) * 1e6) / ticksPerSecond
}

/** Flags that the launcher passes to Node. */
const LAUNCH_FLAGS = ['--max-semi-space-size=8']

/** Resident memory of a process, in MB. */
export function residentMb(pid: number): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line?.[1]) / 1_000
}

/** A started server and the port it listens on. */
export interface Server {
  readonly program: Program
  readonly port: number
  readonly pid: number
  /** Milliseconds from the start of the process until it was ready. */
  readonly readyMs: number
}

const READY = { ms: 60_000, everyMs: 5 }

/** Starts a server and waits for the line that names its address. */
export async function startServer(
  entry: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  readyMsMax = READY.ms,
): Promise<Server> {
  const startedMs = performance.now()
  const program = new Program({ entry, args, env, flags: LAUNCH_FLAGS })
  const address = /http:\/\/127\.0\.0\.1:(\d+)/
  const port = await until(
    `${entry} is ready`,
    () => {
      if (program.ended !== null) throw new Error(`${entry} ended: ${program.stderr}`)
      return Number(address.exec(program.stdout + program.stderr)?.[1] ?? 0) || null
    },
    { ...READY, ms: readyMsMax },
  )
  const readyMs = performance.now() - startedMs
  return { program, port, pid: program.pid, readyMs }
}
