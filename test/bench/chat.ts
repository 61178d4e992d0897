import { setTimeout } from 'node:timers/promises'
import { until } from '../support/processes.ts'
import { ChatBench, quantile, type ReadStream, type Way } from './chat-world.ts'
import { cpuMicros, residentMb } from './processes.ts'
import { type BenchRow, factRow, nowMs, round, valueRow } from './report.ts'

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 400)
/** A p99 needs many hundreds of rounds. */
const FIRST_ROUNDS = Number(process.env.BENCH_ROUNDS ?? 1_500)
const STREAMS = 500
const PIECES = Number(process.env.BENCH_PIECES ?? 200)
const EVERY_MS = Number(process.env.BENCH_EVERY_MS ?? 100)
const WARM_UP = 50
/** 500 streams, one every 10 ms, have all begun after 5 s. None ends before 20 s. */
const BEGIN_MS = 10

const spread = (values: readonly number[], unit: string): string =>
  `${[0.5, 0.95, 0.99].map((share) => round(quantile(values, share))).join(' / ')} ${unit}`

/**
 * The delay that the node adds to the first word of a streamed answer; one chat at a time. The model's time in the same
 * chat is subtracted. Delays of the reader and of the machine remain: the same chats through a mere relay of bytes show how
 * large these are.
 */
export async function benchChatFirstByte(): Promise<readonly BenchRow[]> {
  const bench = await ChatBench.open()
  const took: Record<Way, number[]> = { straight: [], relay: [], node: [] }
  const ways = Object.keys(took) as Way[]
  const first = async (way: Way): Promise<number> => {
    const { askedMs, firstMs, thoughtMs } = await bench.read({ name: 'first', pieces: 3, everyMs: 1 }, way)
    return firstMs - askedMs - thoughtMs
  }
  for (let i = 0; i < WARM_UP; i++) for (const way of ways) await first(way)
  const cpuBefore = cpuMicros(bench.daemon.pid)
  for (let i = 0; i < FIRST_ROUNDS; i++) for (const way of ways) took[way].push(await first(way))
  const chatMs = (cpuMicros(bench.daemon.pid) - cpuBefore) / 1_000 / FIRST_ROUNDS
  await bench.close()
  const usual = quantile(took.straight, 0.5)
  const later = (way: Way, share: number): number => quantile(took[way], share) - usual
  const row = (share: number): BenchRow =>
    valueRow(`later by, p${round(share * 100)}`, later('node', share), 'ms', { most: 5 })
  return [
    factRow('to the model and back without what it takes itself, p50 / p95 / p99', spread(took.straight, 'ms')),
    factRow('the same through a relay of bytes', spread(took.relay, 'ms')),
    factRow('the same through the node', spread(took.node, 'ms')),
    factRow('time on the processor for a whole short chat', `${round(chatMs)} ms`),
    row(0.5),
    row(0.95),
    row(0.99),
    factRow('later than through the relay, p99', `${round(later('node', 0.99) - later('relay', 0.99))} ms`),
  ]
}

/** Five hundred streams at once, each at a model's pace of writing. */
export async function benchChatStreams(): Promise<readonly BenchRow[]> {
  const bench = await ChatBench.open()
  const { pid } = bench.daemon
  const before = { mb: residentMb(pid), cpu: cpuMicros(pid), ms: nowMs() }
  let peakMb = before.mb
  const over = new AbortController()
  const watching = (async () => {
    while (!over.signal.aborted) {
      peakMb = Math.max(peakMb, residentMb(pid))
      await setTimeout(50)
    }
  })()
  const reads: Promise<ReadStream>[] = []
  for (let i = 0; i < STREAMS; i++) {
    reads.push(bench.read({ name: `stream ${i}`, pieces: PIECES, everyMs: EVERY_MS }))
    await setTimeout(BEGIN_MS)
  }
  const read = await Promise.all(reads)
  const seconds = (nowMs() - before.ms) / 1_000
  over.abort()
  await watching
  const cpuSeconds = (cpuMicros(pid) - before.cpu) / 1e6
  const delayMs = (await bench.metric(/^farthing_event_loop_delay_seconds\{quantile="0.99"\} (\S+)/m)) * 1_000
  await bench.close()
  const whole = read.filter(({ isDone, piecesMs }) => isDone && piecesMs.length === PIECES)
  const pieces = read.flatMap(({ piecesMs }) => piecesMs)
  return [
    valueRow(
      `streams of ${STREAMS} that came whole (${round(1_000 / EVERY_MS)} pieces a second each)`,
      whole.length,
      '',
      { least: STREAMS },
    ),
    valueRow('memory of the node at its most', peakMb, 'MB', { most: 400 }),
    factRow('memory of the node before', `${round(before.mb)} MB`),
    factRow('pieces under way, p50 / p95 / p99', spread(pieces, 'ms')),
    factRow(
      'first words, p50 / p95 / p99',
      spread(
        read.map(({ firstMs, askedMs }) => firstMs - askedMs),
        'ms',
      ),
    ),
    factRow('pieces a second', `${round(pieces.length / seconds)}`),
    factRow('time on the processor for a piece', `${round((cpuSeconds * 1e6) / pieces.length)} us`),
    factRow('share of one processor', `${round((cpuSeconds / seconds) * 100)} %`),
    factRow('delay of the event loop, p99', `${round(delayMs)} ms`),
  ]
}

/** How soon the model learns that a reader left in the middle of a stream, beside a reader connected straight to the model. */
export async function benchChatAbort(): Promise<readonly BenchRow[]> {
  const bench = await ChatBench.open()
  const aborted = new Map<string, number>()
  const leave = async (name: string, way: Way): Promise<void> => {
    const over = new AbortController()
    const reading = bench.read({ name, pieces: 10_000, everyMs: 5 }, way, over.signal)
    reading.catch(() => {})
    await setTimeout(30)
    aborted.set(name, nowMs())
    over.abort()
    await reading.catch(() => {})
  }
  for (let i = 0; i < ROUNDS; i++) {
    await leave(`straight ${i}`, 'straight')
    await leave(`through ${i}`, 'node')
  }
  const gone = await until('the model heard all', async () => {
    const heard = await bench.gone()
    return heard.size === 2 * ROUNDS && heard
  })
  await bench.close()
  const took = (of: string): readonly number[] =>
    [...aborted].flatMap(([name, atMs]) => (name.startsWith(of) ? [(gone.get(name) as number) - atMs] : []))
  return [
    factRow('from a reader of its own gone to the model, p50 / p95 / p99', spread(took('straight'), 'ms')),
    factRow('from a reader of the node gone to the model, p50 / p95 / p99', spread(took('through'), 'ms')),
    valueRow('the same, p99', quantile(took('through'), 0.99), 'ms', { most: 50 }),
  ]
}
