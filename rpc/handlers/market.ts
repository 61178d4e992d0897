import type { Chain } from '../../consensus/chain/chain.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { callGap } from '../../marketplace/queries/known-past.ts'
import type { DollarRail } from '../../marketplace/till/rails/dollar/dollar-rail.ts'
import type { REQUEST_STATUS } from '../contract/market.ts'
import type { Static } from '../contract/schema.ts'
import { matching } from '../discovery/listings.ts'
import { moment } from '../json/chain-json.ts'
import { type AnyClaim, dollarStatus, isNative, recentOfBoth } from '../market/dollar-requests.ts'
import { nativeUsd, noService, protocolDocument, registryEntries } from '../market/registry.ts'
import { requestStatus, unredeemedStatus } from '../market/requests.ts'
import type { MarketApi } from '../node/node-api.ts'
import { answer, type Handler } from '../server/answer.ts'
import { badCursor } from '../server/at-head.ts'

const PAGE_DEFAULT = 50

/** The free sample of a service. */
export const getExample: Handler<'getExample'> = ({ market }, { params }) => {
  const serviceId = params.serviceId
  const definition = market?.shop.offer(serviceId)?.definition
  if (definition === undefined)
    return market === null ? fault('service/not-found', { serviceId }) : noService(market, serviceId)
  const { example, requestFormat, sample, resultSchema } = definition
  return answer({ serviceId, sample: true, request: example, requestFormat, result: sample, resultSchema })
}

/** The services of the registry that match a filter. */
export const listServices: Handler<'listServices'> = (node, { query, baseUrl }) => {
  const all = registryEntries(node, baseUrl)
  const [q, capability] = [query.q ?? query.query, query.capability].map((value) =>
    value === undefined ? undefined : String(value),
  )
  const services = matching(node, all, (entry) => entry, { q, capability })
  return answer({
    network: 'mainnet',
    networkName: node.chain.ruleBook.params.name,
    // All networks have chain id 1. They differ by their genesis.
    chainId: node.chain.network.chainId as 1,
    nativeUsd: nativeUsd(node),
    updatedAt: moment(node.chain.head.header.timeMs),
    nodeOperatedCount: all.length,
    count: services.length,
    services,
  })
}

/** The payment protocol document. */
export const getProtocol: Handler<'getProtocol'> = (node, { baseUrl }) => answer(protocolDocument(node, baseUrl))

/** A page of the paid calls of both rails, from the newest to the oldest. */
export const listRequests: Handler<'listRequests'> = async ({ chain, market }, { query }) => {
  if (market === null) return fault('rpc/no-market')
  const cursor = query.cursor ?? null
  if (cursor !== null && !/^[0-9]{15}\/[0-9a-f]{64}$/.test(cursor)) return badCursor()
  const serviceId = query.serviceId
  const page = await recentOfBoth(market, { limit: query.limit ?? PAGE_DEFAULT, cursor, serviceId })
  return answer({
    requests: page.claims.map((claim) => statusOf(chain, market, claim)),
    nextCursor: page.nextCursor,
  })
}

function statusOf(chain: Chain, market: MarketApi, claim: AnyClaim): Static<typeof REQUEST_STATUS> {
  return isNative(claim) ? requestStatus({ chain, market }, claim) : dollarStatus(market.stable as DollarRail, claim)
}

/** One paid call on either rail. */
export const getRequest: Handler<'getRequest'> = async ({ chain, market }, { params }) => {
  if (market === null) return fault('rpc/no-market')
  const txId = params.txId as TxId
  const claim: AnyClaim | undefined = (await market.store.get(txId)) ?? (await market.stable?.store.get(txId))
  const status = claim === undefined ? unredeemedStatus({ chain, market }, txId) : statusOf(chain, market, claim)
  return status === undefined ? (callGap(chain, txId) ?? fault('rpc/request-not-found', { txId })) : answer(status)
}
