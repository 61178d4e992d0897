import type { Checkable, ProviderFacts } from './outbound/providers/provider.ts'

/** Where it is told. */
interface Told {
  readonly warn: (facts: object, message: string) => void
  readonly info: (facts: object, message: string) => void
}

/**
 * Tells once of each model backend and provider when it cannot be asked any more, and once when it can be again. Whoever fails is left
 * alone for half a minute at least, so a look every few seconds misses nothing.
 */
export class ProviderLog {
  readonly #checkable: readonly Checkable[]
  readonly #told: Told
  readonly #ill = new Set<string>()

  constructor(checkable: readonly Checkable[], told: Told) {
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
    // One that may only be tried again has its trouble still.
    if (usable && trouble === null && this.#ill.delete(key))
      this.#told.info({ what, provider: name }, 'a provider can be asked again')
  }
}
