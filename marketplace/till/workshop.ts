import { Compile } from 'typebox/compile'
import type { Chain } from '../../consensus/chain/chain.ts'
import type { Clock } from '../../consensus/chain/ports.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { LruMap } from '../../consensus/primitives/lru.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { encodeText } from '../../consensus/primitives/text.ts'
import type { ServiceContext } from '../services/context.ts'
import { checkRequest, type ServiceDefinition } from '../services/service.ts'
import { addTo, ClientTally } from './client-counts.ts'
import { type Caller, FailingCallers, isCausedOutside } from './failing-callers.ts'

type ServicePace = Pick<ServiceDefinition, 'timeoutMs' | 'reachesOut'>

/** Longest time limit in the group `moment`, and in `while` and `strangers`. Slower services are in the group `long`. */
const MOMENT_MS_MAX = 5_000
const WHILE_MS_MAX = 30_000
/** The caller of work that is not paid for. */
const OPERATOR: Caller = { payer: 'operator', client: { address: 'operator', network: 'operator' } }

/**
 * Where services run, for all rails. Places are grouped by how long a service may take: a minute with a model, or a stranger's page that
 * never ends, must not delay a service that takes a moment.
 */
export class Workshop {
  readonly #moment: WorkSlots
  readonly #while: WorkSlots
  readonly #strangers: WorkSlots
  readonly #long: WorkSlots
  readonly #results: ResultCache
  readonly #failing: FailingCallers

  constructor(chain: Pick<Chain, 'onHeadChange'>, clock: Clock) {
    this.#results = new ResultCache(chain)
    this.#failing = new FailingCallers(clock)
    const slots = (): WorkSlots => new WorkSlots({ goesLast: () => this.#failing.judge() })
    this.#moment = slots()
    this.#while = slots()
    this.#strangers = slots()
    this.#long = slots()
  }

  /** Does work once the caller gets a place in the service's group. Without a caller it is the operator's work. */
  inPlace<T>(definition: ServicePace, work: () => Promise<T>, caller: Caller = OPERATOR): Promise<T> {
    return this.#slotsOf(definition).run(work, caller)
  }

  /**
   * Notes how a call ended. A caller with too many calls that failed at an address of its choice or at a model goes behind all other
   * callers for a while: it gets its money back each time, and has held a place.
   */
  ended(definition: ServiceDefinition, caller: Caller, outcome: Result<string>): void {
    if (outcome.ok) this.#failing.good(caller)
    else if (isCausedOutside(definition, outcome.fault)) this.#failing.failed(caller)
  }

  #slotsOf({ timeoutMs, reachesOut }: ServicePace): WorkSlots {
    if (timeoutMs <= MOMENT_MS_MAX) return this.#moment
    if (timeoutMs > WHILE_MS_MAX) return this.#long
    return reachesOut === true ? this.#strangers : this.#while
  }

  /** The result is JSON text; a fault means that nothing was earned. Call it inside {@link inPlace}. */
  run(definition: ServiceDefinition, input: unknown, context: ServiceContext): Promise<Result<string>> {
    return this.#results.run(definition, input, () => runService(definition, input, context))
  }
}

type Checker = { Check(value: unknown): boolean }
const CHECKERS = new WeakMap<object, Checker>()

/** Runs a service under its deadline and checks the result against its schema and size. The result is JSON text. */
export async function runService(
  definition: ServiceDefinition,
  input: unknown,
  context: ServiceContext,
): Promise<Result<string>> {
  const { serviceId, timeoutMs } = definition
  const deadline = AbortSignal.timeout(timeoutMs)
  const expired = new Promise<'expired'>((resolve) => {
    deadline.addEventListener('abort', () => resolve('expired'), { once: true })
  })
  try {
    const result = await Promise.race([
      Promise.resolve().then(() => definition.execute(input, context, deadline)),
      expired,
    ])
    if (result === 'expired') return fail(fault('service/timeout', { serviceId, timeoutMs }))
    return checkResult(definition, result)
  } catch (error) {
    const late = deadline.aborted
    return fail(late ? fault('service/timeout', { serviceId, timeoutMs }) : failure(serviceId, error))
  }
}

function failure(serviceId: string, error: unknown): Fault {
  const reason = error instanceof Error ? error.message : 'unknown cause'
  return fault('service/failed', { serviceId, reason: reason.slice(0, 200) })
}

function checkResult(definition: ServiceDefinition, result: unknown): Result<string> {
  const { serviceId, resultSchema, resultBytesMax } = definition
  let checker = CHECKERS.get(resultSchema)
  if (checker === undefined) {
    checker = Compile(resultSchema) as Checker
    CHECKERS.set(resultSchema, checker)
  }
  if (!checker.Check(result))
    return fail(fault('service/bad-result', { serviceId, reason: 'it does not have the promised shape' }))
  const json = JSON.stringify(result)
  const bytes = encodeText(json).length
  if (bytes <= resultBytesMax) return ok(json)
  return fail(fault('service/bad-result', { serviceId, reason: `${bytes} bytes exceed ${resultBytesMax}` }))
}

/** Does what a paid call does. The result is JSON text; a fault is what the caller would be told. */
export async function tryOut(
  definition: ServiceDefinition,
  request: string,
  context: ServiceContext,
): Promise<Result<string>> {
  const input = checkRequest(definition, request, context)
  if (!input.ok) return input
  const { serviceId } = definition
  const ready = definition.ready(context)
  if (!ready.available) return fail(fault('service/unavailable', { serviceId, reason: ready.reason }))
  return runService(definition, input.value, context)
}

/** Each result has at most some hundred kilobytes. */
export const RESULTS_KEPT_MAX = 128

/**
 * Caches results, as JSON text, of services that depend only on input and head. Several payers at the same time share
 * one run. Failures are not kept.
 */
export class ResultCache {
  readonly #results = new LruMap<string, Promise<Result<string>>>(RESULTS_KEPT_MAX)

  constructor(chain: Pick<Chain, 'onHeadChange'>) {
    chain.onHeadChange(() => this.#results.clear())
  }

  run(definition: ServiceDefinition, input: unknown, work: () => Promise<Result<string>>): Promise<Result<string>> {
    if (definition.keptPerHead !== true) return work()
    const key = keyOf(definition, input)
    const known = this.#results.get(key)
    if (known !== undefined) return known
    const running = work().then((result) => {
      // After a new head another run may be kept under this key.
      if (!result.ok && this.#results.get(key) === running) this.#results.delete(key)
      return result
    })
    this.#results.set(key, running)
    return running
  }
}

function keyOf({ serviceId }: ServiceDefinition, input: unknown): string {
  return `${serviceId} ${comparable(input)}`
}

/** Services of one group that run at once. More would make each other late, and a late service is a refund. */
const WORK_AT_ONCE = 16

interface Waiter {
  readonly caller: Caller
  readonly start: () => void
  readonly refuse: () => void
}

/** Settings of places for work. */
export interface WorkSlotsParts {
  readonly atOnce?: number
  /** Called each time that a place is free; its result tells whether a caller goes behind all other callers. */
  readonly goesLast?: () => (caller: Caller) => boolean
}

/**
 * Places for work. A free place goes to the call of the client that holds the fewest places, then of the payer that holds the fewest, and
 * then to the call that has waited longest. Callers that {@link WorkSlotsParts.goesLast} names come last. So a client with a hundred calls
 * delays mostly its own. Clients count before payers, because a client can make any number of payers.
 */
export class WorkSlots {
  #free: number
  readonly #queue: Waiter[] = []
  readonly #ofClients = new ClientTally()
  readonly #ofPayers = new Map<string, number>()
  readonly #goesLast: () => (caller: Caller) => boolean

  constructor({ atOnce = WORK_AT_ONCE, goesLast = () => () => false }: WorkSlotsParts = {}) {
    this.#free = atOnce
    this.#goesLast = goesLast
  }

  run<T>(work: () => Promise<T>, caller: Caller | string = ''): Promise<T> {
    return this.runUnlessFull(work, caller, Number.POSITIVE_INFINITY) as Promise<T>
  }

  /** Like {@link run}, but at most `waitingMax` calls wait. Null if the call is refused because too many wait. */
  async runUnlessFull<T>(work: () => Promise<T>, who: Caller | string, waitingMax: number): Promise<T | null> {
    const caller = typeof who === 'string' ? named(who) : who
    if (this.#free > 0) {
      this.#free -= 1
      this.#count(caller, 1)
    } else if (!(await this.#turn(caller, waitingMax))) return null
    try {
      return await work()
    } finally {
      this.#count(caller, -1)
      this.#pass()
    }
  }

  async #turn(caller: Caller, waitingMax: number): Promise<boolean> {
    if (this.#queue.length >= waitingMax && !this.#makeRoom(caller)) return false
    return new Promise((resolve) => {
      this.#queue.push({ caller, start: () => resolve(true), refuse: () => resolve(false) })
    })
  }

  /** Refuses the newest call of the client with the most waiting calls. False if the new call's client would have at least as many. */
  #makeRoom({ client }: Caller): boolean {
    const groups = Map.groupBy(this.#queue, ({ caller }) => caller.client.address)
    const own = groups.get(client.address)?.length ?? 0
    const most = [...groups.values()].reduce((one, other) => (other.length > one.length ? other : one), [])
    if (most.length <= own + 1) return false
    const last = most.at(-1) as Waiter
    this.#queue.splice(this.#queue.indexOf(last), 1)
    last.refuse()
    return true
  }

  #count({ payer, client }: Caller, more: 1 | -1): void {
    addTo(this.#ofPayers, payer, more)
    this.#ofClients.add(client, more)
  }

  #pass(): void {
    const next = this.#next()
    if (next === undefined) {
      this.#free += 1
      return
    }
    this.#queue.splice(this.#queue.indexOf(next), 1)
    this.#count(next.caller, 1)
    next.start()
  }

  #next(): Waiter | undefined {
    const goesLast = this.#goesLast()
    let next: Waiter | undefined
    let least: Rank = []
    for (const waiter of this.#queue) {
      const { caller } = waiter
      const rank = [
        goesLast(caller) ? 1 : 0,
        this.#ofClients.shareOf(caller.client),
        this.#ofPayers.get(caller.payer) ?? 0,
      ]
      if (next !== undefined && !isBefore(rank, least)) continue
      next = waiter
      least = rank
    }
    return next
  }
}

/** Compared figure by figure: the first that differs decides, and the smaller one comes first. */
type Rank = readonly number[]

function isBefore(one: Rank, other: Rank): boolean {
  const at = one.findIndex((figure, index) => figure !== other[index])
  return at >= 0 && (one[at] as number) < (other[at] as number)
}

function named(name: string): Caller {
  return { payer: name, client: { address: name, network: name } }
}

/** A text by which two values are compared, big integers too. */
export function comparable(value: unknown): string | undefined {
  return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}n` : each))
}
