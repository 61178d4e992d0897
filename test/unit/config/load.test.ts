import { describe, expect, it } from 'vitest'
import { flagSource, resolveConfig, type Source } from '../../../config/load.ts'
import type { Config } from '../../../config/settings.ts'
import type { Result } from '../../../consensus/primitives/result.ts'

/** The configuration that these flags make. */
function configured(flags: Readonly<Record<string, string>>): Result<{ readonly config: Config }> {
  const source = flagSource(flags)
  if (!source.ok) throw new Error(JSON.stringify(source.fault))
  return resolveConfig([source.value as Source], '/home/somebody')
}

function marketOf(flags: Readonly<Record<string, string>>): Config['market'] {
  const resolved = configured(flags)
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.fault))
  return resolved.value.config.market
}

describe('settings in dollars', () => {
  it('are millionths inside; without bounds the coin may cost anything in a pool of ten thousand dollars', () => {
    expect(marketOf({})).toMatchObject({
      ...{ minPoolDepthMicros: 10_000_000_000n, nativeUsdMinMicros: null, nativeUsdMaxMicros: null },
    })
    const given = {
      'market-min-pool-depth-usd': '0',
      'market-native-usd-min': '0.05',
      'market-native-usd-max': '3.000001',
    }
    expect(marketOf(given)).toMatchObject({
      ...{ minPoolDepthMicros: 0n, nativeUsdMinMicros: 50_000n, nativeUsdMaxMicros: 3_000_001n },
    })
  })

  for (const value of ['', 'much', '-1', '0.0000001', '.5', '1e3', '$5', '007']) {
    it(`do not take "${value}"`, () => {
      expect(configured({ 'market-native-usd-max': value })).toMatchObject({
        ok: false,
        fault: {
          code: 'config/value',
          detail: { key: '--market-native-usd-max', value, allowed: 'dollars with at most 6 decimals, like 0.25' },
        },
      })
    })
  }
})
