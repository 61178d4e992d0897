import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { flagSource, resolveConfig } from '../../../../config/load.ts'
import type { Config } from '../../../../config/settings.ts'
import { dollarTerms, facilitatorAuth, refundWallet } from '../../../../src/market/dollar-terms.ts'
import { TERMS } from '../../../support/dollar.ts'
import { removeFolder, temporaryFolder } from '../../../support/processes.ts'

const folder = temporaryFolder()
afterAll(() => removeFolder(folder))

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
    expect(dollarTerms(settings({ ...WORKING, 'stable-network': 'base-sepolia' }))).toEqual({ ok: true, value: TERMS })
    const base = dollarTerms(settings(WORKING))
    expect(base).toMatchObject({ value: { network: { chainId: 8_453 }, asset: { domain: { name: 'USD Coin' } } } })
    const changed = dollarTerms(settings({ ...WORKING, 'stable-chain-id': '31337', 'stable-asset-name': 'Dollar' }))
    expect(changed).toMatchObject({
      value: {
        network: { word: 'base', caip2: 'eip155:31337', chainId: 31_337 },
        asset: { domain: { name: 'Dollar', version: '2' } },
      },
    })
  })

  it('name a network of one’s own', () => {
    expect(
      dollarTerms(settings({ ...CUSTOM, 'stable-asset-decimals': '18', 'stable-asset-symbol': 'USDX' })),
    ).toMatchObject({
      value: { network: { word: 'local', caip2: 'eip155:31337' }, asset: { decimals: 18, symbol: 'USDX' } },
    })
  })

  it.each(Object.keys(CUSTOM).filter((name) => name !== 'stable-network'))('say that %s is missing', (name) => {
    const { [name as keyof typeof CUSTOM]: _, ...rest } = CUSTOM
    const refused = dollarTerms(settings(rest))
    expect(refused).toMatchObject({ fault: { code: 'config/value' } })
    expect(JSON.stringify(refused)).toContain(`--${name}`)
  })

  it('refuse an address whose case is not that of its checksum', () => {
    const wrong = PAY_TO.replace('F02cDC', 'f02CDC')
    expect(dollarTerms(settings({ ...WORKING, 'stable-pay-to': wrong }))).toMatchObject({
      fault: { code: 'config/value' },
    })
    expect(dollarTerms(settings({ ...WORKING, 'stable-pay-to': PAY_TO.toLowerCase() }))).toMatchObject({
      value: { payTo: PAY_TO },
    })
    expect(dollarTerms(settings({ ...WORKING, 'stable-pay-to': `0x${'0'.repeat(40)}` }))).toMatchObject({ ok: false })
  })

  describe('of what facilitators want to be shown', () => {
    const facilitators = ['https://one.example', 'https://two.example/']
    const read = async (content: string) => {
      const path = join(folder, 'auth.json')
      writeFileSync(path, content)
      return facilitatorAuth({ facilitatorAuthFile: path, facilitators })
    }
    const one = (paths: unknown): string => JSON.stringify({ 'https://one.example': paths })

    it('are none without a file', async () => {
      const none = await facilitatorAuth({ facilitatorAuthFile: null, facilitators })
      expect(none.ok && none.value.size).toBe(0)
    })

    it('are found by the address, with or without a slash behind it', async () => {
      const headers = { '*': { authorization: 'Bearer a' }, settle: { 'x-key': 'b' } }
      const read2 = await read(JSON.stringify({ 'https://one.example/': headers, 'https://two.example': {} }))
      expect(read2.ok && [...read2.value]).toEqual([
        ['https://one.example', headers],
        ['https://two.example/', {}],
      ])
    })

    it.each([
      ['no JSON', '{'],
      ['a list', '[]'],
      ['a header where paths are wanted', one('Bearer a')],
      ['a header without its name', one({ '*': 'Bearer a' })],
      ['a header that is no text', one({ '*': { authorization: 7 } })],
      ['a header that cannot be sent', one({ '*': { authorization: 'Bearer a\nhost: b' } })],
      ['a path that is never asked', one({ '/settle': { authorization: 'Bearer a' } })],
      ['another facilitator', JSON.stringify({ 'https://three.example': {} })],
    ])('are refused, and not shown, where the file says %s', async (_, content) => {
      const refused = await read(content)
      expect(refused).toMatchObject({ ok: false, fault: { code: 'config/file' } })
      expect(JSON.stringify(refused)).not.toContain('Bearer')
    })
  })

  it('say where a key cannot be read', async () => {
    expect(await facilitatorAuth({ facilitatorAuthFile: '/nowhere/auth', facilitators: [] })).toMatchObject({
      fault: { code: 'config/file' },
    })
    expect(await refundWallet(null, TERMS)).toEqual({ ok: true, value: null })
    expect(await refundWallet('/nowhere/key', TERMS)).toMatchObject({ fault: { code: 'config/file' } })
  })
})
