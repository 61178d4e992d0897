import { creditNote } from './documents/credit-note.ts'
import { invoicePdf } from './documents/invoice-pdf.ts'
import { invoiceProforma } from './documents/invoice-proforma.ts'
import { quoteEstimate } from './documents/quote-estimate.ts'
import { receiptPayment } from './documents/receipt-payment.ts'
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
import { addressValidator } from './tools/address-validator.ts'
import { worldClock } from './tools/world-clock.ts'
import { x402Validation } from './tools/x402-validation.ts'
import { domainInfo } from './web/domain-info.ts'
import { emailValidate } from './web/email-validate.ts'
import { geoIp } from './web/geo-ip.ts'
import { rssRead } from './web/rss-read.ts'
import { urlMeta } from './web/url-meta.ts'
import { webFetch } from './web/web-fetch.ts'
import { webSearch } from './web/web-search.ts'

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
