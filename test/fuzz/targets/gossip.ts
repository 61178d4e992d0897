import { toHex } from '../../../consensus/primitives/bytes.ts'
import { encodeTransaction } from '../../../consensus/tx/transaction.ts'
import type { TopicName } from '../../../src/p2p/network.ts'
import { makeCompactBlock } from '../../../src/p2p/relay/compact-block.ts'
import { COMPACT_BLOCK } from '../../../src/p2p/wire/messages.ts'
import { fixture } from '../fixture.ts'
import { structured } from '../structure.ts'
import type { Target } from '../target.ts'
import { World } from '../world.ts'

const JUDGED_MS = 20_000

function gossipTarget(topic: TopicName, parts: Pick<Target, 'seeds' | 'generate'>): Target {
  let world: World | undefined
  /** Messages that were accepted once: the network does not validate them again. */
  const accepted = new Set<string>()
  return {
    name: `gossip-${topic}`,
    share: 0.5,
    ...parts,
    run: async (bytes) => {
      world ??= await World.open()
      const id = toHex(bytes)
      if (accepted.has(id)) return 'known'
      const { verdicts } = world.network
      const before = verdicts.length
      const peer = await world.regular()
      peer.send(world.network.self, topic, bytes)
      for (let ms = 0; verdicts.length === before && ms < JUDGED_MS; ms += 100) await world.hub.time.pass(100)
      if (world.fatal.length > 0) throw world.fatal[0]
      const verdict = verdicts[before]?.verdict
      if (verdict === undefined) throw new Error('it was never judged')
      if (verdict === 'accept') accepted.add(id)
      return verdict
    },
    close: async () => world?.close(),
  }
}

/** The node's validation of gossip. */
export const GOSSIP_TARGETS: readonly Target[] = [
  gossipTarget('blocks', {
    seeds: async () => {
      const { next, blocks } = await fixture()
      return [next, ...blocks].flatMap((block) => [
        makeCompactBlock(block, 1n, () => true),
        makeCompactBlock(block, 1n, () => false),
      ])
    },
    generate: (random) => structured(COMPACT_BLOCK, random),
  }),
  gossipTarget('transactions', {
    seeds: async () => {
      const { waiting, next, blocks } = await fixture()
      return [...waiting, ...next.transactions, ...blocks.flatMap(({ transactions }) => transactions)].map(
        encodeTransaction,
      )
    },
  }),
]
