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
import type { HonestReport } from './honest-entry.ts'
import type { HostReport } from './host-entry.ts'
import { PINNED_NODE, until } from './processes.ts'
import { ROOT } from './source-tree.ts'

/** Name of the gossip protocol on the wire. */
export const GOSSIP = '/meshsub/1.2.0'

/** A program of this folder in a process of its own, which answers each message with a report. */
class Reporting<Report> {
  readonly #child: ChildProcess

  protected constructor(child: ChildProcess) {
    this.#child = child
  }

  protected static async fork(program: string, argument: string): Promise<ChildProcess> {
    const child = fork(join(ROOT, 'test/support', program), [argument], {
      execPath: PINNED_NODE,
      execArgv: ['--expose-gc'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${program} ended before it was ready`)))
    await Promise.race([once(child, 'message'), ended])
    return child
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  async report(): Promise<Report> {
    this.#child.send({})
    const [report] = (await once(this.#child, 'message')) as [Report]
    return report
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }
}

/** A host in a process of its own, so that its memory can be measured. */
export class VictimProcess extends Reporting<HostReport> {
  /** The most bytes of memory in any report since this was set to 0. */
  bytesMax = 0

  /** `options` replace some of the host's defaults. */
  static async start(options: Partial<HostOptions> = {}): Promise<VictimProcess> {
    return new VictimProcess(await Reporting.fork('host-entry.ts', JSON.stringify(options)))
  }

  override async report(): Promise<HostReport> {
    const report = await super.report()
    this.bytesMax = Math.max(this.bytesMax, report.bytesMax)
    return report
  }
}

/**
 * An honest peer of a victim, which asks it for its status on and on. It has a process of its own: in the one of the attackers it would
 * wait for their work, and look as if the victim had not answered it.
 */
export class HonestProcess extends Reporting<HonestReport> {
  static async start(address: string): Promise<HonestProcess> {
    return new HonestProcess(await Reporting.fork('honest-entry.ts', address))
  }

  /** Waits until more requests were answered. Throws if one was not answered in time, or wrongly. */
  async servedMore(): Promise<void> {
    const { served: before } = await this.report()
    await until('the honest peer is served', async () => {
      const { served, wrong } = await this.report()
      if (wrong !== null) throw new Error(`the honest peer was not served: ${wrong}`)
      return served > before + 3
    })
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
    const connection = await node.dial(multiaddr(address)).catch(async (error) => {
      await node.stop()
      throw error
    })
    const attacker = new Attacker(node, connection)
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
