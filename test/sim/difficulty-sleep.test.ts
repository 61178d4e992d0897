import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../config/networks/rules.ts'
import { targetOfWork } from '../../consensus/block/pow.ts'
import type { ReceiptOf } from '../../consensus/ledger/receipt.ts'
import { decodeReceipt } from '../../consensus/ledger/receipt.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { ESCROWS } from '../../marketplace/ledger/escrow.ts'
import { TestChain, wallet } from '../support/chain.ts'
import { testRuleBook } from '../support/network.ts'
import { SAMPLE, units } from '../support/unsigned.ts'
import { searchMs, seeded } from './miners.ts'

const SEED = 20_261_102
const RATE = 4_000
const SLEEP_MS = 8 * 3_600_000

/** The devnet’s difficulty with free proof of work: the search time is drawn at random. */
const RULES = testRuleBook({
  block: {
    ...LAUNCH_RULES.block,
    powLimit: targetOfWork(1_000n),
    initialTarget: targetOfWork(12_000n),
    anchorResetGapMs: 120_000,
  },
})

console.log(`sleep of a devnet, seed ${SEED}`)

/** A devnet node with one miner. */
class SleepyNode {
  readonly test: TestChain
  readonly #random = seeded(SEED)

  constructor(test: TestChain) {
    this.test = test
  }

  get timeMs(): number {
    return this.test.chain.head.header.timeMs
  }

  async mine(transactions: Parameters<TestChain['mine']>[0] = []): Promise<void> {
    const { target } = this.test.chain.childOf(this.test.chain.head)
    const afterMs = Math.max(1, Math.round(searchMs(target, RATE, this.#random)))
    await this.test.mine(transactions, { afterMs })
  }

  async mineTo(height: number): Promise<void> {
    while (this.test.height < height) await this.mine()
  }

  /** Height at which the escrow was refunded, by the receipts of the best chain. */
  refundedAt(txId: TxId): number | undefined {
    const { database } = this.test.chain
    for (let height = this.test.height; height > 0; height--) {
      const receipts = (database.receipts(database.idAt(height)!) ?? []).map(decodeReceipt)
      const refund = receipts.find((one): one is ReceiptOf<'refund'> => one.type === 'refund' && one.txId === txId)
      if (refund !== undefined) return height
    }
    return undefined
  }
}

describe('a devnet that sleeps eight hours with escrows open', () => {
  it('refunds none before its deadline, and its blocks keep their pace afterwards', async () => {
    const test = await TestChain.open(RULES, undefined, { powHasher: () => new Uint8Array(32) })
    const node = new SleepyNode(test)
    const market = SAMPLE.agent_register({ payout: wallet(2).address, settlers: [] })
    await node.mine([await test.tx(wallet(1), 'agent_register', market)])
    await node.mine([await test.tx(wallet(1), 'service_publish', SAMPLE.service_publish())])
    await node.mineTo(300)
    const invoke = SAMPLE.agent_invoke({ amount: units(8_000_000), term: 100 })
    const [early, late] = [
      await test.tx(wallet(3), 'agent_invoke', invoke),
      await test.tx(wallet(3), 'agent_invoke', invoke),
    ]
    await node.mine([early])
    await node.mineTo(380)
    await node.mine([late])
    test.nowMs += SLEEP_MS
    await node.mine()
    const woken = { height: test.height, timeMs: node.timeMs }
    expect(test.chain.database.get(ESCROWS, early.txId)?.deadline).toBe(401)
    await node.mineTo(400)
    expect(test.chain.database.get(ESCROWS, early.txId)).toBeDefined()
    await node.mineTo(woken.height + 100)
    const seconds = (node.timeMs - woken.timeMs) / 1_000
    expect([node.refundedAt(early.txId), node.refundedAt(late.txId)]).toEqual([401, 481])
    const before = node.timeMs
    await node.mineTo(woken.height + 1_100)
    const pace = (node.timeMs - before) / 1_000_000
    console.log(`  100 blocks after the sleep: ${seconds} s; then a mean of ${pace} s over 1,000 blocks`)
    expect(seconds).toBeGreaterThan(200)
    expect(seconds).toBeLessThan(400)
    expect(Math.abs(pace - 3)).toBeLessThan(0.25)
  })
})
