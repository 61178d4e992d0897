import { evmCases } from './external-evm.ts'
import { bitcoinCases, litecoinCases } from './external-script.ts'
import { solanaCases } from './external-solana.ts'
import { transactionIdCases } from './external-transaction-ids.ts'
import type { VectorFile } from './render.ts'

/** Addresses and transaction ids of other networks, the valid and the invalid. */
export function externalAddressesFile(): VectorFile {
  const addresses = [...evmCases(), ...solanaCases(), ...bitcoinCases(), ...litecoinCases()]
  const transactionIds = transactionIdCases()
  return {
    about: 'texts of external addresses: kind, or reason of refusal; texts of external transaction ids: bytes, or null',
    counts: { addresses: addresses.length, transactionIds: transactionIds.length },
    addresses,
    transactionIds,
  }
}
