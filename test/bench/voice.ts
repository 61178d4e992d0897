import { setImmediate } from 'node:timers/promises'
import { runPaced } from '../../consensus/chain/ports.ts'
import { chunksOf } from '../../marketplace/chat/voice/chunks.ts'
import { voiceSound } from '../../marketplace/chat/voice/voice-sound.ts'
import type { SoundFormat } from '../../marketplace/chat/voice/wav.ts'
import { eventLoopPacer } from '../../src/daemon/runtime.ts'
import { type BenchRow, factRow, round, valueRow } from './report.ts'

const SECONDS = 60
const ROUNDS = 5
const HELD_UP_GOAL = { most: 20 }
const CHUNKS_GOAL = { most: 20 }

const FORMATS: readonly SoundFormat[] = [
  { rate: 22_050, bits: 16, channels: 1 },
  { rate: 24_000, bits: 16, channels: 1 },
  { rate: 44_100, bits: 24, channels: 2 },
  { rate: 96_000, bits: 16, channels: 1 },
]

/** CPU time to convert a minute of speech to 24 kHz, 16 bit, mono, and the longest stretch that blocks the event loop. */
export async function benchVoice(): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = []
  for (const format of FORMATS) {
    const data = noise(format)
    let [heldUpMs, totalMs] = [0, 0]
    for (let i = 0; i < ROUNDS; i++) {
      const beganMs = cpuMs()
      const work = runPaced(voiceSound({ format, data, isShort: false }), eventLoopPacer())
      heldUpMs = Math.max(heldUpMs, await longestStretch(work))
      totalMs += cpuMs() - beganMs
    }
    const name = `a minute of ${format.rate} Hz, ${format.bits} bit, ${format.channels} channel(s)`
    rows.push(valueRow(`${name}: longest stretch`, heldUpMs, 'ms', HELD_UP_GOAL))
    rows.push(factRow(`${name}: in all`, `${round(totalMs / ROUNDS)} ms`))
  }
  const text = 'word '.repeat(1_638)
  const beganMs = cpuMs()
  chunksOf(text)
  rows.push(valueRow('8,190 characters without a sentence, in pieces', cpuMs() - beganMs, 'ms', CHUNKS_GOAL))
  return rows
}

/** CPU time of this thread, free of other work on the machine. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Longest CPU time between two turns of the event loop during the work. */
async function longestStretch(work: Promise<unknown>): Promise<number> {
  let isDone = false
  let longest = 0
  void work.finally(() => {
    isDone = true
  })
  for (let lastMs = cpuMs(); !isDone; ) {
    await setImmediate()
    longest = Math.max(longest, cpuMs() - lastMs)
    lastMs = cpuMs()
  }
  return longest
}

function noise({ rate, bits, channels }: SoundFormat): Uint8Array {
  let state = 1
  return Uint8Array.from({ length: (rate * SECONDS * bits * channels) / 8 }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return state >>> 24
  })
}
