import type { ProviderChoice } from '../../config/outside-settings.ts'
import type { Clock, Timers } from '../../consensus/chain/ports.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { CryptoPrices, MajorPrices } from '../../marketplace/ports/crypto-prices.ts'
import { notConfigured, notNow, type Readiness, troubleOf } from '../../marketplace/ports/readiness.ts'
import type { Sourced } from '../../marketplace/ports/sourced.ts'
import { combinedQuotes } from './combined-quotes.ts'
import type { ProviderKeys } from './provider-keys.ts'
import { binance } from './providers/binance.ts'
import { coinbase } from './providers/coinbase.ts'
import { coingecko } from './providers/coingecko.ts'
import type { MajorQuotes, QuoteDependencies, QuoteProvider } from './providers/major-quotes.ts'
import type { Checkable, ProviderCheck, ProviderFacts } from './providers/provider.ts'
import { ProviderChain } from './providers/provider-chain.ts'

/** What {@link ProviderPrices} needs. */
export interface CryptoPriceDependencies {
  readonly choices: readonly ProviderChoice[]
  readonly keys: ProviderKeys
  readonly clock: Clock
  readonly timers: Timers
}

const WHAT = 'prices of crypto assets'
const REQUIRES = 'providers.prices'
const FRESH_MS = 20_000
const STALE_MS = 300_000
/** Free documents refresh the cached prices at most this often, and show them as live for `LIVE_MS`. */
const DOCUMENT_MS = 60_000
const LIVE_MS = 90_000

const ADAPTERS: Readonly<Record<string, (parts: QuoteDependencies) => QuoteProvider>> = { binance, coinbase, coingecko }

/**
 * Dollar prices of the major assets, combined from all providers of the operator. Each provider has a chain of its own,
 * and with it its own breaker and cache.
 */
export class ProviderPrices implements CryptoPrices, Checkable {
  readonly #chains: readonly ProviderChain<null, MajorQuotes>[]
  readonly #clock: Clock
  readonly #end = new AbortController()
  #refreshedMs = Number.NEGATIVE_INFINITY

  constructor({ choices, keys, clock, timers }: CryptoPriceDependencies) {
    this.#clock = clock
    this.#chains = choices.map(({ name, url }) => {
      const adapter = ADAPTERS[name]
      if (adapter === undefined) throw new Error(`there is no adapter for ${name}`)
      const providers = [adapter({ url, key: keys.of(name), clock })]
      const bounds = { freshMs: FRESH_MS, staleMs: STALE_MS }
      return new ProviderChain({
        what: WHAT,
        requires: [REQUIRES],
        providers,
        keyOf: () => '',
        ...bounds,
        clock,
        timers,
      })
    })
  }

  readonly readiness = (): Readiness => {
    if (this.#chains.length === 0) return notConfigured(`a provider of ${WHAT}`, REQUIRES)
    const usable = this.facts.filter((one) => one.usable)
    if (usable.length > 0) return { available: true, engine: usable.map(({ name }) => name).join(', ') }
    const troubles = this.facts.map(({ name, trouble }) => troubleOf(name, trouble))
    return notNow(`no provider of ${WHAT} can be asked now (${troubles.join('; ')})`)
  }

  readonly majors = async (signal: AbortSignal): Promise<Result<Sourced<MajorPrices>>> => {
    const answers = await Promise.all(this.#chains.map((chain) => chain.ask(null, signal)))
    const combined = combinedQuotes(answers.flatMap((answer) => (answer.ok ? [answer.value] : [])))
    const refused = answers.find((answer) => !answer.ok)
    // With a single provider, its own fault says more than "no provider answered".
    return combined.ok || combined.fault.code !== 'provider/none' || refused === undefined ? combined : refused
  }

  /** The last known prices. A read starts a refresh for later readers, at most once a minute. */
  readonly latest = (): Sourced<MajorPrices> | null => {
    this.#refresh()
    const combined = combinedQuotes(this.#chains.flatMap((chain) => chain.latest(null) ?? []).map(this.#asLive))
    return combined.ok ? combined.value : null
  }

  get facts(): readonly ProviderFacts[] {
    return this.#chains.flatMap((chain) => chain.facts)
  }

  async checkAll(): Promise<readonly ProviderCheck[]> {
    return (await Promise.all(this.#chains.map((chain) => chain.checkAll()))).flat()
  }

  async start(): Promise<void> {
    await Promise.all(this.#chains.map((chain) => chain.start()))
    this.#refresh()
  }

  stop(): void {
    this.#end.abort()
    for (const chain of this.#chains) chain.stop()
  }

  #refresh(): void {
    const sinceMs = this.#clock.now() - this.#refreshedMs
    if (this.#end.signal.aborted || this.#chains.length === 0 || (sinceMs >= 0 && sinceMs < DOCUMENT_MS)) return
    this.#refreshedMs = this.#clock.now()
    // A failure shows in the facts of the providers.
    void this.majors(this.#end.signal).catch(() => null)
  }

  readonly #asLive = ({ value, source }: Sourced<MajorQuotes>): Sourced<MajorQuotes> => {
    const stale = this.#clock.now() - Date.parse(source.fetchedAt) > LIVE_MS
    return { value, source: { ...source, stale } }
  }
}
