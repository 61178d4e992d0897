import { setImmediate } from 'node:timers/promises'
import type { BlockEntry } from '../../consensus/chain/layout.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import type { BlockId } from '../../consensus/primitives/ids.ts'
import type { ChainEvent } from '../../marketplace/queries/chain-events.ts'
import { type EventPosition, type EventStep, EventWalk } from '../../marketplace/queries/event-walk.ts'
import type { EventName } from '../contract/events.ts'
import { addressText, moment } from '../json/chain-json.ts'
import type { ApiRequest, EventSink, Handler, StreamEvent } from '../server/answer.ts'
import { Turns } from '../server/turns.ts'

/** Position for a malformed event id. It names no block, so that the reader gets a reset. */
const NOWHERE: EventPosition = { blockId: '' as BlockId, index: 0 }
const EVENT_ID = /^([0-9a-f]{64})\.(0|[1-9][0-9]{0,9})$/

interface Filter {
  readonly types: ReadonlySet<string> | null
  readonly agentId: string | undefined
  readonly serviceId: string | undefined
  readonly txId: string | undefined
}

/** The stream of events, from where the reader stopped, or from now on for a new reader. */
export const followEvents: Handler<'followEvents'> = ({ chain }, request) => {
  const filter = filterOf(request)
  const start = startOf(request)
  return {
    stream: (sink) => {
      const reader = new Reader(hubOf(chain), sink, filter)
      reader.read(start).catch((error: unknown) => sink.fail(error))
      return { stop: () => reader.stop() }
    },
  }
}

function filterOf({ query }: ApiRequest): Filter {
  const text = (name: string): string | undefined => query[name]?.toString()
  const types = text('types')
  return {
    types: types === undefined ? null : new Set(types.split(',')),
    agentId: text('agentId'),
    serviceId: text('serviceId'),
    txId: text('txId'),
  }
}

/** Where to start; null for the head. A reconnecting browser sends `Last-Event-ID`, which counts more than `after` in its old query. */
function startOf({ headers, query }: ApiRequest): EventPosition | null {
  const id = headers['last-event-id'] || query.after?.toString()
  if (id === undefined) return null
  const [, blockId, index] = EVENT_ID.exec(id) ?? []
  return blockId === undefined ? NOWHERE : { blockId: blockId as BlockId, index: Number(index) }
}

/** What all readers of a chain share. */
interface Hub {
  readonly chain: ChainReader
  readonly walk: EventWalk
  readonly waiting: Set<() => void>
  readonly turns: Turns
}

const HUBS = new WeakMap<ChainReader, Hub>()

function hubOf(chain: ChainReader): Hub {
  const known = HUBS.get(chain)
  if (known !== undefined) return known
  const hub = { chain, walk: new EventWalk(chain), waiting: new Set<() => void>(), turns: new Turns() }
  HUBS.set(chain, hub)
  chain.onHeadChange(() => {
    for (const wake of [...hub.waiting]) wake()
  })
  return hub
}

/** Past and new events are read alike. */
class Reader {
  readonly #hub: Hub
  readonly #sink: EventSink
  readonly #filter: Filter
  #stopped = false
  #wake = (): void => {}

  constructor(hub: Hub, sink: EventSink, filter: Filter) {
    this.#hub = hub
    this.#sink = sink
    this.#filter = filter
  }

  async read(start: EventPosition | null): Promise<void> {
    // The stream opens only after `begin` has returned.
    await setImmediate()
    let position = start
    if (position === null) {
      position = await this.#begin()
      if (position !== null) this.#sink.mark(idOf(position))
    }
    while (position !== null && !this.#stopped) {
      const step = await this.#next(position)
      if (step === null) continue
      if (!(await this.#tell(step))) return
      position = step.position
    }
  }

  stop(): void {
    this.#stopped = true
    this.#wake()
  }

  async #begin(): Promise<EventPosition | null> {
    let position = this.#hub.walk.end()
    while (position === null && !this.#stopped) {
      await this.#moved()
      position = this.#hub.walk.end()
    }
    return position
  }

  /** The next step. Null if there is none yet, once the head has moved; null also once the reader is stopped. */
  #next(position: EventPosition): Promise<EventStep | null> {
    const { walk, turns } = this.#hub
    return turns.run(() => {
      if (this.#stopped) return null
      // Start to wait in the same turn, so that a head change right after it is not missed.
      return walk.after(position) ?? this.#moved().then(() => null)
    })
  }

  #moved(): Promise<void> {
    const { waiting } = this.#hub
    return new Promise((resolve) => {
      const wake = (): void => {
        waiting.delete(wake)
        resolve()
      }
      this.#wake = wake
      waiting.add(wake)
    })
  }

  /** Sends a step. False if the reader is gone, or was cut off for being slow. */
  async #tell(step: EventStep): Promise<boolean> {
    const events = this.#said(step)
    for (const event of events) {
      if (!this.#sink.hasRoom && !(await this.#sink.room())) return false
      this.#sink.send(event)
    }
    const last = idOf(step.position)
    // A reader with a narrow filter still learns the position to come back to.
    if (events.at(-1)?.id !== last) this.#sink.mark(last)
    return !this.#stopped
  }

  #said(step: EventStep): readonly StreamEvent[] {
    const { addressPrefix } = this.#hub.chain.ruleBook.params
    if (step.is !== 'events') return [moveEvent(step)]
    const { entry, first, events } = step
    return events.flatMap((event, i) =>
      this.#wants(event) ? [blockEvent(addressPrefix, entry, event, first + i)] : [],
    )
  }

  #wants(event: ChainEvent): boolean {
    const { types, agentId, serviceId, txId } = this.#filter
    if (types !== null && !types.has(event.kind)) return false
    if (event.kind === 'block') return true
    return (
      (agentId === undefined || event.agentId === agentId) &&
      (serviceId === undefined || (event.kind !== 'tab' && event.serviceId === serviceId)) &&
      (txId === undefined || event.txId === txId)
    )
  }
}

function blockEvent(prefix: string, entry: BlockEntry, event: ChainEvent, index: number): StreamEvent {
  const id = idOf({ blockId: entry.id, index })
  const { height, timeMs } = entry.header
  const { kind, ...fields } = event
  const name: EventName = kind
  if (event.kind === 'block')
    return { event: name, id, data: { height, id: entry.id, time: moment(timeMs), transactions: event.transactions } }
  if (event.kind === 'receipt') return { event: name, id, data: { ...fields, height } }
  if (event.kind === 'tab') return { event: name, id, data: { ...tabData(prefix, event), height } }
  const { amount, caller } = event
  const said = { amount: amount?.toString() ?? null, caller: caller === null ? null : addressText(prefix, caller) }
  return { event: name, id, data: { ...fields, ...said, height } }
}

function tabData(prefix: string, event: Extract<ChainEvent, { kind: 'tab' }>): object {
  const { txId: tabId, agentId, how, byTxId, amount, payer } = event
  const said = { amount: amount?.toString() ?? null, payer: payer === null ? null : addressText(prefix, payer) }
  return { tabId, agentId, how, byTxId, ...said }
}

function moveEvent(step: Exclude<EventStep, { is: 'events' }>): StreamEvent {
  const id = idOf(step.position)
  if (step.is === 'reset')
    return { event: 'reset', id, data: { reason: step.reason, head: named(step.head), resumeAt: id } }
  const { from, to, commonAncestor, left } = step
  const ends = { from: named(from), to: named(to), commonAncestor: named(commonAncestor) }
  return { event: 'reorganisation', id, data: { ...ends, depth: left.length, left } }
}

function named({ header, id }: BlockEntry): object {
  return { height: header.height, id }
}

function idOf({ blockId, index }: EventPosition): string {
  return `${blockId}.${index}`
}
