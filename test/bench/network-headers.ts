import type { HeaderTip } from '../../consensus/block/header-tip.ts'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import { eventLoopPacer, systemClock, systemTimers } from '../../src/daemon/runtime.ts'
import { Peers } from '../../src/p2p/peers/peers.ts'
import { Denials } from '../../src/p2p/sync/denials.ts'
import { HeaderWalk } from '../../src/p2p/sync/header-walk.ts'
import { Prover, proveBranch } from '../../src/p2p/sync/prove.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { VerifyPool } from '../../src/workers/verify-pool.ts'
import { TestChain } from '../support/chain.ts'
import { startHost } from '../support/hosts.ts'
import { statusOf } from '../support/p2p/relay-node.ts'
import { until } from '../support/processes.ts'
import { SILENT } from '../support/wire.ts'
import { networkParams } from './network-load.ts'
import { type BenchNode, BenchNodes } from './network-nodes.ts'
import { type BenchRow, median, ratioRow, round, time } from './report.ts'

const KIND = { accounts: 2, senders: 1 }
const HEADERS = Number(process.env.BENCH_HEADERS ?? 10_000)
const ROUNDS = 3
const THREADS = 2
const GOAL = 0.8

const RULE_BOOK = createRuleBook(networkParams(KIND), PROTOCOL)

/** Headers fetched from another process, checked and hashed, against hashing alone on as many threads. */
export async function benchNetworkHeaders(): Promise<readonly BenchRow[]> {
  const nodes = new BenchNodes()
  const verifier = new VerifyPool(THREADS)
  try {
    const server = await nodes.start({ ...KIND, emptyBlocks: HEADERS })
    const walked: number[] = []
    const hashed: number[] = []
    for (let i = 0; i < ROUNDS; i++) {
      const { ms, headers } = await walkFrom(server, verifier)
      walked.push(ms)
      hashed.push(await hashesAlone(headers, verifier))
    }
    const rate = (ms: readonly number[]): number => (HEADERS * 1_000) / median(ms)
    return [
      ratioRow(
        `header sync over loopback (bound: proof of work on ${THREADS} threads, ${round(rate(hashed))} headers/s)`,
        `${round(rate(walked))} headers/s`,
        rate(walked) / rate(hashed),
        GOAL,
      ),
    ]
  } finally {
    await verifier.close()
    await nodes.close()
  }
}

/** Fetches all headers of a node as a new node does, without blocks. */
async function walkFrom(
  server: BenchNode,
  workVerifier: VerifyPool,
): Promise<{ readonly ms: number; readonly headers: readonly HeaderTip[] }> {
  const { chain } = await TestChain.open(RULE_BOOK)
  const host = await startHost({ genesis: RULE_BOOK.genesis.block.id })
  const peers = new Peers({
    ...{ network: host, ruleBook: RULE_BOOK, clock: systemClock, timers: systemTimers, log: SILENT },
    ownStatus: () => statusOf(chain),
  })
  const dialled = await host.dial(server.address)
  if (!dialled.ok) throw new Error(dialled.fault.code)
  const peer = dialled.value
  await until('hands are shaken', () => peers.isReady(peer), { everyMs: 5 })
  const deps = {
    ...{ chain, peers, clock: systemClock, timers: systemTimers, pacer: eventLoopPacer(), workVerifier },
    denials: new Denials((id) => id),
  }
  const headers: HeaderTip[] = []
  const ms = await time(async () => {
    const walk = new HeaderWalk(deps, peer, { tip: undefined })
    const first = await walk.next({ claimed: true })
    if (!first.ok) throw new Error(first.fault.code)
    const end = await proveBranch(
      { walk, first: first.value, claim: undefined },
      new Prover(deps, peer),
      async (page) => {
        headers.push(...page)
        return true
      },
    )
    if (end !== 'complete' || headers.length !== HEADERS) throw new Error(`${end} after ${headers.length} headers`)
  })
  peers.stop()
  await host.stop()
  return { ms, headers }
}

function hashesAlone(headers: readonly HeaderTip[], verifier: VerifyPool): Promise<number> {
  const jobs = headers.map(({ bytes, header }) => ({
    ...{ bytes, target: header.target },
    cost: RULE_BOOK.at(header.height).block.pow,
  }))
  return time(() => verifier.verifyWork(jobs))
}
