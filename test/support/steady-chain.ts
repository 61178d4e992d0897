import type { Rules } from '../../consensus/chain/params.ts'
import { createRuleBook, type RuleBook } from '../../consensus/chain/rule-book.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { TestChain } from './chain.ts'
import { testParams } from './network.ts'
import { steadyWallet } from './steady-keys.ts'
import { agentId, SAMPLE, serviceId, units } from './unsigned.ts'

/** A rule book of the test network; each further step begins at a height, with some rules replaced. */
export function steppedRuleBook(
  ...steps: readonly (readonly [fromHeight: number, change: Partial<Rules>])[]
): RuleBook {
  const params = testParams()
  const [{ rules }] = params.steps as readonly [(typeof params.steps)[number]]
  const later = steps.map(([fromHeight, change]) => ({ fromHeight, rules: { ...rules, ...change } }))
  return createRuleBook({ ...params, steps: [{ fromHeight: 0, rules }, ...later] }, PROTOCOL)
}

/**
 * A chain of a market without tabs that has the same blocks on every machine: its signatures are deterministic. Some calls
 * are delivered, some fail and some expire.
 */
export async function steadyChain(ruleBook: RuleBook): Promise<TestChain> {
  const test = await TestChain.open(ruleBook)
  test.nowMs = ruleBook.params.genesis.timeMs
  const [owner, caller, payout] = [steadyWallet(1), steadyWallet(2), steadyWallet(3)] as const
  const agent = { agentId: agentId('acme'), payout: payout.address, settlers: [payout.address] }
  const register = await test.tx(owner, 'agent_register', SAMPLE.agent_register(agent))
  await test.mine([register, await test.tx(owner, 'service_publish', SAMPLE.service_publish())])
  let open: readonly Transaction[] = []
  for (let i = 0; i < 10; i++) {
    const entries = open.slice(0, 2).map(({ txId }, n) => ({ txId, outcome: n }))
    const receipts = entries.length === 0 ? [] : [await test.tx(payout, 'agent_receipt', SAMPLE.agent_receipt(entries))]
    open = [
      await test.tx(caller, 'agent_invoke', SAMPLE.agent_invoke({ amount: units(200_000 + i), term: 100 })),
      await test.tx(caller, 'agent_invoke', SAMPLE.agent_invoke({ serviceId: serviceId('summarise') })),
      await test.tx(owner, 'agent_invoke', SAMPLE.agent_invoke()),
    ]
    const gift = SAMPLE.transfer({ to: payout.address, amount: units(7 + i) })
    await test.mine([...receipts, ...open, await test.tx(caller, 'transfer', gift)])
  }
  await test.mineTo(112)
  return test
}
