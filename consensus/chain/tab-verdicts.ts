import { shortSha256 } from '../crypto/hash.ts'
import type { SignatureBackend } from '../crypto/hybrid.ts'
import { type TabSignature, verifyTabSignature } from '../crypto/tab-signing.ts'
import type { SignatureVerifier } from '../crypto/verifier.ts'
import { concat, toHex } from '../primitives/bytes.ts'
import { LruMap } from '../primitives/lru.ts'

/** Each is a hash and a boolean. Enough for two blocks full of vouchers: a voucher costs a block at least 1,000 of its weight. */
const VERDICTS_KEPT = 4_096

/**
 * Verdicts on signatures of keys of tabs. A verdict depends on the bytes of key, message and signature alone, so it holds in every state
 * and for every block. What was not checked ahead is checked when execution asks.
 */
export class TabVerdicts {
  readonly #backend: SignatureBackend
  readonly #known = new LruMap<string, boolean>(VERDICTS_KEPT)

  constructor(backend: SignatureBackend) {
    this.#backend = backend
  }

  on(job: TabSignature): boolean {
    const id = idOf(job)
    const known = this.#known.get(id)
    if (known !== undefined) return known
    const verdict = verifyTabSignature(this.#backend, job)
    this.#known.set(id, verdict)
    return verdict
  }

  /** Adds those without a verdict, each once. */
  collectUnknown(jobs: readonly TabSignature[], unknown: Map<string, TabSignature>): void {
    for (const job of jobs) {
      const id = idOf(job)
      if (this.#known.get(id) === undefined) unknown.set(id, job)
    }
  }

  /** Has collected signatures checked by the threads. If the threads fail, the verdicts stay unknown. */
  checkAhead(unknown: ReadonlyMap<string, TabSignature>, verifier: SignatureVerifier): Promise<void> {
    if (unknown.size === 0 || verifier.verifyTabs === undefined) return Promise.resolve()
    const ids = [...unknown.keys()]
    const learn = (verdicts: readonly boolean[]): void => {
      for (const [i, verdict] of verdicts.entries()) this.#known.set(ids[i] as string, verdict)
    }
    return verifier.verifyTabs([...unknown.values()]).then(learn, () => {})
  }
}

/** All parts have a fixed length, or the signature is refused. */
function idOf({ key, message, signature }: TabSignature): string {
  return toHex(shortSha256(concat(key, signature, message)))
}
