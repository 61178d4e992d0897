import type { Checkable, ProviderFacts } from '../adapters/providers/provider.ts'
import { type DaemonOptions, repeat, type Stop } from '../daemon/open-core.ts'

type Shown = Pick<Checkable, 'facts'>

/** States of all providers that the node asks, including facilitators. */
export function askedBy(
  outside: { readonly checkable: readonly Shown[] } | null,
  market: { readonly rail: { readonly providers: Shown } | null } | null,
): () => readonly ProviderFacts[] {
  const rail = market?.rail ?? null
  const shown = [...(outside?.checkable ?? []), ...(rail === null ? [] : [rail.providers])]
  return () => shown.flatMap(({ facts }) => facts)
}

const LOOKS_MS = 5_000

/** Logs which configured providers are unavailable, from the first check on. Their services are not sold. */
export function watchProviders(
  shown: readonly Shown[],
  looked: Promise<unknown>,
  { logger, onFatal }: Pick<DaemonOptions, 'logger' | 'onFatal'>,
): Stop {
  const log = new ProviderLog(shown, logger)
  const first = looked.then(() => log.look())
  return repeat(LOOKS_MS, () => first.then(() => log.look()), onFatal)
}

interface Told {
  readonly warn: (facts: object, message: string) => void
  readonly info: (facts: object, message: string) => void
}

/**
 * Logs when a provider or model backend fails in a new way, when it becomes unavailable, and when it is back: each once.
 * Messages of providers go only to the log and the operator.
 */
export class ProviderLog {
  readonly #checkable: readonly Shown[]
  readonly #told: Told
  readonly #ill = new Set<string>()
  /** The last logged failure of each provider that is still available. */
  readonly #failing = new Map<string, string>()

  constructor(checkable: readonly Shown[], told: Told) {
    this.#checkable = checkable
    this.#told = told
  }

  /** Asks no provider. */
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
    // A provider that is only about to be retried still has its last failure.
    if (usable && trouble === null && this.#ill.delete(key))
      this.#told.info({ what, provider: name }, 'a provider can be asked again')
  }
}
