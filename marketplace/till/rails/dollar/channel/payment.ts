import { fault } from '../../../../../consensus/primitives/fault.ts'
import { type Fields, fieldsOf, objectOf } from '../../../../../consensus/primitives/fields.ts'
import { fail, ok, type Result } from '../../../../../consensus/primitives/result.ts'
import { isAddress, isBytes32, isShortPayment, isSignature, isUint, PAYMENT_CHARS_MAX } from '../evm-values.ts'
import type { DollarTerms } from '../terms.ts'
import {
  type ChannelConfig,
  type ChannelDeposit,
  type ChannelPayment,
  type ChannelVoucher,
  NO_ADDRESS,
  WITHDRAW_DELAY,
} from './channel.ts'

/** Length in characters of a key's signature: only such a one counts if the channel names a `payerAuthorizer`. */
const KEY_SIGNATURE_CHARS = 2 + 2 * 65
const ADDRESSES = ['payer', 'payerAuthorizer', 'receiver', 'receiverAuthorizer', 'token'] as const
/** The contract counts amounts in 128 bits, the token in 256. */
const AMOUNT_BITS = 128
const TIME_BITS = 256

/**
 * Reads a decoded payment of scheme `batch-settlement`. Members that are not known are dropped: facilitators get what is read here. Faults:
 * `pay/unreadable`, and `pay/no-offer` for another network.
 */
export function readChannelPayment(
  payment: unknown,
  where: string,
  { network }: Pick<DollarTerms, 'network'>,
): Result<ChannelPayment> {
  const fields = fieldsOf(payment)
  const unreadable = (reason: string): Result<never> => fail(fault('pay/unreadable', { where, reason }))
  if (!isShortPayment(fields))
    return unreadable(`it is longer than ${PAYMENT_CHARS_MAX} characters of JSON, or nested too deep`)
  if (fields.x402Version !== 2) return unreadable('x402Version must be 2 for batch-settlement')
  const accepted = fieldsOf(fields.accepted)
  if (accepted.scheme !== 'batch-settlement') return unreadable('its scheme is not batch-settlement')
  if (accepted.network !== network.caip2) {
    const got = typeof accepted.network === 'string' ? accepted.network.slice(0, 64) : typeof accepted.network
    return fail(fault('pay/no-offer', { field: 'network', got, expected: network.caip2 }))
  }
  const read = readPayload(fieldsOf(fields.payload))
  return typeof read === 'string' ? unreadable(read) : ok({ ...read, accepted })
}

type Read<P> = P extends unknown ? Omit<P, 'accepted'> : never

/** The payload, or the first thing that is wrong with it. */
function readPayload(payload: Fields): Read<ChannelPayment> | string {
  const config = readConfig(fieldsOf(payload.channelConfig))
  if (typeof config === 'string') return config
  const voucher = readVoucher(fieldsOf(payload.voucher), config)
  if (typeof voucher === 'string') return voucher
  if (payload.type === 'voucher') return { kind: 'voucher', config, voucher }
  if (payload.type === 'refund') {
    const { amount } = payload
    if (amount === undefined) return { kind: 'refund', config, voucher, amount: null }
    if (!isUint(amount, AMOUNT_BITS) || amount === '0')
      return 'amount must be the decimal text of a number from 1 to below 2^128'
    return { kind: 'refund', config, voucher, amount: BigInt(amount) }
  }
  if (payload.type !== 'deposit') return 'payload.type must be deposit, voucher or refund'
  const deposit = readDeposit(fieldsOf(payload.deposit))
  return typeof deposit === 'string' ? deposit : { kind: 'deposit', config, voucher, deposit }
}

function readConfig(fields: Fields): ChannelConfig | string {
  const wrong = ADDRESSES.find((name) => !isAddress(fields[name]))
  if (wrong !== undefined) return `channelConfig.${wrong} must be an address`
  const { withdrawDelay, salt } = fields
  const [payer, payerAuthorizer, receiver, receiverAuthorizer, token] = ADDRESSES.map((name) =>
    (fields[name] as string).toLowerCase(),
  ) as [string, string, string, string, string]
  if (payer === NO_ADDRESS) return 'channelConfig.payer must not be zero'
  const { min, max } = WITHDRAW_DELAY
  if (!Number.isInteger(withdrawDelay) || (withdrawDelay as number) < min || (withdrawDelay as number) > max)
    return `channelConfig.withdrawDelay must be a number of seconds from ${min} to ${max}`
  if (!isBytes32(salt)) return 'channelConfig.salt must be 32 bytes in hex behind 0x'
  const delay = withdrawDelay as number
  return { payer, payerAuthorizer, receiver, receiverAuthorizer, token, withdrawDelay: delay, salt: salt.toLowerCase() }
}

function readVoucher(fields: Fields, { payerAuthorizer }: ChannelConfig): ChannelVoucher | string {
  const { channelId, maxClaimableAmount, signature } = fields
  if (!isBytes32(channelId)) return 'voucher.channelId must be 32 bytes in hex behind 0x'
  if (!isUint(maxClaimableAmount, AMOUNT_BITS))
    return 'voucher.maxClaimableAmount must be the decimal text of a number below 2^128'
  if (!isSignature(signature)) return 'voucher.signature must be 65 to 4,096 bytes in hex behind 0x'
  if (payerAuthorizer !== NO_ADDRESS && signature.length !== KEY_SIGNATURE_CHARS)
    return 'voucher.signature must be 65 bytes, as payerAuthorizer is a key'
  return {
    channelId: channelId.toLowerCase(),
    maxClaimable: BigInt(maxClaimableAmount),
    signature: signature.toLowerCase(),
  }
}

function readDeposit({ amount, authorization }: Fields): ChannelDeposit | string {
  if (!isUint(amount, AMOUNT_BITS) || amount === '0')
    return 'deposit.amount must be the decimal text of a number from 1 to below 2^128'
  const { erc3009Authorization, permit2Authorization } = fieldsOf(authorization)
  const fields = objectOf(erc3009Authorization)
  if (fields === null || (permit2Authorization !== undefined && permit2Authorization !== null))
    return 'deposit.authorization must be an erc3009Authorization and nothing else'
  const { validAfter, validBefore, salt, signature } = fields
  if (!isUint(validAfter, TIME_BITS) || !isUint(validBefore, TIME_BITS))
    return 'validAfter and validBefore must be decimal text of unsigned integers'
  if (!isBytes32(salt)) return 'erc3009Authorization.salt must be 32 bytes in hex behind 0x'
  if (!isSignature(signature)) return 'erc3009Authorization.signature must be 65 to 4,096 bytes in hex behind 0x'
  return {
    amount: BigInt(amount),
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
    salt: salt.toLowerCase(),
    signature: signature.toLowerCase(),
  }
}
