import { describe, expect, it } from 'vitest'
import { readStablePayment } from '../../../../marketplace/stable/payment.ts'
import { newPayer, paymentOf, TERMS } from '../../../support/stable.ts'

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
    const read = readStablePayment(sent(signature), 'the header', TERMS)
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
    const refused = readStablePayment(sent(signature), 'the header', TERMS)
    expect(refused).toMatchObject({ ok: false, fault: { code: 'pay/unreadable', detail: { where: 'the header' } } })
    expect(JSON.stringify(refused)).toContain('signature must be')
  })
})
