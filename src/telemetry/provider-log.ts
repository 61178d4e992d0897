import type { Checkable, ProviderFacts } from '../adapters/providers/provider.ts'
import { type DaemonOptions, repeat, type Stop } from '../daemon/open-core.ts'

/** Providers as they stand. */
type Shown = Pick<Checkable, 'facts'>

/** How those stand that the node asks, facilitators included. */
export function askedBy(
  outside: { readonly checkable: readonly Shown[] } | null,
  market: { readonly rail: { readonly providers: Shown } | null } | null,
): () => readonly ProviderFacts[] {
  const rail = market?.rail ?? null
  const shown = [...(outside?.checkable ?? []), ...(rail === null ? [] : [rail.providers])]
  return () => shown.flatMap(({ facts }) => facts)
}

const LOOKS_MS = 5_000

/** Tells which of those that the operator named cannot be asked, from the first look on: what they are for is not sold. */
export function watchProviders(
  shown: readonly Shown[],
  looked: Promise<unknown>,
  { logger, onFatal }: Pick<DaemonOptions, 'logger' | 'onFatal'>,
): Stop {
  const log = new ProviderLog(shown, logger)
  const first = looked.then(() => log.look())
  return repeat(LOOKS_MS, () => first.then(() => log.look()), onFatal)
}

/** Where it is told. */
interface Told {
  readonly warn: (facts: object, message: string) => void
  readonly info: (facts: object, message: string) => void
}

/**
 * Tells once of each model backend and provider when it fails, when it cannot be asked any more, and once when it can be again. One that
 * fails often is left alone for half a minute at least, so a look every few seconds misses nothing of that. What providers say is told
 * here and to the operator who is signed in: callers hear what kind of failure it was.
 */
export class ProviderLog {
  readonly #checkable: readonly Shown[]
  readonly #told: Told
  readonly #ill = new Set<string>()
  /** What was told of each that failed and can be asked all the same. */
  readonly #failing = new Map<string, string>()

  constructor(checkable: readonly Shown[], told: Told) {
    this.#checkable = checkable
    this.#told = told
  }

  /** Looks at all of them, and asks none. */
  look(): void {
    for (const facts of this.#checkable.flatMap((one) => one.facts)) this.#lookAt(facts)
  }

  #lookAt({ what, name, usable, trouble }: ProviderFacts): void {
    const key = JSON.stringify([what, name])
    if (!usable && !this.#ill.has(key)) {
      this.#ill.add(key)
      this.#told.warn({ what, provider: name, reason: trouble }, 'a provider cannot be asked')
    }
    if (usable && trouble !== null && !this.#ill.has(key) && this.#failing.get(key) !== trouble) {
      this.#failing.set(key, trouble)
      this.#told.warn({ what, provider: name, reason: trouble }, 'a provider failed')
    }
    if (trouble === null) this.#failing.delete(key)
    // One that may only be tried again has its trouble still.
    if (usable && trouble === null && this.#ill.delete(key))
      this.#told.info({ what, provider: name }, 'a provider can be asked again')
  }
}
