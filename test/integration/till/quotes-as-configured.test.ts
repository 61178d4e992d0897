import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { OUTSIDE_SETTINGS, readOutside } from '../../../config/outside-settings.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import { openOutside, type RunningOutside } from '../../../src/adapters/open-outside.ts'
import type { Stop } from '../../../src/daemon/open-core.ts'
import { systemTimers } from '../../../src/daemon/runtime.ts'
import { internetOf } from '../../support/internet.ts'
import { removeFolder, temporaryFolder } from '../../support/processes.ts'
import { coinbaseQuotes, coinbaseUpstream } from '../../support/upstreams/coinbase.ts'
import { ecbUpstream, frankfurterUpstream, RATED_MS, REFERENCE_RATES } from '../../support/upstreams/reference-rates.ts'
import { Upstream, type UpstreamHandler } from '../../support/upstreams/upstream.ts'

type Settings = Partial<Record<keyof typeof OUTSIDE_SETTINGS, string>>

describe('prices and exchange rates as the settings say', () => {
  let folder: string
  const stops: Stop[] = []
  const upstreams: Upstream[] = []
  beforeEach(() => {
    folder = temporaryFolder()
  })
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
    for (const upstream of upstreams.splice(0)) await upstream.close()
    removeFolder(folder)
  })

  const upstream = async (handler: UpstreamHandler): Promise<Upstream> => {
    const opened = await Upstream.open(handler)
    upstreams.push(opened)
    return opened
  }
  const open = (settings: Settings): Promise<Result<RunningOutside>> => {
    const config = readOutside((name) => settings[name] ?? OUTSIDE_SETTINGS[name].default)
    const clock = { now: () => RATED_MS }
    const internet = internetOf({ names: {}, ports: {} })
    return openOutside({ config, publicUrl: null, internet, clock, timers: systemTimers }, stops)
  }
  const opened = async (settings: Settings): Promise<RunningOutside> => {
    const outside = await open(settings)
    if (!outside.ok) throw new Error(outside.fault.code)
    await outside.value.looked()
    return outside.value
  }

  it('have no provider by default', async () => {
    const { prices, rates } = await opened({})
    expect([prices.readiness(), rates.readiness()]).toMatchObject([
      { available: false, requires: ['providers.prices'] },
      { available: false, requires: ['providers.rates'] },
    ])
  })

  it('are asked from the named providers, in their order, and checked with them', async () => {
    const [coinbase, ecb, frankfurter] = [
      await upstream(coinbaseUpstream),
      await upstream(ecbUpstream),
      await upstream(frankfurterUpstream),
    ]
    ecb.profile = '500'
    const outside = await opened({
      'providers.prices': `coinbase=${coinbase.url}`,
      'providers.rates': `ecb=${ecb.url}/,frankfurter=${frankfurter.url}`,
    })
    const signal = AbortSignal.timeout(20_000)
    expect(await outside.prices.majors(signal)).toMatchObject({
      value: { value: { majors: { ...coinbaseQuotes(RATED_MS).prices, BNB: null }, sources: ['coinbase'] } },
    })
    expect(await outside.rates.ask(null, signal)).toMatchObject({
      value: { value: REFERENCE_RATES, source: { name: 'frankfurter' } },
    })
    const names = ['coinbase', 'ecb', 'frankfurter']
    const checks = (await Promise.all(outside.checkable.map((one) => one.checkAll()))).flat()
    expect(checks.filter(({ name }) => names.includes(name)).map(({ name, ok }) => [name, ok])).toEqual([
      ['coinbase', true],
      ['ecb', false],
      ['frankfurter', true],
    ])
  })

  it('do not start with unreadable keys', async () => {
    const path = join(folder, 'keys.json')
    expect(await open({ 'providers.keys-file': path })).toMatchObject({
      fault: { code: 'config/file', detail: { path } },
    })
    await writeFile(path, '{"coingecko": 17}')
    expect(await open({ 'providers.keys-file': path })).toMatchObject({
      fault: { code: 'config/file', detail: { path } },
    })
  })
})
