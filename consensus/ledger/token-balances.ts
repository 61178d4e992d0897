import { type Amount, add, subtract, ZERO } from '../primitives/amount.ts'
import { container, uint128, type ValueOf } from '../primitives/codec.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import type { Address, Hash } from '../primitives/ids.ts'
import type { Overlay } from '../state/overlay.ts'
import { NATIVE_ASSET, type StateKey, stateTable } from '../state/table.ts'
import type { StateView } from '../state/view.ts'
import { ACCOUNTS, credit, debit, openedAccount } from './account.ts'

/** An address and an asset that it may hold. */
export interface Holder {
  readonly address: Address
  readonly asset: Hash
}

const BALANCE_RECORD = container('TokenBalance', { amount: uint128 })

/** Token balances; native coins are in accounts. A zero balance has no record. */
export const TOKEN_BALANCES = stateTable<Holder, ValueOf<typeof BALANCE_RECORD>>({
  name: 'token-balances',
  prefix: 0x12,
  codec: BALANCE_RECORD,
  id: ({ address, asset }) => address + asset,
  holdings: ({ amount }, key) => [{ asset: assetOfBalanceKey(key), amount }],
})

const ADDRESS_HEX_CHARS = 64

/** Asset at the end of a balance's key. */
export function assetOfBalanceKey(key: StateKey): Hash {
  return key.slice(2 + ADDRESS_HEX_CHARS) as Hash
}

/** Address in a balance's key. */
export function holderOfBalanceKey(key: StateKey): Address {
  return key.slice(2, 2 + ADDRESS_HEX_CHARS) as Address
}

/** What an address holds of an asset, the native coin included. */
export function balanceOf(view: StateView, { address, asset }: Holder): Amount {
  if (asset === NATIVE_ASSET) return view.get(ACCOUNTS, address)?.balance ?? ZERO
  return view.get(TOKEN_BALANCES, { address, asset })?.amount ?? ZERO
}

/** Takes units of any asset from an address; a fault if it holds too little. */
export function debitAsset(overlay: Overlay, holder: Holder, value: Amount): Fault | null {
  if (holder.asset === NATIVE_ASSET) return debit(overlay, holder.address, value)
  const balance = balanceOf(overlay, holder)
  const left = subtract(balance, value)
  if (left === undefined) {
    return fault('ledger/insufficient-balance', { balance: balance.toString(), amount: value.toString() })
  }
  setBalance(overlay, holder, left)
  return null
}

/** False if the address has no account. */
export function creditAsset(overlay: Overlay, holder: Holder, value: Amount): boolean {
  if (holder.asset === NATIVE_ASSET) return credit(overlay, holder.address, value)
  if (overlay.get(ACCOUNTS, holder.address) === undefined) return false
  if (value > 0n) setBalance(overlay, holder, add(balanceOf(overlay, holder), value))
  return true
}

/** `create`, paid for by the transaction, opens a missing account. */
export function creditOrCreate(overlay: Overlay, holder: Holder, value: Amount, create: boolean): Fault | null {
  if (create && overlay.get(ACCOUNTS, holder.address) === undefined) {
    overlay.put(ACCOUNTS, holder.address, openedAccount(ZERO))
  }
  return creditAsset(overlay, holder, value) ? null : fault('ledger/no-account')
}

function setBalance(overlay: Overlay, holder: Holder, amount: Amount): void {
  if (amount === 0n) overlay.delete(TOKEN_BALANCES, holder)
  else overlay.put(TOKEN_BALANCES, holder, { amount })
}
