import type { Result } from '../../../consensus/primitives/result.ts'
import type { Peer } from '../peers/peers.ts'
import { type Claim, collectClaim } from './claim.ts'
import { type FirstPageMeans, firstNew } from './first-page.ts'
import { type HeaderPage, HeaderWalk, type RunSurroundings, type WalkDependencies } from './header-walk.ts'

/**
 * What a branch claims that forks where this node cannot go back to, null if that is no more work than our head has, with the time
 * waited for it, ms; none of it is hashed.
 */
export async function claimFromBelow(
  ...[deps, peer, waiting, around]: [WalkDependencies, Peer, FirstPageMeans, RunSurroundings]
): Promise<{ readonly claim: Claim | null; readonly waitedMs: number }> {
  const walk = new HeaderWalk(deps, peer.info.id, { tip: undefined, deep: true })
  const claim = await collected(deps, walk, await firstNew(walk, peer, waiting), around)
  return { claim, waitedMs: walk.waitedMs }
}

async function collected(
  ...[deps, walk, first, around]: [WalkDependencies, HeaderWalk, Result<HeaderPage> | null, RunSurroundings]
): Promise<Claim | null> {
  if (first?.ok !== true) return null
  const { ruleBook, head } = deps.chain
  const judge = { ruleBook, isNearHead: (totalWork: bigint) => totalWork > head.totalWork }
  const claim = await collectClaim(walk, first.value, judge, around)
  return claim.ok ? claim.value : null
}
