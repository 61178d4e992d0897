// The public interface of `farthing/client`. The only other public files of this folder are `wallet.ts` and `x402.ts`.

export { AgentClient, type ClientOptions, createClient, type Resumable, type TabProof } from './sdk/agent-client.ts'
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
  PaidToolsOptions,
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
  TabNetworkFacts,
  ToolCaller,
  VerifiedReceipt,
} from './sdk/shapes.ts'
export { tabChatFetch } from './sdk/tabs/tab-chat.ts'
export { NotChargedError, TabStoppedError } from './sdk/tabs/tab-errors.ts'
/** A deposit with one agent. */
export type { ReceiptsOptions, RecoverOptions, Tab } from './sdk/tabs/tab-shapes.ts'
/** Types of tabs. */
export type {
  AutomaticTabs,
  CheckedClaim,
  CheckedTab,
  RecoveredTab,
  TabCallFacts,
  TabCallOptions,
  TabClosing,
  TabEvidence,
  TabJournal,
  TabNote,
  TabOptions,
  TabReceiptJson,
  TabStanding,
} from './sdk/tabs/tab-types.ts'
