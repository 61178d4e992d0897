import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { ROOT } from './source-tree.ts'

/** How a process ended. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A process that ended, with what it wrote. */
export interface Finished extends Exit {
  readonly stdout: string
  readonly stderr: string
}

/** What a process is started with; the environment holds nothing of ours but what is given. */
export interface ProgramOptions {
  readonly entry: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** The Node that runs it; default the pinned one. */
  readonly node?: string
  /** Flags of Node itself. */
  readonly flags?: readonly string[]
  readonly input?: string
  /** Folder that it works in; default that of this process. */
  readonly cwd?: string
}

/** Node of this release: the one that runs the tests, or the one that npm installed. */
export const PINNED_NODE = Number.parseInt(process.versions.node, 10) >= 26 ? process.execPath : installedNode()

function installedNode(): string {
  return join(ROOT, 'node_modules/node/bin/node')
}

/** Where the bundle of a program lies, in the folder of all bundles: by its whole path, for two programs can have files of one name. */
export function bundleFolder(bundles: string, entry: string): string {
  return join(bundles, relative(ROOT, resolve(ROOT, entry)).replaceAll(sep, '-'))
}

/** What is run for a program: its bundle where this test run has made one, its source otherwise. */
function runnable(entry: string): string {
  const { TEST_BUNDLES: bundles } = process.env
  if (bundles === undefined || !isAbsolute(entry)) return entry
  const bundle = join(bundleFolder(bundles, entry), `${basename(entry, '.ts')}.js`)
  return existsSync(bundle) ? bundle : entry
}

/** Where a test run keeps compiled code for all its processes; elsewhere each compiles for itself. */
function compiled(): Readonly<Record<string, string>> {
  const folder = process.env.TEST_COMPILED
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder }
}

/** A child process that is told apart by its own pid alone. */
export class Program {
  readonly exit: Promise<Exit>
  readonly #child: ChildProcess
  readonly #written = { stdout: '', stderr: '' }
  #ended: Exit | null = null

  constructor({ entry, args, env = {}, node = PINNED_NODE, flags = [], input, cwd }: ProgramOptions) {
    this.#child = spawn(node, [...flags, runnable(entry), ...args], {
      env: { PATH: process.env.PATH, HOME: tmpdir(), ...compiled(), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      cwd,
    })
    for (const name of ['stdout', 'stderr'] as const) {
      this.#child[name]?.setEncoding('utf8').on('data', (text: string) => {
        this.#written[name] += text
      })
    }
    this.#child.stdin?.on('error', () => {})
    this.#child.stdin?.end(input ?? '')
    this.exit = new Promise((resolve, reject) => {
      this.#child.once('error', reject)
      this.#child.once('close', (code, signal) => {
        this.#ended = { code, signal }
        resolve(this.#ended)
      })
    })
    this.exit.catch(() => {})
  }

  get pid(): number {
    return this.#child.pid as number
  }

  /** How it ended, or null while it runs. */
  get ended(): Exit | null {
    return this.#ended
  }

  get stdout(): string {
    return this.#written.stdout
  }

  get stderr(): string {
    return this.#written.stderr
  }

  /** Sends a signal to this process. */
  signal(signal: NodeJS.Signals): void {
    if (this.#ended === null) this.#child.kill(signal)
  }

  /** Sends a signal and waits for the end. */
  async end(signal: NodeJS.Signals): Promise<Exit> {
    this.signal(signal)
    return this.exit
  }

  async finished(): Promise<Finished> {
    return { ...(await this.exit), stdout: this.stdout, stderr: this.stderr }
  }
}

/** Whatever is waited for longer never comes: a busy machine can be ten times slower than a quiet one. */
const UNTIL_MS = 180_000

/** Looks again and again until there is something to see; says what was waited for if it never comes. */
export async function until<T>(
  what: string,
  look: () => T | undefined | null | false | Promise<T | undefined | null | false>,
  { ms = UNTIL_MS, everyMs = 50 }: { readonly ms?: number; readonly everyMs?: number } = {},
): Promise<T> {
  const endMs = performance.now() + ms
  for (;;) {
    const seen = await look()
    if (seen !== undefined && seen !== null && seen !== false) return seen
    if (performance.now() >= endMs) throw new Error(`waited ${ms} ms in vain: ${what}`)
    await setTimeout(everyMs)
  }
}

/** A folder of its own under the system's temporary one. */
export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'farthing-e2e-'))
}

/** Removes a folder, whoever still writes into it. */
export function removeFolder(folder: string): void {
  if (existsSync(folder)) rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
}
