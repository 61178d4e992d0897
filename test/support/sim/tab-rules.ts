import { TAB_RULES } from '../../../config/networks/rules.ts'
import { createRuleBook, type RuleBook } from '../../../consensus/chain/rule-book.ts'
import { PROTOCOL } from '../../../src/protocol.ts'
import { cheapParams } from './cheap-network.ts'

/** Terms and close delays of the simulated tabs: the shortest that leave room for calls and for a reorganisation of 40 blocks. */
export const SIM_TERMS = [300, 360] as const
export const SIM_CLOSE_DELAYS = [60, 100] as const
/** Three registrations of agents and two transfers fill a block of this weight, so that a flood costs few signatures. */
const WEIGHT_MAX = 80_000

let book: RuleBook | undefined

/** Rules of the simulated network with short tabs and small blocks. */
export function tabSimRuleBook(): RuleBook {
  const params = cheapParams()
  const [step] = params.steps as readonly [(typeof params.steps)[number]]
  const tabs = { ...TAB_RULES, terms: SIM_TERMS, closeDelays: SIM_CLOSE_DELAYS }
  const rules = {
    ...step.rules,
    tx: { ...step.rules.tx, tabs },
    block: { ...step.rules.block, weightMax: WEIGHT_MAX },
  }
  book ??= createRuleBook({ ...params, steps: [{ fromHeight: 0, rules }] }, PROTOCOL)
  return book
}
