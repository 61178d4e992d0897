import { LAUNCH_RULES } from '../../config/networks/rules.ts'
import type { Rules } from '../../consensus/chain/params.ts'
import type { RuleBook } from '../../consensus/chain/rule-book.ts'
import { wallet } from './chain.ts'
import type { TestMarket } from './market.ts'
import { testRuleBook } from './network.ts'
import { units } from './unsigned.ts'

/** Rules with small blocks: two dozen transfers fill one, so a flood is cheap. */
export function smallBlocks(change: Partial<Rules> = {}): RuleBook {
  return testRuleBook({ ...change, block: { ...LAUNCH_RULES.block, ...EASY, weightMax: 80_000 } })
}

const EASIEST = (1n << 256n) - 1n
const EASY = { powLimit: EASIEST, initialTarget: EASIEST }

/** Wallets that flood the mempool. */
const STRANGERS = [3, 4, 5, 6, 7, 8]
/** Waiting transfers of each wallet. Together they exceed a small block. */
const EACH = 6

/** Fills the mempool with transfers at one tip, more than the next block can hold. They pay any base fee. */
export async function flood(market: TestMarket, tip: bigint): Promise<void> {
  const payload = { to: wallet(1).address, amount: units(1), create: false }
  for (const number of STRANGERS) {
    const key = wallet(number)
    while (market.mempool.ofAccount(key.address).length < EACH) {
      const nonce = market.mempool.nextNonce(key.address)
      await market.submit(await market.test.tx(key, 'transfer', payload, { nonce, tip, maxFeeRate: 1_000_000n }))
    }
  }
}

/** Mines blocks that the flood fills. */
export async function mineFlooded(market: TestMarket, count: number, tip: bigint): Promise<void> {
  for (let i = 0; i < count; i++) {
    await flood(market, tip)
    await market.mineWaiting()
  }
}
