import { hash32 } from './choices.ts'
import { unhex, ZERO32 } from './reference/bytes.ts'
import { encodePayload, type Fields, KINDS } from './reference/payloads.ts'
import type { ClaimEntry } from './reference/tab-schemas.ts'
import { NO_POINT, VOUCHER_KEYS } from './tab-choices.ts'

const TOO_MUCH = 2n ** 112n
const MOST = 2 ** 32 - 1
const KEY = (VOUCHER_KEYS[0] as (typeof VOUCHER_KEYS)[number]).publicKey
const VOUCHER = { seq: 1, ceiling: 2n, context: ZERO32, signature: new Uint8Array(64) }
const SERVICE = { serviceId: 'echo', calls: 1, amount: 1n }
const ENTRY: ClaimEntry = {
  tabId: hash32(1),
  voucher: [VOUCHER],
  ...{ claimed: 1n, close: false, receipts: 1, failed: 0, root: hash32(2), services: [SERVICE] },
}

/** A valid payload of every kind of tabs, by the launch rules about tabs. */
const GOOD = {
  tab_open: { agentId: 'abc', deposit: 1_000_000n, term: 1_200, closeDelay: 400, scheme: 0x11, voucherKey: KEY },
  tab_fund: { tabId: hash32(1), amount: 1n },
  tab_claim: { entries: [ENTRY] },
  tab_close: { tabId: hash32(1) },
  tab_terms: { agentId: 'abc', receiptKey: KEY, minDeposit: 0n, minCloseDelay: 400 },
} as const satisfies { readonly [K in TabKind]: Fields<K> }

type TabKind = 'tab_open' | 'tab_fund' | 'tab_claim' | 'tab_close' | 'tab_terms'

const of = <K extends TabKind>(kind: K, changes: readonly Partial<Fields<K>>[]) =>
  changes.map((change): readonly [number, Uint8Array] => [
    KINDS[kind][0],
    encodePayload(kind, { ...GOOD[kind], ...change } as unknown as Fields<K>),
  ])

const claims = (...changes: readonly Partial<ClaimEntry>[]) =>
  of(
    'tab_claim',
    changes.map((change) => ({ entries: [{ ...ENTRY, ...change }] })),
  )

const services = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    ...SERVICE,
    serviceId: `service-${i}`,
    amount: TOO_MUCH - 1n,
    calls: MOST,
  }))

/** Payloads of tabs at the ends of their ranges, with their kinds. */
export const GOOD_TAB_PAYLOADS: readonly (readonly [number, Uint8Array])[] = [
  ...of('tab_open', [
    {},
    { deposit: TOO_MUCH - 1n, term: 864_000, closeDelay: 28_800 },
    { voucherKey: NO_POINT },
    { term: 28_800, closeDelay: 1_200 },
    { term: 201_600 },
  ]),
  ...of('tab_fund', [{}, { amount: TOO_MUCH - 1n }]),
  ...of('tab_close', [{}]),
  ...of('tab_terms', [
    {},
    { receiptKey: ZERO32, minDeposit: TOO_MUCH - 1n, minCloseDelay: 28_800 },
    { receiptKey: NO_POINT },
  ]),
  ...claims(
    {},
    { voucher: [], claimed: 0n, close: true, receipts: 0, root: ZERO32, services: [] },
    { voucher: [{ ...VOUCHER, seq: MOST, ceiling: TOO_MUCH - 1n }], claimed: TOO_MUCH - 1n },
    { receipts: MOST, failed: MOST, services: services(8) },
    { services: [{ ...SERVICE, amount: 0n }] },
  ),
  ...of('tab_claim', [{ entries: Array.from({ length: 64 }, (_, i) => ({ ...ENTRY, tabId: hash32(i) })) }]),
]

/** Keys that no tab may have: of small order, not canonical, with either sign. */
const BAD_KEYS = [
  ZERO32,
  `01${'00'.repeat(31)}`,
  `${'00'.repeat(31)}80`,
  `01${'00'.repeat(30)}80`,
  `ec${'ff'.repeat(30)}7f`,
  `ec${'ff'.repeat(31)}`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
  'ff'.repeat(32),
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
]
const AMOUNTS = [0n, TOO_MUCH, 2n ** 128n - 1n]
const AGENT_IDS = ['', 'ab', 'Abc', 'a'.repeat(33)]

/** Payloads of tabs that no block may hold, with their kinds. */
export const BAD_TAB_PAYLOADS: readonly (readonly [number, Uint8Array])[] = [
  ...of('tab_open', [
    ...AGENT_IDS.map((agentId) => ({ agentId })),
    ...[...AMOUNTS, 999_999n].map((deposit) => ({ deposit })),
    ...[0, 400, 1_199, 1_201, MOST].map((term) => ({ term })),
    ...[0, 399, 401, MOST].map((closeDelay) => ({ closeDelay })),
    ...[0, 1, 3, 0x10, 0x12, 0x13, 255].map((scheme) => ({ scheme })),
    ...BAD_KEYS.map((voucherKey) => ({ voucherKey })),
  ]),
  ...of(
    'tab_fund',
    AMOUNTS.map((amount) => ({ amount })),
  ),
  ...of('tab_terms', [
    ...AGENT_IDS.map((agentId) => ({ agentId })),
    ...BAD_KEYS.slice(1).map((receiptKey) => ({ receiptKey })),
    { minDeposit: TOO_MUCH },
    { minCloseDelay: 0 },
    { minCloseDelay: 401 },
  ]),
  ...claims(
    { claimed: TOO_MUCH },
    { voucher: [VOUCHER, VOUCHER] },
    { voucher: [{ ...VOUCHER, ceiling: TOO_MUCH }] },
    { services: services(9) },
    { services: [SERVICE, SERVICE] },
    { services: [{ ...SERVICE, calls: 0 }] },
    { services: [{ ...SERVICE, amount: TOO_MUCH }] },
    { services: [{ ...SERVICE, serviceId: 'no' }] },
  ),
  ...of('tab_claim', [{ entries: [] }, { entries: new Array(65).fill(ENTRY) }]),
  // A close bit of 2, a tab id that is too short or too long, nothing at all.
  closeBitOfTwo(),
  [0x69, unhex(hash32(1)).subarray(1)],
  [0x69, unhex(`${hash32(1)}00`)],
  [0x68, new Uint8Array(0)],
]

/** `close` follows the list's offset, the entry's offset, the tab id, the voucher's offset and the claimed sum. */
function closeBitOfTwo(): readonly [number, Uint8Array] {
  const [[kind, good] = [0x68, new Uint8Array(0)]] = claims({})
  return [kind, good.with(4 + 4 + 32 + 4 + 16, 2)]
}
