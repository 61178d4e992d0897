import { addressValidator } from './node-address-validator.ts'
import { creditNote } from './node-credit-note.ts'
import { cryptoPrice } from './node-crypto-price.ts'
import { cryptoPrices } from './node-crypto-prices.ts'
import { domainInfo } from './node-domain-info.ts'
import { emailValidate } from './node-email-validate.ts'
import { ensResolve } from './node-ens-resolve.ts'
import { evmBalance } from './node-evm-balance.ts'
import { fxRates } from './node-fx-rates.ts'
import { gasPrice } from './node-gas-price.ts'
import { geoIp } from './node-geo-ip.ts'
import { imageGen } from './node-image-gen.ts'
import { invoicePdf } from './node-invoice-pdf.ts'
import { invoiceProforma } from './node-invoice-proforma.ts'
import { keywords } from './node-keywords.ts'
import { llmChat } from './node-llm-chat.ts'
import { quoteEstimate } from './node-quote-estimate.ts'
import { receiptPayment } from './node-receipt-payment.ts'
import { rssRead } from './node-rss-read.ts'
import { sentiment } from './node-sentiment.ts'
import { summarize } from './node-summarize.ts'
import { translate } from './node-translate.ts'
import { urlMeta } from './node-url-meta.ts'
import { weather } from './node-weather.ts'
import { webFetch } from './node-web-fetch.ts'
import { webSearch } from './node-web-search.ts'
import { worldClock } from './node-world-clock.ts'
import { x402Validation } from './node-x402-validation.ts'
import type { ServiceDefinition } from './service.ts'

/** Services that need nothing of the chain: engines of the node, the web, providers, models. */
export const OUTSIDE_SERVICES: readonly ServiceDefinition[] = [
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
