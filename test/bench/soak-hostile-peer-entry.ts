import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { protocolId, topicId } from '../../src/p2p/wire/protocols.ts'
import { Attacker, GOSSIP } from '../support/attacker.ts'
import { gossipFrame, joined, prefixed } from '../support/frames.ts'

/** A hostile peer: attacks a node with one identity after another until it is ended, and reports after each attack. */
const [, , url, address, genesis] = process.argv as [string, string, string, string, string]
const ATTACK_MS = 3_000
const PAUSE_MS = 1_000
const made: Record<string, number> = {}

/** Requests that cost the server more than the peer, sent one after another with short pauses. */
async function ask(attacker: Attacker, name: 'blockTransactions' | 'bodies' | 'poolIds' | 'stateRecords' | 'headers') {
  const endMs = performance.now() + ATTACK_MS
  while (!attacker.cut && performance.now() < endMs) {
    const stream = await attacker.open(protocolId(genesis, name))
    await attacker.send(stream, prefixed(randomBytes(36)))
    await stream.close()
    await setTimeout(10)
  }
}

const ATTACKS: Readonly<Record<string, (attacker: Attacker) => Promise<void>>> = {
  gossip: async (attacker) => attacker.flood(await attacker.open(GOSSIP), randomBytes(65_536), ATTACK_MS),
  transactions: async (attacker) => {
    const stream = await attacker.open(GOSSIP)
    const frame = (): Uint8Array => gossipFrame(topicId(genesis, 'transactions'), randomBytes(3_000))
    for (let i = 0; i < 100 && !attacker.cut; i++) await attacker.send(stream, frame())
  },
  duplicates: async (attacker) => {
    const frame = gossipFrame(topicId(genesis, 'transactions'), randomBytes(6_000))
    await attacker.flood(await attacker.open(GOSSIP), joined(...Array<Uint8Array>(16).fill(frame)), ATTACK_MS)
  },
  blockTransactions: (attacker) => ask(attacker, 'blockTransactions'),
  bodies: (attacker) => ask(attacker, 'bodies'),
  poolIds: (attacker) => ask(attacker, 'poolIds'),
  headers: (attacker) => ask(attacker, 'headers'),
  stateRecords: (attacker) => ask(attacker, 'stateRecords'),
  streams: async (attacker) => {
    const opened = Array.from({ length: 500 }, () => attacker.open(protocolId(genesis, 'status')))
    await Promise.allSettled(opened)
    await setTimeout(ATTACK_MS)
  },
  deaf: async (attacker) => {
    attacker.deafen()
    for (let i = 0; i < 100 && !attacker.cut; i++) {
      attacker.ping(1_000)
      await setTimeout(10)
    }
  },
}

process.stdout.write(`${url}\n`)
for (let i = 0; ; i++) {
  const names = Object.keys(ATTACKS)
  const name = names[i % names.length] as string
  const done = await once(name).then(
    () => name,
    (error: unknown) => `${name} ended: ${error instanceof Error ? error.name : 'unknown'}`,
  )
  made[done] = (made[done] ?? 0) + 1
  process.stdout.write(`peer: ${JSON.stringify(made)}\n`)
  await setTimeout(PAUSE_MS)
}

async function once(name: string): Promise<void> {
  const attacker = await Attacker.connect(address)
  try {
    await ATTACKS[name]?.(attacker)
  } finally {
    await attacker.stop()
  }
}
