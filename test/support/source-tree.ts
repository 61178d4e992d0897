import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

export const ROOT = join(import.meta.dirname, '../..')

/** One import of a source file: the file it resolves to, or the package's name. */
export interface ImportEdge {
  readonly from: string
  readonly to: string
  readonly external: boolean
}

/** A source file by its path from the root. */
export interface SourceFile {
  readonly path: string
  readonly text: string
  readonly lines: readonly string[]
}

const SOURCE_FOLDERS = ['consensus', 'amm', 'mempool', 'miner', 'marketplace', 'rpc', 'config', 'src']

/** TypeScript files under some folders, by default of this repository. */
export function sourceFiles(folders: readonly string[] = SOURCE_FOLDERS, root = ROOT): readonly SourceFile[] {
  return folders
    .flatMap((folder) => listFiles(join(root, folder)))
    .map((file) => {
      const text = readFileSync(file, 'utf8')
      return { path: relative(root, file), text, lines: text.split('\n') }
    })
}

/** All imports and re-exports, those of types included. */
export function importEdges(files: readonly SourceFile[]): readonly ImportEdge[] {
  return files.flatMap((file) => {
    const targets = [
      ...file.text.matchAll(
        /(?:^|\n)(?:import|export)\b[^'";]*?from\s+'([^']+)'|(?:^|[^\w.])import\(\s*'([^']+)'\s*\)|(?:^|\n)import '([^']+)'/g,
      ),
    ]
    return targets.map(([, named, dynamic, bare]) => edgeOf(file.path, (named ?? dynamic ?? bare) as string))
  })
}

function edgeOf(from: string, specifier: string): ImportEdge {
  if (specifier.startsWith('.'))
    return { from, to: relative(ROOT, join(ROOT, dirname(from), specifier)), external: false }
  const name = specifier.startsWith('@')
    ? specifier.split('/').slice(0, 2).join('/')
    : (specifier.split('/')[0] as string)
  return { from, to: name, external: true }
}

function listFiles(folder: string): readonly string[] {
  let entries: ReturnType<typeof readEntries>
  try {
    entries = readEntries(folder)
  } catch {
    return []
  }
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : listFiles(path)
    return entry.name.endsWith('.ts') ? [path] : []
  })
}

function readEntries(folder: string) {
  return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
}
