import type {
  ConnectionListener,
  GossipJudge,
  Network,
  PeerId,
  PeerInfo,
  RequestHandler,
  TopicName,
} from '../../../src/p2p/network.ts'
import type { ProtocolName } from '../../../src/p2p/wire/protocols.ts'
import type { Endpoint } from './endpoint.ts'

/** Passes everything between a node and the network. Attackers extend it and change some messages. */
export class PassThrough implements Network {
  protected readonly inner: Endpoint

  constructor(inner: Endpoint) {
    this.inner = inner
  }

  get self(): PeerId {
    return this.inner.self
  }

  peers(): readonly PeerInfo[] {
    return this.inner.peers()
  }

  onConnection(listener: ConnectionListener): void {
    this.inner.onConnection(listener)
  }

  request(...args: Parameters<Network['request']>): ReturnType<Network['request']> {
    return this.inner.request(...args)
  }

  publish(topic: TopicName, body: Uint8Array): void {
    this.inner.publish(topic, body)
  }

  disconnect(peer: PeerId, reason: string, banned?: boolean): void {
    this.inner.disconnect(peer, reason, banned)
  }

  subscribe(topic: TopicName, judge: GossipJudge): void {
    this.inner.subscribe(topic, judge)
  }

  serve(protocol: ProtocolName, handler: RequestHandler): void {
    this.inner.serve(protocol, handler)
  }
}
