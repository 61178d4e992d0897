import { describe, expect, test } from 'vitest'
import { type ImportEdge, importEdges, sourceFiles } from '../support/source-tree.ts'

/** For each top folder, the other top folders that it may import. The lowest folder comes first. */
const FLOORS: Readonly<Record<string, readonly string[]>> = {
  consensus: [],
  amm: ['consensus'],
  mempool: ['consensus'],
  miner: ['consensus', 'mempool'],
  marketplace: ['consensus', 'amm'],
  rpc: ['consensus', 'amm', 'mempool', 'miner', 'marketplace'],
  config: ['consensus', 'amm', 'mempool', 'miner', 'marketplace', 'rpc'],
  src: ['consensus', 'amm', 'mempool', 'miner', 'marketplace', 'rpc', 'config'],
}

/** Folders inside some top folders, in order: each may import only those before it. */
const INNER_ORDER: Readonly<Record<string, readonly string[]>> = {
  consensus: ['primitives', 'crypto', 'external', 'tx', 'block', 'state', 'ledger', 'chain'],
  marketplace: ['ledger', 'queries', 'ports', 'chat', 'services', 'till', 'facilitator'],
}

/** For each npm package, the files that may import it. All other files use what these files export. */
const PACKAGES: readonly (readonly [RegExp, RegExp])[] = [
  [/^@chainsafe\/ssz$/, /^consensus\/primitives\/codec\.ts$/],
  [/^@chainsafe\/as-sha256$/, /^consensus\/crypto\/hash\.ts$/],
  [/^@noble\//, /^consensus\/(crypto\/|external\/eip(55|712)\.ts|block\/pow\.ts|primitives\/bytes\.ts)/],
  [/^@scure\//, /^consensus\/crypto\//],
  [/^typebox$/, /^(rpc\/contract\/agent-(messages|tools)\.ts$|marketplace\/services|marketplace\/till\/workshop\.ts)/],
  [/^(fastify|@fastify\/)/, /^(rpc\/server\/server(-edges|-gates)?|src\/daemon\/http-api)\.ts$/],
  [/^@modelcontextprotocol\/server$/, /^rpc\/mcp\//],
  [/^level$/, /^src\/(storage|chat\/stores)\//],
  [/^pg$/, /^src\/storage\/postgres-/],
  [/^piscina$/, /^src\/workers\//],
  [/^undici$/, /^src\/(adapters|chat\/backends)\//],
  [/^(ipaddr\.js|tldts|lru-cache)$/, /^(src\/adapters\/|marketplace\/services\/)/],
  [/^disposable-email-domains-js$/, /^src\/adapters\//],
  [/^viem($|\/)/, /^src\/adapters\/evm\//],
  [/^maxmind$/, /^src\/geo\//],
  [/^eventsource-parser$/, /^src\/chat\/backends\//],
  [/^node-llama-cpp$/, /^src\/chat\/backends\//],
  [/^htmlparser2$/, /^src\/(engines\/pages|chat\/engines)\//],
  [/^(linkedom|@mozilla\/readability|turndown|iconv-lite|feedsmith)$/, /^src\/engines\/pages\//],
  [/^(pdfkit|@fontsource\/inter|dejavu-fonts-ttf)$/, /^src\/engines\/documents\//],
  [/^compromise$/, /^src\/engines\/language\//],
  [/^franc$/, /^marketplace\/services\/text\//],
  [/^sharp$/, /^src\/engines\/images\//],
  [/^(acorn|yaml|mdast-util-|micromark-extension-)/, /^src\/chat\/engines\//],
  [/^ajv($|\/)/, /^src\/chat\/engines\//],
  [/^esbuild$/, /^src\/package\//],
  [/^(pino|pino-pretty|prom-client)$/, /^src\/telemetry\//],
  [/^(libp2p$|@libp2p\/|@chainsafe\/libp2p-noise$|@multiformats\/)/, /^src\/p2p\/host\//],
  [/^node:/, /^(src\/|rpc\/)/],
]

const files = sourceFiles()
const edges = importEdges(files)
const inner = edges.filter(({ external }) => !external)

const top = (path: string): string => path.split('/')[0] as string

function innerFolder(path: string): string | undefined {
  const [floor, folder, file] = path.split('/')
  return file !== undefined && INNER_ORDER[floor as string]?.includes(folder as string) ? folder : undefined
}

describe('floors', () => {
  test('the check sees the tree it is about', () => {
    expect(files.length).toBeGreaterThan(120)
    expect(inner.length).toBeGreaterThan(500)
    expect(edges.length - inner.length).toBeGreaterThan(60)
  })

  test('a folder imports only the floors below it', () => {
    const breaches = inner.filter(({ from, to }) => top(from) !== top(to) && !FLOORS[top(from)]?.includes(top(to)))
    expect(breaches).toEqual([])
  })

  test('within consensus and the market imports go downward only', () => {
    const breaches = inner.filter(({ from, to }) => {
      const order = INNER_ORDER[top(from)] ?? []
      const [lower, upper] = [innerFolder(to), innerFolder(from)]
      if (top(from) !== top(to) || lower === undefined || upper === undefined) return false
      return order.indexOf(lower) > order.indexOf(upper)
    })
    expect(breaches).toEqual([])
  })

  // Tabs are paid in the coin too: they share price, depth and sender with the native rail. Channels share the work and the store of tabs.
  test('the till knows no rail, and no rail another one, but tabs the native one, and dollar channels the tabs', () => {
    const railOf = (path: string): string | undefined => /^marketplace\/till\/rails\/([^/]+)\//.exec(path)?.[1]
    const breaches = inner.filter(
      ({ from, to }) => from.startsWith('marketplace/till/') && railOf(to) !== undefined && railOf(from) !== railOf(to),
    )
    const isKnown = ({ from, to }: (typeof inner)[number]): boolean =>
      (railOf(from) === 'tab' && railOf(to) === 'native') || (from.includes('/dollar/channel/') && railOf(to) === 'tab')
    const isOdd = (edge: (typeof inner)[number]): boolean => !isKnown(edge)
    expect(breaches.filter(isOdd)).toEqual([])
  })

  test('the API contract and the client know no handler and no server', () => {
    const breaches = inner.filter(
      ({ from, to }) => /^rpc\/(contract|client)\//.test(from) && /^rpc\/(handlers\/|server\/|web\/|node\/)/.test(to),
    )
    expect(breaches).toEqual([])
  })

  test('a package is imported by the room that wraps it', () => {
    const breaches = edges.filter(({ from, to, external }) => external && !mayImport(from, to))
    expect(breaches).toEqual([])
  })

  test('there is no cycle, type imports counted', () => {
    expect(findCycle(inner)).toEqual([])
  })
})

function mayImport(from: string, name: string): boolean {
  return PACKAGES.some(
    ([packages, rooms]) => packages.test(name.startsWith('node:') ? 'node:' : name) && rooms.test(from),
  )
}

function findCycle(graph: readonly ImportEdge[]): readonly string[] {
  const targets = new Map<string, string[]>()
  for (const { from, to } of graph) targets.set(from, [...(targets.get(from) ?? []), to])
  const done = new Set<string>()
  const visit = (node: string, path: readonly string[]): readonly string[] => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node]
    if (done.has(node)) return []
    for (const next of targets.get(node) ?? []) {
      const cycle = visit(next, [...path, node])
      if (cycle.length > 0) return cycle
    }
    done.add(node)
    return []
  }
  for (const node of targets.keys()) {
    const cycle = visit(node, [])
    if (cycle.length > 0) return cycle
  }
  return []
}
