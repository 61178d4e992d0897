import type { Clock } from '../../../consensus/chain/ports.ts'
import type { SignatureJob } from '../../../consensus/crypto/signing.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import { Challenges } from './challenges.ts'
import { KeyMakers } from './key-makers.ts'
import { Sessions } from './sessions.ts'
import { SignInGuard } from './sign-in-guard.ts'
import { Marks } from './tokens.ts'

/** The operator's secret: the password, or the token of the data folder if no password is set. */
export interface OperatorSecret {
  /** Changes with the secret, and reveals nothing of it. */
  readonly stamp: () => Promise<string>
  /** Whether a text is the secret. The fault is `rpc/busy` if too many checks run. */
  readonly matches: (text: string) => Promise<Result<boolean>>
}

/** The state of a provider that the node asks: a model's server, a search, a facilitator. */
export interface ProviderStanding {
  /** What the node asks the provider for, in words. */
  readonly what: string
  readonly name: string
  readonly usable: boolean
  /** The last error in the provider's words; null while all is well. */
  readonly trouble: string | null
}

/** What a dashboard is made of. */
export interface DashboardParts {
  readonly clock: Clock
  /** Addresses of the wallets that may sign in, as text. */
  readonly wallets: 'all' | readonly string[]
  readonly operator: OperatorSecret
  /** Providers with their error texts, which only the operator sees. */
  readonly providers: () => readonly ProviderStanding[]
  /** Whether both halves of every signature are valid. */
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
