import type { Clock } from '../../../consensus/chain/ports.ts'
import type { SignatureJob } from '../../../consensus/crypto/signing.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import { Challenges } from './challenges.ts'
import { KeyMakers } from './key-makers.ts'
import { Sessions } from './sessions.ts'
import { SignInGuard } from './sign-in-guard.ts'
import { Marks } from './tokens.ts'

/** What the operator signs in with: the password, or the token of the data folder where none is set. */
export interface OperatorSecret {
  /** Changes with the secret, and says nothing of it. */
  readonly stamp: () => Promise<string>
  /** Whether a text is the secret. The fault is `rpc/busy`, where too many are being looked at. */
  readonly matches: (text: string) => Promise<Result<boolean>>
}

/** How a provider stands that the node asks: a model's server, a search, a facilitator. */
export interface ProviderStanding {
  /** What it is asked for, in words. */
  readonly what: string
  readonly name: string
  /** Whether it would be asked now. */
  readonly usable: boolean
  /** What went wrong last, in its own words; null while all is well. */
  readonly trouble: string | null
}

/** What the dashboard is made with. */
export interface DashboardParts {
  readonly clock: Clock
  /** Wallets that may sign in, by their addresses in text form. */
  readonly wallets: 'all' | readonly string[]
  readonly operator: OperatorSecret
  /** Providers with their own words, which only the operator is shown. */
  readonly providers: () => readonly ProviderStanding[]
  /** Whether both halves of all signatures are good. */
  readonly verify: (job: SignatureJob) => boolean
}

/** The dashboard behind its pages: its sessions and the means to sign in. */
export interface DashboardApi extends Omit<DashboardParts, 'clock'> {
  readonly marks: Marks
  readonly sessions: Sessions
  readonly challenges: Challenges
  readonly guard: SignInGuard
  readonly makers: KeyMakers
}

/** Makes a dashboard without sessions. */
export function createDashboard({ clock, ...parts }: DashboardParts): DashboardApi {
  const marks = new Marks()
  const challenges = new Challenges(clock, marks)
  const guards = { guard: new SignInGuard(clock), makers: new KeyMakers(clock) }
  return { ...parts, marks, challenges, sessions: new Sessions(clock), ...guards }
}
