import { join } from './bytes.ts'
import { smallOrderEncodings } from './edwards25519.ts'
import {
  badAmounts,
  GRAMMAR,
  type MalformedCase,
  malformed,
  refused,
  undecodable,
  unreadable,
  wireOf,
} from './tx-malformed-case.ts'
import { payload, SOUND } from './tx-payloads.ts'
import { type ClaimFields, TAB_PAYLOADS } from './tx-tab-payloads.ts'
import { u32 } from './tx-wire.ts'

/** Malformed transactions about tabs: fields out of range, keys that no tab may have, and undecodable payloads. */

type TabKind = keyof typeof TAB_PAYLOADS

const KINDS = Object.keys(TAB_PAYLOADS) as readonly TabKind[]
const ENTRY = SOUND.tab_claim.entries[0] as ClaimFields
const VOUCHER = ENTRY.voucher[0] as ClaimFields['voucher'][number]
const SERVICE = ENTRY.services[0] as ClaimFields['services'][number]
const BOUND = 2n ** 112n

const entries = (...changes: readonly Partial<ClaimFields>[]) => ({
  entries: changes.map((change) => ({ ...ENTRY, ...change })),
})

function shapes(): readonly MalformedCase[] {
  return [
    ...KINDS.flatMap((kind) => [
      undecodable(kind, 'no payload', new Uint8Array(0)),
      undecodable(kind, 'a byte of a payload', payload(kind).slice(0, 1)),
    ]),
    ...(['tab_fund', 'tab_close'] as const).map((kind) =>
      undecodable(kind, 'a byte left over', join(payload(kind), Uint8Array.of(0))),
    ),
    unreadable('tab_open', 'an agent id of 2 characters', { agentId: 'ab' }, GRAMMAR),
    unreadable('tab_terms', 'a capital letter in its id', { agentId: 'Acme' }, GRAMMAR),
    unreadable('tab_claim', '65 entries', entries(...new Array(65).fill({}))),
    unreadable('tab_claim', 'two vouchers in an entry', entries({ voucher: [VOUCHER, VOUCHER] })),
    unreadable(
      'tab_claim',
      'nine services in an entry',
      entries({ services: Array.from({ length: 9 }, (_, i) => ({ ...SERVICE, serviceId: `service-${i}` })) }),
    ),
    unreadable(
      'tab_claim',
      'a signature of 63 bytes',
      entries({ voucher: [{ ...VOUCHER, signature: new Uint8Array(63) }] }),
    ),
    unreadable('tab_claim', 'a close bit of 2', entries({ close: 2 })),
    unreadable('tab_claim', 'an empty service id', entries({ services: [{ ...SERVICE, serviceId: '' }] }), GRAMMAR),
    undecodable('tab_claim', 'a gap before its entries', join(u32(5), Uint8Array.of(0), payload('tab_claim').slice(4))),
    undecodable('tab_claim', 'an entry that is cut short', payload('tab_claim').slice(0, -17)),
  ]
}

const KEY_REASON = 'must be a canonical Ed25519 key that is not of small order'
/** p, written as a y: it stands for 0, but not canonically. */
const NOT_CANONICAL = new Uint8Array(32).fill(0xff).with(0, 0xed).with(31, 0x7f)

function keys(): readonly MalformedCase[] {
  const bad = [...smallOrderEncodings(), NOT_CANONICAL, new Uint8Array(32).fill(0xff)]
  const isZero = (key: Uint8Array) => key.every((byte) => byte === 0)
  return bad.flatMap((key, i) => [
    refused('tab_open', `a forbidden key, number ${i}`, { voucherKey: key }, 'voucherKey', KEY_REASON),
    // 32 zero bytes are no key: they say that the agent takes no new tabs.
    ...(isZero(key)
      ? []
      : [refused('tab_terms', `a forbidden key, number ${i}`, { receiptKey: key }, 'receiptKey', KEY_REASON)]),
  ])
}

const DELAY_REASON = 'must be one of 400, 1200, 28800'

function numbers(): readonly MalformedCase[] {
  return [
    ...[0, 1, 1_199, 1_201, 2 ** 32 - 1].map((term) =>
      refused('tab_open', `a term of ${term}`, { term }, 'term', 'must be one of 1200, 28800, 201600, 864000'),
    ),
    ...[0, 399, 401, 2 ** 32 - 1].flatMap((delay) => [
      refused('tab_open', `a close delay of ${delay}`, { closeDelay: delay }, 'closeDelay', DELAY_REASON),
      refused('tab_terms', `a least close delay of ${delay}`, { minCloseDelay: delay }, 'minCloseDelay', DELAY_REASON),
    ]),
    ...[0, 1, 3, 0x10, 0x12, 0x13, 255].map((scheme) =>
      refused('tab_open', `scheme ${scheme}`, { scheme }, 'scheme', 'must be one of 17'),
    ),
  ]
}

/** A claim whose entry at `index` has an amount that no supply can reach. */
function tooMuch(name: string, index: number, change: Partial<ClaimFields>): MalformedCase {
  const all = Array.from({ length: index + 1 }, (_, i) => (i === index ? change : {}))
  return malformed(
    3,
    `tab_claim with ${name}`,
    wireOf('tab_claim', payload('tab_claim', entries(...all))),
    'tx/amount',
    {
      ...{ field: `entries[${index}]`, value: BOUND.toString(), least: '0' },
    },
  )
}

function claims(): readonly MalformedCase[] {
  const twice = { services: [SERVICE, { ...SERVICE, serviceId: 'translate' }, SERVICE] }
  return [
    refused('tab_claim', 'no entries', { entries: [] }, 'entries', 'must not be empty'),
    tooMuch('too much claimed', 0, { claimed: BOUND }),
    tooMuch('a ceiling that is too high', 1, { voucher: [{ ...VOUCHER, ceiling: BOUND }] }),
    tooMuch('too much for a service', 2, { services: [{ ...SERVICE, amount: BOUND }] }),
    refused(
      'tab_claim',
      'a service without calls',
      entries({}, { services: [{ ...SERVICE, calls: 0 }] }),
      'entries[1].services',
      'a service without calls',
    ),
    refused('tab_claim', 'a service twice', entries(twice), 'entries[0].services', 'a service stands twice'),
  ]
}

export function txMalformedTabs(): readonly MalformedCase[] {
  return [
    ...shapes(),
    ...keys(),
    ...numbers(),
    ...badAmounts('tab_open', 'deposit', 1_000_000n),
    ...badAmounts('tab_fund', 'amount', 1n),
    ...badAmounts('tab_terms', 'minDeposit', 0n),
    ...claims(),
  ]
}
