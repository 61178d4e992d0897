// The public interface of `farthing/client`. The only other public files of this folder are `wallet.ts` and `x402.ts`.

export { AgentClient, type ClientOptions, createClient, type Resumable } from './sdk/agent-client.ts'
export {
  type ErrorFacts,
  FarthingError,
  InterruptedPaymentError,
  PaymentMismatchError,
  PaymentRequiredError,
  RateLimitedError,
  RefundedError,
  ServiceUnavailableError,
  SpendLimitError,
  VerificationError,
} from './sdk/errors.ts'
export { fileJournal } from './sdk/file-journal.ts'
export { type KeyedTexts, memoryJournal, storageJournal } from './sdk/journal.ts'
/** Types of arguments and results. */
export type {
  AllowList,
  CallResult,
  CeilingOptions,
  EventOptions,
  Intention,
  NetworkFacts,
  NetworkName,
  NodeEvent,
  PaidCallStatus,
  PaidFetchOptions,
  Payment,
  PaymentJournal,
  PaymentRecord,
  PaymentState,
  Quote,
  Receipt,
  RefundState,
  ServiceEntry,
  Signer,
  SignerKeys,
  ToolCaller,
  VerifiedReceipt,
} from './sdk/shapes.ts'
