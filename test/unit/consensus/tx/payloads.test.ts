import { describe, expect, it } from 'vitest'
import { decode } from '../../../../consensus/primitives/codec.ts'
import { encodeText } from '../../../../consensus/primitives/text.ts'
import { AGENT_REGISTER, agentIdCodec, RECEIPT_ENTRY, serviceIdCodec } from '../../../../consensus/tx/payloads.ts'
import { PAYLOADS, SOUND } from '../../../vectors/generate/tx-payloads.ts'

const outside = (codec: { readonly typeName: string }) => ({
  ok: false,
  fault: { code: 'codec/malformed', detail: { type: codec.typeName, reason: 'text outside its grammar' } },
})

describe('agent ids', () => {
  it.each(['abc', '0-0', '123', 'a-b-c', 'a--b', 'a'.repeat(32), `0${'-'.repeat(30)}9`])('may be "%s"', (id) => {
    expect(decode(agentIdCodec, encodeText(id))).toEqual({ ok: true, value: id })
  })

  it.each(['', 'a', 'ab', 'Abc', 'a_c', 'a.c', 'a/c', 'a c', '-ab', 'ab-', 'äbc', 'abc\n'])('may not be "%s"', (id) => {
    expect(decode(agentIdCodec, encodeText(id))).toEqual(outside(agentIdCodec))
  })
})

describe('service ids', () => {
  it.each(['abcd', 'a--9', 'a'.repeat(48)])('may be "%s"', (id) => {
    expect(decode(serviceIdCodec, encodeText(id))).toEqual({ ok: true, value: id })
  })

  it.each(['', 'abc', '1abc', '-abc', 'abc-', 'abcD', 'ab/d'])('may not be "%s"', (id) => {
    expect(decode(serviceIdCodec, encodeText(id))).toEqual(outside(serviceIdCodec))
  })
})

describe('endpoints', () => {
  const register = (endpoint: string) =>
    decode(AGENT_REGISTER, PAYLOADS.agent_register({ ...SOUND.agent_register, endpoint }))

  it.each(['', 'http://a', 'https://a', 'https://[::1]:8080/~x?y=1#z', `https://${'a'.repeat(192)}`])(
    'may be "%s"',
    (endpoint) => {
      expect(register(endpoint)).toMatchObject({ ok: true, value: { endpoint } })
    },
  )

  it.each(['a', 'http:/a', 'http://', 'Https://a', 'ftp://a', 'http://a b', 'http://ä', ` http://a`, 'http://a\t'])(
    'may not be "%s"',
    (endpoint) => {
      expect(register(endpoint)).toEqual(outside(AGENT_REGISTER))
    },
  )
})

describe('receipt entries', () => {
  it('take 101 bytes each', () => {
    expect(RECEIPT_ENTRY.fixedSize).toBe(101)
  })
})
