import { workOfTarget } from '../../consensus/block/pow.ts'
import { executedFrom } from '../../consensus/chain/adoption.ts'
import { nextBaseFee } from '../../mempool/admission.ts'
import { offerState } from '../cashier/offer-state.ts'
import { PerHead } from '../discovery/per-head.ts'
import { addressText, moment } from '../json/chain-json.ts'
import type { NodeApi } from '../node/node-api.ts'
import { openApiText } from '../openapi/openapi.ts'
import { serviceOperations } from '../openapi/openapi-services.ts'
import { answer, type Handler } from '../server/answer.ts'
import { homePage } from '../web/home.ts'
import { pageAnswer } from '../web/layout.ts'

/** The status of this node. */
export const getStatus: Handler<'getStatus'> = (node) => {
  const { chain, mempool } = node
  const { params, fingerprint } = chain.ruleBook
  const { header, id, totalWork } = chain.head
  const { rewardTo, ...mining } = node.mining()
  return answer({
    version: node.version,
    networkName: params.name,
    network: 'mainnet',
    chainId: chain.network.chainId,
    genesis: chain.network.genesis,
    rules: fingerprint,
    ticker: params.ticker,
    decimals: params.decimals,
    addressPrefix: params.addressPrefix,
    height: header.height,
    executedFrom: executedFrom(chain.database),
    indexedFrom: chain.database.indexedFrom,
    held: chain.database.held,
    sync: node.network?.sync?.() ?? null,
    blockId: id,
    blockTime: moment(header.timeMs),
    stateRoot: header.stateRoot,
    totalWork: totalWork.toString(),
    difficulty: workOfTarget(chain.childOf(chain.head).target).toString(),
    baseFee: nextBaseFee(chain).toString(),
    mempool: { count: mempool.count, bytes: mempool.bytes },
    peers: node.peerCount(),
    mining: { ...mining, rewardTo: rewardTo === null ? null : addressText(params.addressPrefix, rewardTo) },
    market: marketFacts(node),
    ready: node.notReadyBecause().length === 0,
    warnings: node.warnings?.() ?? [],
    startedAt: moment(node.startedAtMs),
  })
}

function marketFacts({ chain, market }: NodeApi) {
  const { offers } = market?.shop ?? { offers: [] }
  return {
    enabled: market !== null,
    agentId: market?.shop.operator.agentId ?? null,
    services: offers.length,
    available: market === null ? 0 : offers.filter((offer) => offerState(chain, market, offer).reason === null).length,
    running: market?.till.runningCount ?? 0,
    receiptsOwed: market?.settler.owedCount ?? 0,
  }
}

/** Liveness: the process answers. */
export const getHealth: Handler<'getHealth'> = () => answer({ status: 'ok' })

/** Readiness, with reasons if the node is not ready. */
export const getReady: Handler<'getReady'> = (node) => {
  const reasons = node.notReadyBecause()
  return reasons.length === 0 ? answer({ ready: true, reasons }) : { status: 503, json: { ready: false, reasons } }
}

/** Metrics for Prometheus. */
export const getMetrics: Handler<'getMetrics'> = async (node) => ({
  status: 200,
  content: await node.metrics(),
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
})

const OPENAPI = new PerHead<string>(4)

/** The OpenAPI document. */
export const getOpenApi: Handler<'getOpenApi'> = (node, { baseUrl }) => {
  const { chain, market } = node
  const text = (): string => openApiText(baseUrl, market === null ? [] : serviceOperations(chain, market))
  return { status: 200, content: OPENAPI.get(node, baseUrl, text), contentType: 'application/json; charset=utf-8' }
}

/** Tells caches that the answer depends on `Accept`. */
const BY_ACCEPT = { vary: 'Accept' }

/** A page for browsers, links in JSON for programs. */
export const getHome: Handler<'getHome'> = (node, { accept, baseUrl }) => {
  if (accept.includes('text/html')) return pageAnswer(homePage(node, baseUrl), 200, BY_ACCEPT)
  const links = {
    name: 'Farthing',
    links: {
      status: `${baseUrl}/api/v1/status`,
      services: `${baseUrl}/services.json`,
      catalogue: `${baseUrl}/agents`,
      llms: `${baseUrl}/llms.txt`,
      protocol: `${baseUrl}/.well-known/x402`,
      openapi: `${baseUrl}/openapi.json`,
      metrics: `${baseUrl}/metrics`,
    },
  }
  return { status: 200, json: links, headers: BY_ACCEPT }
}
