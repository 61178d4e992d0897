import { blockInspect } from './chain/block-inspect.ts'
import { bridgeStatus } from './chain/bridge-status.ts'
import { explorerSummary } from './chain/explorer-summary.ts'
import { gasTracker } from './chain/gas-tracker.ts'
import { networkStats } from './chain/network-stats.ts'
import { stakingRewards } from './chain/staking-rewards.ts'
import { txLookup } from './chain/tx-lookup.ts'
import { walletPortfolio } from './chain/wallet-portfolio.ts'
import { whaleWatch } from './chain/whale-watch.ts'
import { creditNote } from './documents/credit-note.ts'
import { invoicePdf } from './documents/invoice-pdf.ts'
import { invoiceProforma } from './documents/invoice-proforma.ts'
import { quoteEstimate } from './documents/quote-estimate.ts'
import { receiptPayment } from './documents/receipt-payment.ts'
import { agentRoster } from './market/agent-roster.ts'
import { arbScan } from './market/arb-scan.ts'
import { marketReport } from './market/market-report.ts'
import { marketSummary } from './market/market-summary.ts'
import { poolAnalytics } from './market/pool-analytics.ts'
import { priceFeed } from './market/price-feed.ts'
import { priceHistory } from './market/price-history.ts'
import { serviceSearch } from './market/service-search.ts'
import { swapQuote } from './market/swap-quote.ts'
import { cryptoPrice } from './providers/crypto-price.ts'
import { cryptoPrices } from './providers/crypto-prices.ts'
import { ensResolve } from './providers/ens-resolve.ts'
import { evmBalance } from './providers/evm-balance.ts'
import { fxRates } from './providers/fx-rates.ts'
import { gasPrice } from './providers/gas-price.ts'
import { imageGen } from './providers/image-gen.ts'
import { weather } from './providers/weather.ts'
import type { ServiceDefinition } from './service.ts'
import { keywords } from './text/keywords.ts'
import { llmChat } from './text/llm-chat.ts'
import { sentiment } from './text/sentiment.ts'
import { summarize } from './text/summarize.ts'
import { translate } from './text/translate.ts'
import { holderStats } from './tokens/holder-stats.ts'
import { stableHealth } from './tokens/stable-health.ts'
import { supplyAudit } from './tokens/supply-audit.ts'
import { tokenAudit } from './tokens/token-audit.ts'
import { tokenLaunchCheck } from './tokens/token-launch-check.ts'
import { addressValidator } from './tools/address-validator.ts'
import { receiptVerify } from './tools/receipt-verify.ts'
import { signatureVerify } from './tools/signature-verify.ts'
import { worldClock } from './tools/world-clock.ts'
import { x402Validation } from './tools/x402-validation.ts'
import { domainInfo } from './web/domain-info.ts'
import { emailValidate } from './web/email-validate.ts'
import { geoIp } from './web/geo-ip.ts'
import { rssRead } from './web/rss-read.ts'
import { urlMeta } from './web/url-meta.ts'
import { webFetch } from './web/web-fetch.ts'
import { webSearch } from './web/web-search.ts'

/** Every service of this release, in the order of listings. `npm run gen` makes this file from the files in the folders beside it. */
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
  receiptVerify,
  signatureVerify,
  imageGen,
  addressValidator,
  cryptoPrices,
  llmChat,
  geoIp,
  worldClock,
  webFetch,
  urlMeta,
  webSearch,
  rssRead,
  domainInfo,
  weather,
  fxRates,
  emailValidate,
  translate,
  summarize,
  sentiment,
  keywords,
  cryptoPrice,
  gasPrice,
  evmBalance,
  ensResolve,
  invoicePdf,
  invoiceProforma,
  receiptPayment,
  creditNote,
  quoteEstimate,
  x402Validation,
]
