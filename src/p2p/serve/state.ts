import type { KeyRange, KeyValueEntry } from '../../../consensus/chain/key-value.ts'
import { keyAfter, prefixRange } from '../../../consensus/chain/key-value.ts'
import { KEYS, prefixKey } from '../../../consensus/chain/layout.ts'
import type { RuleBook } from '../../../consensus/chain/rule-book.ts'
import { concat } from '../../../consensus/primitives/bytes.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import type { Answer, Exchange } from '../peers/exchange.ts'
import type { ReplyOf } from '../wire/messages.ts'
import { PAGE_BYTES, type ProtocolName } from '../wire/protocols.ts'

/** Entries of a range, up to a number of bytes (one entry at least), and whether these are all. */
export interface EntriesRead {
  readonly entries: readonly KeyValueEntry[]
  readonly done: boolean
}

/** A state of the past, readable for a while; keys are those of the chain's store. */
export interface PastState {
  /** `overhead` is added to the bytes of each entry. */
  read(range: KeyRange, bytesMax: number, overhead: number): Promise<EntriesRead>
}

/** States that a node serves. */
export interface ServedStates {
  /** Runs work on the state at a block; undefined if that is not, or no longer, served. */
  use<T>(block: BlockId, work: (state: PastState) => Promise<T>): Promise<T | undefined>
  /** Runs work on the newest state that is served. */
  useNewest<T>(work: (state: PastState) => Promise<T>): Promise<T | undefined>
}

/** Offsets and lengths around an entry of a reply. */
const ENTRY_OVERHEAD = 12
/** Requests for parts of a state worked on at once, all peers together; each holds a page in memory. */
const CONCURRENT_MAX = 6
/** Head of a reply. */
const REPLY_HEAD = 64

/** Answers for parts of the states that are served. */
export function serveState(exchange: Exchange, states: ServedStates, ruleBook: RuleBook): void {
  const slots: Slots = { used: 0 }
  exchange.answer('statePages', (_, { snapshot, after, first }) =>
    answered<'statePages'>(slots, async () => {
      const prefix = prefixKey('page')
      const gte = first ? prefix : keyAfter(concat(prefix, after))
      const read = await states.use(snapshot, (state) => readPart(state, prefix, gte))
      return read && { pages: read.entries.map(([key, form]) => ({ id: key.subarray(1), form })), done: read.done }
    }),
  )
  exchange.answer('stateRecords', (_, { snapshot, after }) =>
    answered<'stateRecords'>(slots, async () => {
      const read = await states.use(snapshot, (state) => readRooted(state, after, ruleBook))
      return read && { records: read.entries.map(([key, value]) => ({ key: key.subarray(1), value })), done: read.done }
    }),
  )
  exchange.answer('keyPages', (_, { after, first }) =>
    answered<'keyPages'>(slots, async () => {
      const prefix = prefixKey('keys')
      const gte = first ? prefix : keyAfter(KEYS.keys(after))
      const read = await states.useNewest((state) => readPart(state, prefix, gte))
      return read && { keys: read.entries.map(([, value]) => value), done: read.done }
    }),
  )
}

function readPart(state: PastState, prefix: Uint8Array, gte: Uint8Array): Promise<EntriesRead> {
  return state.read({ ...prefixRange(prefix), gte }, PAGE_BYTES - REPLY_HEAD, ENTRY_OVERHEAD)
}

/** Records of the tables inside the state root: at least one, or all that are left. */
async function readRooted(state: PastState, after: Uint8Array, ruleBook: RuleBook): Promise<EntriesRead> {
  const prefix = prefixKey('state')
  const tables = rootedPrefixes(ruleBook)
  for (let gte = after.length === 0 ? prefix : keyAfter(concat(prefix, after)); ; ) {
    const { entries, done } = await readPart(state, prefix, gte)
    const rooted = entries.filter(([key]) => tables.has(key[1] as number))
    const last = entries.at(-1)
    if (rooted.length > 0 || done || last === undefined) return { entries: rooted, done }
    gte = keyAfter(concat(prefix, last[0].subarray(1)))
  }
}

interface Slots {
  used: number
}

/** Does the work if there is room for it; a store that fails or is closing is nothing that a peer need know of. */
async function answered<P extends ProtocolName>(
  slots: Slots,
  work: () => Promise<ReplyOf<P> | undefined>,
): Promise<Answer<P>> {
  if (slots.used >= CONCURRENT_MAX) return { refusal: 'busy' }
  slots.used += 1
  try {
    const reply = await work()
    return reply === undefined ? { refusal: 'not-held' } : { reply }
  } catch {
    return { refusal: 'busy' }
  } finally {
    slots.used -= 1
  }
}

const ROOTED = new WeakMap<RuleBook, ReadonlySet<number>>()

/** Prefixes of the tables inside the state root. */
function rootedPrefixes(ruleBook: RuleBook): ReadonlySet<number> {
  const known = ROOTED.get(ruleBook)
  if (known !== undefined) return known
  const tables = ruleBook.modules.flatMap((module) => module.tables)
  const prefixes = new Set(tables.filter(({ rooted }) => rooted).map(({ prefix }) => prefix))
  ROOTED.set(ruleBook, prefixes)
  return prefixes
}
