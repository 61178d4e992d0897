import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { Provider } from '../../src/adapters/providers/provider.ts'
import { ProviderChain, type ProviderChainDependencies } from '../../src/adapters/providers/provider-chain.ts'
import { TestTime } from './market-parts.ts'

/** What a scripted provider does when it is asked or checked. */
export type Turn =
  | 'well'
  | 'ill'
  | 'unreachable'
  | 'not-found'
  | 'locked-out'
  | 'throws'
  | 'hangs'
  | { readonly retryAfterMs: number }

/** A provider that does what a test says, and counts its calls. Its answer is its name and the query. */
export class ScriptedProvider implements Provider<string, string> {
  readonly name: string
  turn: Turn = 'well'
  checkTurn: Turn = 'well'
  /** What it does at the next queries. After them `turn` holds again. */
  next: Turn[] = []
  /** Queries in order. */
  readonly asked: string[] = []
  checked = 0
  /** Signals of the calls that hang. */
  readonly hanging: AbortSignal[] = []
  /** Queries wait for this promise before they are answered. Checks do not. */
  gate: Promise<void> = Promise.resolve()

  constructor(name: string) {
    this.name = name
  }

  readonly ask = async (query: string, signal: AbortSignal): Promise<Result<string>> => {
    this.asked.push(query)
    await this.gate
    return this.#do(this.next.shift() ?? this.turn, signal, `${this.name}: ${query}`)
  }

  readonly check = async (signal: AbortSignal): Promise<Result<unknown>> => {
    this.checked += 1
    return this.#do(this.checkTurn, signal, 'here')
  }

  async #do(turn: Turn, signal: AbortSignal, answer: string): Promise<Result<string>> {
    const provider = this.name
    if (turn === 'well') return ok(answer)
    if (turn === 'ill') return fail(fault('provider/answer', { provider, reason: 'it is ill' }))
    if (turn === 'unreachable') return fail(fault('provider/unreachable', { provider, reason: 'ECONNREFUSED' }))
    if (turn === 'not-found') return fail(fault('provider/not-found', { provider, what: 'that' }))
    if (turn === 'locked-out') return fail(fault('provider/refused', { provider, reason: 'status 401', status: 401 }))
    if (turn === 'throws') throw new TypeError('it was not written for this')
    if (turn !== 'hangs') return fail(fault('provider/refused', { provider, reason: 'status 429', ...turn }))
    this.hanging.push(signal)
    return new Promise(() => {})
  }
}

/** How long provider chains of these tests keep an answer fresh and how long usable, in milliseconds. */
export const BOUNDS = { freshMs: 10_000, staleMs: 60_000 }

/** Time and two providers from which a test makes provider chains. */
export class ChainStand {
  readonly time = new TestTime()
  readonly first = new ScriptedProvider('first')
  readonly second = new ScriptedProvider('second')

  chain(parts: Partial<ProviderChainDependencies<string, string>> = {}): ProviderChain<string, string> {
    const { time, first, second } = this
    return new ProviderChain({
      ...{ what: 'things', requires: ['providers.things'], providers: [first, second], keyOf: (query) => query },
      ...{ ...BOUNDS, clock: time, timers: time, ...parts },
    })
  }
}
