import { DEVNET } from '../../config/networks/devnet.ts'
import { LAUNCH_RULES } from '../../config/networks/rules.ts'
import { targetOfWork } from '../../consensus/block/pow.ts'
import type { NetworkParams, Rules } from '../../consensus/chain/params.ts'
import { createRuleBook, type RuleBook } from '../../consensus/chain/rule-book.ts'
import { PROTOCOL } from '../../src/protocol.ts'

/** A target that any hash meets: a block costs one hash. */
const EASIEST = (1n << 256n) - 1n

/** The devnet's parameters with the launch rules, and a proof of work that every nonce meets. `change` replaces rules. */
export function testParams(change: Partial<Rules> = {}): NetworkParams {
  const block = { ...LAUNCH_RULES.block, powLimit: EASIEST, initialTarget: EASIEST }
  return { ...DEVNET, name: 'test', steps: [{ fromHeight: 0, rules: { ...LAUNCH_RULES, block, ...change } }] }
}

/** Rule book of {@link testParams}. */
export function testRuleBook(change: Partial<Rules> = {}): RuleBook {
  return createRuleBook(testParams(change), PROTOCOL)
}

/**
 * The devnet with an initial target of `hashes` a block. Until the difficulty has caught up, a hundred blocks take
 * seconds. Nodes with different numbers have the same genesis, but different rules fingerprints.
 */
export function fastDevnet(hashes = 1n): NetworkParams {
  const [step] = DEVNET.steps as readonly [NetworkParams['steps'][number]]
  const block = { ...step.rules.block, powLimit: EASIEST, initialTarget: targetOfWork(hashes) }
  return { ...DEVNET, steps: [{ fromHeight: 0, rules: { ...step.rules, block } }] }
}
