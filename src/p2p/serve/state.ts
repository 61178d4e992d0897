import type { KeyRange, KeyValueEntry } from '../../../consensus/chain/key-value.ts'
import { keyAfter, prefixRange } from '../../../consensus/chain/key-value.ts'
import { KEYS, prefixKey } from '../../../consensus/chain/layout.ts'
import type { RuleBook } from '../../../consensus/chain/rule-book.ts'
import { compare, concat } from '../../../consensus/primitives/bytes.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import type { NetworkLog } from '../network.ts'
import type { Answer, Exchange } from '../peers/exchange.ts'
import type { Turn } from '../peers/serving.ts'
import type { ReplyOf } from '../wire/messages.ts'
import { PAGE_BYTES, type ProtocolName } from '../wire/protocols.ts'

/** Entries of a range up to a number of bytes, at least one, and whether these are all. */
export interface EntriesRead {
  readonly entries: readonly KeyValueEntry[]
  readonly done: boolean
}

/** A past state that can be read for a while, under the keys of the chain's store. */
export interface PastState {
  /** `overhead` is added to the bytes of each entry. */
  read(range: KeyRange, bytesMax: number, overhead: number): Promise<EntriesRead>
}

/** States that a node serves. */
export interface ServedStates {
  /** Runs work on the state at a block; undefined if that is not served. */
  use<T>(block: BlockId, work: (state: PastState) => Promise<T>): Promise<T | undefined>
  useNewest<T>(work: (state: PastState) => Promise<T>): Promise<T | undefined>
}

/** Offsets and lengths around an entry of a reply. */
const ENTRY_OVERHEAD = 12
/** Most requests of all peers for parts of states that are worked on at the same time. Each holds a page in memory. */
const CONCURRENT_MAX = 6
/** Failures that are logged, each kind once. Repeated requests must not fill the log. */
const FAILURES_TOLD_MAX = 16
const REASON_CHARACTERS = 200
const REPLY_HEAD = 64

/** Cost of a read on the main thread, where most of it cannot be measured: for each entry, and for each MiB. */
const READ_ENTRY_MS = 0.002
const READ_MIB_MS = 1

/** What serving states works with. */
export interface ServeStateDependencies {
  readonly states: ServedStates
  readonly ruleBook: RuleBook
  readonly log: NetworkLog
}

/** Answers requests for parts of the served states. */
export function serveState(exchange: Exchange, { states, ruleBook, log }: ServeStateDependencies): void {
  const slots: Slots = { used: 0, told: new Set(), log }
  exchange.answer('statePages', (_, { snapshot, after, first }, turn) =>
    answered(slots, 'statePages', async () => {
      const prefix = prefixKey('page')
      const gte = first ? prefix : keyAfter(concat(prefix, after))
      const read = await counted(turn, (part) => states.use(snapshot, (state) => part(state, rangeFrom(prefix, gte))))
      return read && { pages: read.entries.map(([key, form]) => ({ id: key.subarray(1), form })), done: read.done }
    }),
  )
  exchange.answer('stateRecords', (_, { snapshot, after }, turn) =>
    answered(slots, 'stateRecords', async () => {
      const ranges = rootedAfter(ruleBook, after)
      const read = await counted(turn, (part) => states.use(snapshot, (state) => firstOf(ranges, state, part)))
      return read && { records: read.entries.map(([key, value]) => ({ key: key.subarray(1), value })), done: read.done }
    }),
  )
  exchange.answer('keyPages', (_, { after, first }, turn) =>
    answered(slots, 'keyPages', async () => {
      const prefix = prefixKey('keys')
      const gte = first ? prefix : keyAfter(KEYS.keys(after))
      const read = await counted(turn, (part) => states.useNewest((state) => part(state, rangeFrom(prefix, gte))))
      return read && { keys: read.entries.map(([, value]) => value), done: read.done }
    }),
  )
}

function rangeFrom(prefix: Uint8Array, gte: Uint8Array): KeyRange {
  return { ...prefixRange(prefix), gte }
}

type PartReader = (state: PastState, range: KeyRange) => Promise<EntriesRead>

/** Reads while the turn is not measured, and adds the cost of what was read. */
async function counted(
  turn: Turn,
  work: (part: PartReader) => Promise<EntriesRead | undefined>,
): Promise<EntriesRead | undefined> {
  const part: PartReader = async (state, range) => {
    const read = await state.read(range, PAGE_BYTES - REPLY_HEAD, ENTRY_OVERHEAD)
    const bytes = read.entries.reduce((sum, [key, value]) => sum + key.length + value.length, 0)
    turn.add(read.entries.length * READ_ENTRY_MS + (bytes / PAGE_BYTES) * READ_MIB_MS)
    return read
  }
  return await turn.aside(work(part))
}

async function firstOf(ranges: readonly KeyRange[], state: PastState, part: PartReader): Promise<EntriesRead> {
  for (const range of ranges) {
    const { entries, done } = await part(state, range)
    if (entries.length > 0) return { entries, done: done && range === ranges.at(-1) }
  }
  return { entries: [], done: true }
}

interface Slots {
  used: number
  readonly told: Set<string>
  readonly log: NetworkLog
}

/** Does the work if there is a slot. A store that fails or is closing is reported to the operator and not to the peer. */
async function answered<P extends ProtocolName>(
  slots: Slots,
  protocol: P,
  work: () => Promise<ReplyOf<P> | undefined>,
): Promise<Answer<P>> {
  if (slots.used >= CONCURRENT_MAX) return { refusal: 'busy' }
  slots.used += 1
  try {
    const reply = await work()
    return reply === undefined ? { refusal: 'not-held' } : { reply }
  } catch (error) {
    tellOnce(slots, protocol, String(error).slice(0, REASON_CHARACTERS))
    return { refusal: 'busy' }
  } finally {
    slots.used -= 1
  }
}

function tellOnce({ told, log }: Slots, protocol: ProtocolName, reason: string): void {
  const kind = `${protocol} ${reason}`
  if (told.size >= FAILURES_TOLD_MAX || told.has(kind)) return
  told.add(kind)
  log.warn({ protocol, reason }, 'a part of the state could not be read for a peer; this is said once')
}

/** Key ranges inside the state root after a key. The tables between them are not read. */
function rootedAfter(ruleBook: RuleBook, after: Uint8Array): readonly KeyRange[] {
  const state = prefixKey('state')
  const gte = after.length === 0 ? state : keyAfter(concat(state, after))
  return stretchesOf(ruleBook).flatMap(([first, last]) => {
    const from = concat(state, Uint8Array.of(first))
    const range = { ...prefixRange(concat(state, Uint8Array.of(last))), gte: compare(from, gte) > 0 ? from : gte }
    return range.lt !== undefined && compare(range.gte, range.lt) >= 0 ? [] : [range]
  })
}

type Stretch = readonly [first: number, last: number]

const STRETCHES = new WeakMap<RuleBook, readonly Stretch[]>()

/** Prefixes of the tables inside the state root, neighbours joined. */
function stretchesOf(ruleBook: RuleBook): readonly Stretch[] {
  const known = STRETCHES.get(ruleBook)
  if (known !== undefined) return known
  const tables = ruleBook.modules.flatMap((module) => module.tables)
  const rooted = tables.filter((table) => table.rooted).map(({ prefix }) => prefix)
  const stretches: [number, number][] = []
  for (const prefix of rooted.sort((a, b) => a - b)) {
    const last = stretches.at(-1)
    const between = tables.some(
      (table) => !table.rooted && last !== undefined && table.prefix > last[1] && table.prefix < prefix,
    )
    if (last === undefined || between) stretches.push([prefix, prefix])
    else last[1] = prefix
  }
  STRETCHES.set(ruleBook, stretches)
  return stretches
}
