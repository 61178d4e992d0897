import type { Config } from '../../config/settings.ts'
import type { Chain } from '../../consensus/chain/chain.ts'
import { parseAddress } from '../../consensus/crypto/address.ts'
import { formatAmount } from '../../consensus/primitives/amount.ts'
import { type Fault, fault, faultMessage } from '../../consensus/primitives/fault.ts'
import type { Address, AgentId } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { fitsText } from '../../consensus/primitives/text.ts'
import { isEndpoint, NAME_BYTES_MAX } from '../../consensus/tx/payloads.ts'
import type { Outside } from '../../marketplace/ports/outside.ts'
import type { ServiceContext } from '../../marketplace/services/context.ts'
import type { ServiceDefinition } from '../../marketplace/services/service.ts'
import type { NativeClaimStore } from '../../marketplace/till/rails/native/claim.ts'
import { NativeRail } from '../../marketplace/till/rails/native/native-rail.ts'
import { ValueAtRisk } from '../../marketplace/till/rails/native/payment.ts'
import { chainPrice } from '../../marketplace/till/rails/native/price.ts'
import { Registrar } from '../../marketplace/till/rails/native/registrar.ts'
import { Sender } from '../../marketplace/till/rails/native/sender.ts'
import { Settler } from '../../marketplace/till/rails/native/settler.ts'
import { Twin } from '../../marketplace/till/rails/native/twin.ts'
import type { ReceiptSigner } from '../../marketplace/till/rails/tab/tab-receipts.ts'
import { missingTerms } from '../../marketplace/till/rails/tab/terms.ts'
import { DEFAULT_MARKET_SETTINGS, type MarketSettings } from '../../marketplace/till/settings.ts'
import { type Offer, type Operator, Shop } from '../../marketplace/till/shop.ts'
import { Takeover } from '../../marketplace/till/takeover.ts'
import { Workshop } from '../../marketplace/till/workshop.ts'
import type { Mempool } from '../../mempool/mempool.ts'
import type { MarketApi } from '../../rpc/node/node-api.ts'
import { nativePowHasher } from '../crypto/native-pow.ts'
import { halfVerdicts, isTabSignature, signatureFacts } from '../crypto/signature-facts.ts'
import type { WalletKey } from '../crypto/wallet-key.ts'
import { callersUrl } from '../daemon/own-url.ts'
import { systemClock, systemTimers } from '../daemon/runtime.ts'

/** The parts that the market is built from. */
export interface MarketParts {
  readonly config: Config
  readonly chain: Chain
  readonly mempool: Mempool
  readonly store: NativeClaimStore
  readonly wallet: WalletKey
  /** Signs the receipts of tabs. */
  readonly receipts: ReceiptSigner
  /** Marks the registration of this data folder if other nodes may have the same wallet key; else null. */
  readonly sharedKeyMark: Uint8Array | null
  readonly services: readonly ServiceDefinition[]
  readonly peerCount: () => number
  readonly outside: Outside
  readonly onFault: (area: string, fault: Fault) => void
  /** Called with errors that only a failing disk can cause. */
  readonly onError: (error: unknown) => void
}

/** The market, with the loops that the daemon starts and stops. */
export interface Market extends MarketApi {
  readonly registrar: Registrar
  /** What a reorganisation could take, over all rails. */
  readonly atRisk: ValueAtRisk
  /** Takes up claims that other replicas left; null if the claims are not shared. */
  readonly takeover: Takeover | null
}

const USD_DECIMALS = 6
const HOUR_MS = 3_600_000
const MIB = 1_048_576

/** Builds the market for an operator's wallet. */
export function createMarket(parts: MarketParts): Result<Market> {
  const { config, chain, mempool, store, services, onFault } = parts
  const operator = operatorOf(parts)
  if (!operator.ok) return operator
  const offers = services.map(
    (definition): Offer => ({
      definition,
      priceUsdMicros: config.market.prices[definition.serviceId] ?? definition.priceUsdMicros,
    }),
  )
  // Receipts earn the operator money. Other transactions must not push them out of the operator's own blocks.
  mempool.protect(operator.value.settler.address)
  const shop = new Shop(operator.value, offers, serviceContext(parts))
  const sender = new Sender(chain, mempool, operator.value.settler)
  const onAway = (reason: string): void => onFault('claims', fault('market/claims-away', { reason }))
  const takeover = store.shared === undefined ? null : new Takeover(store.shared, systemTimers, onAway)
  const settler = new Settler({
    chain,
    shop,
    store,
    sender,
    timers: systemTimers,
    onFault: (cause) => onFault('receipts', cause),
    isHeld: () => takeover !== null && takeover.heldBecause !== null,
  })
  const settings = settingsOf(config)
  const price = chainPrice(chain)
  const workshop = new Workshop(chain, systemClock)
  const atRisk = new ValueAtRisk(chain, price)
  const { till } = new NativeRail({
    chain,
    shop,
    store,
    sink: mempool,
    price,
    settings,
    settler,
    workshop,
    atRisk,
    clock: systemClock,
    timers: systemTimers,
    onError: parts.onError,
  })
  takeover?.join(till)
  shop.closeWhile(() => takeover?.heldBecause ?? null)
  const twin = parts.sharedKeyMark === null ? null : new Twin(chain, shop, parts.sharedKeyMark)
  shop.closeWhile(() => (twin?.sells === true ? faultMessage(fault('market/shared-keys')) : null))
  const { tabs: isOn, tabCloseDelay: closeDelay } = config.market
  const selling = { isOn, closeDelay, receiptKey: parts.receipts.key }
  const registrar = new Registrar({
    ...{ chain, shop, sender, twin },
    tabTerms: () => missingTerms({ chain, shop }, selling),
    onFault: (cause) => onFault('registration', cause),
  })
  const rails = { till, atRisk, stable: null, tabs: null }
  return ok({ shop, store, price, settings, settler, sender, registrar, workshop, takeover, ...rails })
}

function operatorOf({ config, chain, wallet, services }: MarketParts): Result<Operator> {
  const { addressPrefix } = chain.ruleBook.params
  const { market, rpc } = config
  const refused = checkSettings(config, services)
  if (refused !== null) return fail(refused)
  const owner = market.owner === null ? ok(wallet.address) : parseAddress(addressPrefix, market.owner)
  if (!owner.ok) return owner
  const settlers = allOk(market.settlers.map((text) => parseAddress(addressPrefix, text)))
  if (!settlers.ok) return settlers
  const payout = market.payout === null ? owner : parseAddress(addressPrefix, market.payout)
  if (!payout.ok) return payout
  return ok({
    agentId: (market.agentId ?? defaultAgentId(owner.value)) as AgentId,
    name: market.agentName,
    endpoint: rpc.publicUrl ?? '',
    url: callersUrl(rpc),
    owner: owner.value,
    payout: payout.value,
    settler: wallet,
    otherSettlers: settlers.value.filter((address) => address !== wallet.address),
  })
}

function allOk<T>(results: readonly Result<T>[]): Result<readonly T[]> {
  const values: T[] = []
  for (const result of results) {
    if (!result.ok) return result
    values.push(result.value)
  }
  return ok(values)
}

/**
 * Checks settings whose faults would show only later: with a name or URL that consensus refuses, the node would start, fail to register,
 * and never sell.
 */
function checkSettings({ market, rpc: { publicUrl } }: Config, services: readonly ServiceDefinition[]): Fault | null {
  const { agentName, prices, nativeUsdMinMicros, nativeUsdMaxMicros } = market
  if (!fitsText(agentName, NAME_BYTES_MAX)) {
    const allowed = `at most ${NAME_BYTES_MAX} bytes of visible text`
    return fault('config/value', { key: 'market.agent-name', value: agentName, allowed })
  }
  if (publicUrl !== null && !isEndpoint(publicUrl)) {
    const allowed = 'an http(s) URL of at most 200 ASCII characters'
    return fault('config/value', { key: 'rpc.public-url', value: publicUrl, allowed })
  }
  if (nativeUsdMinMicros !== null && nativeUsdMaxMicros !== null && nativeUsdMinMicros > nativeUsdMaxMicros) {
    const value = formatAmount(nativeUsdMaxMicros, USD_DECIMALS)
    const allowed = `at least market.native-usd-min, ${formatAmount(nativeUsdMinMicros, USD_DECIMALS)}`
    return fault('config/value', { key: 'market.native-usd-max', value, allowed })
  }
  const ids = services.map(({ serviceId }) => serviceId as string)
  const stranger = Object.keys(prices).find((serviceId) => !ids.includes(serviceId))
  return stranger === undefined
    ? null
    : fault('config/value', { key: 'market.prices', value: stranger, allowed: ids.join(', ') })
}

function defaultAgentId(owner: Address): string {
  return `farthing-${owner.slice(0, 12)}`
}

/** The operator's settings of the market. */
export function settingsOf({ market }: Pick<Config, 'market'>): MarketSettings {
  return {
    ...DEFAULT_MARKET_SETTINGS,
    settleWaitMs: market.settleWaitMs,
    resultKeepMs: market.resultKeepHours * HOUR_MS,
    resultBytesMax: market.resultKeepMib * MIB,
    minPoolDepthMicros: market.minPoolDepthMicros,
    nativeUsdMinMicros: market.nativeUsdMinMicros,
    nativeUsdMaxMicros: market.nativeUsdMaxMicros,
  }
}

/** The context of services on this node. */
export function serviceContext({
  chain,
  mempool,
  peerCount,
  outside,
}: Pick<MarketParts, 'chain' | 'mempool' | 'peerCount' | 'outside'>): ServiceContext {
  return {
    chain,
    clock: systemClock,
    peerCount,
    signatureFacts: (tx) => signatureFacts(chain, tx),
    halfVerdicts,
    isTabSignature,
    powHasher: nativePowHasher,
    shelf: null,
    outside,
    mempool: mempoolFacts(mempool),
  }
}

/** Each read gives the present value. */
export function mempoolFacts(mempool: Mempool): ServiceContext['mempool'] {
  return {
    get count() {
      return mempool.count
    },
    get bytes() {
      return mempool.bytes
    },
    bytesMax: mempool.policy.bytesMax,
    get suggestedRate() {
      return mempool.minFeeRate + 1n
    },
    get: (txId) => mempool.get(txId),
  }
}
