import type { Chain } from '../consensus/chain/chain.ts'
import { offerState } from './cashier/offer-state.ts'
import { usdNumber } from './json.ts'
import type { MarketApi } from './node.ts'

/** A service as the document of the API shows it. */
export interface ServiceOperation {
  readonly serviceId: string
  readonly name: string
  readonly description: string
  readonly requestFormat: string
  readonly example: string
  readonly priceUsd: number
}

/** The services that can be bought now, for the document. */
export function serviceOperations(chain: Chain, market: MarketApi): readonly ServiceOperation[] {
  return market.shop.offers.flatMap((offer) => {
    const { serviceId, name, description, requestFormat, example } = offer.definition
    const { reason, priceUsdMicros } = offerState(chain, market, offer)
    if (reason !== null) return []
    return [{ serviceId, name, description, requestFormat, example, priceUsd: usdNumber(priceUsdMicros) }]
  })
}

/** The operation of one service: that of all of them, with its own price, format and example. */
export function serviceOperation(
  { serviceId, name, description, requestFormat, example, priceUsd }: ServiceOperation,
  general: object,
): object {
  const { parameters, requestBody, ...rest } = general as {
    readonly parameters: readonly { readonly in: string }[]
    readonly requestBody: { readonly content: Readonly<Record<string, object>> }
  }
  const price = priceUsd.toString()
  const content = { 'application/json': { ...requestBody.content['application/json'], example: { request: example } } }
  return {
    ...rest,
    operationId: `call-${serviceId}`,
    summary: name,
    description: `${description}\n\nRequest: ${requestFormat === '' ? 'optional context' : requestFormat}`,
    parameters: parameters.filter((parameter) => parameter.in !== 'path'),
    requestBody: { ...requestBody, content },
    'x-payment-info': { protocols: ['x402'], price: { mode: 'dynamic', currency: 'USD', min: price, max: price } },
  }
}
