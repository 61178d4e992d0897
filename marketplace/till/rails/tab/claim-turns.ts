import type { TxId } from '../../../../consensus/primitives/ids.ts'
import type { Shop } from '../../shop.ts'

/** Blocks that a replica waits for the one whose turn it is. */
const GRACE_BLOCKS = 20
const TURN_DIGITS = 8

/**
 * Shares the tabs among the replicas of an operator, so that two of them do not pay for claims of the same tab. Each settler on chain
 * has its part of the tabs; if it does not claim one that is due, any other replica does.
 */
export class ClaimTurns {
  readonly #shop: Shop
  readonly #isShared: boolean
  /** Height at which a tab of another replica was first seen to be due. */
  readonly #dueSince = new Map<TxId, number>()

  constructor(shop: Shop, isShared: boolean) {
    this.#shop = shop
    this.#isShared = isShared
  }

  /** Those of the due tabs that this replica is to claim now. */
  own<D extends { readonly tabId: TxId }>(due: readonly D[], height: number): readonly D[] {
    if (!this.#isShared) return due
    const ids = new Set(due.map(({ tabId }) => tabId))
    for (const tabId of this.#dueSince.keys()) if (!ids.has(tabId)) this.#dueSince.delete(tabId)
    return due.filter(({ tabId }) => this.#isOwn(tabId, height))
  }

  #isOwn(tabId: TxId, height: number): boolean {
    const { agent, operator } = this.#shop
    const settlers = agent?.settlers ?? []
    const turn = settlers[Number.parseInt(tabId.slice(0, TURN_DIGITS), 16) % settlers.length]
    if (turn === undefined || turn === operator.settler.address) return true
    const since = this.#dueSince.get(tabId) ?? height
    this.#dueSince.set(tabId, since)
    return height - since >= GRACE_BLOCKS
  }
}
