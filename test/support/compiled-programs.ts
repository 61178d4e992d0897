import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { bundleProgram } from '../../src/package/build-node.ts'
import { bundleFolder, Program, removeFolder, temporaryFolder, until } from './processes.ts'
import { ROOT } from './source-tree.ts'

/** The program as it is shipped, and the same with the test services. */
const PROGRAMS = ['src/main.ts', 'test/support/daemon-entry.ts', 'test/support/tab-kill-entry.ts'] as const

/** Below `node_modules`, where a bundle finds the packages that stay outside of it. */
const BUNDLES = join(ROOT, `node_modules/.cache/farthing-tests-${process.pid}`)

/**
 * Bundles the programs that tests start, once for all test files, and lets V8 compile them: a node starts with half the processor time
 * then, and a command with a third. The projects of one test run share what the first of them made.
 */
export async function setup(): Promise<void> {
  if (process.env.TEST_BUNDLES !== undefined) return
  process.env.TEST_COMPILED = temporaryFolder()
  process.env.TEST_BUNDLES = BUNDLES
  mkdirSync(BUNDLES, { recursive: true })
  for (const entry of PROGRAMS) await bundleProgram(entry, bundleFolder(BUNDLES, entry))
  for (const entry of PROGRAMS) await new Program({ entry: join(ROOT, entry), args: ['status', '--json'] }).finished()
  await compileNode()
}

/** Starts a node and ends it, so that V8 compiles what only a node needs. V8 keeps the code only if the process exits in good order. */
async function compileNode(): Promise<void> {
  const folder = temporaryFolder()
  const entry = join(ROOT, PROGRAMS[1])
  const args = ['start', '--data-dir', folder, '--rpc-port', '0', '--mine-threads', '0', '--p2p-enabled', 'false']
  const program = new Program({ entry, args })
  await until('a node starts', () => {
    if (program.ended !== null) throw new Error(`no node starts: ${program.stderr}`)
    return program.stderr.includes('API at')
  })
  await program.end('SIGTERM')
  removeFolder(folder)
}

/** Removes the bundles and the compiled code. */
export function teardown(): void {
  const { TEST_COMPILED: compiled } = process.env
  if (compiled !== undefined) removeFolder(compiled)
  removeFolder(BUNDLES)
  delete process.env.TEST_COMPILED
  delete process.env.TEST_BUNDLES
}
