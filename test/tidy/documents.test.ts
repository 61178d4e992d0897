import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { SETTINGS } from '../../config/settings.ts'
import { DEFAULT_MARKET_SETTINGS } from '../../marketplace/till/settings.ts'
import { DEFAULT_MEMPOOL_POLICY } from '../../mempool/policy.ts'
import type { RateBucket } from '../../rpc/contract/route.ts'
import { DEFAULT_HTTP_LIMITS } from '../../rpc/server/limits.ts'
import { costTable, openingTable, sellerTable, smallest } from '../bench/tab-scale.ts'
import { GENERATED_FILES } from '../generate/documents.ts'
import { ROOT } from '../support/source-tree.ts'

const PROSE = [
  'README.md',
  'CONTRIBUTING.md',
  'docs/architecture.md',
  'docs/client.md',
  'docs/glossary.md',
  'docs/guide.md',
  'docs/money.md',
  'docs/operating.md',
  'docs/promises.md',
  'docs/replicas.md',
  'docs/scale.md',
  'docs/spec/encoding.md',
  'docs/spec/transactions.md',
  'docs/spec/blocks.md',
  'docs/spec/ledgers.md',
]

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

describe('documents', () => {
  for (const { path, content } of GENERATED_FILES) {
    test(`${path} is what the code makes (npm run gen)`, () => {
      expect(read(path)).toBe(content())
    })
  }

  test('the tables of docs/scale.md, and of its simulations the smallest, are what test/bench/tab-scale.ts prints', () => {
    const page = read('docs/scale.md')
    for (const table of [costTable(), openingTable(), sellerTable(), smallest()]) expect(page).toContain(table)
  })

  test('every file that the prose names exists', () => {
    const named = PROSE.flatMap((path) =>
      [
        ...read(path).matchAll(
          /`((?:consensus|amm|mempool|miner|marketplace|rpc|config|src|docs|test)\/[\w./-]*\w\/?)`/g,
        ),
      ].map((match) => match[1] as string),
    )
    expect(named.length).toBeGreaterThan(40)
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })

  test('defaults of the settings are those of the rooms they set', () => {
    const { ratesPerMinute, delayMsMax, concurrentMax } = DEFAULT_HTTP_LIMITS
    const mib = 1_048_576
    expect({
      rates: Object.keys(ratesPerMinute).map((bucket) => SETTINGS[`rpc.rate-${bucket as RateBucket}`].default),
      delay: SETTINGS['rpc.delay-max-ms'].default,
      concurrent: SETTINGS['rpc.concurrent-max'].default,
      mempool: SETTINGS['mempool.count-max'].default,
      mempoolMib: SETTINGS['mempool.mib-max'].default,
      wait: SETTINGS['market.settle-wait-ms'].default,
      keep: SETTINGS['market.result-keep-hours'].default,
      keepMib: SETTINGS['market.result-keep-mib'].default,
    }).toEqual({
      rates: Object.values(ratesPerMinute).map(String),
      delay: String(delayMsMax),
      concurrent: String(concurrentMax),
      mempool: String(DEFAULT_MEMPOOL_POLICY.countMax),
      mempoolMib: String(DEFAULT_MEMPOOL_POLICY.bytesMax / mib),
      wait: String(DEFAULT_MARKET_SETTINGS.settleWaitMs),
      keep: String(DEFAULT_MARKET_SETTINGS.resultKeepMs / 3_600_000),
      keepMib: String(DEFAULT_MARKET_SETTINGS.resultBytesMax / mib),
    })
  })
})
