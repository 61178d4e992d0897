import { createHash } from 'node:crypto'
import {
  type GossipSub,
  type GossipSubComponents,
  gossipsub,
  StrictNoSign,
  TopicValidatorResult,
} from '@libp2p/gossipsub'
import type { PeerId as LibPeerId } from '@libp2p/interface'
import { LruSet } from '../../../consensus/primitives/lru.ts'
import type { GossipJudge, NetworkLog, PeerId, TopicName, Verdict } from '../network.ts'
import { TOPIC_BYTES_MAX, topicId } from '../wire/protocols.ts'
import type { Blame, Links } from './links.ts'
import { GossipMeter } from './meter.ts'
import { reasonOf } from './streams.ts'

const MIB = 1_048_576

/** Longest RPC: the longest message, or a batch of short ones. */
const FRAME_MAX = 2 * MIB
/** Bytes that may wait for a peer that reads slowly. Beyond that its stream is reset and the peer is disconnected. */
const OUTBOUND_MAX = 2.5 * MIB
/**
 * Most messages that are judged at the same time: of all peers, and of one. Further messages are dropped and may come again from another
 * peer.
 */
const JUDGED_MAX = { all: { count: 1_024, bytes: 32 * MIB }, peer: { count: 256, bytes: 4 * MIB } } as const
/** Ids of messages judged `ignore`. Such a message can still be published once it turns out good. */
const IGNORED_KEPT = 8_192
const TOPICS = Object.keys(TOPIC_BYTES_MAX) as readonly TopicName[]
/** Only one protocol name. Gossipsub would open a stream for each name. */
const PROTOCOL = '/meshsub/1.2.0'

/**
 * Score within the mesh. Time and deliveries earn little, so that no peer saves up for invalid messages. Quiet topics cost nothing. Three
 * invalid messages end all gossip with a peer for a while. Other offences are punished by points (`OFFENCES`).
 */
const TOPIC_SCORE = {
  topicWeight: 1,
  timeInMeshWeight: 0.01,
  timeInMeshQuantum: 1_000,
  timeInMeshCap: 300,
  firstMessageDeliveriesWeight: 0.1,
  firstMessageDeliveriesDecay: 0.99,
  firstMessageDeliveriesCap: 50,
  meshMessageDeliveriesWeight: 0,
  meshMessageDeliveriesDecay: 0.5,
  meshMessageDeliveriesCap: 100,
  meshMessageDeliveriesThreshold: 20,
  meshMessageDeliveriesWindow: 10,
  meshMessageDeliveriesActivation: 5_000,
  meshFailurePenaltyWeight: 0,
  meshFailurePenaltyDecay: 0.5,
  invalidMessageDeliveriesWeight: -20,
  invalidMessageDeliveriesDecay: 0.99,
}
const PEER_SCORE = {
  topicScoreCap: 10,
  // The peer manager limits the connections of an address.
  IPColocationFactorWeight: 0,
  behaviourPenaltyWeight: -10,
  behaviourPenaltyThreshold: 6,
  behaviourPenaltyDecay: 0.9,
}
const THRESHOLDS = {
  gossipThreshold: -40,
  publishThreshold: -80,
  graylistThreshold: -160,
  // The peer manager chooses our connections, so no score is high enough to tell us of peers here.
  acceptPXThreshold: Number.POSITIVE_INFINITY,
}
/** Far more than an honest node puts into one RPC. */
const RPC_LIMITS = {
  maxSubscriptions: 64,
  maxMessages: 1_024,
  maxIhaveMessageIDs: 5_000,
  maxIwantMessageIDs: 5_000,
  maxIdontwantMessageIDs: 512,
  maxControlMessages: 256,
  maxPeerInfos: 16,
}

/** What gossip works with. */
export interface GossipDependencies {
  readonly genesis: string
  readonly links: Links
  readonly blame: Blame
  readonly log: NetworkLog
}

/** Members of gossipsub that its public type does not show. */
interface GossipInside {
  readonly seenCache: { readonly entries: Map<string, unknown> }
  getMeshPeers(topic: string): string[]
  getScore(peer: string): number
}

/** Blocks and transactions by gossipsub. Every message is judged before it is passed on. */
export class Gossip {
  readonly #deps: GossipDependencies
  readonly #meter: GossipMeter
  readonly #judges = new Map<TopicName, GossipJudge>()
  readonly #load = new Map<PeerId | 'all', { count: number; bytes: number }>()
  readonly #ignored = new LruSet<string>(IGNORED_KEPT)
  #pubsub: (GossipSub & GossipInside) | undefined
  #started = false

  constructor(dependencies: GossipDependencies) {
    this.#deps = dependencies
    this.#meter = new GossipMeter({ links: dependencies.links, frameMax: FRAME_MAX, protocol: PROTOCOL })
  }

  service(): (components: GossipSubComponents) => GossipSub {
    const build = gossipsub({
      globalSignaturePolicy: StrictNoSign,
      fallbackToFloodsub: false,
      // Our own messages go to every subscriber whose score is not bad: a node that joined a moment ago is in no mesh yet.
      floodPublish: true,
      allowedTopics: TOPICS.map((topic) => this.#wireName(topic)),
      allowPublishToZeroTopicPeers: true,
      ignoreDuplicatePublishError: true,
      msgIdFn: ({ data }) => idOf(data),
      msgIdToStrFn: textOf,
      maxInboundDataLength: FRAME_MAX,
      maxOutboundBufferSize: OUTBOUND_MAX,
      maxInboundStreams: 4,
      maxOutboundStreams: 4,
      decodeRpcLimits: RPC_LIMITS,
      scoreParams: {
        ...PEER_SCORE,
        topics: Object.fromEntries(TOPICS.map((topic) => [this.#wireName(topic), TOPIC_SCORE])),
      },
      scoreThresholds: THRESHOLDS,
    })
    return (components) => {
      const pubsub = build(this.#meter.components(components)) as GossipSub & GossipInside
      pubsub.protocols = [PROTOCOL]
      this.#pubsub = pubsub
      return pubsub
    }
  }

  setJudge(topic: TopicName, judge: GossipJudge): void {
    if (this.#judges.has(topic)) throw new Error(`${topic} is judged already`)
    this.#judges.set(topic, judge)
    const id = this.#wireName(topic)
    this.#pubsub?.topicValidators.set(id, async (from, { data }) => await this.#verdict(topic, judge, from, data))
    if (this.#started) this.#pubsub?.subscribe(id)
  }

  start(): void {
    this.#started = true
    for (const topic of this.#judges.keys()) this.#pubsub?.subscribe(this.#wireName(topic))
  }

  /** Streams that end from here on have no consequences. */
  stop(): void {
    this.#meter.stop()
  }

  /** It never throws. If no peer listens, the message is lost. */
  publish(topic: TopicName, body: Uint8Array): void {
    const id = textOf(idOf(body))
    if (this.#ignored.has(id)) this.#forget(id)
    void this.#pubsub?.publish(this.#wireName(topic), body).catch((error: unknown) => {
      this.#deps.log.debug({ topic, reason: reasonOf(error) }, 'a message was not published')
    })
  }

  meshOf(topic: TopicName): readonly PeerId[] {
    return (this.#pubsub?.getMeshPeers(this.#wireName(topic)) ?? []) as PeerId[]
  }

  scoreOf(peer: PeerId): number {
    return this.#pubsub?.getScore(peer) ?? 0
  }

  async #verdict(
    ...[topic, judge, sender, data]: [TopicName, GossipJudge, LibPeerId, Uint8Array]
  ): Promise<TopicValidatorResult> {
    const from = sender.toString() as PeerId
    if (data.length > TOPIC_BYTES_MAX[topic]) {
      this.#deps.blame(from, 'oversize', topic)
      return TopicValidatorResult.Reject
    }
    if (!this.#enter(from, data.length)) {
      this.#forget(textOf(idOf(data)))
      return TopicValidatorResult.Ignore
    }
    const link = this.#deps.links.of(from)
    const time = link?.work.judging()
    let verdict: Verdict = 'ignore'
    try {
      verdict = await judge(from, data, time)
      const isExcused = verdict === 'accept' || (verdict === 'ignore' && link?.ignoredBytes.spend(data.length))
      if (isExcused) link?.unaskedBytes.giveBack(data.length)
      return this.#resultOf(verdict, data)
    } catch (error) {
      this.#deps.log.warn({ topic, reason: reasonOf(error) }, 'a message could not be judged')
      return TopicValidatorResult.Ignore
    } finally {
      if (verdict !== 'accept') time?.charge()
      this.#leave(from, data.length)
    }
  }

  #resultOf(verdict: Verdict, data: Uint8Array): TopicValidatorResult {
    if (verdict === 'accept') return TopicValidatorResult.Accept
    if (verdict === 'reject') return TopicValidatorResult.Reject
    if (verdict === 'unjudged') {
      this.#forget(textOf(idOf(data)))
      return TopicValidatorResult.Ignore
    }
    this.#ignored.add(textOf(idOf(data)))
    return TopicValidatorResult.Ignore
  }

  /** False if there is no room. */
  #enter(from: PeerId, bytes: number): boolean {
    const places = [
      [from, JUDGED_MAX.peer],
      ['all', JUDGED_MAX.all],
    ] as const
    for (const [name, max] of places) {
      const load = this.#load.get(name)
      if (load !== undefined && (load.count >= max.count || load.bytes + bytes > max.bytes)) return false
    }
    for (const [name] of places) {
      const { count, bytes: held } = this.#load.get(name) ?? { count: 0, bytes: 0 }
      this.#load.set(name, { count: count + 1, bytes: held + bytes })
    }
    return true
  }

  #leave(from: PeerId, bytes: number): void {
    for (const name of [from, 'all'] as const) {
      const load = this.#load.get(name)
      if (load === undefined || load.count === 1) this.#load.delete(name)
      else this.#load.set(name, { count: load.count - 1, bytes: load.bytes - bytes })
    }
  }

  /** Lets a message in again. Gossipsub remembers for two minutes what it saw, passed on or not. */
  #forget(id: string): void {
    this.#pubsub?.seenCache.entries.delete(id)
  }

  #wireName(topic: TopicName): string {
    return topicId(this.#deps.genesis, topic)
  }
}

function idOf(data: Uint8Array): Uint8Array {
  return createHash('sha256').update(data).digest()
}

function textOf(id: Uint8Array): string {
  return Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString('base64')
}
