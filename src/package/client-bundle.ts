import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'

/** Root of the repository. */
export const ROOT = join(import.meta.dirname, '../..')

/** The published modules, by file name. */
export const ENTRIES = {
  client: 'rpc/client/client.ts',
  'client-wallet': 'rpc/client/wallet.ts',
  'client-x402': 'rpc/client/x402.ts',
} as const

/** An entry of the package. */
export type EntryName = keyof typeof ENTRIES

/** Modules without side effects: our own and the SSZ library's. Unused parts are left out. */
const DEFINITIONS = /\/(consensus|amm|marketplace|rpc)\/[\w/-]+\.ts$|@chainsafe\/(ssz|persistent-merkle-tree)\//

/**
 * Replaces the hashes of the SSZ library: it brings SHA-256 as WebAssembly and a second copy of noble. The SSZ code
 * itself stays the same, so encodings are those of consensus.
 */
const portableHashes: Plugin = {
  name: 'portable-hashes',
  setup(builder) {
    builder.onResolve({ filter: /^@chainsafe\/as-sha256$/ }, () => ({
      path: join(ROOT, 'consensus/crypto/portable-sha256.ts'),
      sideEffects: false,
    }))
    builder.onResolve({ filter: /^@noble\/hashes\/sha256$/ }, () =>
      builder.resolve('@noble/hashes/sha2.js', { resolveDir: ROOT, kind: 'import-statement' }),
    )
    builder.onResolve({ filter: /^(@chainsafe\/|\.)/ }, async ({ path, importer, resolveDir, kind, pluginData }) => {
      if (pluginData === portableHashes || !DEFINITIONS.test(importer)) return undefined
      const found = await builder.resolve(path, { importer, resolveDir, kind, pluginData: portableHashes })
      return DEFINITIONS.test(found.path) ? { ...found, sideEffects: false } : found
    })
    // Schemas that the client does not read are left out: making one has no effect.
    builder.onLoad({ filter: /\/rpc\/contract\/[\w-]+\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8')
      return { contents: source.replace(/\b(Type\.\w+|orNull)[(<]/g, '/* @__PURE__ */ $&'), loader: 'ts' }
    })
  },
}

/** Options of every bundle: for any runtime with web APIs, without Node modules or dependencies. */
export function bundleOptions(options: BuildOptions): BuildOptions {
  return {
    absWorkingDir: ROOT,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2024',
    mainFields: ['module', 'main'],
    plugins: [portableHashes],
    inject: [join(ROOT, 'src/package/portable-buffer.ts')],
    logLevel: 'warning',
    legalComments: 'none',
    ...options,
  }
}

/** Minified size of an entry, with all that it loads. */
export interface EntrySize {
  readonly entry: EntryName
  readonly minified: number
  readonly gzip: number
  /** Largest parts: bytes of minified code by package or folder. */
  readonly parts: readonly (readonly [name: string, bytes: number])[]
}

/** Each entry is bundled alone. */
export async function measureEntries(): Promise<readonly EntrySize[]> {
  return Promise.all(
    (Object.keys(ENTRIES) as EntryName[]).map(async (entry) => {
      const entryPoints = [ENTRIES[entry]]
      const built = await build({ ...bundleOptions({ entryPoints, minify: true }), metafile: true, write: false })
      const [file] = built.outputFiles
      if (file === undefined) throw new Error(`${entry} was not built`)
      const { contents } = file
      return {
        entry,
        minified: contents.length,
        gzip: gzipSync(contents, { level: 9 }).length,
        parts: partsOf(built.metafile),
      }
    }),
  )
}

const PARTS_SHOWN = 8

function partsOf({ outputs }: Metafile): EntrySize['parts'] {
  const sizes = new Map<string, number>()
  for (const { inputs } of Object.values(outputs))
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const name = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path.split('/').slice(0, 2).join('/')
      sizes.set(name, (sizes.get(name) ?? 0) + bytesInOutput)
    }
  return [...sizes].sort(([, a], [, b]) => b - a).slice(0, PARTS_SHOWN)
}
