import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { noise } from '@chainsafe/libp2p-noise'
import { identify } from '@libp2p/identify'
import type { Connection, Libp2p, Stream } from '@libp2p/interface'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import type { HostOptions } from '../../src/p2p/host/host.ts'
import type { HostReport } from './host-entry.ts'
import { PINNED_NODE } from './processes.ts'
import { ROOT } from './source-tree.ts'

/** Name of the gossip protocol on the wire. */
export const GOSSIP = '/meshsub/1.2.0'

/** A host in a process of its own, so that its memory can be measured. */
export class VictimProcess {
  /** The most bytes of memory in any report since this was set to 0. */
  bytesMax = 0
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  /** `options` replace some of the host's defaults. */
  static async start(options: Partial<HostOptions> = {}): Promise<VictimProcess> {
    const child = fork(join(ROOT, 'test/support/host-entry.ts'), [JSON.stringify(options)], {
      execPath: PINNED_NODE,
      execArgv: ['--expose-gc'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    await once(child, 'message')
    return new VictimProcess(child)
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  async report(): Promise<HostReport> {
    this.#child.send({})
    const [report] = (await once(this.#child, 'message')) as [HostReport]
    this.bytesMax = Math.max(this.bytesMax, report.bytesMax)
    return report
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }
}

/** A hostile libp2p node. It announces the gossip protocol, and never reads the gossip streams that the victim opens to it. */
export class Attacker {
  readonly connection: Connection
  /** Gossip streams that the victim opened to the attacker by the time the dial was over. Later ones are missing. */
  readonly gossipStreams: Stream[] = []
  sentBytes = 0
  readonly #node: Libp2p

  private constructor(node: Libp2p, connection: Connection) {
    this.#node = node
    this.connection = connection
  }

  static async connect(address: string): Promise<Attacker> {
    const node = await createLibp2p({
      transports: [tcp()],
      connectionEncrypters: [noise()],
      streamMuxers: [yamux({ maxOutboundStreams: 10_000 })],
      connectionMonitor: { enabled: false },
      services: { identify: identify() },
    })
    const streams: Stream[] = []
    await node.handle(GOSSIP, (stream) => void streams.push(stream), { maxInboundStreams: 100 })
    await node.start()
    const attacker = new Attacker(node, await node.dial(multiaddr(address)))
    attacker.gossipStreams.push(...streams)
    return attacker
  }

  get id(): string {
    return this.#node.peerId.toString()
  }

  get cut(): boolean {
    return this.connection.status !== 'open'
  }

  open(protocol: string): Promise<Stream> {
    return this.connection.newStream([protocol], { maxOutboundStreams: 10_000 })
  }

  /** Sends bytes on a stream again and again, until the connection is cut or `ms` have passed. */
  async flood(stream: Stream, bytes: Uint8Array, ms = 10_000): Promise<void> {
    const endMs = performance.now() + ms
    while (!this.cut && performance.now() < endMs) {
      await this.send(stream, bytes)
    }
  }

  async send(stream: Stream, bytes: Uint8Array): Promise<void> {
    try {
      stream.send(bytes)
      this.sentBytes += bytes.length
    } catch {
      await setTimeout(1)
    }
    // Writes return at once; the event loop must turn for the socket to take them.
    while (!this.cut && stream.status === 'open' && stream.writeBufferLength > 0) await setTimeout(1)
    await setTimeout(0)
  }

  /** Stops reading from the socket. */
  deafen(): void {
    const { maConn } = this.connection as unknown as { maConn: { pause(): void } }
    maConn.pause()
  }

  /** Sends `count` pings of the muxer in one write. */
  ping(count: number): void {
    const { muxer } = this.connection as unknown as { muxer: { maConn: { send(bytes: Uint8Array): void } } }
    const ping = Uint8Array.of(0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1)
    const bytes = Buffer.concat(Array.from({ length: count }, () => ping))
    muxer.maConn.send(bytes)
    this.sentBytes += bytes.length
  }

  async stop(): Promise<void> {
    this.connection.abort(new Error('over'))
    await this.#node.stop()
  }
}
