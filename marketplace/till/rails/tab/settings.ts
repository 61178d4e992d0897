import { RECEIPT_MARGIN_BLOCKS } from '../../settings.ts'

/** Blocks after which a tab with unclaimed calls is claimed at the latest, and those for the claim to be mined. */
const CLAIM_CADENCE_BLOCKS = 200
/** No call is taken within so many blocks of the end of a tab, besides the blocks that its work may take. */
export const TAB_MARGIN_BLOCKS = RECEIPT_MARGIN_BLOCKS + CLAIM_CADENCE_BLOCKS
/**
 * A call that fails is free, and its receipt is kept until the tab has ended. So a tab may have some of them at first, more with each
 * call that was charged, and one more each so many blocks.
 */
export const UNCHARGED = { atFirst: 100, perCharged: 4, blocksEach: 200 } as const
/** Calls of one tab that a process works on at once. Offers name an eighth of it, so that a client may have lost sight of some. */
export const TAB_IN_FLIGHT_MAX = 64
/** How far the time of a query may be from the seller's clock. */
export const QUERY_WITHIN_MS = 5 * 60_000
