import { parseAmount } from '../../consensus/primitives/amount.ts'
import type { AgentClient } from './sdk/agent-client.ts'
import { PaymentRequiredError, SpendLimitError } from './sdk/errors.ts'
import { factsOf } from './sdk/networks.ts'
import { checkGiven, checkNoMore, invalid, KIND } from './sdk/options.ts'
import { NATIVE_SCHEME, readOffer } from './sdk/quotes.ts'
import type { NetworkName } from './sdk/shapes.ts'

/** The network of the native rail in x402 of generation 2 (CAIP-2). The genesis in the offer tells the networks of one chain id apart. */
export const NATIVE_NETWORK = 'farthing:1'

/** An x402 offer as the official clients hand it to a scheme. */
export interface NativeRequirements {
  readonly scheme: string
  readonly network: string
  readonly asset: string
  readonly payTo: string
  readonly extra?: Readonly<Record<string, unknown>> | null
}

/** What the official clients hand to a scheme beside the offer. */
export interface SchemeContext {
  /** Their own spend control, in base units; older lines have none. */
  readonly maxAmountPerPayment?: string
  readonly extensions?: Readonly<Record<string, unknown>>
}

/** The proof of a native payment, in the form of the official clients. */
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
 * The native rail for the public x402 clients (`@x402/fetch`, `@x402/axios`): pays an offer within the ceilings of this client,
 * waits for its block and gives the proof. These clients do not show a scheme the request: the payment is locked to its secret
 * and commits to no request text. Errors: those of the guards; what was paid is in the client's journal, with `request` null.
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

/** Entry of `spendControls.allowedAssets` for the native coin: the official clients refuse assets that they do not know. */
export interface NativeAsset {
  readonly network: typeof NATIVE_NETWORK
  readonly asset: string
  readonly maxAmountPerPayment: string
}

/** The native coin for `spendControls.allowedAssets`, at most so many coins (decimal text) for each payment. */
export function nativeAsset(maxCoins: string, network: NetworkName = 'mainnet'): NativeAsset {
  const { ticker, decimals } = factsOf(network)
  checkGiven('nativeAsset', 'maxCoins', maxCoins, KIND.text)
  const most = parseAmount(maxCoins, decimals)
  if (!most.ok) throw invalid('nativeAsset: maxCoins must be coins as decimal text')
  return { network: NATIVE_NETWORK, asset: ticker, maxAmountPerPayment: most.value.toString() }
}
