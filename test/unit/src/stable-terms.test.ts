import { describe, expect, it } from 'vitest'
import { flagSource, resolveConfig } from '../../../config/load.ts'
import type { Config } from '../../../config/settings.ts'
import { refundWallet, stableTerms } from '../../../src/stable-terms.ts'
import { TERMS } from '../../support/stable.ts'

const PAY_TO = TERMS.payTo
const WORKING = { 'stable-pay-to': PAY_TO, 'stable-facilitators': 'https://one.example,https://two.example' }
const CUSTOM = {
  ...WORKING,
  'stable-network': 'custom',
  'stable-network-word': 'local',
  'stable-chain-id': '31337',
  'stable-asset-contract': PAY_TO,
  'stable-asset-name': 'Dollar',
}

function settings(flags: Readonly<Record<string, string>>): Config['stable'] {
  const source = flagSource(flags)
  if (!source.ok) throw new Error(JSON.stringify(source.fault))
  const resolved = resolveConfig([source.value], '/home/nobody')
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.fault))
  return resolved.value.config.stable
}

describe('the settings of the stablecoin rail', () => {
  it('are off by default', () => {
    expect(settings({})).toMatchObject({ enabled: false, network: 'base', maxTimeoutSeconds: 120, facilitators: [] })
  })

  it('name a known network with its token, and change parts of it', () => {
    expect(stableTerms(settings({ ...WORKING, 'stable-network': 'base-sepolia' }))).toEqual({ ok: true, value: TERMS })
    const base = stableTerms(settings(WORKING))
    expect(base).toMatchObject({ value: { network: { chainId: 8_453 }, asset: { domain: { name: 'USD Coin' } } } })
    const changed = stableTerms(settings({ ...WORKING, 'stable-chain-id': '31337', 'stable-asset-name': 'Dollar' }))
    expect(changed).toMatchObject({
      value: {
        network: { word: 'base', caip2: 'eip155:31337', chainId: 31_337 },
        asset: { domain: { name: 'Dollar', version: '2' } },
      },
    })
  })

  it('name a network of one’s own', () => {
    expect(
      stableTerms(settings({ ...CUSTOM, 'stable-asset-decimals': '18', 'stable-asset-symbol': 'USDX' })),
    ).toMatchObject({
      value: { network: { word: 'local', caip2: 'eip155:31337' }, asset: { decimals: 18, symbol: 'USDX' } },
    })
  })

  it.each(Object.keys(CUSTOM).filter((name) => name !== 'stable-network'))('say that %s is missing', (name) => {
    const { [name as keyof typeof CUSTOM]: _, ...rest } = CUSTOM
    const refused = stableTerms(settings(rest))
    expect(refused).toMatchObject({ fault: { code: 'config/value' } })
    expect(JSON.stringify(refused)).toContain(`--${name}`)
  })

  it('refuse an address whose case is not that of its checksum', () => {
    const wrong = PAY_TO.replace('F02cDC', 'f02CDC')
    expect(stableTerms(settings({ ...WORKING, 'stable-pay-to': wrong }))).toMatchObject({
      fault: { code: 'config/value' },
    })
    expect(stableTerms(settings({ ...WORKING, 'stable-pay-to': PAY_TO.toLowerCase() }))).toMatchObject({
      value: { payTo: PAY_TO },
    })
    expect(stableTerms(settings({ ...WORKING, 'stable-pay-to': `0x${'0'.repeat(40)}` }))).toMatchObject({ ok: false })
  })

  it('say where a key cannot be read', async () => {
    expect(await refundWallet(null, TERMS)).toEqual({ ok: true, value: null })
    expect(await refundWallet('/nowhere/key', TERMS)).toMatchObject({ fault: { code: 'config/file' } })
  })
})
