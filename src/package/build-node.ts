import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import type { OnLoadResult, Plugin } from 'esbuild'

const ROOT = join(import.meta.dirname, '../..')

/** Threads and child processes, which are started by the URL of their file. */
const WORKERS: readonly string[] = ['verify-worker', 'mine-worker', 'engine-process', 'orphan-watch'].map((name) =>
  join(ROOT, `src/workers/${name}.ts`),
)

/** Packages that read files next to their own: native code, fonts, thread programs. They stay in node_modules. */
const LEFT_OUT = ['@achingbrain/ssdp', 'classic-level', 'node-llama-cpp', 'pdfkit', 'pg-native', 'piscina', 'sharp']

/** CommonJS packages call `require`, which an ES module does not have. */
const REQUIRE = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`

/** A file's URL, relative to the module. */
const ADDRESS = /new URL\('(\.[^']+)', import\.meta\.url\)/g

/** Files besides the sources that can change a bundle. */
const SHAPING = [
  'package.json',
  'package-lock.json',
  'node_modules/.package-lock.json',
  'tsconfig.json',
  'src/package/build-node.ts',
]

/** A source in the bundle: path below the root, size, ctime, hash. The launcher checks them. */
type SourceStamp = readonly [path: string, size: number, ctimeMs: number, sha256: string]

/**
 * Bundles a program and its workers into a folder below `node_modules`, so that packages outside the bundle are found. The program's file
 * is named like its source.
 */
export async function bundleProgram(entry: string, folder: string): Promise<void> {
  const { build } = await import('esbuild')
  const shaping = SHAPING.map((path) => join(ROOT, path)).filter((path) => existsSync(path))
  const stamps: SourceStamp[] = shaping.map((path) => readSource(path).stamp)
  // Built in a draft folder, because a program that starts meanwhile must not find half a bundle.
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
      // Names are not minified, so that stack traces show them.
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

/** URLs of workers become those in the bundle. URLs of other files lead to their old place. */
function withAddresses(path: string, text: string, folder: string): string {
  return text.replace(ADDRESS, (_, address: string) => {
    const target = resolve(dirname(path), address)
    const moved = WORKERS.includes(target) ? `./${basename(target, '.ts')}.js` : relative(folder, target)
    return `new URL(${JSON.stringify(moved.replaceAll('\\', '/'))}, import.meta.url)`
  })
}

/** Escapes letters beyond ASCII: for such a file V8 takes two bytes per letter, which costs several MB. */
function inAscii(path: string, text: string): string {
  // In a raw template an escape would stand for its own six characters.
  if (/String\.raw`[^`]*[^\0-\x7f]/.test(text)) throw new Error(`${path}: letters beyond ASCII in a raw template`)
  return text.replace(/[^\0-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

if (import.meta.main) {
  try {
    await bundleProgram('src/main.ts', join(ROOT, 'node_modules/.farthing'))
  } catch (error) {
    // esbuild is a development tool. An installation without development tools lacks it.
    if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    console.warn('esbuild is not installed: farthing starts from its sources')
  }
}
