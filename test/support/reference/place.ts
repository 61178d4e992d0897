import { assetOf as assetOfSymbol, type Ledger } from './ledger.ts'
import type { ReferenceRules } from './params.ts'

/** The context in which a payload runs. */
export interface Place {
  readonly ledger: Ledger
  readonly rules: ReferenceRules
  readonly genesisId: string
  readonly height: number
  /** Position of the transaction in its block. */
  readonly index: number
  readonly sender: string
  readonly txid: string
}

/** The asset with a symbol. */
export function assetIn({ rules }: Place, symbol: string): string {
  return assetOfSymbol(symbol, rules.coin.symbol)
}
