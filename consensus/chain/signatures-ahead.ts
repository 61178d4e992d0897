import type { TabSignature } from '../crypto/tab-signing.ts'
import type { StateView } from '../state/view.ts'
import type { Transaction } from '../tx/transaction.ts'
import type { RuleBook } from './rule-book.ts'

/**
 * The signatures inside payloads that have no verdict yet, for {@link TabVerdicts.checkAhead}, as far as their keys are in the state or in the transactions themselves. The
 * limits of a block bound their number. Yields, so that the caller can pause.
 */
export function* signaturesAhead(
  { modules, network, tabVerdicts }: Pick<RuleBook, 'modules' | 'network' | 'tabVerdicts'>,
  view: StateView,
  transactions: readonly Transaction[],
): Generator<void, ReadonlyMap<string, TabSignature>> {
  const unknown = new Map<string, TabSignature>()
  for (const { signaturesIn } of modules)
    for (const some of signaturesIn?.(transactions, view, network) ?? []) {
      tabVerdicts.collectUnknown(some, unknown)
      yield
    }
  return unknown
}
