import type { Chain } from '../../consensus/chain/chain.ts'
import { type OfferState, offerState } from '../cashier/offer-state.ts'
import { usdNumber } from '../json/chain-json.ts'
import { withTextsCut } from '../market/sample-texts.ts'
import type { MarketApi } from '../node/node-api.ts'
import { type DollarPrice, paymentInfo } from './payment-info.ts'

/** The facts of a service that its operation shows. */
export interface ServiceOperation {
  readonly serviceId: string
  readonly name: string
  readonly description: string
  readonly requestFormat: string
  readonly example: string
  readonly sample: object
  readonly priceUsd: number
  /** Null if dollars are not taken for it now. */
  readonly dollars: DollarPrice | null
}

/** The services that can be bought now. */
export function serviceOperations(chain: Chain, market: MarketApi): readonly ServiceOperation[] {
  return market.shop.offers.flatMap((offer) => {
    const { serviceId, name, description, requestFormat, example, sample } = offer.definition
    const state = offerState(chain, market, offer)
    if (state.reason !== null) return []
    const prices = { priceUsd: usdNumber(state.priceUsdMicros), dollars: dollarPrice(market, state) }
    return [{ serviceId, name, description, requestFormat, example, sample, ...prices }]
  })
}

function dollarPrice({ stable: rail }: MarketApi, { stable: state }: OfferState): DollarPrice | null {
  if (rail === null || state === null || state.reason !== null) return null
  const { asset, network } = rail.terms
  return { amount: state.amount.toString(), asset, network: network.caip2 }
}

/** The service in the recorded examples of the general operation. */
const RECORDED_ID = 'node-network-stats'
const COIN_USD = 0.25
const COIN_UNITS = 100_000_000

interface Response {
  readonly content?: Readonly<Record<string, { readonly example?: { readonly receipt?: object } }>>
}

/** The general operation with one service's price, format and examples. */
export function serviceOperation(service: ServiceOperation, general: object): object {
  const { serviceId, name, description, requestFormat, example, priceUsd, dollars } = service
  const { parameters, requestBody, responses, ...rest } = general as {
    readonly parameters: readonly { readonly in: string }[]
    readonly responses: Readonly<Record<string, Response>>
    readonly requestBody: { readonly content: Readonly<Record<string, object>> }
  }
  const content = { 'application/json': { ...requestBody.content['application/json'], example: { request: example } } }
  return {
    ...rest,
    operationId: `call-${serviceId}`,
    summary: name,
    description: `${description}\n\nRequest: ${requestFormat === '' ? 'optional context' : requestFormat}`,
    parameters: parameters.filter((parameter) => parameter.in !== 'path'),
    requestBody: { ...requestBody, content },
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [status, ownResponse(service, response)]),
    ),
    'x-payment-info': paymentInfo(priceUsd.toString(), dollars),
  }
}

/** The response for one service. An example recorded with another service is left out; a paid answer shows this one's sample. */
function ownResponse({ serviceId, sample, priceUsd }: ServiceOperation, { content, ...response }: Response): object {
  if (content === undefined) return response
  const own = Object.entries(content).map(([type, { example, ...media }]) => {
    if (example === undefined || !JSON.stringify(example).includes(RECORDED_ID)) return [type, { ...media, example }]
    if (example.receipt === undefined) return [type, media]
    const amount = priceUsd / COIN_USD
    const paid = { serviceId, amount, amountBaseUnits: String(Math.round(amount * COIN_UNITS)) }
    const { proof: _, ...receipt } = { ...example.receipt, ...paid } as Readonly<Record<string, unknown>>
    return [type, { ...media, example: { paid: true, result: withTextsCut(sample), receipt } }]
  })
  return { ...response, content: Object.fromEntries(own) }
}
