import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { Authorization, StablePayment } from './claim.ts'
import type { StableTerms } from './terms.ts'

type Fields = Readonly<Record<string, unknown>>

/** An unsigned 256-bit integer in plain decimal text. Facilitators take other spellings too; each would be another payment. */
const UINT = /^(0|[1-9][0-9]{0,77})$/
const UINT_BOUND = 1n << 256n
const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const NONCE = /^0x[0-9a-fA-F]{64}$/
/** Signatures of contracts have any length; this one is more than any known wallet makes. */
const SIGNATURE = /^0x([0-9a-fA-F]{2}){65,4096}$/
/** The whole payment as JSON: as much as a header holds, whichever way it came. It is kept, and passed on. */
const CHARS_MAX = 12_288
const IDENTIFIER = /^[a-zA-Z0-9_-]{16,128}$/

/**
 * Reads a decoded payment of scheme `exact`, of either generation, strictly: what facilitators would take for the same number or
 * address in another spelling is refused. Says nothing of whether it pays an offer of ours. Fault: `pay/unreadable`.
 */
export function readStablePayment(payment: unknown, where: string, { network }: StableTerms): Result<StablePayment> {
  const fields = fieldsOf(payment)
  const unreadable = (reason: string): Result<never> => fail(fault('pay/unreadable', { where, reason }))
  if (!isShort(fields)) return unreadable(`it is longer than ${CHARS_MAX} characters of JSON, or nested too deep`)
  const { x402Version: version, extensions } = fields
  if (version !== 1 && version !== 2) return unreadable('x402Version must be 1 or 2')
  const accepted = version === 2 ? fieldsOf(fields.accepted) : null
  const named = accepted ?? fields
  const expected = version === 2 ? network.caip2 : network.word
  if (named.scheme !== 'exact') return unreadable('its scheme is not exact')
  if (named.network !== expected)
    return fail(fault('pay/no-offer', { field: 'network', got: shown(named.network), expected }))
  const { signature, authorization, ...more } = fieldsOf(fields.payload)
  // A facilitator could take it for a payment of another kind, which is not the one that is claimed here.
  if (Object.keys(more).length > 0) return unreadable('its payload may hold a signature and an authorization only')
  const read = readAuthorization(fieldsOf(authorization), signature)
  if (typeof read === 'string') return unreadable(read)
  const id = fieldsOf(fieldsOf(fieldsOf(extensions)['payment-identifier']).info).id
  if (id !== undefined && !(typeof id === 'string' && IDENTIFIER.test(id)))
    return unreadable('the id of payment-identifier must be 16 to 128 letters, digits, - or _')
  return ok({ version, authorization: read, accepted, payload: fields, paymentIdentifier: id ?? null })
}

/** The authorization, or the first thing that is wrong with it. */
function readAuthorization(fields: Fields, signature: unknown): Authorization | string {
  const { from, to, value, validAfter, validBefore, nonce } = fields
  if (!matches(ADDRESS, from)) return 'authorization.from must be an address'
  if (!matches(ADDRESS, to)) return 'authorization.to must be an address'
  const numbers = [value, validAfter, validBefore]
  if (!numbers.every((number) => matches(UINT, number) && BigInt(number) < UINT_BOUND))
    return 'value, validAfter and validBefore must be decimal text of unsigned integers'
  if (!matches(NONCE, nonce)) return 'authorization.nonce must be 32 bytes in hex behind 0x'
  if (!matches(SIGNATURE, signature)) return 'signature must be 65 bytes or more in hex behind 0x'
  const [amount, after, before] = (numbers as string[]).map(BigInt) as [bigint, bigint, bigint]
  return {
    from: from.toLowerCase(),
    to: to.toLowerCase(),
    value: amount,
    validAfter: after,
    validBefore: before,
    nonce: nonce.toLowerCase(),
    signature: signature.toLowerCase(),
  }
}

function isShort(fields: Fields): boolean {
  try {
    return JSON.stringify(fields).length <= CHARS_MAX
  } catch {
    // What is nested too deep can be read, and not be written.
    return false
  }
}

function matches(pattern: RegExp, value: unknown): value is string {
  return typeof value === 'string' && pattern.test(value)
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 64) : typeof value
}

function fieldsOf(value: unknown): Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : {}
}
