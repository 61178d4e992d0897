import { extendTip, type HeaderTip, headerTipOf } from '../../consensus/block/header-tip.ts'
import { type KeyValueStore, MemoryKeyValueStore, type Write } from '../../consensus/chain/key-value.ts'
import { UNPACED } from '../../consensus/chain/ports.ts'
import type { RuleBook } from '../../consensus/chain/rule-book.ts'
import { SpacedStore, spaceOf } from '../../consensus/chain/spaced-store.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { Network, NetworkLog, PeerId } from '../../src/p2p/network.ts'
import type { Peers } from '../../src/p2p/peers/peers.ts'
import { type EntriesRead, type PastState, serveState } from '../../src/p2p/serve/state.ts'
import { SnapshotSync } from '../../src/p2p/snapshot/snapshot-sync.ts'
import type { SnapshotRef } from '../../src/p2p/wire/messages.ts'
import { type PinnedState, StateSnapshots } from '../../src/storage/state-snapshots.ts'
import { TestChain } from './chain.ts'
import { IMPATIENT, peersOver, SILENT, SwiftTime, Wire } from './wire.ts'

/** Pins the present content of a memory store by copying it. Pages have at most `most` entries, so that a small state takes many. */
export function copiedPin(store: KeyValueStore, most: number): PinnedState {
  const copied = new MemoryKeyValueStore()
  const writes: Write[] = []
  for (const [key, value] of store.entries(new Uint8Array(0)) as Iterable<readonly [Uint8Array, Uint8Array]>)
    writes.push({ key, value })
  void copied.batch(writes, () => {})
  const spaced = new SpacedStore(copied, spaceOf(copied))
  return {
    read: async (range): Promise<EntriesRead> => {
      const entries = []
      for await (const entry of spaced.range(range)) entries.push(entry)
      return { entries: entries.slice(0, most), done: entries.length <= most }
    },
    release: async () => {},
  }
}

export interface ServingNode {
  readonly test: TestChain
  readonly wire: Wire
  readonly peers: Peers
  readonly snapshots: StateSnapshots
  /** Changes the state that answers come from, for well-formed lies. */
  readonly past: { map: (state: PastState) => PastState }
}

/** A snapshot every `every` blocks, in pages of at most `most` entries. */
export interface ServingOptions {
  readonly every?: number
  readonly most?: number
  readonly log?: NetworkLog
}

/** A serving node over a chain. */
export function servingNode(
  name: string,
  test: TestChain,
  store: KeyValueStore,
  options: ServingOptions = {},
): ServingNode {
  const wire = new Wire(name)
  return { ...servingOver(wire, test, store, options), wire }
}

/** A serving node over any network. */
export function servingOver(
  ...[network, test, store, { every = 1, most = 7, log = SILENT } = {}]: [
    Network,
    TestChain,
    KeyValueStore,
    ServingOptions?,
  ]
): Omit<ServingNode, 'wire'> {
  const clock = { now: () => test.nowMs }
  const snapshots = new StateSnapshots({
    ...{ chain: test.chain, clock, timers: IMPATIENT, blocks: every },
    pin: () => copiedPin(store, most),
  })
  const past: ServingNode['past'] = { map: (state) => state }
  const peers = peersOver(
    network,
    test.ruleBook,
    () => ({ head: test.chain.head.id, snapshots: snapshots.refs() }),
    clock.now,
  )
  const states = {
    use: <T>(block: SnapshotRef['id'], work: (state: PastState) => Promise<T>) =>
      snapshots.use(block, (state) => work(past.map(state))),
    useNewest: <T>(work: (state: PastState) => Promise<T>) => snapshots.useNewest((state) => work(past.map(state))),
  }
  serveState(peers.exchange, { states, ruleBook: test.ruleBook, log })
  snapshots.start()
  return { test, peers, snapshots, past }
}

export interface JoiningNode {
  readonly test: TestChain
  readonly wire: Wire
  readonly peers: Peers
  readonly sync: SnapshotSync
}

/** Opens a joining node at genesis, or at the head that its store holds. */
export async function joiningNode(ruleBook: RuleBook, store: KeyValueStore, name = 'joining'): Promise<JoiningNode> {
  const wire = new Wire(name)
  return { ...(await joiningOver(wire, ruleBook, store)), wire }
}

/** A joining node over any network, with a clock of the test. */
export async function joiningOver(
  network: Network,
  ruleBook: RuleBook,
  store: KeyValueStore,
  time = new SwiftTime(),
): Promise<Omit<JoiningNode, 'wire'>> {
  const test = await TestChain.open(ruleBook, store)
  const peers = peersOver(
    network,
    ruleBook,
    () => ({}),
    () => time.now(),
  )
  const sync = new SnapshotSync({ chain: test.chain, peers, clock: time, timers: time, pacer: UNPACED, log: SILENT })
  return { test, peers, sync }
}

/** Connects two nodes and waits for the handshake. */
export async function connect(a: { wire: Wire; peers: Peers }, b: { wire: Wire; peers: Peers }): Promise<void> {
  a.wire.join(b.wire)
  for (let i = 0; i < 50 && !(a.peers.isReady(b.wire.self) && b.peers.isReady(a.wire.self)); i++) {
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
  if (!a.peers.isReady(b.wire.self)) throw new Error('they did not shake hands')
}

/** Headers of a best chain above a height. */
export function headersAbove({ chain }: Pick<TestChain, 'chain'>, height: number): readonly HeaderTip[] {
  const { database, ruleBook } = chain
  const entryAt = (at: number) => database.entry(database.idAt(at) as never) as NonNullable<typeof database.head>
  let tip = headerTipOf(database, entryAt(height))
  const tips: HeaderTip[] = []
  for (let at = height + 1; at <= chain.head.header.height; at++) {
    const next = extendTip(ruleBook, tip, entryAt(at))
    if (!next.ok) throw new Error(next.fault.code)
    tip = next.value
    tips.push(tip)
  }
  return tips
}

/** Takes a snapshot of a chain. Before that, keeps the headers of the chain that the node lacks. */
export async function takeSnapshot(
  node: Omit<JoiningNode, 'wire'>,
  source: TestChain,
  snapshot: SnapshotRef,
  { stopped = () => false, peers }: { stopped?: () => boolean; peers?: () => readonly PeerId[] } = {},
): Promise<Result<void>> {
  const kept = node.sync.keptTip()?.header.height ?? node.test.height
  await node.sync.keepHeaders(headersAbove(source, kept))
  const serves = (): readonly PeerId[] => node.peers.list().map(({ info }) => info.id)
  return node.sync.run({
    ...{ snapshot, stopped, givesWay: () => false, peers: peers ?? serves, report: () => {} },
    tip: node.sync.keptTip() as HeaderTip,
  })
}
