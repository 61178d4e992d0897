import { describe, expect, it } from 'vitest'
import { readDollarPayment } from '../../../../../../marketplace/till/rails/dollar/payment.ts'
import { newPayer, paymentOf, TERMS } from '../../../../../support/dollar.ts'

interface Sent {
  readonly payload: { readonly signature: string; readonly authorization: object }
}

function sent(signature: unknown): unknown {
  const payment = paymentOf(newPayer()).payload as Sent
  return { ...payment, payload: { ...payment.payload, signature } }
}

describe('a signature', () => {
  it.each([
    ['of a key', 65],
    ["a byte longer: a contract's", 66],
    ['as long as any may be', 4_096],
  ])('is taken %s, to be judged by who can', (_, bytes) => {
    const signature = `0x${'Ab'.repeat(bytes)}`
    const read = readDollarPayment(sent(signature), 'the header', TERMS)
    expect(read).toMatchObject({ ok: true, value: { authorization: { signature: signature.toLowerCase() } } })
  })

  it.each([
    ['half a byte short', `0x${'ab'.repeat(65)}`.slice(0, -1)],
    ['half a byte long', `0x${'ab'.repeat(65)}0`],
    ['half a byte long, and long', `0x${'ab'.repeat(97)}0`],
    ['a byte short: the compact form', `0x${'ab'.repeat(64)}`],
    ['longer than any', `0x${'ab'.repeat(4_097)}`],
    ['empty', '0x'],
    ['without 0x', 'ab'.repeat(65)],
    ['in letters that are no hex', `0x${'zz'.repeat(65)}`],
    ['with a line behind it', `0x${'ab'.repeat(65)}\n`],
    ['a list of one', [`0x${'ab'.repeat(65)}`]],
    ['nothing', undefined],
  ])('is refused %s', (_, signature) => {
    const refused = readDollarPayment(sent(signature), 'the header', TERMS)
    expect(refused).toMatchObject({ ok: false, fault: { code: 'pay/unreadable', detail: { where: 'the header' } } })
    expect(JSON.stringify(refused)).toContain('signature must be')
  })
})

describe('what a client sends beside its payment', () => {
  const bazaar = { info: {}, schema: {} }
  const url = 'https://shop.example/x'
  const deep = JSON.parse(`${'{"a":'.repeat(20)}1${'}'.repeat(20)}`) as unknown
  const read = (more: object) => readDollarPayment({ ...paymentOf(newPayer()).payload, ...more }, 'the header', TERMS)

  it.each([
    ['extensions', { extensions: 5 }],
    ['extensions', { extensions: [bazaar] }],
    ['bazaar', { extensions: { bazaar: 'x' } }],
    ['bazaar', { extensions: { bazaar: null } }],
    ['extensions', { extensions: { bazaar: deep } }],
    ['extensions', { extensions: { bazaar: { info: 'x'.repeat(5_000) } } }],
    ['resource', { resource: 5 }],
    ['resource', { resource: {} }],
    ['resource.url', { resource: { url: '/x' } }],
    ['resource.description', { resource: { url, description: {} } }],
    ['resource.tags', { resource: { url, tags: [5] } }],
  ])('is refused where a facilitator could fail at it: %s', (named, more) => {
    const refused = read(more)
    expect(refused).toMatchObject({ ok: false, fault: { code: 'pay/unreadable' } })
    expect(JSON.stringify(refused)).toContain(named)
  })

  it.each([
    [{}, {}],
    [{ extensions: null, resource: null }, {}],
    [{ extensions: { unknown: 5 }, memo: deep }, {}],
    [{ extensions: { bazaar } }, { extensions: { bazaar } }],
    [{ resource: { url, tags: ['x'], more: 5 } }, { resource: { url, tags: ['x'] } }],
  ])('is passed on as far as facilitators know it: %j', (more, passed) => {
    const payment = read(more)
    if (!payment.ok) throw new Error(JSON.stringify(payment.fault))
    const { x402Version, accepted, payload, ...beside } = payment.value.payload as Record<string, unknown>
    expect([x402Version, beside]).toEqual([2, passed])
    expect([accepted, payload]).not.toContain(undefined)
  })
})
