import { describe, expect, it } from 'vitest'
import { tokenAsset } from '../../../../consensus/ledger/asset.ts'
import { checkLaunch, launchFault } from '../../../../consensus/ledger/token-launch.ts'
import { TOKENS } from '../../../../consensus/ledger/token-records.ts'
import type { TokenSymbol } from '../../../../consensus/primitives/ids.ts'
import { weightOf } from '../../../../consensus/tx/weight.ts'
import { emptyServiceChain, serviceChain } from '../../../support/service-chain.ts'
import { resultOf } from '../../../support/service-results.ts'
import { steadyWallet } from '../../../support/steady-keys.ts'
import { units } from '../../../support/unsigned.ts'

interface Check {
  readonly wouldPass: boolean
  readonly checks: readonly { readonly rule: string; readonly pass: boolean; readonly detail: string }[]
  readonly normalised: {
    readonly symbol: string
    readonly name: string
    readonly decimals: number
    readonly maxSupplyUnits: string
  }
  readonly fee: { readonly weight: number }
  readonly conflicts: readonly { readonly kind: string; readonly symbol: string; readonly blocking: boolean }[]
}

describe('a launch that is checked first', () => {
  it.each([
    ['pepper | Black pepper | 4 | 1000000', true],
    ['PEPPER|Pepper|18|0.000000000000000001', true],
    ['P2|x|0|0', true],
    ['W00L|Woollen|4|1', false],
    ['FUSD|Dollar|6|1', false],
    ['FAR|Dollar|6|1', false],
  ])('%j passes or fails as token_create does', async (request, passes) => {
    const { test, context } = await serviceChain()
    const { wouldPass, normalised, checks, fee } = await resultOf<Check>('node-token-launch-check', request, context)
    expect(wouldPass).toBe(passes)
    const { symbol, name, decimals, maxSupplyUnits } = normalised
    const asset = tokenAsset(symbol as TokenSymbol)
    const before = test.chain.database.get(TOKENS, asset)
    const payload = { symbol: symbol as TokenSymbol, name, decimals, maxSupply: units(BigInt(maxSupplyUnits)) }
    const tx = await test.tx(steadyWallet(6), 'token_create', { ...payload, freezable: false })
    expect(fee.weight).toBe(weightOf(tx, test.ruleBook.at(test.height + 1).tx))
    await test.mine([tx])
    const after = test.chain.database.get(TOKENS, asset)
    expect(after !== undefined && before === undefined).toBe(passes)
    expect(checks.every(({ pass }) => pass)).toBe(passes)
  })

  it('is judged as by consensus, rule by rule', async () => {
    const { test, context } = await serviceChain()
    const rules = test.ruleBook.at(test.height + 1)
    const launch = { symbol: '9X', name: ' ', decimals: 19, maxSupply: 1n << 112n }
    const found = checkLaunch(test.chain.database, rules, { ...launch, name: '' })
    const request = `9x| |19|${(1n << 112n).toString().replace(/(.{19})$/, '.$1')}`
    const { checks } = await resultOf<Check>('node-token-launch-check', request, context)
    expect(checks).toEqual(found.map(({ rule, pass, detail }) => ({ rule, pass, detail })))
    expect(launchFault(found)).not.toBeNull()
  })

  it('is warned of look-alikes that consensus allows', async () => {
    const { context } = await serviceChain()
    const request = 'SAL|\u0405\u0430lt|4|0'
    const { wouldPass, conflicts } = await resultOf<Check>('node-token-launch-check', request, context)
    expect(wouldPass).toBe(true)
    expect(conflicts).toEqual([{ kind: 'name-look-alike', symbol: 'SALT', name: 'Salt', blocking: false }])
  })
})

const PARTS = {
  priceFeed: 'node-price-feed',
  marketSummary: 'node-market-summary',
  arbScan: 'node-arb-scan',
  stableHealth: 'node-stable-health',
  bridgeStatus: 'node-bridge-status',
  poolAnalytics: 'node-pool-analytics',
}
const SECTIONS = ['summary', 'price', 'market', 'pools', 'swaps', 'arbitrage', 'stables', 'bridge', 'unknown']

interface Report {
  readonly markdown: string
  readonly sections: readonly { readonly id: string; readonly title: string }[]
  readonly data: Readonly<Record<string, object>>
  readonly wordCount: number
  readonly unknown: readonly string[]
}

describe('the market report', () => {
  it.each([
    ['a busy chain', serviceChain],
    ['a network that has just begun', () => emptyServiceChain(2)],
  ])('of %s has the numbers of the other services and its sections in order', async (_, open) => {
    const { context } = await open()
    const report = await resultOf<Report>('node-market-report', '', context)
    expect(Object.keys(report.data).sort()).toEqual(Object.keys(PARTS).sort())
    for (const [part, serviceId] of Object.entries(PARTS)) {
      expect(await resultOf(serviceId, '', context)).toMatchObject(report.data[part] as object)
    }
    expect(report.sections.map(({ id }) => id)).toEqual(SECTIONS)
    const [title, ...rest] = report.markdown.split('\n\n## ')
    expect(title).toMatch(/^# Market report: FAR at block [0-9]+$/)
    expect(rest).toHaveLength(SECTIONS.length)
    expect(rest.map((section) => section.split('\n')[0])).toEqual(report.sections.map(({ title }) => title))
    for (const section of report.sections) expect(section).not.toHaveProperty('markdown')
    expect(report.wordCount).toBe(report.markdown.trim().split(/\s+/).length)
    expect(report.markdown).not.toMatch(/NaN|undefined|null|Infinity/)
    for (const field of report.unknown) expect(report.markdown).toContain(`- ${field}\n`)
  })
})
