import { blockInspect } from './chain/block-inspect.ts'
import { bridgeStatus } from './chain/bridge-status.ts'
import { explorerSummary } from './chain/explorer-summary.ts'
import { gasTracker } from './chain/gas-tracker.ts'
import { networkStats } from './chain/network-stats.ts'
import { stakingRewards } from './chain/staking-rewards.ts'
import { txLookup } from './chain/tx-lookup.ts'
import { walletPortfolio } from './chain/wallet-portfolio.ts'
import { whaleWatch } from './chain/whale-watch.ts'
import { agentRoster } from './market/agent-roster.ts'
import { arbScan } from './market/arb-scan.ts'
import { marketReport } from './market/market-report.ts'
import { marketSummary } from './market/market-summary.ts'
import { poolAnalytics } from './market/pool-analytics.ts'
import { priceFeed } from './market/price-feed.ts'
import { priceHistory } from './market/price-history.ts'
import { serviceSearch } from './market/service-search.ts'
import { swapQuote } from './market/swap-quote.ts'
import type { ServiceDefinition } from './service.ts'
import { holderStats } from './tokens/holder-stats.ts'
import { stableHealth } from './tokens/stable-health.ts'
import { supplyAudit } from './tokens/supply-audit.ts'
import { tokenAudit } from './tokens/token-audit.ts'
import { tokenLaunchCheck } from './tokens/token-launch-check.ts'
import { receiptVerify } from './tools/receipt-verify.ts'
import { signatureVerify } from './tools/signature-verify.ts'

/** Services that read this node's own chain. */
export const CHAIN_SERVICES: readonly ServiceDefinition[] = [
  tokenAudit,
  priceFeed,
  marketSummary,
  walletPortfolio,
  networkStats,
  gasTracker,
  stableHealth,
  supplyAudit,
  tokenLaunchCheck,
  poolAnalytics,
  swapQuote,
  priceHistory,
  arbScan,
  marketReport,
  holderStats,
  stakingRewards,
  whaleWatch,
  txLookup,
  blockInspect,
  explorerSummary,
  bridgeStatus,
  agentRoster,
  serviceSearch,
  receiptVerify,
  signatureVerify,
]
