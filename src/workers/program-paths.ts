import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Folders with the engines' programs, and package.json, which says that they are modules. */
const PARTS = ['consensus', 'marketplace', 'src', 'package.json']
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/**
 * What a process must read to run its program: these folders, and every node_modules at or above them. Not the whole
 * project folder, because operators keep wallets there.
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
