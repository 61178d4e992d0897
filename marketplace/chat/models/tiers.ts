import type { Fault } from '../../../consensus/primitives/fault.ts'
import type { ModelRole } from '../../ports/models.ts'
import { troubleOf } from '../../ports/readiness.ts'
import { kindOf } from '../../ports/trouble.ts'
import { isTransient } from './attempts.ts'
import type { ModelFacts } from './backend.ts'
import type { Member } from './member.ts'

/** A model that can do a piece of work. */
export interface Candidate {
  readonly member: Member
  readonly model: ModelFacts
}

/** Models that are as good as each other for a piece of work, and what they are asked as. */
export interface Tier {
  readonly role: ModelRole
  readonly able: readonly Candidate[]
}

/** Whether a model is the one that is wanted. */
export function isThat(
  only: { readonly backend: string; readonly model: string },
  { entry }: Member,
  { id }: ModelFacts,
): boolean {
  return only.backend === entry.backend.id && only.model === id
}

/** Each tier in two: those of which something is so, before all others. */
export function parted(tiers: readonly Tier[], isSo: (one: Candidate) => boolean): readonly Tier[] {
  const part = (wanted: boolean): readonly Tier[] =>
    tiers.map(({ role, able }) => ({ role, able: able.filter((one) => isSo(one) === wanted) }))
  return [...part(true), ...part(false)]
}

/** Who is not asked any more after a failure: that model, and the others behind the same server where it was the server's. */
export function outWith(
  isOut: (one: Candidate) => boolean,
  failed: Candidate,
  cause: Fault,
): (one: Candidate) => boolean {
  const { status } = cause.detail
  const isServers = isTransient(cause) || status === 401 || status === 403
  return ({ member, model }) =>
    isOut({ member, model }) || (member === failed.member && (isServers || model === failed.model))
}

/** What is wrong with those that cannot be asked, for strangers. */
export function troublesOf(able: readonly Candidate[]): string {
  const members = new Set(able.map(({ member }) => member))
  const told = [...members].map(({ entry, trouble }) => troubleOf(entry.backend.id, trouble && kindOf(trouble)))
  return told.join('; ')
}
