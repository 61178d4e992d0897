import type { Chain } from '../../consensus/chain/chain.ts'
import { taggedHash } from '../../consensus/crypto/hash.ts'
import type { Hash, TxId } from '../../consensus/primitives/ids.ts'
import { encodeText } from '../../consensus/primitives/text.ts'
import { voucherMessage } from '../../consensus/tx/tab-messages.ts'
import { CLAIM_ENTRIES_MAX, type ClaimEntry } from '../../consensus/tx/tab-payloads.ts'
import type { WalletKey } from '../../src/crypto/wallet-key.ts'
import { tabKey } from '../support/tab-choices.ts'
import type { Action } from './fixture.ts'
import {
  AGENTS,
  agentOf,
  type Draft,
  eachKnown,
  hashOf,
  SERVICE,
  type Shape,
  units,
  withdrawalsOf,
} from './worst-drafts.ts'
import { KNOWN } from './worst-world.ts'

/** Openings that fit into one block. */
const OPENED = 360
const ZERO = '0'.repeat(64) as Hash
const KEY = tabKey(taggedHash('textDigest', encodeText('bench voucher key')))

function opened(i: number, term = 864_000): Action {
  return {
    kind: 'tab_open',
    payload: {
      ...{ agentId: agentOf(i), deposit: units(1_000_000n), term, closeDelay: 400, scheme: 0x11 },
      voucherKey: KEY.publicKey as Hash,
    },
  }
}

function terms(i: number, minCloseDelay = 400): Action {
  return {
    kind: 'tab_terms',
    payload: { agentId: agentOf(i), receiptKey: KEY.publicKey as Hash, minDeposit: units(0n), minCloseDelay },
  }
}

/** Blocks behind those of the other kinds: terms of every agent, and open tabs of different payers. */
export const TABS_READY: readonly ((chain: Chain) => readonly Draft[])[] = [
  () => eachKnown((i) => terms(i), 0, AGENTS),
  ...[0, 1, 2, 3].map(() => () => eachKnown((i) => opened(i), 10, OPENED)),
]

/** Place of the first of the blocks that opened tabs, among those that prepare the state. */
const FIRST_OPENING = 10

function tabsOf(chain: Chain): readonly TxId[] {
  return [0, 1, 2, 3].flatMap((i) => withdrawalsOf(chain, FIRST_OPENING + i))
}

/** An entry with a voucher, for one call of 100,000. */
function entry(chain: Chain, tabId: TxId, change: Partial<ClaimEntry> = {}): ClaimEntry {
  const [claimed, context] = [units(100_000n), hashOf('context', 1)]
  const fields = { seq: 0, ceiling: claimed, context }
  const signature = KEY.sign(voucherMessage(chain.network, tabId, fields))
  return {
    ...{ tabId, voucher: [{ ...fields, signature }], claimed, close: false, receipts: 1, failed: 0 },
    ...{ root: hashOf('root', 1), services: [{ serviceId: SERVICE, calls: 1, amount: claimed }] },
    ...change,
  }
}

/** Claims of as many entries as fit, by settlers of all agents. */
function claims(
  chain: Chain,
  make: (tabId: TxId, chain: Chain) => ClaimEntry,
  tabs = tabsOf(chain),
  size = CLAIM_ENTRIES_MAX,
): readonly Draft[] {
  return Array.from({ length: Math.ceil(tabs.length / size) }, (_, i) => ({
    from: KNOWN[i % 8] as WalletKey,
    action: {
      kind: 'tab_claim',
      payload: { entries: tabs.slice(i * size, (i + 1) * size).map((tabId) => make(tabId, chain)) },
    } as Action,
  }))
}

const FAILED = { claimed: units(0n), failed: 1, services: [] }

/** The same voucher with a signature that does not verify, which only the verification shows. */
function spoiled(one: ClaimEntry): ClaimEntry {
  const voucher = one.voucher.map((each) => ({ ...each, seq: each.seq + 1 }))
  return { ...one, voucher }
}

export function tabShapes(): readonly Shape[] {
  const shape = (kind: Shape['kind'], what: string, fill: Shape['fill']): Shape => ({ kind, what, fill })
  const own =
    (make: (tabId: TxId) => Action, most = OPENED) =>
    (chain: Chain): readonly Draft[] =>
      withdrawalsOf(chain, FIRST_OPENING)
        .slice(0, most)
        .map((tabId, i) => ({ from: KNOWN[10 + i] as WalletKey, action: make(tabId) }))
  return [
    shape('tab_open', 'of as many payers', () => eachKnown((i) => opened(i))),
    {
      ...shape('tab_open', 'while the tabs of four full blocks fall due', () => eachKnown((i) => opened(i), 20)),
      before: [4, 3, 2, 1].map((term) => () => eachKnown((i) => opened(i, term), 20, OPENED)),
    },
    shape(
      'tab_fund',
      'of as many tabs',
      own((tabId) => ({ kind: 'tab_fund', payload: { tabId, amount: units(1n) } })),
    ),
    shape(
      'tab_close',
      'of as many tabs, all to one height',
      own((tabId) => ({ kind: 'tab_close', payload: { tabId } })),
    ),
    shape('tab_terms', 'of as many agents', () => eachKnown((i) => terms(i, 1_200), 0, AGENTS)),
    shape('tab_claim', '64 entries, each with a voucher and a service', (chain) =>
      claims(chain, (id) => entry(chain, id)),
    ),
    shape('tab_claim', '64 entries, each with a voucher and a failed call', (chain) =>
      claims(chain, (id) => entry(chain, id, FAILED)),
    ),
    shape('tab_claim', '64 entries that close, without vouchers', (chain) =>
      claims(chain, (id) =>
        entry(chain, id, { ...FAILED, voucher: [], close: true, receipts: 0, failed: 0, root: ZERO }),
      ),
    ),
    shape('tab_claim', '64 entries whose vouchers are not signed by the key', (chain) =>
      claims(chain, (id) => spoiled(entry(chain, id, FAILED))),
    ),
    shape('tab_claim', '64 entries of tabs that there are not', (chain) =>
      claims(
        chain,
        (id) => entry(chain, id, FAILED),
        Array.from({ length: 1_440 }, (_, i) => hashOf<TxId>('no tab', i)),
      ),
    ),
    shape('tab_claim', 'one entry each', (chain) =>
      claims(chain, (id) => entry(chain, id), tabsOf(chain).slice(0, 390), 1),
    ),
  ]
}
