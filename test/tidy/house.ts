import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { importEdges, ROOT, type SourceFile, sourceFiles } from '../support/source-tree.ts'
import { walkRows } from './walks.ts'

/**
 * `npm run house`, or `node test/tidy/house.ts [--tree <folder>] [--walks <file>]`: measures how a tree is built, as Markdown tables.
 * It runs on older trees too, so that two states can be compared.
 */

type Row = readonly (string | number)[]

/** A table of the report; a measure that finds nothing has no rows. */
interface Table {
  readonly title: string
  readonly heads: readonly string[]
  readonly rows: readonly Row[]
}

const LONG_LINES = 391
const SPLINTER_LINES = 60
/** Path parts that belong to chat. */
const CHAT = /(?:^|\/)(?:chat|models|voice|gguf|openai|prompt)(?:[-./]|$)/
const SUFFIXES = ['Dependencies', 'Parts', 'Options', 'Context', 'Place', 'Basis', 'Means']
const WORDS = ['nobody', 'whoever', 'somebody', 'everybody', 'anybody']
/** Helpers and classes that were written more than once, by what their names have in common. */
const REPEATED: Readonly<Record<string, RegExp>> = {
  fieldsOf: /\bfunction (fieldsOf)\b|\bconst (fieldsOf) =/g,
  blockOf: /\bfunction (blockOf)\b|\bconst (blockOf) =/g,
  'token buckets': /\bclass (\w*(?:Bucket|Budget|Allowance|RateLimiter|Pace)\w*)/g,
  breakers: /\bclass (\w*(?:Breaker|Cooldown)\w*)/g,
  'places, slots and queues': /\bclass (\w*(?:Places|Slots|Queue|Turns|WaitingRoom|Semaphore|Gate)\w*)/g,
  BM25: /\b(?:function|class|const) (\w*(?:bm25|Bm25|BM25)\w*)/g,
  'JSON-RPC clients': /\bclass (\w*(?:JsonRpc|EvmRpc|Rpc(?:Client|Node)|McpClient)\w*)/g,
  routers: /\bclass (\w*Router\w*)/g,
}
/** The two tills, as they were called and as they are called. */
const TILLS: readonly (readonly [string, string])[] = [
  ['marketplace/checkout', 'marketplace/stable'],
  ['marketplace/till', 'marketplace/till/rails/dollar'],
  ['marketplace/till/rails/native', 'marketplace/till/rails/dollar'],
]

/** A tree: its product, its tests, and who imports whom in the product. */
class Tree {
  readonly product: readonly SourceFile[]
  readonly tests: readonly SourceFile[]
  readonly edges: readonly { readonly from: string; readonly to: string }[]
  readonly root: string

  constructor(root: string) {
    this.root = root
    this.product = sourceFiles(undefined, root)
    this.tests = sourceFiles(['test'], root)
    const paths = new Set(this.product.map(({ path }) => path))
    this.edges = importEdges(this.product).filter(({ from, to }) => paths.has(to) && from !== to)
  }

  /** Product files right in a folder, or below it as well. */
  in(folder: string, isDeep = false): readonly SourceFile[] {
    return this.product.filter(({ path }) => (isDeep ? path.startsWith(`${folder}/`) : dirname(path) === folder))
  }

  importersOf(): ReadonlyMap<string, ReadonlySet<string>> {
    const importers = new Map<string, Set<string>>()
    for (const { from, to } of this.edges) importers.set(to, (importers.get(to) ?? new Set()).add(from))
    return importers
  }
}

function linesOf(files: readonly SourceFile[]): number {
  return files.reduce((sum, { lines }) => sum + lines.length - 1, 0)
}

function matchesIn(files: readonly SourceFile[], pattern: RegExp): number {
  return files.reduce((sum, { text }) => sum + (text.match(pattern)?.length ?? 0), 0)
}

function sizes({ product, tests }: Tree): Table {
  const specs = tests.filter(({ path }) => /\.(test|suite)\.ts$/.test(path))
  const rows: Row[] = [
    ['files of product', product.length],
    ['lines of product', linesOf(product)],
    ['files of tests', tests.length],
    ['lines of tests', linesOf(tests)],
    ['tests (`it(`, `test(` and their tables)', matchesIn(specs, /^\s*(?:it|test)(?:\.[\w.]+)?[(`]/gm)],
    ['`expect(`', matchesIn(tests, /\bexpect(?:\.soft)?\(/g)],
  ]
  return { title: 'Size', heads: ['what', 'count'], rows }
}

function splinters(tree: Tree): Table {
  const importers = tree.importersOf()
  const single = tree.product.filter(({ path }) => importers.get(path)?.size === 1)
  const nextDoor = single.filter(({ path, lines }) => {
    const [importer = ''] = importers.get(path) ?? []
    return lines.length - 1 < SPLINTER_LINES && dirname(importer) === dirname(path)
  })
  const rows: Row[] = [
    ['files with one importer', single.length],
    [`of those below ${SPLINTER_LINES} lines, the importer in the same folder`, nextDoor.length],
  ]
  return { title: 'Splinters', heads: ['what', 'count'], rows }
}

function longFiles({ product, tests }: Tree): Table {
  const long = [...product, ...tests].filter(({ lines }) => lines.length - 1 >= LONG_LINES)
  const rows = long.map(({ path, lines }) => [path, lines.length - 1] as const).sort(([, a], [, b]) => b - a)
  return { title: `Files of ${LONG_LINES} lines or more`, heads: ['file', 'lines'], rows }
}

function mutualFolders({ edges }: Tree): Table {
  const between = new Set(edges.map(({ from, to }) => `${dirname(from)} ${dirname(to)}`))
  const pairs = [...between].map((pair) => pair.split(' ') as [string, string])
  const rows = pairs.filter(([a, b]) => a < b && between.has(`${b} ${a}`)).sort()
  return { title: `Pairs of folders that import each other: ${rows.length}`, heads: ['folder', 'folder'], rows }
}

/** Names of methods in the classes of a folder. */
function methodsOf(files: readonly SourceFile[]): ReadonlySet<string> {
  const names = files.flatMap(({ text }) =>
    [...text.matchAll(/^ {2}(?:static )?(?:async )?(?:\*)?(#?[a-z]\w*)(?:<[^(\n]*>)?\([^\n]*\{$/gm)].map(([, name]) =>
      (name as string).replace('#', ''),
    ),
  )
  return new Set(names.filter((name) => !['constructor', 'if', 'for', 'return', 'switch', 'while'].includes(name)))
}

function sharedMethods(tree: Tree): Table {
  const pairs = TILLS.filter((pair) => pair.every((folder) => tree.in(folder).length > 0))
  const rows = pairs.map(([a, b]) => {
    const [ours, theirs] = [methodsOf(tree.in(a)), methodsOf(tree.in(b))]
    const shared = [...ours].filter((name) => theirs.has(name)).sort()
    return [`${a}, ${b}`, shared.length, shared.join(', ')]
  })
  return { title: 'Method names that two tills share', heads: ['folders', 'count', 'names'], rows }
}

function chatRooms({ product }: Tree): Table {
  const rooms = new Map<string, SourceFile[]>()
  for (const file of product.filter(({ path }) => CHAT.test(path) && !path.startsWith('consensus/')))
    rooms.set(dirname(file.path), [...(rooms.get(dirname(file.path)) ?? []), file])
  const rows = [...rooms].map(([room, files]) => [room, files.length, linesOf(files)] as const)
  const lines = rows.reduce((sum, [, , count]) => sum + count, 0)
  const floors = new Set([...rooms.keys()].map((room) => room.split('/')[0])).size
  const title = `Chat: ${rows.length} rooms on ${floors} floors, ${lines} lines`
  return { title, heads: ['room', 'files', 'lines'], rows: rows.sort(([a], [b]) => (a < b ? -1 : 1)) }
}

function repeated({ product }: Tree): Table {
  const rows = Object.entries(REPEATED).map(([idea, pattern]) => {
    const found = product.flatMap(({ text }) => [...text.matchAll(pattern)].map((match) => match[1] ?? match[2]))
    return [idea, found.length, [...new Set(found)].sort().join(', ')]
  })
  return { title: 'Written more than once', heads: ['idea', 'count', 'names'], rows }
}

function words({ product, tests, root }: Tree): Table {
  const documents = [...documentsIn(root, 'docs'), 'README.md', 'CONTRIBUTING.md'].map((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    return { path, text, lines: text.split('\n') }
  })
  const rows = WORDS.map((word) => {
    const pattern = new RegExp(`\\b${word}\\b`, 'gi')
    return [word, matchesIn(product, pattern), matchesIn(tests, pattern), matchesIn(documents, pattern)]
  })
  return { title: 'Words', heads: ['word', 'product', 'tests', 'documents'], rows }
}

function documentsIn(root: string, folder: string): readonly string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
}

function suffixes({ product }: Tree): Table {
  const names = product.flatMap(({ text }) =>
    [...text.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name]) => name as string),
  )
  const rows = SUFFIXES.map((suffix) => [suffix, names.filter((name) => name.endsWith(suffix)).length])
  return { title: 'Suffixes of exported interfaces', heads: ['suffix', 'count'], rows }
}

function looseFiles(tree: Tree): Table {
  const rows = ['src', 'rpc'].map((folder) => {
    const names = tree.in(folder).map(({ path }) => path.slice(folder.length + 1))
    return [`${folder}/`, names.length, names.join(', ')]
  })
  return { title: 'Loose files', heads: ['folder', 'count', 'files'], rows }
}

function walks(root: string, file: string): Table {
  const heads = ['walk', 'steps', 'hops', 'rooms entered often', 'files entered often', 'not found']
  const textOf = (path: string): string | undefined => {
    const at = join(root, path)
    return existsSync(at) ? readFileSync(at, 'utf8') : undefined
  }
  const rows = existsSync(file) ? walkRows(readFileSync(file, 'utf8'), textOf) : []
  return { title: `Walks of ${relative(root, file)}`, heads, rows }
}

function markdown({ title, heads, rows }: Table): string {
  const line = (cells: Row): string => `| ${cells.join(' | ')} |`
  return [`## ${title}`, '', line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')
}

function flag(name: string): string | undefined {
  const at = process.argv.indexOf(name)
  return at < 0 ? undefined : process.argv[at + 1]
}

if (import.meta.main) {
  const root = resolve(flag('--tree') ?? ROOT)
  const tree = new Tree(root)
  const measures = [sizes, splinters, longFiles, mutualFolders, sharedMethods, chatRooms]
  const tables = [...measures, repeated, words, suffixes, looseFiles].map((measure) => measure(tree))
  const walked = resolve(flag('--walks') ?? join(root, 'docs/architecture.md'))
  process.stdout.write(`${[...tables, walks(root, walked)].map(markdown).join('\n\n')}\n`)
}
