import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TransactionMode } from '../../src/p2p/relay/transaction-relay.ts'
import { removeFolder, temporaryFolder, until } from '../support/processes.ts'
import { ROOT } from '../support/source-tree.ts'
import type { NetworkKind } from './network-load.ts'
import { cpuMicros, type Server, startServer } from './processes.ts'

const ENTRY = join(ROOT, 'test/bench/network-node-entry.ts')

/** Orders to a node's process beside its flags. */
export interface NodeOrder extends NetworkKind {
  /** File for its notes. */
  readonly record: string
  readonly mode?: TransactionMode
  /** File of blocks to import before it is ready. */
  readonly blocks?: string
  /** Number of empty blocks to make before it is ready. */
  readonly emptyBlocks?: number
  /** Whether it sells services. */
  readonly sells?: boolean
  /** Whether it notes its heap only: an hour of other notes would itself take memory. */
  readonly silent?: boolean
}

/** Notes of a node; times are on the clock of {@link nowMs}. */
export interface NodeRecord {
  readonly admissions: (readonly [wtxId: string, ms: number])[]
  readonly heads: (readonly [height: number, transactions: number, ms: number])[]
  /** Bytes received from and sent to peers until then. */
  readonly traffic: (readonly [ms: number, read: number, written: number])[]
  /** Heap right after each full collection, in MB. */
  readonly live: (readonly [ms: number, mb: number])[]
  /** When it began to make `emptyBlocks` and to import `blocks`. */
  readonly fedMs: number
  /** When the handshake with its first peer was done. */
  readonly peeredMs: number
}

/** A daemon in its own process. */
export interface BenchNode {
  readonly server: Server
  readonly url: string
  /** Multiaddr for other nodes to dial. */
  readonly address: string
  readonly folder: string
}

export interface NodeStart extends Omit<NodeOrder, 'record'> {
  readonly flags?: readonly string[]
  /** Multiaddrs to dial. */
  readonly peers?: readonly string[]
  /** Data folder to reuse. */
  readonly folder?: string
}

/** Discovery is off, and no rate of the API or bound of the mempool is in the way. */
const FLAGS = [
  ...['--rpc-port', '0', '--p2p-port', '0', '--p2p-mdns', 'false', '--p2p-dht', 'false', '--p2p-outbound', '0'],
  ...['--rpc-rate-transaction', '100000000', '--rpc-rate-read', '100000000'],
  ...['--mempool-count-max', '100000', '--mempool-mib-max', '1000'],
]
/** For profiles and logs: `NODE_OPTIONS='--cpu-prof --cpu-prof-dir=profiles'`, `BENCH_LOG=debug`. */
const GIVEN_ON = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => name === 'NODE_OPTIONS' || name === 'BENCH_LOG'),
) as Record<string, string>
const READY_MS = 300_000
const SLOW_MS = 180_000

/** Nodes of one benchmark. `close` ends all of them. */
export class BenchNodes {
  readonly nodes: BenchNode[] = []
  readonly #root = temporaryFolder()
  #count = 0

  /** Starts a node and waits until it answers. */
  async start({ flags = [], peers = [], folder, ...order }: NodeStart): Promise<BenchNode> {
    const own = folder ?? join(this.#root, String(this.#count++))
    mkdirSync(own, { recursive: true })
    const record = join(own, 'bench-record.json')
    const dial = peers.length === 0 ? [] : ['--p2p-peers', peers.join(',')]
    const market = ['--market-enabled', String(order.sells ?? false)]
    const server = await startServer(
      ENTRY,
      ['start', '--data-dir', own, ...FLAGS, ...market, ...dial, ...flags],
      { ...GIVEN_ON, BENCH_ORDER: JSON.stringify({ ...order, record }) },
      READY_MS,
    )
    const told = await until('the node tells its address', () => /{"peer":"(.*)"}/.exec(server.program.stdout)?.[1])
    const node = { server, url: `http://127.0.0.1:${server.port}`, address: told, folder: own }
    this.nodes.push(node)
    return node
  }

  /** Starts `count` nodes one after another. Node i dials the nodes of `links(i)`. Waits until all are linked. */
  async startMany(
    count: number,
    start: (i: number) => NodeStart,
    links: (i: number) => readonly number[],
  ): Promise<readonly BenchNode[]> {
    const peers = Array<number>(count).fill(0)
    for (let i = 0; i < count; i++) {
      for (const other of links(i)) for (const end of [i, other]) peers[end] = (peers[end] as number) + 1
      await this.start({ ...start(i), peers: links(i).map((other) => this.at(other).address) })
    }
    for (const [i, node] of this.nodes.entries())
      await this.#await(`node ${i} is linked`, async () => (await status(node)).peers >= (peers[i] as number))
    return this.nodes
  }

  at(index: number): BenchNode {
    return this.nodes[index] as BenchNode
  }

  /** Waits until a metric meets a condition at every node. */
  async awaitAll(what: string, metric: string, meets: (value: number) => boolean): Promise<void> {
    for (const node of this.nodes) await this.#await(what, async () => meets((await metricsOf(node)).get(metric) ?? 0))
  }

  /** CPU time that all nodes have used, in milliseconds. */
  cpuMs(): number {
    return this.nodes.reduce((sum, { server }) => sum + cpuMicros(server.pid), 0) / 1_000
  }

  /** Ends all nodes. Returns their notes in order. */
  async stop(): Promise<readonly NodeRecord[]> {
    await Promise.all(this.nodes.map(({ server }) => server.program.end('SIGTERM')))
    const complaints = new Set(this.nodes.flatMap(({ server }) => server.program.stderr.split('\n').slice(0, 3)))
    for (const line of complaints) if (line !== '') process.stderr.write(`${line}\n`)
    const records = this.nodes.map(
      ({ folder }) => JSON.parse(readFileSync(join(folder, 'bench-record.json'), 'utf8')) as NodeRecord,
    )
    this.nodes.length = 0
    return records
  }

  /** Kills all nodes and removes their folders. */
  async close(): Promise<void> {
    await Promise.all(this.nodes.map(({ server }) => server.program.end('SIGKILL')))
    removeFolder(this.#root)
  }

  #await(what: string, look: () => Promise<boolean>): Promise<boolean> {
    const alive = async (): Promise<boolean> => {
      const dead = this.nodes.find(({ server }) => server.program.ended !== null)
      if (dead !== undefined) throw new Error(`a node ended: ${dead.server.program.stderr}`)
      return look()
    }
    return until(what, alive, { ms: SLOW_MS, everyMs: 100 })
  }
}

/** The part of a node's status that benchmarks read. */
export interface NodeStatus {
  readonly height: number
  readonly blockId: string
  readonly peers: number
}

export async function status({ url }: BenchNode): Promise<NodeStatus> {
  return (await (await fetch(`${url}/api/v1/status`)).json()) as NodeStatus
}

/** A node's metrics by name, with the labels as written. */
export async function metricsOf({ url }: BenchNode): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
}
