import { describe, expect, it } from 'vitest'
import { isLoopback, strangerFault, type Visit } from '../../../../rpc/mcp/guard.ts'

/** Judges a visit to a node that listens on loopback only. `change` replaces parts of it. */
function judge(
  change: Partial<Omit<Visit, 'rules'>> & { readonly rules?: Partial<Visit['rules']> },
): string | undefined {
  const { rules, ...rest } = change
  const visit = { host: '127.0.0.1:8420', origin: undefined, publicUrl: null, ...rest }
  return strangerFault({ ...visit, rules: { loopback: true, allowedOrigins: [], ...rules } })?.code
}

const HOST = 'rpc/foreign-host'
const ORIGIN = 'rpc/foreign-origin'

describe('a node for its own machine', () => {
  it.each([
    ['127.0.0.1:8420', undefined],
    ['127.1.2.3', undefined],
    ['localhost:1', undefined],
    ['[::1]:8420', undefined],
    ['localhost.evil.example', HOST],
    ['127.0.0.1.evil.example', HOST],
    ['evil.example', HOST],
    ['192.168.1.2', HOST],
    ['user@localhost', HOST],
    ['', HOST],
    [undefined, HOST],
    ['not a host', HOST],
  ])('called %s', (host, verdict) => {
    expect(judge({ host })).toBe(verdict)
  })

  it('goes by its public name too, which a proxy may pass on', () => {
    const publicUrl = 'https://node.example/base'
    expect(judge({ host: 'node.example', publicUrl })).toBeUndefined()
    expect(judge({ host: 'node.example', origin: 'https://node.example', publicUrl })).toBeUndefined()
    expect(judge({ host: 'node.example', origin: 'http://node.example', publicUrl })).toBe(ORIGIN)
    expect(judge({ host: 'other.example', publicUrl })).toBe(HOST)
  })

  it.each([
    ['http://127.0.0.1:8420', undefined],
    ['http://127.0.0.1:8421', ORIGIN],
    ['http://localhost:8420', ORIGIN],
    ['https://evil.example', ORIGIN],
    ['null', ORIGIN],
    ['', ORIGIN],
    ['file://', ORIGIN],
  ])('visited by a page of %s', (origin, verdict) => {
    expect(judge({ origin })).toBe(verdict)
  })
})

describe('a node for all callers', () => {
  const rules = { loopback: false }

  it('is called as it likes, but a domain name vouches for no page', () => {
    expect(judge({ host: 'any.example', rules })).toBeUndefined()
    expect(judge({ host: 'evil.example', origin: 'http://evil.example', rules })).toBe(ORIGIN)
    expect(judge({ host: '203.0.113.7:8420', origin: 'http://203.0.113.7:8420', rules })).toBeUndefined()
    expect(judge({ host: '[2001:db8::1]:80', origin: 'http://[2001:db8::1]', rules })).toBeUndefined()
  })

  it('lets in the pages that are listed, exactly as they are listed, or all', () => {
    const listed = { loopback: false, allowedOrigins: ['https://chat.example'] }
    expect(judge({ origin: 'https://chat.example', rules: listed })).toBeUndefined()
    expect(judge({ origin: 'https://chat.example.evil.example', rules: listed })).toBe(ORIGIN)
    expect(judge({ origin: 'http://chat.example', rules: listed })).toBe(ORIGIN)
    expect(judge({ origin: 'https://any.example', rules: { loopback: false, allowedOrigins: ['*'] } })).toBeUndefined()
  })
})

it.each([
  ['127.0.0.1', true],
  ['::1', true],
  ['[::1]', true],
  ['localhost', true],
  ['0.0.0.0', false],
  ['127.evil.example', false],
])('%s is this machine: %s', (host, verdict) => {
  expect(isLoopback(host)).toBe(verdict)
})
