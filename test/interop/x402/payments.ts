import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { JsonBody, Reply } from '../../support/api.ts'
import { type Authorization, authorization, type Signed, sign } from '../evm/authorization.ts'
import { CHAIN_ID } from '../evm/network.ts'

/** Generation of x402. */
export type Generation = 1 | 2

/** The stablecoin offer of a 402 answer, in either generation. */
export interface DollarOffer {
  readonly scheme: string
  readonly network: string
  readonly payTo: Hex
  readonly asset: Hex
  readonly maxTimeoutSeconds: number
  readonly extra: { readonly name: string; readonly version: string }
  /** Generation 1. */
  readonly maxAmountRequired?: string
  /** Generation 2. */
  readonly amount?: string
  readonly resource?: string
}

/** A 402 answer in the form of generation 2. */
export interface Terms {
  readonly x402Version: number
  readonly error: string
  readonly resource: { readonly url: string }
  readonly accepts: readonly DollarOffer[]
  readonly offers?: readonly DollarOffer[]
  readonly extensions: JsonBody
}

/** A payment object of x402, before it is encoded in a header. */
export interface PaymentObject {
  readonly x402Version: unknown
  readonly [name: string]: unknown
}

/** The header that carries a payment of a generation. */
export const HEADERS = { 1: 'x-payment', 2: 'payment-signature' } as const

/** Base64 of JSON, as in every header of x402. */
export function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}

/** Reads a header of x402. */
export function decode(header: string | null): unknown {
  if (header === null) throw new Error('the header is not there')
  return JSON.parse(Buffer.from(header, 'base64').toString('utf8'))
}

/** The terms in the header of a 402 answer. */
export function termsOf({ headers }: Reply<unknown>): Terms {
  return decode(headers.get('payment-required')) as Terms
}

/** The stablecoin offer of a 402 answer, in the form of a generation; also one that cannot be paid at present. */
export function dollarOffer(reply: Reply<unknown>, generation: Generation): DollarOffer {
  const { accepts, offers = [] } = generation === 2 ? termsOf(reply) : (reply.body as Pick<Terms, 'accepts' | 'offers'>)
  const offer = [...accepts, ...offers].find(({ scheme }) => scheme === 'exact')
  if (offer === undefined) throw new Error(`no stablecoin offer in ${reply.text}`)
  return offer
}

/** Price of an offer, in units. */
export function unitsOf({ amount, maxAmountRequired }: DollarOffer): string {
  // In generation 1, `amount` is a readable number; in generation 2 it is the units.
  return maxAmountRequired ?? (amount as string)
}

/** Signs the authorization of an offer, with the changes given. */
export function signOffer(
  payer: PrivateKeyAccount,
  offer: DollarOffer,
  change: Partial<Authorization> = {},
): Promise<Signed> {
  const { payTo, maxTimeoutSeconds } = offer
  const validBefore = String(Math.floor(Date.now() / 1_000) + maxTimeoutSeconds)
  const asked = { from: payer.address, to: payTo, value: unitsOf(offer), validBefore }
  return sign(payer, authorization({ ...asked, ...change }), domainOf(offer))
}

/** EIP-712 domain of an offer's token. Generation 1 names the network by a word, here always that of Base's test network. */
function domainOf({ network, asset, extra }: DollarOffer) {
  const [, reference] = network.split(':')
  const chainId = reference === undefined ? CHAIN_ID : Number(reference)
  return { ...extra, chainId, verifyingContract: asset }
}

export function paymentObject(generation: Generation, offer: DollarOffer, payload: unknown): PaymentObject {
  const { scheme, network } = offer
  return generation === 1
    ? { x402Version: 1, scheme, network, payload }
    : { x402Version: 2, resource: { url: 'http://127.0.0.1/' }, accepted: offer, payload }
}

/** The header that carries a payment. */
export function carried(generation: Generation, payment: unknown): Readonly<Record<string, string>> {
  return { [HEADERS[generation]]: typeof payment === 'string' ? payment : encode(payment) }
}

/** Body of the node's answer to a paid call. */
export interface PaidBody {
  readonly paid: boolean
  readonly result: JsonBody
  readonly receipt: JsonBody & { readonly txId: Hex; readonly caller: Hex; readonly amountBaseUnits: string }
}
