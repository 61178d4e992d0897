import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { UPGRADE_WRITES_MAX } from '../../../src/p2p/host/lib-bounds.ts'
import { Attacker, VictimProcess } from '../../support/attacker.ts'
import { joined, prefixed } from '../../support/frames.ts'
import { until } from '../../support/processes.ts'

const LINE = prefixed(Buffer.from('/no/such/thing\n'))
/** Frame kind 1: window updates. */
const WINDOW = 1

let victim: VictimProcess
let address: string
const attackers: Attacker[] = []
beforeAll(async () => {
  victim = await VictimProcess.start({ dht: true })
  address = (await victim.report()).address
})
afterAll(() => victim.stop())
afterEach(async () => {
  await Promise.all(attackers.splice(0).map((attacker) => attacker.stop()))
  expect((await victim.report()).warnings).toEqual([])
})

async function attack(): Promise<Attacker> {
  const attacker = await Attacker.connect(address)
  attackers.push(attacker)
  return attacker
}

interface Muxer {
  readonly maConn: { send(bytes: Uint8Array): void }
}

/** Sends raw frames of the muxer. */
function sendFrames(attacker: Attacker, frames: Uint8Array): void {
  const { muxer } = attacker.connection as unknown as { muxer: Muxer }
  muxer.maConn.send(frames)
}

function frame(stream: number): Uint8Array {
  const bytes = Buffer.alloc(12)
  bytes[1] = WINDOW
  bytes.writeUInt32BE(stream, 4)
  return bytes
}

async function cutFor(attacker: Attacker, about: RegExp): Promise<void> {
  await until('the attacker is cut', () => attacker.cut, { everyMs: 10 })
  const { offences } = await victim.report()
  expect(offences.filter((line) => line.startsWith(attacker.id)).join('\n')).toMatch(about)
}

test('frames of the muxer for streams that do not exist', async () => {
  const attacker = await attack()
  const frames = Buffer.concat(Array.from({ length: 10_000 }, () => frame(99_999)))
  for (let i = 0; i < 50 && !attacker.cut; i++) {
    sendFrames(attacker, frames)
    await setTimeout(1)
  }
  // Frames and their bytes use one allowance. Which of the two finds it empty depends on how they arrive.
  await cutFor(attacker, /flood (frames|bytes that this node did not ask for)/)
})

test('a stranger who negotiates without end is cut off before it is identified', async () => {
  const socket = connectSocket(Number(address.split('/')[4]), '127.0.0.1')
  let answers = 0
  socket.on('data', (data) => {
    answers += data.length
  })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(joined(...Array.from({ length: 10_000 }, () => LINE)))
  await new Promise<void>((resolve) => socket.once('close', () => resolve()))
  expect(answers).toBeLessThanOrEqual(UPGRADE_WRITES_MAX * 4)
})
