import type { Protocol } from '../consensus/chain/rule-book.ts'
import { accountModule } from '../consensus/ledger/account.ts'
import type { KindHandlers } from '../consensus/ledger/module.ts'
import { rewardModule } from '../consensus/ledger/rewards.ts'
import { agentModule } from '../marketplace/ledger/agents.ts'
import { CLOSURES } from '../marketplace/ledger/closures.ts'
import { escrowModule } from '../marketplace/ledger/escrow.ts'

/**
 * The one list of ledgers. Automatic effects run in this order; a transaction kind without a handler does not compile.
 */
export const PROTOCOL: Protocol = {
  modules: [rewardModule, escrowModule, accountModule, agentModule],
  handlers: {
    ...accountModule.handlers,
    ...agentModule.handlers,
    ...escrowModule.handlers,
  } satisfies KindHandlers,
  indexes: [CLOSURES],
}
