import type { Block } from '../../../consensus/block/block.ts'
import { sealHeader } from '../../../consensus/block/header.ts'
import { encode } from '../../../consensus/primitives/codec.ts'
import { makeCompactBlock } from '../../../src/p2p/relay/compact-block.ts'
import { fetchKeys } from '../../../src/p2p/sync/key-fetch.ts'
import { MESSAGES, replyCodec, type Status } from '../../../src/p2p/wire/messages.ts'
import { PROTOCOL_NAMES, type ProtocolName } from '../../../src/p2p/wire/protocols.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { fixture } from '../fixture.ts'
import { joined, type Random, randomBytes } from '../mutate.ts'
import { structured } from '../structure.ts'
import { type Target, wordOf } from '../target.ts'
import { type Answers, answered, NOT_HELD, World, wtxIdsOf } from '../world.ts'
import { trueMessages } from './bytes.ts'

const COMPLETED_MS = 12_000

/** Reply bytes as on the wire: mostly whole replies, otherwise random bytes. */
function wired(protocol: ProtocolName): Required<Pick<Target, 'seeds' | 'generate'>> {
  return {
    seeds: async () => [answered(protocol, (await trueMessages())[protocol][1] as never), NOT_HELD],
    generate: (random: Random) =>
      random() < 0.1 ? randomBytes(random, 9) : joined(Uint8Array.of(0), structured(replyCodec(protocol), random)),
  }
}

/** A target for `ask` with arbitrary bytes as the reply. */
function askTarget(protocol: ProtocolName): Target {
  let world: World | undefined
  return {
    name: `ask-${protocol}`,
    share: 0.1,
    ...wired(protocol),
    run: async (bytes) => {
      world ??= await World.open()
      const request = (await trueMessages())[protocol][0]
      const peer = await world.stranger({ [protocol]: () => bytes })
      const reply = await world.settled(world.node.peers.exchange.ask(peer.self, protocol, request as never))
      await world.part(peer)
      return wordOf(reply)
    },
    close: async () => world?.close(),
  }
}

/** How to make a part of the node ask a peer. An input's word names the offences of that peer, and whether the node took a block. */
interface Scene {
  readonly protocol: ProtocolName
  readonly name: string
  readonly seeds?: Target['seeds']
  readonly others?: (world: World) => Promise<Answers>
  readonly claims?: () => Promise<Partial<Status>>
  /** Whether a node asks only once, so that every input needs a new node. */
  readonly once?: boolean
  readonly provoke?: (world: World, peer: Awaited<ReturnType<World['stranger']>>) => Promise<void>
}

function sceneTarget({ protocol, name, seeds, others, claims, once = false, provoke }: Scene): Target {
  let world: World | undefined
  let height = 0
  let asked = 0
  let runs = 0
  return {
    name,
    share: once ? 0.05 : 0.1,
    ...wired(protocol),
    ...(seeds && { seeds }),
    run: async (bytes) => {
      // The node does not ask again for a branch that it took.
      if (world === undefined || once || world.height > height) {
        await world?.close()
        world = await World.open()
        height = world.height
      }
      const offences: string[] = []
      world.node.peers.onOffence((who, offence) => {
        if (who === peer?.self) offences.push(offence)
      })
      let peer: Awaited<ReturnType<World['stranger']>> | undefined
      let answers = 0
      const answer = (): Uint8Array => {
        answers += 1
        return bytes
      }
      peer = await world.stranger({ ...(await others?.(world)), [protocol]: answer }, await claims?.())
      await provoke?.(world, peer)
      await world.part(peer, COMPLETED_MS)
      runs += 1
      if (answers > 0) asked += 1
      const words = answers === 0 ? ['not asked'] : [...new Set(offences)].toSorted()
      return [...words, world.height > height ? 'taken' : 'done'].join(' ')
    },
    close: async () => {
      await world?.close()
      // Inputs that the node does not ask for test nothing.
      if (asked < runs / 2) throw new Error(`${name}: asked for ${asked} of ${runs} inputs`)
    },
  }
}

let nonce = 0n

/** The next block with a new nonce. Every claim of work is valid here. */
async function freshBlock(): Promise<Block> {
  const { next } = await fixture()
  nonce += 1n
  return { ...sealHeader({ ...next.header, nonce: next.header.nonce + nonce }), transactions: next.transactions }
}

let longer: Promise<readonly Block[]> | undefined

/** A branch from genesis with more work than the node's chain. */
function heavierBranch(): Promise<readonly Block[]> {
  longer ??= (async () => {
    const { blocks } = await fixture()
    const test = await TestChain.open()
    const branch: Block[] = []
    for (let i = 0; i < blocks.length + 3; i++) branch.push(await test.mine([], { miner: wallet(5).address }))
    return branch
  })()
  return longer
}

const ahead = async (): Promise<Partial<Status>> => {
  const branch = await heavierBranch()
  const last = branch.at(-1) as Block
  return { head: last.id, height: last.header.height, totalWork: 1n << 200n }
}

const SCENES: readonly Scene[] = [
  {
    name: 'sync-headers',
    protocol: 'headers',
    once: true,
    seeds: async () => [
      answered(
        'headers',
        (await heavierBranch()).map(({ bytes }) => bytes),
      ),
      NOT_HELD,
    ],
    claims: ahead,
    provoke: async ({ node }, { self }) => node.synchroniser.wanted(self),
  },
  {
    name: 'sync-bodies',
    protocol: 'bodies',
    once: true,
    seeds: async () => [
      answered(
        'bodies',
        (await heavierBranch()).map(() => []),
      ),
      answered('bodies', (await trueMessages()).bodies[1]),
    ],
    claims: ahead,
    others: async () => {
      const headers = (await heavierBranch()).map(({ bytes }) => bytes)
      return { headers: () => answered('headers', headers) }
    },
    provoke: async ({ node }, { self }) => node.synchroniser.wanted(self),
  },
  {
    name: 'relay-block-transactions',
    protocol: 'blockTransactions',
    others: async () => ({ bodies: () => NOT_HELD }),
    provoke: async ({ network }, peer) =>
      peer.send(
        network.self,
        'blocks',
        makeCompactBlock(await freshBlock(), 1n, () => false),
      ),
  },
  {
    name: 'relay-body',
    protocol: 'bodies',
    others: async () => ({ blockTransactions: () => NOT_HELD }),
    provoke: async ({ network }, peer) =>
      peer.send(
        network.self,
        'blocks',
        makeCompactBlock(await freshBlock(), 1n, () => false),
      ),
  },
  {
    name: 'relay-transactions',
    protocol: 'transactions',
    provoke: async ({ network }, peer) => {
      const { next } = await fixture()
      void peer.request(network.self, 'announce', encode(MESSAGES.announce.request, wtxIdsOf(next.transactions)))
    },
  },
  { name: 'relay-pool-ids', protocol: 'poolIds', provoke: async ({ hub }) => hub.time.pass(30_000) },
  {
    name: 'intake-keys',
    protocol: 'keys',
    provoke: async (world, { self }) => {
      const wanted = [wallet(1).address, wallet(2).address]
      await world.settled(fetchKeys({ peers: world.node.peers, timers: world.hub.time }, wanted, self))
    },
  },
]

/** The node's requests to peers, answered with arbitrary bytes. */
export const REPLY_TARGETS: readonly Target[] = [...PROTOCOL_NAMES.map(askTarget), ...SCENES.map(sceneTarget)]
