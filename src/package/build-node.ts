import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import type { OnLoadResult, Plugin } from 'esbuild'

/** Root of the repository. */
const ROOT = join(import.meta.dirname, '../..')

/** Programs of threads and of other processes. The main program starts them by the address of their file. */
const WORKERS: readonly string[] = ['verify-worker', 'mine-worker', 'engine-process', 'orphan-watch'].map((name) =>
  join(ROOT, `src/workers/${name}.ts`),
)

/** Packages that look for files beside their own: native code, fonts, programs of threads. They stay where npm put them. */
const LEFT_OUT = ['@achingbrain/ssdp', 'classic-level', 'node-llama-cpp', 'pdfkit', 'pg-native', 'piscina', 'sharp']

/** CommonJS packages call `require`, which a module does not have by itself. */
const REQUIRE = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`

/** The address of a file, made from that of the module. */
const ADDRESS = /new URL\('(\.[^']+)', import\.meta\.url\)/g

/** What shapes a bundle beside the sources in it: the lock, what npm really installed, and how the bundle is made. */
const SHAPING = [
  'package.json',
  'package-lock.json',
  'node_modules/.package-lock.json',
  'tsconfig.json',
  'src/package/build-node.ts',
]

/** A source as it was read: path below the root, size, time of the last change to its record (ctime), hash. The launcher reads these. */
type SourceStamp = readonly [path: string, size: number, ctimeMs: number, sha256: string]

/**
 * Bundles a program and its workers into a folder below `node_modules`, where packages are found that stay outside. The file
 * of the program is named as its source is. `sources.json` tells what it was made of.
 */
export async function bundleProgram(entry: string, folder: string): Promise<void> {
  const { build } = await import('esbuild')
  const shaping = SHAPING.map((path) => join(ROOT, path)).filter((path) => existsSync(path))
  const stamps: SourceStamp[] = shaping.map((path) => readSource(path).stamp)
  // Written elsewhere first: what runs from the folder meanwhile must not find half of a bundle.
  const draft = `${folder}.${process.pid}`
  mkdirSync(draft, { recursive: true })
  try {
    await build({
      absWorkingDir: ROOT,
      entryPoints: [resolve(ROOT, entry), ...WORKERS],
      outdir: draft,
      entryNames: '[name]',
      chunkNames: '[name]-[hash]',
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node26',
      external: LEFT_OUT,
      plugins: [ownSources(folder, stamps)],
      banner: { js: REQUIRE },
      // Identifiers stay as they are: stack traces name functions.
      minifyWhitespace: true,
      minifySyntax: true,
      legalComments: 'none',
      logLevel: 'warning',
    })
    writeFileSync(join(draft, 'sources.json'), JSON.stringify(stamps.sort(([a], [b]) => (a < b ? -1 : 1))))
    rmSync(folder, { recursive: true, force: true })
    renameSync(draft, folder)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** Reads our own modules for the bundler, and notes each as it was read. */
function ownSources(folder: string, stamps: SourceStamp[]): Plugin {
  return {
    name: 'own-sources',
    setup(builder) {
      builder.onLoad({ filter: /\.(ts|json)$/ }, ({ path }): OnLoadResult | undefined => {
        if (relative(ROOT, path).split(sep).includes('node_modules')) return undefined
        const { text, stamp } = readSource(path)
        stamps.push(stamp)
        return path.endsWith('.json')
          ? { loader: 'json', contents: text }
          : { loader: 'ts', contents: inAscii(path, withAddresses(path, text, folder)) }
      })
    },
  }
}

function readSource(path: string): { readonly text: string; readonly stamp: SourceStamp } {
  const { size, ctimeMs } = statSync(path)
  const bytes = readFileSync(path)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { text: bytes.toString(), stamp: [relative(ROOT, path).replaceAll('\\', '/'), size, ctimeMs, sha256] }
}

/** Addresses of workers become those in the bundle; other files are still where they were. */
function withAddresses(path: string, text: string, folder: string): string {
  return text.replace(ADDRESS, (_, address: string) => {
    const target = resolve(dirname(path), address)
    const moved = WORKERS.includes(target) ? `./${basename(target, '.ts')}.js` : relative(folder, target)
    return `new URL(${JSON.stringify(moved.replaceAll('\\', '/'))}, import.meta.url)`
  })
}

/** V8 keeps a file in two bytes a letter where one of its letters needs them: several MB for a few regular expressions. */
function inAscii(path: string, text: string): string {
  // There an escape would be six letters.
  if (/String\.raw`[^`]*[^\0-\x7f]/.test(text)) throw new Error(`${path}: letters beyond ASCII in a raw template`)
  return text.replace(/[^\0-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

if (import.meta.main) {
  try {
    await bundleProgram('src/main.ts', join(ROOT, 'node_modules/.farthing'))
  } catch (error) {
    // It is a tool of development: an installation without such tools lacks it.
    if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    console.warn('esbuild is not installed: farthing starts from its sources')
  }
}
