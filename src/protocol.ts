import { candleIndex } from '../amm/candles.ts'
import { ammModule } from '../amm/ledger.ts'
import { POOLS_BY_ASSET } from '../amm/pools-by-asset.ts'
import { tradeIndex } from '../amm/trades.ts'
import { LAUNCH_RULES } from '../config/networks/rules.ts'
import { HOLDERS } from '../consensus/chain/holders.ts'
import type { Protocol } from '../consensus/chain/rule-book.ts'
import { accountModule } from '../consensus/ledger/account.ts'
import { bridgeModule } from '../consensus/ledger/bridge.ts'
import type { KindHandlers } from '../consensus/ledger/module.ts'
import { rewardModule } from '../consensus/ledger/rewards.ts'
import { stableModule } from '../consensus/ledger/stable.ts'
import { stakingModule } from '../consensus/ledger/staking.ts'
import { tokenModule } from '../consensus/ledger/token.ts'
import { agentModule } from '../marketplace/ledger/agents.ts'
import { CLOSURES } from '../marketplace/ledger/closures.ts'
import { escrowModule } from '../marketplace/ledger/escrow.ts'
import { HISTORY } from '../marketplace/ledger/history.ts'
import { OUTCOMES } from '../marketplace/ledger/outcomes.ts'
import { OPEN_TABS, TAB_LISTS } from '../marketplace/ledger/tab-lists.ts'
import { TAB_CLAIMS, TAB_LIVES } from '../marketplace/ledger/tab-lives.ts'
import { tabModule } from '../marketplace/ledger/tabs.ts'
import { NATIVE_BACKEND } from './crypto/native-backend.ts'

const { symbol } = LAUNCH_RULES.coin

/**
 * Automatic effects run, and genesis is written, in this order: the token ledger comes before the ledgers of what holds tokens. A
 * transaction kind without a handler does not compile.
 */
export const PROTOCOL: Protocol = {
  modules: [
    rewardModule,
    escrowModule,
    tabModule,
    accountModule,
    tokenModule,
    stableModule,
    ammModule,
    agentModule,
    stakingModule,
    bridgeModule,
  ],
  handlers: {
    ...accountModule.handlers,
    ...tokenModule.handlers,
    ...stableModule.handlers,
    ...ammModule.handlers,
    ...agentModule.handlers,
    ...escrowModule.handlers,
    ...tabModule.handlers,
    ...stakingModule.handlers,
    ...bridgeModule.handlers,
  } satisfies KindHandlers,
  indexes: [
    CLOSURES,
    HOLDERS,
    HISTORY,
    tradeIndex(symbol),
    candleIndex(symbol),
    POOLS_BY_ASSET,
    OUTCOMES,
    OPEN_TABS,
    TAB_LISTS,
    TAB_LIVES,
    TAB_CLAIMS,
  ],
  signatures: NATIVE_BACKEND,
}
