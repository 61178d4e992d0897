import { join } from 'node:path'
import { Program, removeFolder, temporaryFolder } from './processes.ts'
import { ROOT } from './source-tree.ts'

/**
 * Compiles the programs that tests start, once for all test files. Without it the first processes of each file write four thousand
 * files of compiled code when they end: beside others that took them longer than a command may take.
 */
export async function setup(): Promise<void> {
  process.env.TEST_COMPILED = temporaryFolder()
  for (const entry of ['src/main.ts', 'test/support/daemon-entry.ts']) await compile(join(ROOT, entry), ['--version'])
  // What only a node needs is loaded when one starts.
  await compile('--input-type=module', [
    '-e',
    `await import(${JSON.stringify(join(ROOT, 'test/support/test-node.ts'))})`,
  ])
}

async function compile(entry: string, args: readonly string[]): Promise<void> {
  const { code, stderr } = await new Program({ entry, args }).finished()
  if (code !== 0) throw new Error(`${entry} ${args.join(' ')} does not run: ${stderr}`)
}

/** Removes what was compiled. */
export function teardown(): void {
  const { TEST_COMPILED: folder } = process.env
  if (folder !== undefined) removeFolder(folder)
}
