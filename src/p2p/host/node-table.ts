import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../../consensus/chain/ports.ts'
import type { Allowance } from '../../../consensus/primitives/bucket.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import type { PeerId } from '../network.ts'
import { ClockedBucket } from '../peers/budget.ts'
import type { ChannelName } from '../wire/protocols.ts'
import { isDialable } from './address-groups.ts'
import type { Links } from './links.ts'
import { parseNodeAddress } from './node-address.ts'
import {
  ADDRESSES_PER_NODE,
  NODES_MAX,
  readNodes,
  readQuestion,
  type TableNode,
  writeNodes,
  writePong,
  writeQuestion,
} from './table-messages.ts'

/** Questions to the table from one peer. Older releases ask each node some twenty times when they look around. */
export const TABLE_QUESTIONS: Allowance = { burst: 64, perSecond: 1 }
/** Peers asked in one walk. Each tells of up to twenty nodes. */
const ASKED_PER_WALK = 8
const KEY_BYTES = 32
const NOTHING = new Uint8Array(0)

/** What the table works with. */
export interface NodeTableDependencies {
  readonly links: Links
  readonly clock: Clock
  readonly allowPrivate: boolean
  readonly ask: (peer: PeerId, protocol: ChannelName, body: Uint8Array) => Promise<Result<Uint8Array>>
}

interface Entry {
  readonly hash: Uint8Array
  /** Where the peer says that it listens, in a form that can be passed on. */
  readonly addresses: readonly string[]
}

/**
 * The node table: connected peers that say where they listen. A peer that asks for nodes near a key is told of the nearest of those, and
 * this node asks peers the same. Pings are answered. No other part of Kademlia is spoken, and nothing that strangers send is kept.
 */
export class NodeTable {
  readonly #deps: NodeTableDependencies
  readonly #entries = new Map<PeerId, Entry>()
  readonly #questions = new Map<PeerId, ClockedBucket>()

  constructor(dependencies: NodeTableDependencies) {
    this.#deps = dependencies
    dependencies.links.onConnection({
      connected: (info) => void this.#questions.set(info.id, new ClockedBucket(TABLE_QUESTIONS, dependencies.clock)),
      disconnected: (id) => {
        this.#questions.delete(id)
        this.#entries.delete(id)
      },
    })
  }

  heard(peer: PeerId, addresses: readonly string[]): void {
    if (!this.#questions.has(peer)) return
    const places = addresses.slice(0, ADDRESSES_PER_NODE).flatMap((text) => this.#placeOf(text))
    if (places.length === 0) this.#entries.delete(peer)
    else this.#entries.set(peer, { hash: hashOf(Buffer.from(peer)), addresses: places })
  }

  /** A peer that asks for nodes too often gets none. A peer that sends anything but such a question or a ping is cut off. */
  answer(from: PeerId, body: Uint8Array): Uint8Array {
    const question = readQuestion(body)
    if (question === undefined) {
      this.#deps.links.expel(from, 'malformed', 'a message to the node table that is not a question for nodes')
      return NOTHING
    }
    if (question.kind === 'ping') return writePong()
    const allowed = this.#questions.get(from)?.spend(1) ?? false
    return writeNodes(allowed ? this.#near(question.key, from) : [])
  }

  /** Asks some random peers for nodes near a random key. It never rejects. */
  async walk(onNode: (node: TableNode, from: PeerId) => void): Promise<void> {
    const asked = shuffled(this.#deps.links.peers().map(({ id }) => id)).slice(0, ASKED_PER_WALK)
    await Promise.all(
      asked.map(async (peer) => {
        const reply = await this.#deps.ask(peer, 'kad', writeQuestion(randomBytes(KEY_BYTES)))
        for (const node of reply.ok ? (readNodes(reply.value) ?? []) : []) onNode(node, peer)
      }),
    )
  }

  #near(key: Uint8Array, except: PeerId): readonly TableNode[] {
    const wanted = hashOf(key)
    return [...this.#entries]
      .filter(([peer]) => peer !== except)
      .map(([peer, { hash, addresses }]) => ({
        peer,
        addresses,
        distance: hash.map((byte, i) => byte ^ (wanted[i] as number)),
      }))
      .toSorted((a, b) => Buffer.compare(a.distance, b.distance))
      .slice(0, NODES_MAX)
  }

  #placeOf(text: string): readonly string[] {
    const address = parseNodeAddress(text)
    if (!address.ok || address.value.ip === null || !isDialable(address.value.ip, this.#deps.allowPrivate)) return []
    return [address.value.text.split('/p2p/')[0] as string]
  }
}

function hashOf(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest()
}

function shuffled<T>(items: readonly T[]): readonly T[] {
  return items
    .map((item) => [Math.random(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item)
}
