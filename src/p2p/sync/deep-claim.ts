import type { PeerId } from '../network.ts'
import { type Claim, collectClaim } from './claim.ts'
import { type FirstPageMeans, firstNew } from './first-page.ts'
import { HeaderWalk, type RunSurroundings, type WalkDependencies } from './header-walk.ts'

/** What a branch claims that forks where this node cannot go back to, if that is more work than our head has; none of it is hashed. */
export async function claimFromBelow(
  ...[deps, peer, waiting, around]: [WalkDependencies, PeerId, FirstPageMeans, RunSurroundings]
): Promise<Claim | null> {
  const walk = new HeaderWalk(deps, peer, { tip: undefined, deep: true })
  const first = await firstNew(walk, waiting)
  if (first?.ok !== true) return null
  const { ruleBook, head } = deps.chain
  const judge = { ruleBook, isNearHead: (totalWork: bigint) => totalWork > head.totalWork }
  const claim = await collectClaim(walk, first.value, judge, around)
  return claim.ok ? claim.value : null
}
