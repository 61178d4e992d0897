import { randomBytes } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import { toHex } from '../../consensus/primitives/bytes.ts'
import { systemClock, systemTimers } from '../../src/daemon/runtime.ts'
import { Peers } from '../../src/p2p/peers/peers.ts'
import type { Status } from '../../src/p2p/wire/messages.ts'
import { TRANSACTION_IDS_MAX } from '../../src/p2p/wire/messages.ts'
import type { ProtocolName } from '../../src/p2p/wire/protocols.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { startHost } from '../support/hosts.ts'
import { testParams } from '../support/network.ts'
import { until } from '../support/processes.ts'
import { SILENT } from '../support/wire.ts'

/** Data of the asker's thread. */
export interface AskerData {
  readonly address: string
  readonly status: Status
}

/** A request to send `times` times, one after the other. */
export interface AskerTask {
  readonly protocol: ProtocolName
  readonly request: unknown
  readonly times: number
}

/** The outcome of a task: counts of answers and refusals, and the bytes of the answers. */
export interface AskerOutcome {
  readonly answered: number
  readonly refused: number
  readonly bytes: number
}

// This peer runs in its own thread, so that the main thread spends its time on answers only.
const { address, status } = workerData as AskerData
const ruleBook = createRuleBook(testParams(), PROTOCOL)
const host = await startHost({ genesis: ruleBook.genesis.block.id })
const peers = new Peers({
  ...{ network: host, ruleBook, clock: systemClock, timers: systemTimers, log: SILENT },
  ownStatus: () => status,
})
const outcome = { answered: 0, refused: 0, bytes: 0 }
peers.exchange.onExchange({
  asked: (_, how, __, bytes) => {
    if (how === 'answered') outcome.answered += 1
    else outcome.refused += 1
    outcome.bytes += bytes
  },
  answered: () => {},
})
const dialled = await host.dial(address)
if (!dialled.ok) throw new Error(dialled.fault.code)
await until('hands are shaken', () => peers.isReady(dialled.value), { everyMs: 5 })

parentPort?.on('message', (task: AskerTask) => void run(task))
parentPort?.postMessage({ answered: 0, refused: 0, bytes: 0 } satisfies AskerOutcome)

async function run({ protocol, request, times }: AskerTask): Promise<void> {
  Object.assign(outcome, { answered: 0, refused: 0, bytes: 0 })
  for (let i = 0; i < times; i++) {
    const asked = protocol === 'announce' ? freshIds() : request
    await peers.exchange.ask(dialled.ok ? dialled.value : host.self, protocol, asked as never)
  }
  parentPort?.postMessage({ ...outcome } satisfies AskerOutcome)
}

/** Ids that no node knows. */
function freshIds(): readonly string[] {
  return Array.from({ length: TRANSACTION_IDS_MAX }, () => toHex(randomBytes(32)))
}
