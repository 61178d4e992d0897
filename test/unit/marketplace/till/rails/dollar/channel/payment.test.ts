import { describe, expect, it } from 'vitest'
import type { Fields } from '../../../../../../../consensus/primitives/fields.ts'
import { readChannelPayment } from '../../../../../../../marketplace/till/rails/dollar/channel/payment.ts'
import { paymentJson } from '../../../../../../../marketplace/till/rails/dollar/channel/wire.ts'
import { CHANNEL_TERMS, channelJson, readChannel } from '../../../../../../support/channel.ts'
import { newPayer } from '../../../../../../support/dollar.ts'

const KINDS = ['deposit', 'voucher', 'refund'] as const
const BIG = (2n ** 128n).toString()
const ZERO = `0x${'0'.repeat(40)}`

/** A payment with the member at a path replaced; `undefined` removes it. */
function changed(json: Fields, path: string, value: unknown): Fields {
  const [name, ...rest] = path.split('.') as [string, ...string[]]
  const next = rest.length === 0 ? value : changed(json[name] as Fields, rest.join('.'), value)
  return { ...json, [name]: next }
}

function reasonOf(json: unknown): string {
  const read = readChannelPayment(json, 'the header', CHANNEL_TERMS)
  if (read.ok) return 'it was read'
  const { code, detail } = read.fault
  return code === 'pay/unreadable' && detail.where === 'the header' ? String(detail.reason) : code
}

describe('a payment of batch-settlement', () => {
  it.each(KINDS)('is read as a %s, and passed on as it was', (kind) => {
    const json = channelJson(newPayer(), kind)
    const read = readChannel(json, kind)
    expect(read).toMatchObject({ kind, voucher: { maxClaimable: 1_000n }, accepted: json.accepted })
    expect(paymentJson(read)).toEqual(json.payload)
  })

  it('means the same in capitals, and with members that are not known', () => {
    const json = channelJson(newPayer(), 'deposit')
    const loud = JSON.parse(
      JSON.stringify(json).replace(/"0x([0-9a-f]+)"/g, (_, hex: string) => `"0x${hex.toUpperCase()}"`),
    )
    const more = changed(changed(loud, 'payload.memo', { a: 1 }), 'extensions', { x: 1 })
    expect(paymentJson(readChannel(more, 'deposit'))).toEqual(json.payload)
  })

  it('of a refund may name an amount', () => {
    const json = changed(channelJson(newPayer(), 'refund'), 'payload.amount', '700')
    expect(readChannel(json, 'refund').amount).toBe(700n)
    expect(paymentJson(readChannel(json, 'refund'))).toEqual(json.payload)
  })

  it('of a contract may have a longer signature', () => {
    const json = channelJson(newPayer(), 'voucher', { config: { payerAuthorizer: ZERO } })
    const signature = `0x${'ab'.repeat(97)}`
    expect(readChannel(changed(json, 'payload.voucher.signature', signature), 'voucher').voucher.signature).toBe(
      signature,
    )
  })
})

describe('what cannot be read is refused', () => {
  const shared: readonly (readonly [string, unknown, string])[] = [
    ['x402Version', 1, 'x402Version must be 2'],
    ['x402Version', undefined, 'x402Version must be 2'],
    ['accepted', undefined, 'scheme is not batch-settlement'],
    ['accepted.scheme', 'exact', 'scheme is not batch-settlement'],
    ['accepted.network', 'eip155:1', 'pay/no-offer'],
    ['accepted.network', 7, 'pay/no-offer'],
    ['accepted.memo', 'x'.repeat(12_288), 'longer than 12288 characters'],
    ['payload', undefined, 'channelConfig.payer must be an address'],
    ['payload', [], 'channelConfig.payer must be an address'],
    ['payload.type', undefined, 'payload.type must be'],
    ['payload.type', 'claim', 'payload.type must be'],
    ['payload.type', ['voucher'], 'payload.type must be'],
    ['payload.channelConfig.payer', `${ZERO}0`, 'channelConfig.payer must be an address'],
    ['payload.channelConfig.payer', ZERO, 'channelConfig.payer must not be zero'],
    ['payload.channelConfig.payerAuthorizer', null, 'channelConfig.payerAuthorizer must be an address'],
    ['payload.channelConfig.receiver', 'me', 'channelConfig.receiver must be an address'],
    ['payload.channelConfig.receiverAuthorizer', 5, 'channelConfig.receiverAuthorizer must be an address'],
    ['payload.channelConfig.token', `${ZERO}\n`, 'channelConfig.token must be an address'],
    ['payload.channelConfig.withdrawDelay', '900', 'withdrawDelay must be a number'],
    ['payload.channelConfig.withdrawDelay', 899, 'withdrawDelay must be a number'],
    ['payload.channelConfig.withdrawDelay', 2_592_001, 'withdrawDelay must be a number'],
    ['payload.channelConfig.withdrawDelay', 900.5, 'withdrawDelay must be a number'],
    ['payload.channelConfig.withdrawDelay', Number.NaN, 'withdrawDelay must be a number'],
    ['payload.channelConfig.salt', '0x00', 'salt must be 32 bytes'],
    ['payload.voucher', null, 'voucher.channelId must be 32 bytes'],
    ['payload.voucher.channelId', `0x${'0'.repeat(63)}`, 'voucher.channelId must be 32 bytes'],
    ['payload.voucher.maxClaimableAmount', 1_000, 'voucher.maxClaimableAmount must be'],
    ['payload.voucher.maxClaimableAmount', '01000', 'voucher.maxClaimableAmount must be'],
    ['payload.voucher.maxClaimableAmount', '-1', 'voucher.maxClaimableAmount must be'],
    ['payload.voucher.maxClaimableAmount', '1e3', 'voucher.maxClaimableAmount must be'],
    ['payload.voucher.maxClaimableAmount', BIG, 'voucher.maxClaimableAmount must be'],
    ['payload.voucher.signature', '0x', 'voucher.signature must be 65 to 4,096 bytes'],
    ['payload.voucher.signature', `0x${'ab'.repeat(64)}`, 'voucher.signature must be 65 to 4,096 bytes'],
    ['payload.voucher.signature', `0x${'ab'.repeat(66)}`, 'voucher.signature must be 65 bytes'],
    ['payload.voucher.signature', [`0x${'ab'.repeat(65)}`], 'voucher.signature must be 65 to 4,096 bytes'],
  ]
  it.each(KINDS.flatMap((kind) => shared.map((row) => [kind, ...row] as const)))(
    'in a %s: %s = %j',
    (kind, path, value, reason) => {
      expect(reasonOf(changed(channelJson(newPayer(), kind), path, value))).toContain(reason)
    },
  )

  const auth = 'payload.deposit.authorization.erc3009Authorization'
  it.each([
    ['payload.deposit', undefined, 'deposit.amount must be'],
    ['payload.deposit.amount', '0', 'deposit.amount must be'],
    ['payload.deposit.amount', BIG, 'deposit.amount must be'],
    ['payload.deposit.amount', 10_000, 'deposit.amount must be'],
    ['payload.deposit.authorization', undefined, 'must be an erc3009Authorization'],
    ['payload.deposit.authorization', { permit2Authorization: {} }, 'must be an erc3009Authorization'],
    ['payload.deposit.authorization.permit2Authorization', {}, 'must be an erc3009Authorization'],
    [auth, [], 'must be an erc3009Authorization'],
    [`${auth}.validAfter`, 0, 'validAfter and validBefore must be'],
    [`${auth}.validBefore`, (2n ** 256n).toString(), 'validAfter and validBefore must be'],
    [`${auth}.salt`, '0x1', 'erc3009Authorization.salt must be'],
    [`${auth}.signature`, 'none', 'erc3009Authorization.signature must be'],
  ])('in a deposit: %s = %j', (path, value, reason) => {
    expect(reasonOf(changed(channelJson(newPayer(), 'deposit'), path, value))).toContain(reason)
  })

  it.each(['0', '00', 5, null, BIG, '1.5'])('in a refund: amount = %j', (amount) => {
    expect(reasonOf(changed(channelJson(newPayer(), 'refund'), 'payload.amount', amount))).toContain('amount must be')
  })

  it.each([null, 5, 'text', [], true])('in place of a payment: %j', (value) => {
    expect(reasonOf(value)).toContain('x402Version must be 2')
  })
})
