import { type PayloadKind, type Sample, SOUND } from './tx-payloads.ts'
import type { ClaimFields } from './tx-tab-payloads.ts'

/** Transactions about tabs, with fields at their limits. */

const LARGEST = 2n ** 112n - 1n
const MOST = 2 ** 32 - 1
const ENTRY = SOUND.tab_claim.entries[0] as ClaimFields
const VOUCHER = ENTRY.voucher[0] as ClaimFields['voucher'][number]
const ZERO = new Uint8Array(32)
/** A y that no point has. It is canonical, and that is all a key must be. */
const NO_POINT = new Uint8Array(32).fill(2, 0, 1)

function sample<K extends PayloadKind>(kind: K, name: string, change: Partial<(typeof SOUND)[K]> = {}): Sample {
  return { name, kind, payload: { ...SOUND[kind], ...change } }
}

const claim = (name: string, ...entries: readonly Partial<ClaimFields>[]): Sample =>
  sample('tab_claim', name, { entries: entries.map((change) => ({ ...ENTRY, ...change })) })

const LONGEST: ClaimFields = {
  tabId: new Uint8Array(32).fill(0xff),
  voucher: [{ seq: MOST, ceiling: LARGEST, context: ZERO, signature: new Uint8Array(64) }],
  ...{ claimed: LARGEST, close: 1, receipts: MOST, failed: MOST, root: new Uint8Array(32).fill(0xff) },
  services: Array.from({ length: 8 }, (_, i) => ({
    ...{ serviceId: `s${'-'.repeat(46)}${i}`, calls: MOST, amount: LARGEST },
  })),
}

export const TAB_SAMPLES: readonly Sample[] = [
  sample('tab_open', 'a tab opened'),
  ...[1_200, 28_800, 201_600, 864_000].map((term) =>
    sample('tab_open', `a tab of the least deposit for ${term} blocks`, { deposit: 1_000_000n, term }),
  ),
  ...[400, 1_200, 28_800].map((closeDelay) =>
    sample('tab_open', `a tab with ${closeDelay} blocks between its close and its end`, { closeDelay }),
  ),
  sample('tab_open', 'a tab of the largest deposit under a key that is no point', {
    ...{ agentId: 'a'.repeat(32), deposit: LARGEST, voucherKey: NO_POINT },
  }),
  sample('tab_fund', 'a tab funded'),
  sample('tab_fund', 'a tab funded with the least', { amount: 1n }),
  sample('tab_fund', 'a tab funded with the most', { amount: LARGEST }),
  claim('a claim of one entry with a voucher and two services', {}),
  claim('a claim that closes', { close: 1 }),
  claim('a claim of nothing that closes', {
    ...{ voucher: [], claimed: 0n, close: 1, receipts: 0, failed: 0, root: ZERO, services: [] },
  }),
  claim('a claim of failed calls without a voucher', { voucher: [], services: [], failed: 42 }),
  claim('a claim of calls that cost nothing', {
    ...{ voucher: [{ ...VOUCHER, seq: 0, ceiling: 0n }], claimed: 0n },
    services: [{ serviceId: 'abcd', calls: 1, amount: 0n }],
  }),
  claim(
    'a claim of three entries, two with vouchers, one that closes',
    {},
    { voucher: [], close: 1 },
    { services: [] },
  ),
  claim('a claim of 64 entries', ...Array.from({ length: 64 }, (_, i) => ({ tabId: new Uint8Array(32).fill(i) }))),
  claim('a claim with everything at its longest', ...new Array(64).fill(LONGEST)),
  sample('tab_close', 'a tab closed by its payer'),
  sample('tab_terms', 'the terms of an agent'),
  sample('tab_terms', 'an agent that takes no new tabs', { receiptKey: ZERO, minDeposit: 0n }),
  sample('tab_terms', 'the largest deposit and the longest delay as the least', {
    ...{ minDeposit: LARGEST, minCloseDelay: 28_800, receiptKey: NO_POINT },
  }),
]
