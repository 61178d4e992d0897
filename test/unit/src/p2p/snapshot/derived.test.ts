import { describe, expect, it, vi } from 'vitest'
import { MemoryKeyValueStore } from '../../../../../consensus/chain/key-value.ts'
import { KEYS } from '../../../../../consensus/chain/layout.ts'
import { UNPACED } from '../../../../../consensus/chain/ports.ts'
import { amount } from '../../../../../consensus/primitives/amount.ts'
import { decodeOwn, encode } from '../../../../../consensus/primitives/codec.ts'
import type { Address, Hash, TxId } from '../../../../../consensus/primitives/ids.ts'
import { Overlay } from '../../../../../consensus/state/overlay.ts'
import { ESCROWS, INVOKES } from '../../../../../marketplace/ledger/escrow.ts'
import { derive } from '../../../../../src/p2p/snapshot/derived.ts'
import { fundedRuleBook, TestLedger } from '../../../../support/ledger.ts'
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

/** Multiplication spreads the ids, so that neighbours in a block lie far apart in the store. */
function idOf(minedAt: number, index: number): TxId {
  const mixed = ((index * 2_654_435_761 + minedAt * 40_503) % 2 ** 32).toString(16).padStart(8, '0')
  return (mixed + minedAt.toString(16).padStart(8, '0') + index.toString(16).padStart(48, '0')) as TxId
}

function listAt(staging: MemoryKeyValueStore, height: number): readonly TxId[] {
  const bytes = staging.get(KEYS.state(INVOKES.key(height)))
  return bytes === undefined ? [] : decodeOwn(INVOKES.codec, bytes).map(({ txId }) => txId)
}

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
