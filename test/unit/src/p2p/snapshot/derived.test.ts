import { describe, expect, it, vi } from 'vitest'
import { MemoryKeyValueStore } from '../../../../../consensus/chain/key-value.ts'
import { KEYS } from '../../../../../consensus/chain/layout.ts'
import { UNPACED } from '../../../../../consensus/chain/ports.ts'
import { TAB_SCHEME } from '../../../../../consensus/crypto/tab-signing.ts'
import { amount } from '../../../../../consensus/primitives/amount.ts'
import { toHex } from '../../../../../consensus/primitives/bytes.ts'
import { decodeOwn, encode } from '../../../../../consensus/primitives/codec.ts'
import type { Address, Hash, TxId } from '../../../../../consensus/primitives/ids.ts'
import { Overlay } from '../../../../../consensus/state/overlay.ts'
import { ESCROWS, INVOKES } from '../../../../../marketplace/ledger/escrow.ts'
import { TAB_DUES, TABS } from '../../../../../marketplace/ledger/tab-records.ts'
import { derive } from '../../../../../src/p2p/snapshot/derived.ts'
import { fundedRuleBook, TestLedger } from '../../../../support/ledger.ts'
import { PAYER, TabLedger, tabRuleBook } from '../../../../support/tab-ledger.ts'
import { agentId, filled, SAMPLE, serviceId } from '../../../../support/unsigned.ts'

const [OWNER, CALLER] = [filled<Address>(1), filled<Address>(2)]
const PER_BLOCK = 1_000

class CountingStore extends MemoryKeyValueStore {
  reads = 0

  override get(key: Uint8Array): Uint8Array | undefined {
    this.reads += 1
    return super.get(key)
  }
}

/** Open escrows of `blocks` blocks. Each block fills one list. The ids do not follow the order of the escrows. */
async function fullBlocks(blocks: number): Promise<CountingStore> {
  const staging = new CountingStore()
  const one = {
    ...{ agentId: agentId('acme'), serviceId: serviceId('summarise'), caller: CALLER, payout: OWNER, insider: false },
    ...{ amount: amount(1n), requestCommitment: filled<Hash>(0), redeemLock: filled<Hash>(0) },
  }
  const writes = Array.from({ length: blocks * PER_BLOCK }, (_, i) => {
    const [minedAt, index] = [1 + (i % blocks), Math.floor(i / blocks)]
    const value = encode(ESCROWS.codec, { ...one, minedAt, index, deadline: minedAt + 100 })
    return { key: KEYS.state(ESCROWS.key(idOf(minedAt, index))), value }
  })
  await staging.batch(writes, () => {})
  return staging
}

/** Open tabs of which every tenth is closing. All are due at one of two heights, most at the first. */
async function dueTabs(count: number): Promise<CountingStore> {
  const staging = new CountingStore()
  const one = {
    ...{ version: 1, agentId: agentId('acme'), payer: CALLER, payout: OWNER, insider: false, scheme: TAB_SCHEME },
    ...{
      voucherKey: filled<Hash>(3),
      receiptKey: filled<Hash>(4),
      deposit: amount(9n),
      claimed: amount(1n),
      receipts: 1,
    },
    ...{ chain: filled<Hash>(5), openedAt: 1, expiresAt: 901, closeDelay: 400 },
  }
  const writes = Array.from({ length: count }, (_, i) => {
    const value = encode(TABS.codec, { ...one, closesAt: i % 10 === 0 ? 800 : 0 })
    return { key: KEYS.state(TABS.key(idOf(1, i))), value }
  })
  await staging.batch(writes, () => {})
  return staging
}

/** Multiplication spreads the ids, so that neighbours in a block lie far apart in the store. */
function idOf(minedAt: number, index: number): TxId {
  const mixed = ((index * 2_654_435_761 + minedAt * 40_503) % 2 ** 32).toString(16).padStart(8, '0')
  return (mixed + minedAt.toString(16).padStart(8, '0') + index.toString(16).padStart(48, '0')) as TxId
}

function listAt(staging: MemoryKeyValueStore, height: number): readonly TxId[] {
  const bytes = staging.get(KEYS.state(INVOKES.key(height)))
  return bytes === undefined ? [] : decodeOwn(INVOKES.codec, bytes).map(({ txId }) => txId)
}

const shown = ([key, value]: readonly [Uint8Array, Uint8Array]) => [toHex(key), toHex(value)] as const

describe('what is made of the records of a snapshot', () => {
  it('lists the open escrows byte for byte as the blocks did', async () => {
    const ledger = new TestLedger()
    ledger.send(OWNER, 'agent_register', SAMPLE.agent_register())
    ledger.send(OWNER, 'service_publish', SAMPLE.service_publish())
    for (let block = 0; block < 3; block++)
      ledger.block([2, 3, 4, 5, 6].map((n) => ledger.tx(filled(n), 'agent_invoke', SAMPLE.agent_invoke())))
    const staging = new MemoryKeyValueStore()
    const own = [...ledger.state.records()]
    const writes = own.flatMap(({ table, key, value }) => (table.rooted ? [{ key: KEYS.state(key), value }] : []))
    await staging.batch(writes, () => {})
    await derive({ staging, ruleBook: ledger.ruleBook, pacer: UNPACED, stopped: () => false })
    const lists = own.filter(({ table }) => table.name === INVOKES.name)
    expect(lists.length).toBe(3)
    for (const { key, value } of lists) expect(staging.get(KEYS.state(key))).toEqual(value)
  })

  it('lists the due tabs byte for byte as the blocks did', async () => {
    const ledger = new TabLedger()
    const tabs = [1, 2, 3, 4, 5, 6].flatMap((n) => [8, 30].map((term) => ledger.openTab({ term }, filled(n))))
    ledger.send(PAYER, 'tab_close', { tabId: tabs[3] as TxId })
    ledger.claim([ledger.entry(tabs[5] as TxId, { close: true })])
    const together = [2, 3, 5].map((n) => ledger.tx(filled(n), 'tab_open', ledger.opening({ term: 30 })))
    ledger.block(together)
    const own = [...ledger.state.records()]
    const writes = own.flatMap(({ table, key, value }) => (table.rooted ? [{ key: KEYS.state(key), value }] : []))
    const staging = new MemoryKeyValueStore()
    // Lists of an earlier snapshot are swept away.
    await staging.batch([{ key: KEYS.state(TAB_DUES.key(7_777)), value: new Uint8Array(32) }, ...writes], () => {})
    await derive({ staging, ruleBook: ledger.ruleBook, pacer: UNPACED, stopped: () => false })
    const lists = own.filter(({ table }) => table.name === TAB_DUES.name)
    expect(lists.length).toBeGreaterThan(3)
    const derived = new Map([...staging.entries(KEYS.state(TAB_DUES.key(0)).subarray(0, 2))].map(shown))
    expect(derived).toEqual(new Map(lists.map(({ key, value }) => shown([KEYS.state(key), value]))))
  })

  it('lists the tabs of one height in order that come in several batches, and lets others run on the way', async () => {
    const staging = await dueTabs(10_000)
    let [from, most] = [0, 0]
    const due = (): boolean => {
      most = Math.max(most, staging.reads - from)
      from = staging.reads
      return false
    }
    await derive({ staging, ruleBook: tabRuleBook(), pacer: { ...UNPACED, due }, stopped: () => false })
    expect(most).toBeLessThanOrEqual(512)
    const at = (height: number) => decodeOwn(TAB_DUES.codec, staging.get(KEYS.state(TAB_DUES.key(height)))!)
    const ids = Array.from({ length: 10_000 }, (_, i) => idOf(1, i))
    expect(at(800)).toEqual(ids.filter((_, i) => i % 10 === 0).toSorted())
    expect(at(901)).toEqual(ids.filter((_, i) => i % 10 !== 0).toSorted())
  })

  it('puts full lists in order with a few looks at each escrow', async () => {
    const staging = await fullBlocks(2)
    const looks = vi.spyOn(Overlay.prototype, 'get')
    await derive({ staging, ruleBook: fundedRuleBook(), pacer: UNPACED, stopped: () => false })
    const { length } = looks.mock.calls
    looks.mockRestore()
    expect(length).toBeLessThanOrEqual(4 * PER_BLOCK)
    for (const height of [1, 2])
      expect(listAt(staging, height)).toEqual(Array.from({ length: PER_BLOCK }, (_, index) => idOf(height, index)))
  })

  it('lists the escrows of a block in order that come in several batches, and lets others run on the way', async () => {
    const staging = await fullBlocks(10)
    let [from, most] = [0, 0]
    const due = (): boolean => {
      most = Math.max(most, staging.reads - from)
      from = staging.reads
      return false
    }
    await derive({ staging, ruleBook: fundedRuleBook(), pacer: { ...UNPACED, due }, stopped: () => false })
    expect(staging.reads).toBeGreaterThan(PER_BLOCK)
    expect(most).toBeLessThanOrEqual(512)
    for (let height = 1; height <= 10; height++)
      expect(listAt(staging, height)).toEqual(Array.from({ length: PER_BLOCK }, (_, index) => idOf(height, index)))
  })
})
