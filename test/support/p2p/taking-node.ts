import { MemoryKeyValueStore } from '../../../consensus/chain/key-value.ts'
import { UNPACED } from '../../../consensus/chain/ports.ts'
import type { RuleBook } from '../../../consensus/chain/rule-book.ts'
import { pause } from '../../../src/p2p/relay/within.ts'
import { SnapshotSync } from '../../../src/p2p/snapshot/snapshot-sync.ts'
import type { SnapshotDoor, SnapshotSetting } from '../../../src/p2p/sync/snapshot-door.ts'
import { StateSnapshots } from '../../../src/storage/state-snapshots.ts'
import { TestChain } from '../chain.ts'
import { freePow } from '../differential.ts'
import { copiedPin } from '../snapshot-nodes.ts'
import { IMPATIENT, SILENT } from '../wire.ts'
import type { MemoryNetwork } from './memory-network.ts'
import { FallibleVerifier, SyncNode } from './sync-node.ts'

/** A node that may take a state snapshot, and its snapshot sync. */
export interface TakingNode {
  readonly node: SyncNode
  readonly sync: SnapshotSync
}

/** Options of `takingNode`. Without `openChain` the node begins with no block. */
export interface TakingOptions {
  readonly rules: RuleBook
  readonly openChain?: (parts: {
    readonly powHasher: typeof freePow
    readonly verifier: FallibleVerifier
  }) => Promise<TestChain>
  readonly snapshotSetting?: SnapshotSetting
  readonly expectsPeers?: boolean
}

/** Opens a node that may take a snapshot, on virtual time. Its blocks cost no work. */
export async function takingNode(
  hub: MemoryNetwork,
  { rules, openChain, ...options }: TakingOptions,
): Promise<TakingNode> {
  const verifier = new FallibleVerifier()
  const parts = { powHasher: freePow, verifier }
  const test = await (openChain?.(parts) ?? TestChain.open(rules, new MemoryKeyValueStore(), parts))
  let sync: SnapshotSync
  const door: SnapshotDoor = {
    keptTip: () => sync.keptTip(),
    keptAt: (height) => sync.keptAt(height),
    keepHeaders: (headers) => sync.keepHeaders(headers),
    shortenHeaders: () => sync.shortenHeaders(),
    dropHeaders: () => sync.dropHeaders(),
    run: (plan) => sync.run(plan),
  }
  const node = await SyncNode.open(hub, 'node', { test, door, verifier, ...options })
  const clock = { now: () => hub.time.nowMs }
  sync = new SnapshotSync({
    ...{ chain: test.chain, peers: node.peers, clock, timers: hub.time, pacer: UNPACED, log: SILENT },
  })
  return { node, sync }
}

/** Snapshots of a chain in memory, one every `blocks` blocks, in pages of at most 500 entries. */
export function snapshotsOf(test: TestChain, store: MemoryKeyValueStore, blocks: number): StateSnapshots {
  const states = new StateSnapshots({
    ...{ chain: test.chain, clock: { now: () => test.nowMs }, timers: IMPATIENT, blocks },
    pin: () => copiedPin(store, 500),
  })
  states.start()
  return states
}

/** Gives snapshots with a delay before each answer. */
export function slowly(
  states: StateSnapshots,
  { time }: MemoryNetwork,
  answerMs: number,
): Pick<StateSnapshots, 'use' | 'useNewest'> {
  const later = async <T>(work: () => Promise<T>): Promise<T> => {
    if (answerMs > 0) await pause(time, answerMs)
    return work()
  }
  return {
    use: (id, work) => later(() => states.use(id, work)),
    useNewest: (work) => later(() => states.useNewest(work)),
  }
}
