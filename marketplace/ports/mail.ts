import type { Result } from '../../consensus/primitives/result.ts'
import type { Readiness } from './readiness.ts'
import type { Sourced } from './sourced.ts'

/** What the name system says about mail to a domain. */
export interface MailDomain {
  readonly exists: boolean
  /** By priority, then name. Empty where there are none or the domain takes no mail. */
  readonly mx: readonly { readonly host: string; readonly priority: number }[]
  /** Whether the domain says that it takes no mail (RFC 7505). */
  readonly nullMx: boolean
  /** Whether mail would go to the domain's own address, as it has no MX (RFC 5321, 5.1). */
  readonly implicitMx: boolean
  /** Whether one of the first exchangers has an address; null where there is none to look at, or it cannot be told now. */
  readonly mxHasAddress: boolean | null
}

/** Asks the name system about mail. */
export interface MailDomains {
  readonly readiness: () => Readiness
  /** Domain in ASCII. Faults: `web/unreachable`, `web/timeout`. */
  readonly lookUp: (domain: string, signal: AbortSignal) => Promise<Result<Sourced<MailDomain>>>
  /** Whether the domain, or one that it belongs to, is on the list of those that give addresses away for a while. */
  readonly isDisposable: (domain: string) => boolean
}
