import { agentRoster } from './node-agent-roster.ts'
import { arbScan } from './node-arb-scan.ts'
import { blockInspect } from './node-block-inspect.ts'
import { bridgeStatus } from './node-bridge-status.ts'
import { explorerSummary } from './node-explorer-summary.ts'
import { gasTracker } from './node-gas-tracker.ts'
import { holderStats } from './node-holder-stats.ts'
import { marketReport } from './node-market-report.ts'
import { marketSummary } from './node-market-summary.ts'
import { networkStats } from './node-network-stats.ts'
import { poolAnalytics } from './node-pool-analytics.ts'
import { priceFeed } from './node-price-feed.ts'
import { priceHistory } from './node-price-history.ts'
import { receiptVerify } from './node-receipt-verify.ts'
import { serviceSearch } from './node-service-search.ts'
import { signatureVerify } from './node-signature-verify.ts'
import { stableHealth } from './node-stable-health.ts'
import { stakingRewards } from './node-staking-rewards.ts'
import { supplyAudit } from './node-supply-audit.ts'
import { swapQuote } from './node-swap-quote.ts'
import { tokenAudit } from './node-token-audit.ts'
import { tokenLaunchCheck } from './node-token-launch-check.ts'
import { txLookup } from './node-tx-lookup.ts'
import { walletPortfolio } from './node-wallet-portfolio.ts'
import { whaleWatch } from './node-whale-watch.ts'
import type { ServiceDefinition } from './service.ts'

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
