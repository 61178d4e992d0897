import { MemoryKeyValueStore, type Write } from '../../../consensus/chain/key-value.ts'
import { prefixKey } from '../../../consensus/chain/layout.ts'
import { UNPACED } from '../../../consensus/chain/ports.ts'
import { concat, equal, fromHex } from '../../../consensus/primitives/bytes.ts'
import { decode, encode } from '../../../consensus/primitives/codec.ts'
import type { PeerId } from '../../../src/p2p/network.ts'
import { Turn } from '../../../src/p2p/peers/serving.ts'
import { serveState } from '../../../src/p2p/serve/state.ts'
import type { Course } from '../../../src/p2p/snapshot/course.ts'
import { KeyCourse } from '../../../src/p2p/snapshot/key-course.ts'
import { PageCourse } from '../../../src/p2p/snapshot/page-course.ts'
import { RecordCourse } from '../../../src/p2p/snapshot/record-course.ts'
import { readTaking, STAGES, type TakingMark } from '../../../src/p2p/snapshot/taking-mark.ts'
import { type ReplyOf, replyCodec, requestCodec } from '../../../src/p2p/wire/messages.ts'
import type { ProtocolName } from '../../../src/p2p/wire/protocols.ts'
import { copiedPin } from '../../support/snapshot-nodes.ts'
import { SILENT } from '../../support/wire.ts'
import { fixture } from '../fixture.ts'
import { structured } from '../structure.ts'
import { type Target, wordOf } from '../target.ts'

type StateProtocol = 'statePages' | 'stateRecords' | 'keyPages'
type Handler = (from: PeerId, body: Uint8Array) => Promise<Uint8Array>

const FROM = 'a peer' as PeerId
const ENTRIES = 7

/** A store that counts its batches. */
class WatchedStore extends MemoryKeyValueStore {
  written = 0

  override batch(writes: readonly Write[], onDurable: () => void): Promise<void> {
    this.written += 1
    return super.batch(writes, onDurable)
  }
}

interface Taking {
  /** Every reply of the whole state, in order. */
  readonly replies: readonly Uint8Array[]
  /** Starts the stage anew, before its first reply. */
  readonly begin: () => { readonly course: Course<StateProtocol>; readonly staging: WatchedStore }
}

/** The handlers, by protocol, of a node that holds the state. They are called without a network. */
async function server(): Promise<ReadonlyMap<ProtocolName, Handler>> {
  const { store, test } = await fixture()
  const pin = copiedPin(store, ENTRIES)
  const handlers = new Map<ProtocolName, Handler>()
  const exchange = {
    answer: (
      protocol: ProtocolName,
      answerer: (from: PeerId, request: never, turn: Turn) => Promise<{ reply: never }>,
    ) =>
      handlers.set(protocol, async (from, body) => {
        const request = decode(requestCodec(protocol), body)
        if (!request.ok) throw new Error('our own request')
        const turn = new Turn({ pacer: () => UNPACED, stopwatch: null })
        return encode(replyCodec(protocol), (await answerer(from, request.value as never, turn)).reply)
      }),
  }
  const states = { use: (_: unknown, work: (state: typeof pin) => unknown) => work(pin) }
  serveState(exchange as never, {
    states: { ...states, useNewest: (work: never) => states.use(null, work) } as never,
    ruleBook: test.ruleBook,
    log: SILENT,
  })
  return handlers
}

/** Completes one stage with true replies and returns them. The store keeps their records. */
async function follow(course: Course<StateProtocol>): Promise<readonly Uint8Array[]> {
  const handler = (await server()).get(course.protocol) as Handler
  const replies: Uint8Array[] = []
  for (let taken = 'more'; taken === 'more'; ) {
    const bytes = await handler(FROM, encode(requestCodec(course.protocol), course.request() as never))
    replies.push(bytes)
    const reply = decode(replyCodec(course.protocol), bytes)
    taken = reply.ok ? await course.take(reply.value as never, FROM) : 'undecodable'
    if (taken !== 'more' && taken !== 'done') throw new Error(`a true reply is ${taken}`)
  }
  return replies
}

async function courses(): Promise<Record<StateProtocol, Taking>> {
  const { test } = await fixture()
  const { head } = test.chain
  const root = fromHex(head.header.stateRoot)
  const base = {
    height: head.header.height,
    id: head.id,
    after: new Uint8Array(0),
    begun: false,
    records: 0,
    leaves: 0,
  }
  const markOf = (stage: number, leaves = 0): TakingMark => ({ ...base, stage, leaves, stale: false })
  const full = new WatchedStore()
  const means = { pacer: UNPACED, stopped: () => false }
  const parts = { staging: full, ...means }
  const pages = await follow(new PageCourse(parts, markOf(STAGES.pages), root) as never)
  const leaves = readTaking(full)?.leaves ?? 0
  const records = await follow(new RecordCourse(parts, markOf(STAGES.records, leaves), () => {}) as never)
  const keys = await follow(new KeyCourse(parts, markOf(STAGES.keys)) as never)
  const over = (make: () => object): Taking['begin'] => {
    return () => ({ course: make() as never, staging: full })
  }
  return {
    statePages: {
      replies: pages,
      begin: () => {
        const staging = new WatchedStore()
        return { staging, course: new PageCourse({ staging, ...means }, markOf(STAGES.pages), root) as never }
      },
    },
    stateRecords: {
      replies: records,
      begin: over(() => new RecordCourse(parts, markOf(STAGES.records, leaves), () => {})),
    },
    keyPages: { replies: keys, begin: over(() => new KeyCourse(parts, markOf(STAGES.keys))) },
  }
}

async function expectTrue({ records }: ReplyOf<'stateRecords'>): Promise<void> {
  const { database } = (await fixture()).test.chain
  for (const { key, value } of records) {
    const stored = database.store.get(concat(prefixKey('state'), key))
    if (stored === undefined || !equal(stored, value)) throw new Error('a record was stored that is none')
  }
}

let made: ReturnType<typeof courses> | undefined

/** A target for the reply to a stage's first request: it is taken, or it is an offence and nothing false is stored. */
function courseTarget(protocol: StateProtocol): Target {
  const taking = async (): Promise<Taking> => {
    made ??= courses()
    return (await made)[protocol]
  }
  const codec = replyCodec(protocol)
  return {
    name: `course-${protocol}`,
    share: 0.5,
    seeds: async () => (await taking()).replies,
    generate: (random) => structured(codec, random),
    run: async (bytes) => {
      const reply = decode(codec, bytes)
      if (!reply.ok) return wordOf(reply)
      const { course, staging } = (await taking()).begin()
      const before = staging.written
      const following = course.following(reply.value as never)
      if (following !== undefined) encode(requestCodec(protocol), following as never)
      const taken = await course.take(reply.value as never, FROM)
      const isFalse = taken !== 'more' && taken !== 'done'
      // Each record has its own proof, so a reply cut short at the end still stores true records.
      if (isFalse && staging.written > before && protocol !== 'stateRecords')
        throw new Error('a false reply was stored')
      if (staging.written > before && protocol === 'stateRecords') await expectTrue(reply.value as never)
      encode(requestCodec(protocol), course.request() as never)
      return taken
    },
  }
}

/** The stages of a snapshot download. */
export const SNAPSHOT_TARGETS: readonly Target[] = [
  courseTarget('statePages'),
  courseTarget('stateRecords'),
  courseTarget('keyPages'),
]
