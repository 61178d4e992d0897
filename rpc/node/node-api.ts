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
import type { NetworkApi } from './network.ts'

/** The market as the API shows it. */
export interface MarketApi {
  readonly shop: Shop
  /** The till of calls that are paid in the native coin. */
  readonly till: NativeRail['till']
  readonly store: NativeClaimStore
  readonly price: NativePriceSource
  readonly settings: MarketSettings
  readonly settler: Settler
  readonly sender: Sender
  readonly workshop: Workshop
  /** The stablecoin rail, null where it is off. */
  readonly stable: DollarRail | null
}

/** The facilitator as the API shows it, with what it quotes by. */
export interface FacilitatorApi {
  readonly desk: Facilitator
  readonly price: NativePriceSource
  readonly settings: MarketSettings
}

/** One chat that is over, for logs and metrics. */
export interface ChatFacts {
  readonly requestId: string
  readonly model: string
  /** HTTP status; 499 where the caller went away, and that of the fault where a stream broke. */
  readonly status: number
  readonly seconds: number
  /** Time to the first piece of a stream; null where nothing was streamed. */
  readonly firstPieceSeconds: number | null
  readonly usage: ModelUsage
}

/** The chat platform as the API shows it. */
export interface ChatApi {
  readonly platform: ChatPlatform
  readonly voice: VoicePlatform
  readonly keys: ChatKeys
  /** What the node says of the platform. */
  readonly info: ChatInfo
  readonly tokensMax: number
  /**
   * Leave for one more chat beside those that are answered now; null where there are too many, or the node stops. To be called once
   * when it is over. `end` is called where it has to be over before that.
   */
  readonly enter: (end?: () => void) => (() => void) | null
  readonly onChat: (facts: ChatFacts) => void
}

/** What mining does at the moment. */
export interface MiningFacts {
  readonly threads: number
  readonly hashesPerSecond: number
  readonly rewardTo: Address | null
}

/** Which web pages may use the doors that are not for every page. */
export interface PageRules {
  /** Whether the node listens for its own machine only: then it goes by no other name. */
  readonly loopback: boolean
  /** Origins beside the node's own; `*` is all of them. */
  readonly allowedOrigins: readonly string[]
}

/** The node as the API sees it: everything is handed in, nothing is looked up. */
export interface NodeApi {
  readonly version: string
  readonly startedAtMs: number
  readonly clock: Clock
  readonly chain: Chain
  readonly mempool: Mempool
  readonly market: MarketApi | null
  readonly mining: () => MiningFacts
  /** Work for miners outside of this process. */
  readonly remoteWork: RemoteWork
  readonly peerCount: () => number
  /** Why the node is not ready, empty if it is. */
  readonly notReadyBecause: () => readonly string[]
  /** What the operator should know of the chain, for people; absent: nothing is watched. */
  readonly warnings?: () => readonly string[]
  /** Metrics in the Prometheus text format. */
  readonly metrics: () => Promise<string>
  /** The operator's secret, 64 hex digits. Without it no caller is the operator. */
  readonly operatorToken?: string
  /** Public base address, or null: then each request's Host header is it. */
  readonly publicUrl: string | null
  /** Absent: only pages of its own machine. */
  readonly pages?: PageRules
  /** Asks peers for the public keys behind an address; whether they are here now. Absent where there are no peers. */
  readonly fetchKeys?: (address: Address) => Promise<boolean>
  /** The peer-to-peer network; null or absent where it is off. */
  readonly network?: NetworkApi | null
  /** Judges payments for others' servers; null or absent where it is off. */
  readonly facilitator?: FacilitatorApi | null
  /** The chat platform; null or absent where it is off. */
  readonly chat?: ChatApi | null
  /** Pages where API keys are made; null or absent where there are none. */
  readonly dashboard?: DashboardApi | null
}
