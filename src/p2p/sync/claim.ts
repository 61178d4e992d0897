import type { HeaderTip } from '../../../consensus/block/header-tip.ts'
import type { Chain } from '../../../consensus/chain/chain.ts'
import { shortSha256 } from '../../../consensus/crypto/hash.ts'
import { equal, writeHex } from '../../../consensus/primitives/bytes.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { BlockRef } from './denials.ts'
import type { HeaderPage, HeaderWalk, RunSurroundings } from './header-walk.ts'

/**
 * What a branch claims to be, page by page: sizes and commitments. A page of 2,000 headers takes 40 bytes, so the claim of
 * ten million headers takes 200 KB, and none of them is hashed before it suffices.
 */
export interface Claim {
  /** What the branch stands on. */
  readonly base: HeaderTip
  readonly sizes: readonly number[]
  readonly commitments: readonly Uint8Array[]
  /**
   * Set where the work of all of it was proven: its end, a block so far below that all who follow this branch have it, and whether it
   * ended at a header from the future.
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

/** Whether a branch that claims so much work is worth hashing: the release knows of as much, and it is near our own head. */
export function isClaimEnough(chain: ClaimJudge, totalWork: bigint): boolean {
  return totalWork >= chain.ruleBook.params.minimumWork && totalWork >= chain.leastWork
}

/** The part of a chain that judges claims. */
export type ClaimJudge = Pick<Chain, 'ruleBook' | 'leastWork'>

/**
 * Walks along a branch and keeps commitments alone until what it claims suffices. `p2p/claim` where the branch ends before;
 * `p2p/timeout` where its owner is too slow while `others` wait for their turn.
 */
export async function collectClaim(
  ...[walk, first, judge, { stopped, others }]: [HeaderWalk, HeaderPage, ClaimJudge, RunSurroundings]
): Promise<Result<Claim>> {
  const sizes: number[] = []
  const commitments: Uint8Array[] = []
  for (let page = first; ; ) {
    // A page of known headers, or behind a full one, is no page to ask for again.
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

/** Whether a page is the one that was committed to. */
export function keepsClaim({ commitments }: Claim, index: number, headers: readonly HeaderTip[]): boolean {
  const commitment = commitments[index]
  return commitment === undefined || equal(commitment, commitmentTo(headers))
}
