import { parseAmount } from '../../consensus/primitives/amount.ts'
import type { AgentClient } from './sdk/agent-client.ts'
import { PaymentRequiredError, SpendLimitError } from './sdk/errors.ts'
import { factsOf } from './sdk/networks.ts'
import { checkGiven, checkNoMore, invalid, KIND } from './sdk/options.ts'
import { NATIVE_SCHEME, readOffer } from './sdk/quotes.ts'
import type { NetworkName } from './sdk/shapes.ts'

/** CAIP-2 name of the native network in x402 version 2. Networks share the chain id, so the offer's genesis tells them apart. */
export const NATIVE_NETWORK = 'farthing:1'

/** An x402 offer as the official clients pass it to a scheme. */
export interface NativeRequirements {
  readonly scheme: string
  readonly network: string
  readonly asset: string
  readonly payTo: string
  readonly extra?: Readonly<Record<string, unknown>> | null
}

/** What the official clients pass to a scheme with the offer. */
export interface SchemeContext {
  /** The official client's own spending limit in base units. Older releases have none. */
  readonly maxAmountPerPayment?: string
  readonly extensions?: Readonly<Record<string, unknown>>
}

/** Proof of a native payment, as the official clients take it. */
export interface NativePayload {
  readonly x402Version: number
  readonly payload: { readonly txId: string; readonly secret: string }
}

/** `SchemeNetworkClient` of `@x402/core` for the scheme `native-x402`. */
export interface NativeScheme {
  readonly scheme: 'native-x402'
  createPaymentPayload(
    x402Version: number,
    requirements: NativeRequirements,
    context?: SchemeContext,
  ): Promise<NativePayload>
}

/**
 * The native rail for the public x402 clients (`@x402/fetch`, `@x402/axios`). It pays an offer within the ceilings of this client, waits
 * for the confirmations that the seller wants, and gives the proof. These clients do not show the request to a scheme, so the payment
 * commits to no request text and is only locked to its secret. The journal has the payment with `request` null. Errors:
 * `no_native_offer`, `over_call_limit`, and those of {@link AgentClient.payAndWait}.
 */
export function nativeScheme(client: AgentClient, ...more: readonly never[]): NativeScheme {
  checkGiven('nativeScheme', 'client', client, KIND.fields)
  checkNoMore('nativeScheme', more)
  return {
    scheme: NATIVE_SCHEME,
    async createPaymentPayload(x402Version, requirements, { maxAmountPerPayment } = {}) {
      const basis = {
        ...{ request: null, url: `x402:${requirements.network}` },
        ...{ nowMs: Date.now(), facts: client.network },
      }
      const quote = readOffer({ ...requirements }, basis)
      if (quote === undefined)
        throw new PaymentRequiredError('the native offer is not one that this client understands', {
          code: 'no_native_offer',
        })
      if (maxAmountPerPayment !== undefined && quote.amount > BigInt(maxAmountPerPayment))
        throw new SpendLimitError('not paid: over maxAmountPerPayment of spendControls', { code: 'over_call_limit' })
      const { txId, secret } = await client.payAndWait(quote)
      return { x402Version, payload: { txId, secret } }
    },
  }
}

/** Entry of `spendControls.allowedAssets`. The official clients refuse an asset that is not listed there. */
export interface NativeAsset {
  readonly network: typeof NATIVE_NETWORK
  readonly asset: string
  readonly maxAmountPerPayment: string
}

/** The native coin for `spendControls.allowedAssets`, with at most `maxCoins` (decimal text) a payment. */
export function nativeAsset(maxCoins: string, network: NetworkName = 'mainnet'): NativeAsset {
  const { ticker, decimals } = factsOf(network)
  checkGiven('nativeAsset', 'maxCoins', maxCoins, KIND.text)
  const most = parseAmount(maxCoins, decimals)
  if (!most.ok) throw invalid('nativeAsset: maxCoins must be coins as decimal text')
  return { network: NATIVE_NETWORK, asset: ticker, maxAmountPerPayment: most.value.toString() }
}
