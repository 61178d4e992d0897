import { join } from 'node:path'
import type { Clock } from '../../consensus/chain/ports.ts'
import type { RuleBook } from '../../consensus/chain/rule-book.ts'
import { createInlineVerifier } from '../../consensus/crypto/verifier.ts'
import { Mempool } from '../../mempool/mempool.ts'
import { DEFAULT_MEMPOOL_POLICY } from '../../mempool/policy.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { eventLoopPacer, systemClock, systemTimers } from '../../src/daemon/runtime.ts'
import type { Host } from '../../src/p2p/host/host.ts'
import type { PeerId } from '../../src/p2p/network.ts'
import { PeerNode } from '../../src/p2p/node.ts'
import type { Offence } from '../../src/p2p/peers/offences.ts'
import { Peers } from '../../src/p2p/peers/peers.ts'
import { serveAddresses } from '../../src/p2p/serve/addresses.ts'
import { serveState } from '../../src/p2p/serve/state.ts'
import { heldRange } from '../../src/p2p/sync/snapshot-door.ts'
import type { Status } from '../../src/p2p/wire/messages.ts'
import { LevelStore } from '../../src/storage/level-store.ts'
import { StateSnapshots } from '../../src/storage/state-snapshots.ts'
import { TestChain } from './chain.ts'
import { startHost } from './hosts.ts'
import { testRuleBook } from './network.ts'
import { statusOf } from './p2p/relay-node.ts'
import { removeFolder, temporaryFolder, until } from './processes.ts'
import { SILENT } from './wire.ts'

/** One account may have the whole mempool. */
const POLICY = { ...DEFAULT_MEMPOOL_POLICY, executablePerAccount: DEFAULT_MEMPOOL_POLICY.countMax }
const SIZES = { cacheBytes: 1 << 20, writeBufferBytes: 1 << 20 }

/** A chain on a real database, which another node can open later. */
export interface StoredChain {
  readonly test: TestChain
  readonly store: LevelStore
  close(): Promise<void>
}

/** A chain on a LevelDB in a temporary folder. */
export async function storedChain(
  ruleBook: RuleBook = testRuleBook(),
  parts: Parameters<typeof TestChain.open>[2] = {},
): Promise<StoredChain> {
  const folder = temporaryFolder()
  const store = await LevelStore.open(join(folder, 'chain'), SIZES, true)
  const test = await TestChain.open(ruleBook, store, parts)
  const close = async (): Promise<void> => {
    await store.close()
    removeFolder(folder)
  }
  return { test, store, close }
}

/** A node that answers peers over libp2p as the daemon does, from a real database. */
export interface ServedNode {
  readonly host: Host
  readonly node: PeerNode
  readonly mempool: Mempool
  readonly states: StateSnapshots
  readonly offences: { readonly peer: PeerId; readonly offence: Offence; readonly about?: string }[]
  stop(): Promise<void>
}

export interface ServedOptions {
  /** Addresses of peers that it knows. */
  readonly known?: readonly string[]
  /** The clock that measures its work. */
  readonly stopwatch?: () => number
  readonly clock?: Clock
}

/** Starts a node over a chain. */
export async function startServed(
  { test, store }: StoredChain,
  { known = [], stopwatch = () => performance.now(), clock = systemClock }: ServedOptions = {},
): Promise<ServedNode> {
  const { chain } = test
  const host = await startHost({ genesis: test.ruleBook.genesis.block.id })
  const mempool = new Mempool({
    ...{ chain, verifier: createInlineVerifier(NATIVE_BACKEND), policy: POLICY },
  })
  const states = new StateSnapshots({
    ...{ chain, pin: () => store.pin(), clock: systemClock, timers: systemTimers, blocks: 1 },
  })
  const offences: ServedNode['offences'] = []
  const node = new PeerNode({
    ...{ network: host, chain, mempool, clock, timers: systemTimers, pacer: eventLoopPacer, log: SILENT },
    stopwatch,
    workVerifier: { verifyWork: (jobs) => Promise.resolve(jobs.map(() => true)) },
    random: () => 7n,
    agent: 'served',
    held: () => heldRange(chain.database, 'archive', states.refs()),
    transactionMode: 'gossip',
    snapshots: null,
    snapshotSetting: 'never',
    expectsPeers: false,
    onFatal: (error) => {
      throw error
    },
  })
  node.peers.onOffence((peer, offence) => offences.push({ peer, offence }))
  serveState(node.peers.exchange, { states, ruleBook: chain.ruleBook, log: SILENT })
  serveAddresses(node.peers.exchange, { good: (limit) => known.slice(0, limit), now: () => systemClock.now() })
  node.start()
  states.start()
  const stop = async (): Promise<void> => {
    await node.stop()
    await states.stop()
    await host.stop()
  }
  return { host, node, mempool, states, offences, stop }
}

/** A peer that does the handshake and sends the requests of a test. */
export interface Asker {
  readonly peers: Peers
  readonly self: PeerId
  /** The node that gets the requests. */
  readonly server: PeerId
  stop(): Promise<void>
}

/** Connects a peer to a node and waits for the handshake. Its status is that of a node on the chain, except for `claim`. */
export async function askerOf(
  served: ServedNode,
  { chain, ruleBook }: TestChain,
  claim: Partial<Status> = {},
): Promise<Asker> {
  const host = await startHost({ genesis: ruleBook.genesis.block.id })
  const peers = new Peers({
    ...{ network: host, ruleBook, clock: systemClock, timers: systemTimers, log: SILENT },
    ownStatus: () => ({ ...statusOf(chain), ...claim }),
  })
  const dialled = await host.dial(served.host.addresses()[0] as string)
  if (!dialled.ok) throw new Error(dialled.fault.code)
  const server = dialled.value
  const ready = (): boolean => peers.isReady(server) && served.node.peers.isReady(host.self)
  await until('hands are shaken', ready, { everyMs: 5 })
  const stop = async (): Promise<void> => {
    peers.stop()
    await host.stop()
  }
  return { peers, self: host.self, server, stop }
}
