import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Folders with the programs of the engines, and the file that says how they are written. */
const PARTS = ['consensus', 'marketplace', 'src', 'package.json']
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/**
 * What a process needs to read for its programs to run: these, and the packages that they use, wherever above them those are. Not
 * the folder of everything: people keep wallets there.
 */
export function programPaths(entry: URL): readonly string[] {
  const own = [...PARTS.map((part) => join(ROOT, part)), dirname(fileURLToPath(entry))]
  return [...own, ...packageFolders(ROOT)].map((path) => realpathSync(path))
}

function packageFolders(folder: string): readonly string[] {
  const above = dirname(folder)
  const packages = join(folder, 'node_modules')
  return [...(existsSync(packages) ? [packages] : []), ...(above === folder ? [] : packageFolders(above))]
}
