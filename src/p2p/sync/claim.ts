import type { HeaderTip } from '../../../consensus/block/header-tip.ts'
import type { Chain } from '../../../consensus/chain/chain.ts'
import { shortSha256 } from '../../../consensus/crypto/hash.ts'
import { equal, writeHex } from '../../../consensus/primitives/bytes.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { BlockRef } from './denials.ts'
import type { HeaderPage, HeaderWalk, RunSurroundings } from './header-walk.ts'

/**
 * What a branch claims to be, as sizes and commitments of its pages. A page of 2,000 headers takes 40 bytes, so the claim of ten million
 * headers takes 200 KB. No proof of work is checked before the claim suffices.
 */
export interface Claim {
  /** The block that the branch stands on. */
  readonly base: HeaderTip
  readonly sizes: readonly number[]
  readonly commitments: readonly Uint8Array[]
  /**
   * Set once all its work is proven: its end, a block so far below it that all peers on the branch have it, and whether a header from the
   * future ended the branch.
   */
  readonly proven?: { readonly tip: HeaderTip; readonly buried: BlockRef; readonly isEarly: boolean }
}

const ID_BYTES = 32

/** Commitment to a page: SHA-256 over its ids. */
export function commitmentTo(headers: readonly HeaderTip[]): Uint8Array {
  const ids = new Uint8Array(headers.length * ID_BYTES)
  headers.forEach(({ id }, i) => {
    writeHex(ids, i * ID_BYTES, id)
  })
  return shortSha256(ids)
}

/**
 * Whether a branch claims enough work for its proof to be checked: at least the minimum that the release names, and about as much as our
 * own head.
 */
export function isClaimEnough(chain: ClaimJudge, totalWork: bigint): boolean {
  return totalWork >= chain.ruleBook.params.minimumWork && totalWork >= chain.leastWork
}

/** The part of a chain that judges claims. */
export type ClaimJudge = Pick<Chain, 'ruleBook' | 'leastWork'>

/**
 * Walks a branch, keeping only commitments, until its claim suffices. Faults: `p2p/claim` if the branch ends before or the node stops,
 * `p2p/timeout` if the peer is too slow for `others`, and other faults of the walk.
 */
export async function collectClaim(
  ...[walk, first, judge, { stopped, others }]: [HeaderWalk, HeaderPage, ClaimJudge, RunSurroundings]
): Promise<Result<Claim>> {
  const sizes: number[] = []
  const commitments: Uint8Array[] = []
  for (let page = first; ; ) {
    // When the branch is proven, its pages are asked for from `base` on, so pages without new headers do not come again.
    if (page.headers.length > 0) {
      sizes.push(page.headers.length)
      commitments.push(commitmentTo(page.headers))
    }
    const claimed = walk.tip?.totalWork ?? 0n
    if (isClaimEnough(judge, claimed)) return ok({ base: walk.base as HeaderTip, sizes, commitments })
    if (!page.more || stopped()) return fail(fault('p2p/claim', { work: claimed.toString() }))
    const next = await walk.next({ claimed: true, others })
    if (!next.ok) return next
    page = next.value
  }
}

/** Whether a page is the one that was committed to. Pages after the last commitment always pass. */
export function keepsClaim({ commitments }: Claim, index: number, headers: readonly HeaderTip[]): boolean {
  const commitment = commitments[index]
  return commitment === undefined || equal(commitment, commitmentTo(headers))
}
