import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Program } from './processes.ts'
import { ROOT } from './source-tree.ts'

/** URL of a source file, for a script that imports it. */
export function sourceUrl(path: string): string {
  return pathToFileURL(join(ROOT, path)).href
}

/** Runs a module of a few lines in a process of its own, to test its exit and its output. */
export function runScript(lines: readonly string[], args: readonly string[] = []): Program {
  return new Program({ entry: '--input-type=module', args: ['-e', lines.join('\n'), ...args] })
}
