import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Chain } from '../../consensus/chain/chain.ts'
import type { HeaderTip } from '../../consensus/chain/header-tip.ts'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import { createInlineVerifier } from '../../consensus/crypto/verifier.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { nativePowHasher } from '../../src/crypto/native-pow.ts'
import { serveState } from '../../src/p2p/serve/state.ts'
import { SnapshotSync } from '../../src/p2p/snapshot/snapshot-sync.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { eventLoopPacer, systemClock, systemTimers } from '../../src/runtime.ts'
import { openChain } from '../../src/storage/folder.ts'
import { StateSnapshots } from '../../src/storage/state-snapshots.ts'
import { connect, headersAbove } from '../support/snapshot-nodes.ts'
import { peersOver, SILENT, Wire } from '../support/wire.ts'
import { seedFolder } from './big-state.ts'
import { BENCH_SIZES, createFixture, mineBlock } from './fixture.ts'
import { type BenchRow, time, valueRow } from './report.ts'

const ACCOUNTS = Number(process.env.SNAPSHOT_ACCOUNTS ?? 1_000_000)
const GOAL_MS = 60_000

const { params } = createFixture(2, 1)

/** A snapshot of a million accounts, both nodes in one process and thus on one core, each on a LevelDB of its own. */
export async function benchSnapshot(): Promise<readonly BenchRow[]> {
  const root = mkdtempSync(join(tmpdir(), 'farthing-bench-'))
  await seedFolder(join(root, 'server'), ACCOUNTS, params)
  const server = await openNode(join(root, 'server'), 'server')
  const snapshots = new StateSnapshots({
    ...{ chain: server.chain, clock: systemClock, timers: systemTimers, blocks: 1 },
    pin: () => server.store.pin(),
  })
  serveState(server.peers.exchange, snapshots, server.chain.ruleBook)
  snapshots.start()
  await mineBlock(server.chain, [])
  const joining = await openNode(join(root, 'joining'), 'joining')
  await connect(joining, server)
  const { chain, peers } = joining
  const sync = new SnapshotSync({
    ...{ chain, peers, clock: systemClock, timers: systemTimers, pacer: eventLoopPacer() },
    log: SILENT,
  })
  await sync.keepHeaders(headersAbove(server, 0))
  const tip = sync.keptTip() as HeaderTip
  const ms = await time(async () => {
    const taken = await sync.run({
      snapshot: { height: 1, id: tip.id },
      ...{ tip, peers: () => [server.wire.self], stopped: () => false },
      report: (part) =>
        process.stderr.write(
          `${part} ${Math.round(performance.now())} ms, ${process.cpuUsage().user / 1000} ms of a core\n`,
        ),
    })
    if (!taken.ok) throw new Error(taken.fault.code)
  })
  await snapshots.stop()
  for (const { store } of [server, joining]) await store.close()
  rmSync(root, { recursive: true, force: true })
  return [valueRow(`snapshot sync of ${ACCOUNTS} accounts, both nodes on one core`, ms, 'ms', { most: GOAL_MS })]
}

async function openNode(folder: string, name: string) {
  const ruleBook = createRuleBook(params, PROTOCOL)
  const opened = await openChain(folder, ruleBook, ruleBook.genesis, BENCH_SIZES)
  if (!opened.ok) throw new Error(opened.fault.code)
  const { database, store } = opened.value
  const wire = new Wire(name)
  const peers = peersOver(wire, ruleBook, () => ({}), systemClock.now)
  const chain = new Chain({
    ...{ ruleBook, database, network: ruleBook.network, powHasher: nativePowHasher, clock: systemClock },
    verifier: createInlineVerifier(NATIVE_BACKEND),
    pacer: eventLoopPacer(),
    reorganisationDepthMax: 1_200,
  })
  return { chain, database, store, wire, peers }
}
