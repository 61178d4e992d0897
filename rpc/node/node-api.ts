import type { Chain } from '../../consensus/chain/chain.ts'
import type { Clock } from '../../consensus/chain/ports.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import type { ChatInfo } from '../../marketplace/chat/info/chat-info.ts'
import type { ChatKeys } from '../../marketplace/chat/keys/keys.ts'
import type { ChatPlatform } from '../../marketplace/chat/platform.ts'
import type { VoicePlatform } from '../../marketplace/chat/voice/voice-platform.ts'
import type { Facilitator } from '../../marketplace/facilitator/facilitator.ts'
import type { ModelUsage } from '../../marketplace/ports/models.ts'
import type { DollarRail } from '../../marketplace/till/rails/dollar/dollar-rail.ts'
import type { NativeClaimStore } from '../../marketplace/till/rails/native/claim.ts'
import type { NativeRail } from '../../marketplace/till/rails/native/native-rail.ts'
import type { NativePriceSource } from '../../marketplace/till/rails/native/price.ts'
import type { Sender } from '../../marketplace/till/rails/native/sender.ts'
import type { Settler } from '../../marketplace/till/rails/native/settler.ts'
import type { MarketSettings } from '../../marketplace/till/settings.ts'
import type { Shop } from '../../marketplace/till/shop.ts'
import type { Workshop } from '../../marketplace/till/workshop.ts'
import type { Mempool } from '../../mempool/mempool.ts'
import type { RemoteWork } from '../../miner/remote-work.ts'
import type { DashboardApi } from '../chat/dashboard/desk.ts'
import type { ChannelDesk } from './channel-desk.ts'
import type { NetworkApi } from './network.ts'
import type { TabDesk } from './tab-desk.ts'

/** The market, as the API sees it. */
export interface MarketApi {
  readonly shop: Shop
  readonly till: NativeRail['till']
  readonly store: NativeClaimStore
  readonly price: NativePriceSource
  readonly settings: MarketSettings
  readonly settler: Settler
  readonly sender: Sender
  readonly workshop: Workshop
  /** Null if the dollar rail is off. */
  readonly stable: DollarRail | null
  /** Null if this node takes no tabs. */
  readonly tabs: TabDesk | null
  /** Null or absent if this node takes no channels of an EVM network. */
  readonly channels?: ChannelDesk | null
}

/** The facilitator, as the API sees it, and what it quotes with. */
export interface FacilitatorApi {
  readonly desk: Facilitator
  readonly price: NativePriceSource
  readonly settings: MarketSettings
}

/** One finished chat, for logs and metrics. */
export interface ChatFacts {
  readonly requestId: string
  readonly model: string
  /** HTTP status; 499 if the caller left, the fault's status if a stream broke. */
  readonly status: number
  readonly seconds: number
  /** Time to the first piece of a stream; null if none came. */
  readonly firstPieceSeconds: number | null
  readonly usage: ModelUsage
}

/** The chat platform, as the API sees it. */
export interface ChatApi {
  readonly platform: ChatPlatform
  readonly voice: VoicePlatform
  readonly keys: ChatKeys
  readonly info: ChatInfo
  readonly tokensMax: number
  /** Time for all stages of an answer. */
  readonly budgetMs: number
  /**
   * Admits one more chat; null if there are too many, or the node stops. The returned function must be called once,
   * when the chat is over. `end` is called if it must end early.
   */
  readonly enter: (end?: () => void) => (() => void) | null
  readonly onChat: (facts: ChatFacts) => void
}

/** State of mining. */
export interface MiningFacts {
  readonly threads: number
  readonly hashesPerSecond: number
  readonly rewardTo: Address | null
}

/** Which web pages may use the interfaces that are closed to foreign pages. */
export interface PageRules {
  /** Whether the node listens on its own machine only. Then only local host names and its public one are accepted. */
  readonly loopback: boolean
  /** Origins beside the node's own; `*` allows all. */
  readonly allowedOrigins: readonly string[]
}

/** The node, as the API sees it. */
export interface NodeApi {
  readonly version: string
  readonly startedAtMs: number
  readonly clock: Clock
  readonly chain: Chain
  readonly mempool: Mempool
  readonly market: MarketApi | null
  readonly mining: () => MiningFacts
  /** Work for miners in other processes. */
  readonly remoteWork: RemoteWork
  readonly peerCount: () => number
  /** Why the node is not ready, empty if it is. */
  readonly notReadyBecause: () => readonly string[]
  /** Warnings about the chain for the operator; absent if the node does not watch for them. */
  readonly warnings?: () => readonly string[]
  /** Metrics in the Prometheus text format. */
  readonly metrics: () => Promise<string>
  /** The operator's secret, 64 hex digits. Without it no caller is the operator. */
  readonly operatorToken?: string
  /** Public base address. Null: each request's Host header stands for it. */
  readonly publicUrl: string | null
  /** Absent: the rules of a node that listens on its own machine only and allows no origin besides its own. */
  readonly pages?: PageRules
  /** Asks peers for the public keys of an address. Resolves with whether they are known. Absent without peers. */
  readonly fetchKeys?: (address: Address) => Promise<boolean>
  /** The peer-to-peer network; null or absent if it is off. */
  readonly network?: NetworkApi | null
  /** Checks payments for other sellers; null or absent if it is off. */
  readonly facilitator?: FacilitatorApi | null
  /** The chat platform; null or absent if it is off. */
  readonly chat?: ChatApi | null
  /** Pages to make API keys; null or absent if there are none. */
  readonly dashboard?: DashboardApi | null
}
