import type { Hash } from '../../../../consensus/primitives/ids.ts'
import type { StableClaim } from './claim.ts'
import type { CallIdentity } from './identity.ts'

/** Names that are remembered; the longest unused goes first. */
const KEYS_MAX = 50_000

/** What a name was given to. */
type Named = Pick<StableClaim, 'id' | 'requestHash'>

/** Which payment a payer gave a payment identifier or an idempotency key to. */
export class RepeatKeys {
  readonly #named = new Map<Hash, Named>()

  /** The payment that a call's name was given to, undefined where it is new or there is none. */
  get({ repeatKey }: Pick<CallIdentity, 'repeatKey'>): Named | undefined {
    return repeatKey === null ? undefined : this.#named.get(repeatKey)
  }

  /** Remembers the name of a payment that was taken. */
  put({ repeatKey, id, requestHash }: Named & Pick<StableClaim, 'repeatKey'>): void {
    if (repeatKey === null) return
    this.#named.delete(repeatKey)
    this.#named.set(repeatKey, { id, requestHash })
    if (this.#named.size <= KEYS_MAX) return
    const [oldest] = this.#named.keys()
    this.#named.delete(oldest as Hash)
  }

  /** Forgets the name of a payment that came to nothing. */
  drop({ repeatKey, id }: Named & Pick<StableClaim, 'repeatKey'>): void {
    if (repeatKey !== null && this.#named.get(repeatKey)?.id === id) this.#named.delete(repeatKey)
  }

  /** Remembers the name of a payment of the past, unless it was given to a later one, or there is no room. */
  recall(claim: Named & Pick<StableClaim, 'repeatKey'>): void {
    if (claim.repeatKey !== null && !this.#named.has(claim.repeatKey) && this.#named.size < KEYS_MAX) this.put(claim)
  }
}
