import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { build } from 'esbuild'
import { bundleOptions, ENTRIES, type EntryName, ROOT } from './client-bundle.ts'

/** The folder's old content is removed. */
export async function buildClient(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  await build({
    ...bundleOptions({ entryPoints: { ...ENTRIES }, outdir: folder }),
    splitting: true,
    sourcemap: true,
    sourcesContent: true,
    chunkNames: 'shared-[hash]',
  })
  writeTypes(join(folder, 'types'))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  copyFileSync(join(ROOT, 'docs/client.md'), join(folder, 'README.md'))
}

/** Import path of each entry, where `.` stands for the name of the package. */
const PATHS: Readonly<Record<EntryName, string>> = {
  client: './client',
  'client-wallet': './client/wallet',
  'client-x402': './client/x402',
}

/** The published package holds only the client, and has no dependencies. */
function manifest(): object {
  const { name, version, license } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const exports = Object.entries(PATHS).map(([entry, path]) => [
    path,
    { types: `./types/${typesOf(ENTRIES[entry as EntryName])}`, default: `./${entry}.js` },
  ])
  return {
    ...{ name, version, license, type: 'module', sideEffects: false },
    description:
      'Client of Farthing: pays for agent services over x402 in the native coin, within ceilings, and checks receipts',
    exports: { ...Object.fromEntries(exports), './package.json': './package.json' },
    files: ['*.js', '*.js.map', 'types'],
    engines: { node: '>=22.4' },
  }
}

/** Writes the declarations of the entries and of all that they import. None may need another package. */
function writeTypes(folder: string): void {
  const emitted = mkdtempSync(join(tmpdir(), 'farthing-types-'))
  try {
    const tsc = join(ROOT, 'node_modules/.bin/tsc')
    execFileSync(tsc, ['-p', join(ROOT, 'src/package/tsconfig.client.json'), '--outDir', emitted], { stdio: 'inherit' })
    const waiting = Object.values(ENTRIES).map((entry) => join(emitted, typesOf(entry)))
    const seen = new Set<string>()
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (seen.has(path)) continue
      seen.add(path)
      const text = readFileSync(path, 'utf8')
      for (const name of importsIn(text)) {
        if (!name.startsWith('.')) throw new Error(`${relative(emitted, path)} needs the package ${name}`)
        waiting.push(join(dirname(path), typesOf(name)))
      }
      const target = join(folder, relative(emitted, path))
      mkdirSync(dirname(target), { recursive: true })
      writeFileSync(target, text.replace(/(from '\.[^']*|import\("\.[^"]*)\.ts(['"])/g, '$1.js$2'))
    }
  } finally {
    rmSync(emitted, { recursive: true, force: true })
  }
}

function importsIn(declarations: string): readonly string[] {
  const found = declarations.matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)
  return [...found].map(([, name]) => name as string)
}

function typesOf(source: string): string {
  return source.replace(/\.(ts|js)$/, '.d.ts')
}

if (import.meta.main) await buildClient(join(ROOT, 'dist'))
