import { randomFillSync } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Address } from '../../consensus/primitives/ids.ts'
import { encodeTransaction } from '../../consensus/tx/transaction.ts'
import { topicId } from '../../src/p2p/wire/protocols.ts'
import { Attacker, GOSSIP, VictimProcess } from '../support/attacker.ts'
import { gossipFrame, joined, subscribeFrame } from '../support/frames.ts'
import { TEST_GENESIS } from '../support/hosts.ts'
import { SAMPLE, unsigned } from '../support/unsigned.ts'
import { type BenchRow, factRow, round } from './report.ts'

const PEERS = (process.env.BENCH_PEERS ?? '8,24').split(',').map(Number)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 6)
/** Each attacker sends a tenth of its allowance per second in each turn. */
const TURN_MS = 100
const REST_MS = 2_000

/** The longest transaction, of an unknown sender. {@link useless} gives each copy a sender of its own. */
const SENDER = Buffer.alloc(32, 0xab)
const TRANSACTION = encodeTransaction(
  unsigned(
    'service_publish',
    SAMPLE.service_publish({ description: 'd'.repeat(480), requestFormat: 'r'.repeat(240) }),
    { sender: SENDER.toString('hex') as Address, witness: { signatures: [{ keyIndex: 0, bytes: new Uint8Array(1) }] } },
  ),
)
const USELESS = gossipFrame(topicId(TEST_GENESIS, 'transactions'), joined(Buffer.from('?'), TRANSACTION))
const USELESS_SENDER = Buffer.from(USELESS).indexOf(SENDER)
const USELESS_TIMES = 115

type Flood = (attacker: Attacker, stream: Awaited<ReturnType<Attacker['open']>>) => void

/** A window update by zero bytes for a stream that does not exist. */
const FRAME = Uint8Array.of(0, 1, 0, 0, 0, 0, 0x75, 0x31, 0, 0, 0, 0)
const FRAMES = repeated(FRAME, 1_300)
const EMPTY = new Uint8Array(950)
const SUBSCRIPTIONS = repeated(subscribeFrame('/elsewhere'), 230)
const MESSAGES = repeated(gossipFrame('/elsewhere', new Uint8Array(8)), 190)

const FLOODS: Readonly<Record<string, Flood>> = {
  'frames of the muxer': ({ connection }) => {
    const { muxer } = connection as unknown as { muxer: { maConn: { send(bytes: Uint8Array): void } } }
    muxer.maConn.send(FRAMES)
  },
  'empty gossip': (_, stream) => void stream.send(EMPTY),
  subscriptions: (_, stream) => void stream.send(SUBSCRIPTIONS),
  'messages of no topic': (_, stream) => void stream.send(MESSAGES),
  'transactions of no use': (_, stream) => void stream.send(useless()),
}

/** How much of a node's main thread hostile connections take, each sending junk at its allowed rate. */
export async function benchInboundFlood(): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = []
  for (const peers of PEERS)
    for (const [what, flood] of Object.entries(FLOODS)) rows.push(await measure(peers, what, flood))
  return rows
}

async function measure(peers: number, what: string, flood: Flood): Promise<BenchRow> {
  const victim = await VictimProcess.start()
  const { address } = await victim.report()
  const attackers = await Promise.all(Array.from({ length: peers }, () => Attacker.connect(address)))
  const streams = await Promise.all(attackers.map((attacker) => attacker.open(GOSSIP)))
  const atRest = await share(victim, REST_MS, async () => setTimeout(REST_MS))
  const flooded = await share(victim, SECONDS * 1_000, async (untilMs) => {
    while (performance.now() < untilMs) {
      const nextMs = performance.now() + TURN_MS
      attackers.forEach((attacker, i) => {
        if (!attacker.cut) flood(attacker, streams[i] as (typeof streams)[number])
      })
      await setTimeout(Math.max(0, nextMs - performance.now()))
    }
  })
  const cut = attackers.filter((attacker) => attacker.cut).length
  await Promise.all(attackers.map((attacker) => attacker.stop()))
  await victim.stop()
  return factRow(`${peers} connections: ${what}`, `${flooded} % of the main thread, ${atRest} % at rest, ${cut} cut`)
}

async function share(victim: VictimProcess, ms: number, run: (untilMs: number) => Promise<unknown>): Promise<number> {
  const beganMs = performance.now()
  const before = (await victim.report()).mainMs
  await run(beganMs + ms)
  const after = (await victim.report()).mainMs
  return round((100 * (after - before)) / (performance.now() - beganMs))
}

function useless(): Uint8Array {
  const frames = repeated(USELESS, USELESS_TIMES)
  for (let i = 0; i < USELESS_TIMES; i++) randomFillSync(frames, i * USELESS.length + USELESS_SENDER, SENDER.length)
  return frames
}

function repeated(bytes: Uint8Array, times: number): Uint8Array {
  return joined(...Array.from({ length: times }, () => bytes))
}
