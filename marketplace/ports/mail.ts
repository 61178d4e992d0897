import type { Result } from '../../consensus/primitives/result.ts'
import type { Readiness } from './readiness.ts'
import type { Sourced } from './sourced.ts'

/** What DNS says about mail to a domain. */
export interface MailDomain {
  readonly exists: boolean
  /** By priority, then name. Empty if there are none, or if the domain takes no mail. */
  readonly mx: readonly { readonly host: string; readonly priority: number }[]
  /** Whether the domain says that it takes no mail (RFC 7505). */
  readonly nullMx: boolean
  /** Whether mail goes to the domain's own address, since it has no MX (RFC 5321, 5.1). */
  readonly implicitMx: boolean
  /** Whether one of the first mail hosts has an address; null if there are none, or if it cannot be found out. */
  readonly mxHasAddress: boolean | null
}

/** Looks up mail domains in DNS. */
export interface MailDomains {
  readonly readiness: () => Readiness
  /** `domain` is ASCII. Faults: `web/unreachable`, `web/timeout`. */
  readonly lookUp: (domain: string, signal: AbortSignal) => Promise<Result<Sourced<MailDomain>>>
  /** Whether the domain, or one above it up to the registrable one, is on the list of disposable mail domains. */
  readonly isDisposable: (domain: string) => boolean
}
