import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import {
  type CallResult,
  FarthingError,
  InterruptedPaymentError,
  NotChargedError,
  type Tab,
  TabStoppedError,
  VerificationError,
} from '../../rpc/client/client.ts'
import { nativeAsset } from './assets.ts'
import { saveResultFile } from './call-file.ts'
import type { CommandContext } from './command.ts'
import { EXIT } from './exit-codes.ts'
import { nodeHint } from './place.ts'
import { resultLines } from './result-text.ts'
import { faultOf } from './tab-client.ts'
import { tabReceiptLines } from './tab-text.ts'

/** Makes a call on a tab and prints its answer. Null if the call can be paid by itself instead: nothing was signed. */
export async function callOnTab(
  context: CommandContext,
  tab: Tab,
  call: { readonly serviceId: string; readonly request: string },
): Promise<number | Fault | null> {
  const { flags } = context
  const options = flags['max-price'] === undefined ? {} : { maxPrice: flags['max-price'] }
  try {
    return await showAnswer(context, await tab.call(call.serviceId, call.request, options))
  } catch (error) {
    if (
      error instanceof FarthingError &&
      INSTEAD.has(error.code) &&
      error.payment === null &&
      !(error instanceof TabStoppedError)
    ) {
      context.note(`not from the tab: ${error.message}`)
      return null
    }
    return endOf(context, error)
  }
}

/** Errors after which nothing was signed, and the tab is not to blame for the price. */
const INSTEAD: ReadonlySet<string> = new Set([
  ...['tab_exhausted', 'tab_ending', 'tab_ended', 'tab_closing', 'tab_unconfirmed', 'no_tab_offer'],
])

/** Prints the answer of a call on a tab. */
export async function showAnswer(context: CommandContext, answer: CallResult): Promise<number | Fault> {
  const { print, printJson, note, flags, params } = context
  const { result, receipt, verified, tab } = answer
  if (flags.json !== undefined)
    printJson({ result, receipt, verified, tab: tab && { ...tab, charged: tab.charged.toString() } })
  else {
    for (const line of resultLines(result)) print(line)
    for (const line of tabReceiptLines(answer, nativeAsset({ params }))) note(line)
  }
  if (flags.save === undefined) return EXIT.ok
  const saved = await saveResultFile(flags.save, result)
  if (saved.ok) note(`${saved.value} bytes written to ${flags.save}`)
  return saved.ok ? EXIT.ok : saved.fault
}

/** How a call on a tab ended that brought no answer: exit codes as with `farthing call`. */
export function endOf(context: CommandContext, error: unknown): number | Fault {
  const { note, printJson, flags } = context
  if (error instanceof NotChargedError) {
    if (flags.json !== undefined) printJson({ error: error.message, code: error.code, receipt: error.receipt })
    note(error.message)
    return EXIT.refunded
  }
  if (error instanceof VerificationError) {
    note(error.message)
    return EXIT.unverified
  }
  if (error instanceof InterruptedPaymentError) {
    note(`it is not paid twice; ask again with: ${nodeHint(context, 'tab recover')}`)
    return fault('cli/refused', { message: error.message })
  }
  if (error instanceof FarthingError) return faultOf(context, error)
  throw error
}
