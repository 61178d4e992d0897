import { type Block, bodySize, encodedBodySize } from '../../../consensus/block/block.ts'
import type { Chain } from '../../../consensus/chain/chain.ts'
import type { ChainDatabase } from '../../../consensus/chain/database.ts'
import { changeHeld } from '../../../consensus/chain/held-bodies.ts'
import { BASE_MARK, type BlockEntry, type HeldBodies, KEYS, prefixKey } from '../../../consensus/chain/layout.ts'
import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import { bodyWrites } from '../../../consensus/chain/writes.ts'
import { decodeOwn, encode } from '../../../consensus/primitives/codec.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import type { NetworkLog, PeerId } from '../network.ts'
import type { Peers } from '../peers/peers.ts'
import { blockOf } from '../wire/body.ts'
import { PROTOCOLS } from '../wire/protocols.ts'
import { Waits } from './waits.ts'

/** What the backfill works with. */
export interface BackfillDependencies {
  readonly chain: Chain
  readonly peers: Peers
  readonly clock: Clock
  readonly timers: Timers
  readonly log: NetworkLog
  /** Heights from which on bodies and witnesses are wanted, by the height of the head. */
  readonly wanted: (height: number) => HeldBodies
  readonly allowed: () => boolean
  readonly onFatal: (error: unknown) => void
}

const BLOCKS_PER_REQUEST = 32
/** Wait between two requests, so that the chain itself comes first. */
const PAUSE_MS = 100
const EVERY_MS = 10_000

/**
 * Fetches missing bodies that the node is to keep, newest first: after a snapshot, or if the data folder kept less before. The mark of what
 * is held is written with the bodies, so a restart goes on there.
 */
export class Backfill {
  readonly #deps: BackfillDependencies
  readonly #waits: Waits
  #cancel: () => void = () => {}
  #running: Promise<unknown> = Promise.resolve()
  #stopped = true
  #told = false
  #sized = false

  constructor(dependencies: BackfillDependencies) {
    this.#deps = dependencies
    this.#waits = new Waits(dependencies)
  }

  start(): void {
    this.#stopped = false
    this.#later(EVERY_MS)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancel()
    await this.#running
  }

  /** Fetches the next older blocks. True if any came, or if sizes of stored bodies were measured instead. */
  async step(): Promise<boolean> {
    const { chain, allowed } = this.#deps
    if (!(await this.#isSized())) return true
    const { held } = chain.database
    const wanted = this.#deps.wanted(chain.head.header.height)
    const top = held.witnessesFrom > wanted.witnessesFrom ? held.witnessesFrom : held.bodiesFrom
    const bottom = held.witnessesFrom > wanted.witnessesFrom ? wanted.witnessesFrom : wanted.bodiesFrom
    if (top <= bottom || !allowed()) return false
    const from = Math.max(1, bottom, top - BLOCKS_PER_REQUEST)
    // Genesis has no body that could be fetched.
    if (top <= 1) return this.#mark(0, top, [])
    const peer = this.#peerWith(from)
    if (peer === undefined) return this.#tell(top, bottom)
    return this.#fetch(peer, top - 1, from)
  }

  /** Whether the sizes of earlier bodies are known. If not, some more are worked out now. */
  async #isSized(): Promise<boolean> {
    this.#sized ||= !(await sizeBodies(this.#deps.chain.database))
    return this.#sized
  }

  async #fetch(peer: PeerId, newest: number, oldest: number): Promise<boolean> {
    const { chain, peers } = this.#deps
    const ids: BlockId[] = []
    for (let height = newest; height >= oldest; height--) ids.push(chain.database.idAt(height) as BlockId)
    const reply = await this.#waits.ask(peer, 'bodies', ids)
    if (!reply.ok) return this.#missed(peer)
    const blocks: Block[] = []
    let lowest = newest + 1
    for (const [i, encoded] of reply.value.entries()) {
      const id = ids[i]
      const entry = id && chain.database.entry(id)
      const block = entry && blockOf(entry, encoded)
      if (block === undefined) {
        peers.report(peer, 'bad-body', `block ${id ?? 'that was not asked for'}`)
        break
      }
      lowest = block.header.height
      blocks.push(block)
    }
    if (lowest > newest) return this.#missed(peer)
    const bytes = blocks.reduce((sum, { transactions }) => sum + bodySize(transactions), 0)
    this.#waits.note(peer, 0, bytes)
    if (this.#stopped) return false
    return this.#mark(lowest, newest + 1, blocks)
  }

  /** Notes a peer that gave nothing. Even if it answered at once, it must not count as quick. */
  #missed(peer: PeerId): false {
    this.#waits.note(peer, PROTOCOLS.bodies.deadlineMs, 0)
    return false
  }

  /** Stores blocks from a height up to those that are held. Unwanted witnesses are left out. */
  #mark(lowest: number, top: number, blocks: readonly Block[]): Promise<boolean> {
    const { database, head } = this.#deps.chain
    const wanted = this.#deps.wanted(head.header.height)
    return changeHeld(database, (held) => {
      const witnesses = held.witnessesFrom > wanted.witnessesFrom
      // The mark moved meanwhile, so there would be a gap.
      if ((witnesses ? held.witnessesFrom : held.bodiesFrom) !== top) return undefined
      const witnessPrefix = prefixKey('witnesses')[0]
      const writes = blocks.flatMap(bodyWrites)
      return {
        held: {
          bodiesFrom: Math.min(held.bodiesFrom, lowest),
          witnessesFrom: witnesses ? lowest : held.witnessesFrom,
        },
        writes: witnesses ? writes : writes.filter(({ key }) => key[0] !== witnessPrefix),
        entries: blocks.flatMap((block) => sizedEntry(database, block.id, bodySize(block.transactions))),
      }
    })
  }

  /** The quickest peer that holds bodies with witnesses there. If peers took turns, a slow one would hold up each round. */
  #peerWith(height: number): PeerId | undefined {
    const able = this.#deps.peers.list().filter(({ status }) => status.witnessesFrom <= height)
    return this.#waits.quickestOf(able.map(({ info }) => info.id))
  }

  #tell(top: number, bottom: number): false {
    const facts = { heldFrom: top, wantedFrom: bottom }
    if (!this.#told) this.#deps.log.warn(facts, 'older blocks are missing, and no peer that has them is connected')
    this.#told = true
    return false
  }

  #later(ms: number): void {
    if (this.#stopped) return
    this.#cancel = this.#deps.timers.after(ms, () => {
      const run = this.step().then((more) => this.#later(more ? PAUSE_MS : EVERY_MS))
      this.#running = run.catch((error: unknown) => this.#deps.onFatal(error))
    })
  }
}

/** Entries looked at in one step, and bodies read, so that a step stays short. */
const ENTRIES_PER_STEP = 256
const READ_PER_STEP = 4

function sizedEntry(database: ChainDatabase, id: BlockId, bodyBytes: number): readonly BlockEntry[] {
  const entry = database.entry(id)
  return entry === undefined ? [] : [{ ...entry, bodyBytes }]
}

/**
 * Measures blocks whose size older releases left out, some in each call. True if there are more. A mark in the store keeps how far this has
 * come.
 */
async function sizeBodies(database: ChainDatabase): Promise<boolean> {
  const { base, held } = database
  const bottom = Math.max(1, held.bodiesFrom, held.witnessesFrom)
  const top = sizedFrom(database) - 1
  const entries: BlockEntry[] = []
  let height = top
  for (; height >= bottom && entries.length < READ_PER_STEP && top - height < ENTRIES_PER_STEP; height--) {
    const entry = database.entry(database.idAt(height) as BlockId)
    if (entry !== undefined && entry.bodyBytes === 0) entries.push(...measured(database, entry))
  }
  const done = height < bottom
  if (base === 0 || top < 1) return false
  const mark = { key: KEYS.meta('sized'), value: encode(BASE_MARK, { height: done ? 0 : height + 1 }) }
  await database.restate(entries, [mark])
  return !done
}

function sizedFrom({ base, store }: ChainDatabase): number {
  const mark = store.get(KEYS.meta('sized'))
  return mark === undefined ? base + 1 : decodeOwn(BASE_MARK, mark).height
}

function measured(database: ChainDatabase, { id }: BlockEntry): readonly BlockEntry[] {
  const encodings = database.encodedTransactions(id)
  return encodings === undefined ? [] : sizedEntry(database, id, encodedBodySize(encodings))
}
