import { fault } from '../../../../consensus/primitives/fault.ts'
import { type Fields, fieldsOf, objectOf } from '../../../../consensus/primitives/fields.ts'
import { fail, ok, type Result } from '../../../../consensus/primitives/result.ts'
import type { Authorization, DollarPayment } from './claim.ts'
import { isAddress, isBytes32, isShortPayment, isSignature, isUint, PAYMENT_CHARS_MAX } from './evm-values.ts'
import type { DollarTerms } from './terms.ts'

/** Extensions of the node's offers, which clients repeat. Any other extension is dropped. */
const EXTENSIONS = ['bazaar', 'payment-identifier'] as const
/** Longest extensions as JSON, and their deepest nesting. The node's own have about a fifth of this length, and 9 levels. */
const EXTENSIONS_CHARS_MAX = 4_096
const EXTENSIONS_DEPTH_MAX = 16
/** Text members of a `resource` of x402 version 2, and their maximum lengths. */
const RESOURCE_TEXTS = { url: 2_048, description: 2_048, mimeType: 128, serviceName: 32, iconUrl: 2_048 } as const
const TAGS_MAX = 5
const TAG_CHARS_MAX = 32
const IDENTIFIER = /^[a-zA-Z0-9_-]{16,128}$/

/**
 * Reads a decoded payment of scheme `exact`, of x402 version 1 or 2. Facilitators get a payment that is built from the values read here,
 * since other members could make them fail, and signatures cost an attacker nothing. Faults: `pay/unreadable`, and `pay/no-offer` for
 * another network.
 */
export function readDollarPayment(payment: unknown, where: string, { network }: DollarTerms): Result<DollarPayment> {
  const fields = fieldsOf(payment)
  const unreadable = (reason: string): Result<never> => fail(fault('pay/unreadable', { where, reason }))
  if (!isShortPayment(fields))
    return unreadable(`it is longer than ${PAYMENT_CHARS_MAX} characters of JSON, or nested too deep`)
  const { x402Version: version } = fields
  if (version !== 1 && version !== 2) return unreadable('x402Version must be 1 or 2')
  const accepted = version === 2 ? fieldsOf(fields.accepted) : null
  const named = accepted ?? fields
  const expected = version === 2 ? network.caip2 : network.word
  if (named.scheme !== 'exact') return unreadable('its scheme is not exact')
  if (named.network !== expected)
    return fail(fault('pay/no-offer', { field: 'network', got: shown(named.network), expected }))
  const { signature, authorization, ...more } = fieldsOf(fields.payload)
  // With other members a facilitator could take the payment for one of another kind than the one that was claimed.
  if (Object.keys(more).length > 0) return unreadable('its payload may hold a signature and an authorization only')
  const read = readAuthorization(fieldsOf(authorization), signature)
  if (typeof read === 'string') return unreadable(read)
  const extensions = readExtensions(fields.extensions)
  if (typeof extensions === 'string') return unreadable(extensions)
  const resource = version === 2 ? readResource(fields.resource) : {}
  if (typeof resource === 'string') return unreadable(resource)
  const id = fieldsOf(fieldsOf(extensions.extensions?.['payment-identifier']).info).id
  if (id !== undefined && !(typeof id === 'string' && IDENTIFIER.test(id)))
    return unreadable('the id of payment-identifier must be 16 to 128 letters, digits, - or _')
  const exact = { payload: payloadOf(read) }
  const payload =
    accepted === null
      ? { x402Version: 1, scheme: 'exact', network: network.word, ...exact }
      : { x402Version: 2, ...resource, accepted: echoOf(accepted), ...exact, ...extensions }
  return ok({ version, authorization: read, accepted, payload, paymentIdentifier: id ?? null })
}

/** As x402 versions 1 and 2 both write it. */
function payloadOf({ signature, from, to, value, validAfter, validBefore, nonce }: Authorization): object {
  const times = { validAfter: validAfter.toString(), validBefore: validBefore.toString() }
  return { signature, authorization: { from, to, value: value.toString(), ...times, nonce } }
}

/** Only the members that are compared with the node's offer. */
function echoOf({ scheme, network, amount, asset, payTo, maxTimeoutSeconds, extra }: Fields): object {
  const { name, version } = fieldsOf(extra)
  return { scheme, network, amount, asset, payTo, maxTimeoutSeconds, extra: { name, version } }
}

/** The extensions, or what is wrong with them. */
function readExtensions(sent: unknown): { readonly extensions?: Fields } | string {
  if (sent === undefined || sent === null) return {}
  const fields = objectOf(sent)
  if (fields === null) return 'extensions must be an object'
  const named = EXTENSIONS.filter((name) => fields[name] !== undefined)
  const ill = named.find((name) => objectOf(fields[name]) === null)
  if (ill !== undefined) return `the extension ${ill} must be an object`
  if (named.length === 0) return {}
  const extensions = Object.fromEntries(named.map((name) => [name, fields[name]]))
  return depthOf(extensions) <= EXTENSIONS_DEPTH_MAX && JSON.stringify(extensions).length <= EXTENSIONS_CHARS_MAX
    ? { extensions }
    : `its extensions are longer than ${EXTENSIONS_CHARS_MAX} characters of JSON, or deeper than ${EXTENSIONS_DEPTH_MAX}`
}

/** The resource, or what is wrong with it. */
function readResource(sent: unknown): { readonly resource?: Fields } | string {
  if (sent === undefined || sent === null) return {}
  const fields = objectOf(sent)
  if (fields === null || typeof fields.url !== 'string') return 'resource must be an object with its url'
  const { tags } = fields
  const texts = Object.entries(RESOURCE_TEXTS).filter(([name]) => fields[name] !== undefined && fields[name] !== null)
  const ill = texts.find(([name, most]) => !isText(fields[name], most))
  if (ill !== undefined) return `resource.${ill[0]} must be text of at most ${ill[1]} characters`
  if (!URL.canParse(fields.url)) return 'resource.url must be absolute'
  const resource: Record<string, unknown> = Object.fromEntries(texts.map(([name]) => [name, fields[name]]))
  if (tags === undefined || tags === null) return { resource }
  const areTags = Array.isArray(tags) && tags.length <= TAGS_MAX && tags.every((tag) => isText(tag, TAG_CHARS_MAX))
  if (!areTags) return `resource.tags must be at most ${TAGS_MAX} texts of at most ${TAG_CHARS_MAX} characters`
  return { resource: { ...resource, tags } }
}

/** Counts at most one level more than is allowed. */
function depthOf(value: unknown, left = EXTENSIONS_DEPTH_MAX): number {
  if (value === null || typeof value !== 'object') return 0
  if (left === 0) return 1
  return 1 + Math.max(0, ...Object.values(value).map((one) => depthOf(one, left - 1)))
}

/** The authorization, or the first thing that is wrong with it. */
function readAuthorization(fields: Fields, signature: unknown): Authorization | string {
  const { from, to, value, validAfter, validBefore, nonce } = fields
  if (!isAddress(from)) return 'authorization.from must be an address'
  if (!isAddress(to)) return 'authorization.to must be an address'
  const numbers = [value, validAfter, validBefore]
  if (!numbers.every((number) => isUint(number, 256)))
    return 'value, validAfter and validBefore must be decimal text of unsigned integers'
  if (!isBytes32(nonce)) return 'authorization.nonce must be 32 bytes in hex behind 0x'
  if (!isSignature(signature)) return 'signature must be 65 to 4,096 bytes in hex behind 0x'
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

function shown(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 64) : typeof value
}

function isText(value: unknown, charsMax: number): value is string {
  return typeof value === 'string' && value.length <= charsMax
}
