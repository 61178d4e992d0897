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

/**
 * What a process is started with. Of the environment of the tests it gets only PATH, besides HOME, the cache of compiled code and `env`.
 */
export interface ProgramOptions {
  readonly entry: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** The Node.js that runs it, by default the pinned one. */
  readonly node?: string
  /** Flags of Node.js itself. */
  readonly flags?: readonly string[]
  readonly input?: string
  /** Working folder, by default that of this process. */
  readonly cwd?: string
}

/** Node.js for the programs of tests: the one that runs the tests if its version is 26 or later, otherwise the one that npm installed. */
export const PINNED_NODE = Number.parseInt(process.versions.node, 10) >= 26 ? process.execPath : installedNode()

function installedNode(): string {
  return join(ROOT, 'node_modules/node/bin/node')
}

/**
 * Folder of the bundle of a program, in the folder of all bundles. It is named by the whole path, because two programs can have files of
 * one name.
 */
export function bundleFolder(bundles: string, entry: string): string {
  return join(bundles, relative(ROOT, resolve(ROOT, entry)).replaceAll(sep, '-'))
}

/** The file that is run for a program: its bundle if this test run has made one, otherwise its source. */
function runnable(entry: string): string {
  const { TEST_BUNDLES: bundles } = process.env
  if (bundles === undefined || !isAbsolute(entry)) return entry
  const bundle = join(bundleFolder(bundles, entry), `${basename(entry, '.ts')}.js`)
  return existsSync(bundle) ? bundle : entry
}

/** Environment by which the processes of a test run share compiled code. Empty if the run has no folder for it. */
function compiled(): Readonly<Record<string, string>> {
  const folder = process.env.TEST_COMPILED
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder }
}

/** A child process. Signals go to its process id alone. */
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

/** What takes longer never comes: a busy machine can be ten times slower than a quiet one. */
const UNTIL_MS = 180_000

/** Looks every `everyMs` until `look` returns a value. Throws after `ms`, with `what` in the message. */
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

/** Makes a new folder in the temporary folder of the system. */
export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'farthing-e2e-'))
}

/** Removes a folder with its contents. Retries, because an ended process may still write into it for a moment. */
export function removeFolder(folder: string): void {
  if (existsSync(folder)) rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
}
