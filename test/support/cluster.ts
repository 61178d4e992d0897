import { formatAddress } from '../../consensus/crypto/address.ts'
import { ask } from './api.ts'
import { wallet } from './chain.ts'
import { type RunningDaemon, WITH_TEST_SERVICES, type Workshop } from './daemon.ts'
import { type Exit, until } from './processes.ts'
import { freePort, TcpProxy } from './tcp-proxy.ts'

/** The status of a node, as far as these tests need it. */
export interface NodeStatus {
  readonly height: number
  readonly blockId: string
  readonly stateRoot: string
  readonly totalWork: string
  readonly peers: number
  readonly ready: boolean
}

/** A peer in the list of a node's peers. */
export interface PeerStatus {
  readonly id: string
  readonly direction: 'inbound' | 'outbound'
  readonly height: number
  readonly mode: string
  readonly points: number
}

export interface NodeOptions {
  /** Mining threads, none by default. */
  readonly mine?: number
  /** Whether it sells, with development keys of its own. */
  readonly sells?: boolean
  /** Flags after the command `start`. */
  readonly flags?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Multiaddrs of further peers, besides those of its links. */
  readonly peers?: readonly string[]
}

/** A link from the node that dials to the one that listens, by index. */
export type Link = readonly [from: number, to: number]

/** The nodes of a cluster and their links. */
export interface ClusterOptions {
  readonly nodes: readonly NodeOptions[]
  /** Who dials whom. */
  readonly links: readonly Link[]
  /** Whether nodes dial each other directly, not through lines that can be cut. */
  readonly direct?: boolean
  /** Environment of all nodes. A node's own `env` overrides it. */
  readonly env?: Readonly<Record<string, string>>
}

/** Nodes know only the peers that they are told of. So no connection leads around a cut line. */
const TOLD_ONLY = {
  TEST_FAST_BLOCKS: '1',
  FARTHING_P2P_ENABLED: 'true',
  FARTHING_P2P_OUTBOUND: '0',
  FARTHING_P2P_MDNS: 'false',
  FARTHING_P2P_DHT: 'false',
  FARTHING_VERIFY_THREADS: '1',
}
/** Five processes that start together on two busy cores need minutes. */
const SLOW_MS = 120_000

/** Links of a line: each node dials the one before it. */
export function lineOf(count: number): readonly Link[] {
  return Array.from({ length: count - 1 }, (_, i) => [i + 1, i] as const)
}

/** Links of a star: every node dials the first. */
export function starOf(count: number): readonly Link[] {
  return Array.from({ length: count - 1 }, (_, i) => [i + 1, 0] as const)
}

/** One node: its folder and port stay the same from start to start. */
export class ClusterNode {
  readonly folder: string
  readonly port: number
  readonly #workshop: Workshop
  readonly #options: NodeOptions & { readonly devKey: number }
  #daemon: RunningDaemon | null = null

  constructor(workshop: Workshop, port: number, options: NodeOptions & { readonly devKey: number }) {
    this.#workshop = workshop
    this.folder = workshop.folder()
    this.port = port
    this.#options = options
  }

  /** The process that was started last. */
  get daemon(): RunningDaemon {
    if (this.#daemon === null) throw new Error('this node was never started')
    return this.#daemon
  }

  get runs(): boolean {
    return this.#daemon !== null && this.#daemon.program.ended === null
  }

  get url(): string {
    return this.daemon.url
  }

  /** Where it listens, without its id. */
  get address(): string {
    return `/ip4/127.0.0.1/tcp/${this.port}`
  }

  /** Its id among peers, known once it has run. */
  get id(): string {
    const listening = this.daemon.log.find(({ msg }) => msg === 'listening for peers')
    const [address] = (listening?.addresses ?? []) as readonly string[]
    if (address === undefined) throw new Error('this node does not listen')
    return address.split('/').at(-1) as string
  }

  /** Starts it; `change` replaces options of this start alone. */
  async start(change: NodeOptions = {}): Promise<void> {
    const { mine = 0, sells = false, flags = [], env, peers = [], devKey } = { ...this.#options, ...change }
    const more = {
      FARTHING_P2P_PORT: String(this.port),
      FARTHING_MARKET_ENABLED: String(sells),
      FARTHING_MINE_ADDRESS: formatAddress('dfar', wallet(devKey + 1).address),
      ...env,
    }
    const known = peers.length === 0 ? {} : { FARTHING_P2P_PEERS: peers.join(',') }
    const all = ['--dev-key', String(devKey), ...flags]
    this.#daemon = await this.#workshop.start(this.folder, { mine, flags: all, env: { ...more, ...known } })
  }

  /** Stops it as an operator does. */
  stop(): Promise<Exit> {
    return this.#end('SIGTERM')
  }

  /** Kills it: it cannot tidy up. */
  kill(): Promise<Exit> {
    return this.#end('SIGKILL')
  }

  async status(): Promise<NodeStatus> {
    return (await ask<NodeStatus>(this.url, '/api/v1/status')).body
  }

  /** Waits until it has at least so many peers. */
  hasPeers(count: number): Promise<boolean> {
    const look = async (): Promise<boolean> => (await this.status()).peers >= count
    return until(`the node on port ${this.port} has ${count} peers`, look, { ms: SLOW_MS })
  }

  async peers(): Promise<readonly PeerStatus[]> {
    return (await ask<{ readonly peers: readonly PeerStatus[] }>(this.url, '/api/v1/peers')).body.peers
  }

  logged(message: string): RunningDaemon['log'] {
    return this.daemon.log.filter(({ msg }) => msg === message)
  }

  /** Log lines of level error and above. */
  get errors(): RunningDaemon['log'] {
    return this.daemon.log.filter(({ level }) => Number(level) >= 50)
  }

  /** Runs a command of the program on this node and its folder. */
  command(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const args = [...words, '--data-dir', this.folder]
    return this.#workshop.run(args, {
      entry: WITH_TEST_SERVICES,
      env: { TEST_FAST_BLOCKS: '1', ...this.#options.env, ...env },
    })
  }

  /** What `farthing audit` finds in its folder. The node must not run meanwhile. */
  async audit(): Promise<unknown> {
    const { stdout, stderr } = await this.command(['audit'])
    return stdout === '' ? stderr : JSON.parse(stdout)
  }

  #end(signal: NodeJS.Signals): Promise<Exit> {
    return this.daemon.stop(signal)
  }
}

/** Nodes in processes of their own, linked by lines that can be cut. */
export class Cluster {
  readonly nodes: readonly ClusterNode[]
  readonly #links: readonly Link[]
  readonly #lines: ReadonlyMap<Link, TcpProxy>

  private constructor(nodes: readonly ClusterNode[], links: readonly Link[], lines: ReadonlyMap<Link, TcpProxy>) {
    this.nodes = nodes
    this.#links = links
    this.#lines = lines
  }

  /** Makes nodes and lines; nothing runs yet. */
  static async make(workshop: Workshop, { nodes, links, env, direct = false }: ClusterOptions): Promise<Cluster> {
    const ports: number[] = []
    for (const _ of nodes) ports.push(await freePort())
    const lines = new Map<Link, TcpProxy>()
    if (!direct) for (const link of links) lines.set(link, await TcpProxy.open(ports[link[1]] as number))
    const made = nodes.map((options, i) => {
      const dialled = links.filter(([from]) => from === i).map((link) => lines.get(link)?.port ?? ports[link[1]])
      return new ClusterNode(workshop, ports[i] as number, {
        ...options,
        env: { ...TOLD_ONLY, ...env, ...options.env },
        peers: [...dialled.map((port) => `/ip4/127.0.0.1/tcp/${port}`), ...(options.peers ?? [])],
        // The caller's wallet of node i has development key 1 + 2i, its market wallet the key after it.
        devKey: 1 + 2 * i,
      })
    })
    return new Cluster(made, links, lines)
  }

  /** Starts all nodes at once, and waits until every link is a connection. */
  static async start(workshop: Workshop, options: ClusterOptions): Promise<Cluster> {
    const cluster = await Cluster.make(workshop, options)
    await Promise.all(cluster.nodes.map((node) => node.start()))
    await cluster.connected()
    return cluster
  }

  node(index: number): ClusterNode {
    return this.nodes[index] as ClusterNode
  }

  /** Waits until every running node has as many peers as links to other running nodes. Links that are cut count too. */
  async connected(): Promise<void> {
    for (const [i, node] of this.nodes.entries()) {
      if (!node.runs) continue
      const others = this.#links.filter((link) => link.includes(i) && link.every((end) => this.node(end).runs))
      await node.hasPeers(others.length)
    }
  }

  /** How often each line was dialled so far, in the order of the links. */
  get dials(): readonly number[] {
    return [...this.#lines.values()].map(({ dials }) => dials)
  }

  /** Cuts every line between some nodes and all others. */
  cut(side: readonly number[]): void {
    for (const line of this.#between(side)) line.cut()
  }

  /** The bytes between some nodes and all others vanish, but the connections stay open. */
  blackHole(side: readonly number[]): void {
    for (const line of this.#between(side)) line.blackHole()
  }

  /** Mends every line. */
  heal(): void {
    for (const line of this.#lines.values()) line.heal()
  }

  /** Waits until these nodes (by default all that run) have the same head and state. Returns the status of one of them. */
  async converged(nodes: readonly ClusterNode[] = this.nodes.filter(({ runs }) => runs)): Promise<NodeStatus> {
    let seen: readonly NodeStatus[] = []
    const look = async (): Promise<NodeStatus | undefined> => {
      seen = await Promise.all(nodes.map((node) => node.status()))
      return seen.every((status) => seen[0] && isSameChain(status, seen[0])) ? seen[0] : undefined
    }
    return until('all nodes have the same head', look, { ms: SLOW_MS }).catch((error: Error) => {
      const heads = seen.map(({ height, blockId, peers }) => `${height} ${blockId.slice(0, 8)} (${peers} peers)`)
      throw new Error(`${error.message}: ${heads.join(', ')}`)
    })
  }

  /** Stops every node as an operator does, and returns how each ended. */
  async stop(): Promise<readonly Exit[]> {
    const exits = await Promise.all(this.nodes.filter(({ runs }) => runs).map((node) => node.stop()))
    for (const line of this.#lines.values()) await line.close()
    return exits
  }

  #between(side: readonly number[]): readonly TcpProxy[] {
    const parted = [...this.#lines].filter(([[from, to]]) => side.includes(from) !== side.includes(to))
    return parted.map(([, line]) => line)
  }
}

function isSameChain(a: NodeStatus, b: NodeStatus): boolean {
  return a.blockId === b.blockId && a.stateRoot === b.stateRoot
}
