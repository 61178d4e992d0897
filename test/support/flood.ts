import { LAUNCH_RULES } from '../../config/networks/rules.ts'
import type { RuleBook } from '../../consensus/chain/rule-book.ts'
import { wallet } from './chain.ts'
import type { TestMarket } from './market.ts'
import { testRuleBook } from './network.ts'
import { units } from './unsigned.ts'

/** Blocks that two dozen transfers fill: a flood costs a test little. */
export function smallBlocks(): RuleBook {
  return testRuleBook({ block: { ...LAUNCH_RULES.block, ...EASY, weightMax: 80_000 } })
}

const EASIEST = (1n << 256n) - 1n
const EASY = { powLimit: EASIEST, initialTarget: EASIEST }

/** Wallets of strangers. */
const STRANGERS = [3, 4, 5, 6, 7, 8]
/** Waiting transfers of each: together more than a small block holds. */
const EACH = 6

/** Strangers' transfers wait, more than the next block can hold, all of them at one tip and at whatever base fee. */
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

/** Mines blocks that a flood fills. */
export async function mineFlooded(market: TestMarket, count: number, tip: bigint): Promise<void> {
  for (let i = 0; i < count; i++) {
    await flood(market, tip)
    await market.mineWaiting()
  }
}
