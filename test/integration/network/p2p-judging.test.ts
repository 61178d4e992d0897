import { afterEach, expect, test } from 'vitest'
import { INBOUND_WORK } from '../../../src/p2p/host/inbound-work.ts'
import type { Verdict } from '../../../src/p2p/network.ts'
import { topicId } from '../../../src/p2p/wire/protocols.ts'
import { Attacker, GOSSIP } from '../../support/attacker.ts'
import { gossipFrame, joined } from '../../support/frames.ts'
import { connect, sightingsOf, startHost, TEST_GENESIS } from '../../support/hosts.ts'
import { until } from '../../support/processes.ts'

/** How long judging one message takes. */
const MESSAGE_MS = 5
const MESSAGES = 600
/** So long that few messages arrive in one piece, even on a busy machine. */
const MESSAGE_BYTES = 4_096
const SECONDS = 3

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A host whose judge is slow and always gives the same verdict. */
async function judging(verdict: Verdict) {
  const host = await startHost()
  closing.push(() => host.stop())
  let judged = 0
  host.subscribe('transactions', async (_, __, time) => {
    time?.measure(() => {
      const untilMs = performance.now() + MESSAGE_MS
      while (performance.now() < untilMs);
    })
    judged += 1
    return verdict
  })
  return { host, judged: () => judged }
}

/** Lets an attacker send messages for some seconds, each in its own frame. */
async function flood(address: string): Promise<Attacker> {
  const attacker = await Attacker.connect(address)
  closing.push(() => attacker.stop())
  const stream = await attacker.open(GOSSIP)
  const topic = topicId(TEST_GENESIS, 'transactions')
  for (let i = 0; i < MESSAGES; i += 10) {
    const frames = Array.from({ length: 10 }, (_, k) =>
      gossipFrame(topic, new TextEncoder().encode(`message ${i + k}`.padEnd(MESSAGE_BYTES))),
    )
    await attacker.send(stream, joined(...frames)).catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, (SECONDS * 1_000 * 10) / MESSAGES))
  }
  return attacker
}

const addressOf = ({ host }: Awaited<ReturnType<typeof judging>>): string => host.addresses()[0] as string

test('useless messages are judged within the share of the main thread, and cost their sender no points', async () => {
  const victim = await judging('ignore')
  const beganMs = performance.now()
  const attacker = await flood(addressOf(victim))
  const { allBurstMs, ownBurstMs, allShare, inboundShare } = INBOUND_WORK
  const sharesMs = (performance.now() - beganMs) * (allShare + inboundShare)
  // Messages in one piece with the one that used up the share are judged too.
  expect(victim.judged() * MESSAGE_MS).toBeLessThan(allBurstMs + ownBurstMs + sharesMs + 64 * MESSAGE_MS)
  expect(victim.judged() * MESSAGE_MS).toBeGreaterThan(allBurstMs / 2)
  expect([attacker.cut, sightingsOf(victim.host).offences]).toEqual([false, []])
})

test('messages that are passed on are judged as they come', async () => {
  const victim = await judging('accept')
  await flood(addressOf(victim))
  await until('all are judged', () => victim.judged() === MESSAGES, { everyMs: 50 })
})

test('an honest peer is heard during a flood', async () => {
  const victim = await judging('ignore')
  const honest = await startHost()
  closing.push(() => honest.stop())
  honest.subscribe('blocks', async () => 'accept')
  let heard = 0
  victim.host.subscribe('blocks', async () => {
    heard += 1
    return 'accept'
  })
  await connect(honest, victim.host)
  const publish = (text: string): void => honest.publish('blocks', new TextEncoder().encode(text))
  // Gossip has its own streams and subscriptions. Messages sent before those exist are lost.
  let greetings = 0
  await until('the peer is listened to', () => {
    publish(`greeting ${greetings++}`)
    return heard > 0
  })
  await new Promise((resolve) => setTimeout(resolve, 500))
  const before = heard
  const flooding = flood(addressOf(victim))
  for (let i = 0; i < 20; i++) {
    publish(`block ${i}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  await until('all blocks are heard', () => heard >= before + 20, { everyMs: 20 })
  await flooding
  expect(sightingsOf(victim.host).offences).toEqual([])
})
