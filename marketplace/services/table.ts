import { addressValidator } from './node-address-validator.ts'
import { agentRoster } from './node-agent-roster.ts'
import { arbScan } from './node-arb-scan.ts'
import { blockInspect } from './node-block-inspect.ts'
import { bridgeStatus } from './node-bridge-status.ts'
import { creditNote } from './node-credit-note.ts'
import { cryptoPrice } from './node-crypto-price.ts'
import { cryptoPrices } from './node-crypto-prices.ts'
import { domainInfo } from './node-domain-info.ts'
import { emailValidate } from './node-email-validate.ts'
import { ensResolve } from './node-ens-resolve.ts'
import { evmBalance } from './node-evm-balance.ts'
import { explorerSummary } from './node-explorer-summary.ts'
import { fxRates } from './node-fx-rates.ts'
import { gasPrice } from './node-gas-price.ts'
import { gasTracker } from './node-gas-tracker.ts'
import { geoIp } from './node-geo-ip.ts'
import { holderStats } from './node-holder-stats.ts'
import { imageGen } from './node-image-gen.ts'
import { invoicePdf } from './node-invoice-pdf.ts'
import { invoiceProforma } from './node-invoice-proforma.ts'
import { keywords } from './node-keywords.ts'
import { llmChat } from './node-llm-chat.ts'
import { marketReport } from './node-market-report.ts'
import { marketSummary } from './node-market-summary.ts'
import { networkStats } from './node-network-stats.ts'
import { poolAnalytics } from './node-pool-analytics.ts'
import { priceFeed } from './node-price-feed.ts'
import { priceHistory } from './node-price-history.ts'
import { quoteEstimate } from './node-quote-estimate.ts'
import { receiptPayment } from './node-receipt-payment.ts'
import { receiptVerify } from './node-receipt-verify.ts'
import { rssRead } from './node-rss-read.ts'
import { sentiment } from './node-sentiment.ts'
import { serviceSearch } from './node-service-search.ts'
import { signatureVerify } from './node-signature-verify.ts'
import { stableHealth } from './node-stable-health.ts'
import { stakingRewards } from './node-staking-rewards.ts'
import { summarize } from './node-summarize.ts'
import { supplyAudit } from './node-supply-audit.ts'
import { swapQuote } from './node-swap-quote.ts'
import { tokenAudit } from './node-token-audit.ts'
import { tokenLaunchCheck } from './node-token-launch-check.ts'
import { translate } from './node-translate.ts'
import { txLookup } from './node-tx-lookup.ts'
import { urlMeta } from './node-url-meta.ts'
import { walletPortfolio } from './node-wallet-portfolio.ts'
import { weather } from './node-weather.ts'
import { webFetch } from './node-web-fetch.ts'
import { webSearch } from './node-web-search.ts'
import { whaleWatch } from './node-whale-watch.ts'
import { worldClock } from './node-world-clock.ts'
import { x402Validation } from './node-x402-validation.ts'
import type { ServiceDefinition } from './service.ts'

/** Every service that this release can sell, in the order of listings. */
export const SERVICE_TABLE: readonly ServiceDefinition[] = [
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
  geoIp,
  emailValidate,
  x402Validation,
  gasPrice,
  evmBalance,
  ensResolve,
  receiptVerify,
  signatureVerify,
  webFetch,
  urlMeta,
  rssRead,
  webSearch,
  domainInfo,
  weather,
  addressValidator,
  keywords,
  sentiment,
  summarize,
  worldClock,
  invoicePdf,
  invoiceProforma,
  receiptPayment,
  creditNote,
  quoteEstimate,
  imageGen,
  llmChat,
  translate,
  cryptoPrices,
  cryptoPrice,
  fxRates,
]
