import { describe, expect, test } from 'vitest'
import { importEdges, type SourceFile, sourceFiles } from '../support/source-tree.ts'

const files = sourceFiles()

/** Consensus and ledgers: the same bytes in, the same bytes out, on every machine. */
const pure = files.filter(
  ({ path }) =>
    /^(consensus|amm|marketplace\/ledger)\//.test(path) &&
    !/^consensus\/chain\/(adoption|chain|database|held-bodies|key-value|ports|staged-state|state-proof)\.ts$/.test(
      path,
    ),
)

/** What also runs in the simulator: clock, timers, randomness and the network are handed in. */
const simulated = files.filter(({ path }) => /^src\/p2p\/(?!host\/)/.test(path))

/** What the SDK and the wallet page are made of. */
const browserSafe = files.filter(({ path }) =>
  /^(consensus\/(primitives|crypto|external|tx)|rpc\/(contract|client))\//.test(path),
)

/** What no pure file may mention, and why it would differ between machines or runs. */
const PURE_BANS: readonly (readonly [string, RegExp])[] = [
  ['clock', /\bDate\b|\bperformance\b/],
  ['randomness', /Math\.random|getRandomValues/],
  ['process', /\bprocess\./],
  ['locale', /\bIntl\b|localeCompare|toLocale/],
  ['async', /\basync\b|\bawait\b/],
  ['sort without comparator', /\.(sort|toSorted)\(\)/],
  ['timer', /\bset(Timeout|Interval|Immediate)\b/],
]

/** What the simulator's virtual clock and seed must decide alone. */
const SIMULATED_BANS = PURE_BANS.filter(([name]) => ['clock', 'randomness', 'timer', 'process'].includes(name))

/** Files with async functions: signing waits for a wallet or a device, and verification waits for threads. */
const ASYNC_ALLOWED = new Set(['consensus/tx/sign.ts', 'consensus/crypto/verifier.ts'])

function codeLines({ lines }: SourceFile): readonly string[] {
  return lines.filter((line) => !/^\s*(\/\/|\/?\*)/.test(line)).map((line) => line.replace(/\/\/.*$/, ''))
}

describe('zones', () => {
  test('the check sees all zones', () => {
    expect(simulated.length).toBeGreaterThan(6)
    expect(pure.length).toBeGreaterThan(50)
    expect(browserSafe.length).toBeGreaterThan(30)
  })

  for (const [name, pattern] of PURE_BANS) {
    test(`the pure zone is free of: ${name}`, () => {
      const found = pure
        .filter(({ path }) => name !== 'async' || !ASYNC_ALLOWED.has(path))
        .flatMap((file) =>
          codeLines(file)
            .filter((line) => pattern.test(line))
            .map((line) => `${file.path}: ${line.trim()}`),
        )
      expect(found).toEqual([])
    })
  }

  for (const [name, pattern] of SIMULATED_BANS) {
    test(`what the simulator runs is free of: ${name}`, () => {
      const found = simulated.flatMap((file) =>
        codeLines(file)
          .filter((line) => pattern.test(line))
          .map((line) => `${file.path}: ${line.trim()}`),
      )
      expect(found).toEqual([])
    })
  }

  test('what the simulator runs imports nothing of Node', () => {
    expect(importEdges(simulated).filter(({ to }) => to.startsWith('node:'))).toEqual([])
  })

  test('pure and browser-safe files import nothing of Node', () => {
    const found = importEdges([...pure, ...browserSafe]).filter(({ to }) => to.startsWith('node:'))
    expect(found).toEqual([])
  })

  test('amounts are divided in amount.ts and named mathematics alone', () => {
    // bigint division rounds. Only the names of functions in these files say in whose favour.
    const allowed =
      /^(consensus\/primitives\/amount|consensus\/block\/(base-fee|difficulty|pow)|consensus\/chain\/params|amm\/math)\.ts$/
    const found = pure
      .filter(({ path }) => !allowed.test(path))
      .flatMap((file) =>
        codeLines(file)
          .filter((line) => /[\w)]\s\/\s[\w(]/.test(line) && /amount|balance|fee|supply|[0-9]n\b/i.test(line))
          .map((line) => `${file.path}: ${line.trim()}`),
      )
    expect(found).toEqual([])
  })
})
