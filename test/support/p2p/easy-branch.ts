import { expect } from 'vitest'
import { LAUNCH_RULES } from '../../../config/networks/rules.ts'
import { targetOfWork } from '../../../consensus/block/pow.ts'
import { MemoryKeyValueStore } from '../../../consensus/chain/key-value.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import type { StateSnapshots } from '../../../src/storage/state-snapshots.ts'
import { fork } from '../branches.ts'
import { TestChain } from '../chain.ts'
import { freePow } from '../differential.ts'
import { testRuleBook } from '../network.ts'
import type { MemoryNetwork } from './memory-network.ts'
import { FallibleVerifier, SyncNode } from './sync-node.ts'
import { snapshotsOf } from './taking-node.ts'

/** Rules with a high first difficulty. After a block with a late time, blocks are easy. */
export const RULES = testRuleBook({
  block: { ...LAUNCH_RULES.block, powLimit: targetOfWork(2n ** 14n), initialTarget: targetOfWork(2n ** 30n) },
})
export const PARTS = { powHasher: freePow }
export const LATE_MS = 7_200_000
export const FORK = 250
export const OWN = 1_500
export const LONG = 2_750
/** Blocks between two snapshots of the state. */
export const EVERY = 650

/** A chain of difficult blocks, and a branch with a sixth of its work that is too long to be unwound. */
export interface EasyBranch {
  readonly own: TestChain
  readonly lighter: TestChain
  readonly ownStates: StateSnapshots
  readonly lighterStates: StateSnapshots
}

/** Mines both chains. This takes some seconds. */
export async function easyBranch(): Promise<EasyBranch> {
  const [store, lighterStore] = [new MemoryKeyValueStore(), new MemoryKeyValueStore()]
  const own = await TestChain.open(RULES, store, PARTS)
  await own.mineTo(FORK)
  const lighter = await fork(own, { store: lighterStore, parts: PARTS })
  const ownStates = snapshotsOf(own, store, EVERY)
  const lighterStates = snapshotsOf(lighter, lighterStore, EVERY)
  await own.mineTo(OWN)
  await lighter.mine([], { afterMs: LATE_MS })
  await lighter.mineTo(LONG)
  return { own, lighter, ownStates, lighterStates }
}

/** A node without blocks. A test can tell its work verifier which proofs are false. */
export async function freshNode(hub: MemoryNetwork): Promise<SyncNode> {
  const verifier = new FallibleVerifier()
  const test = await TestChain.open(RULES, new MemoryKeyValueStore(), { ...PARTS, verifier })
  return SyncNode.open(hub, 'node', { test, verifier })
}

/** Headers of a chain after the first block of the locator that is on it. */
export function headersOf(
  { chain, height }: TestChain,
  locator: readonly BlockId[],
  limit: number,
): readonly Uint8Array[] {
  const { database } = chain
  const shared = locator.map((id) => database.entry(id)).find((entry) => entry && database.isCanonical(entry))
  const from = (shared?.header.height ?? 0) + 1
  const count = Math.max(0, Math.min(limit, height - from + 1))
  return Array.from(
    { length: count },
    (_, i) => database.entry(database.idAt(from + i) as BlockId)?.bytes as Uint8Array,
  )
}

/** Honest peers with all blocks. For `busyMs` they answer that they are busy. */
export async function honestPeers(
  hub: MemoryNetwork,
  { own }: Pick<EasyBranch, 'own'>,
  { count, busyMs = 0 }: { readonly count: number; readonly busyMs?: number },
): Promise<SyncNode[]> {
  const untilMs = hub.time.nowMs + busyMs
  return Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const honest = await SyncNode.open(hub, `honest ${i}`, { test: own })
      honest.peers.exchange.answer('headers', (_from, { locator, limit }) =>
        hub.time.nowMs < untilMs ? { refusal: 'busy' } : { reply: headersOf(own, locator, limit) },
      )
      return honest
    }),
  )
}

/** Expects a node to be at the heavier chain's head, to know that it is not behind, and to have blamed no honest peer. */
export function expectHeavier({ test, synchroniser, offences }: SyncNode, { own }: Pick<EasyBranch, 'own'>): void {
  expect([test.height, test.chain.head.id]).toEqual([OWN, own.chain.head.id])
  expect(synchroniser.progress().behind).toBe(false)
  expect(offences.filter(({ peer }) => peer.startsWith('honest'))).toEqual([])
}
