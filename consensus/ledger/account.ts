import { type Amount, add, subtract, ZERO } from '../primitives/amount.ts'
import { ZERO_HEX_32 } from '../primitives/bytes.ts'
import { container, hex32, uint8, uint64, uint128, type ValueOf } from '../primitives/codec.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import type { Address, Hash } from '../primitives/ids.ts'
import type { Overlay } from '../state/overlay.ts'
import { anyTable, NATIVE_ASSET, stateTable } from '../state/table.ts'
import type { KindHandler, LedgerModule } from './module.ts'
import { STAKING_POOL, SUPPLY } from './supply.ts'

/**
 * `auth` is reserved for a change of keys. While it is zero, the account signs with the keys that its address commits
 * to.
 */
const ACCOUNT_RECORD = container('Account', { version: uint8, nonce: uint64, balance: uint128, auth: hex32<Hash>() })

/** An account. `nonce` is that of its next transaction. Records are never deleted, so a nonce never repeats. */
export type Account = ValueOf<typeof ACCOUNT_RECORD>

/** Accounts by address. */
export const ACCOUNTS = stateTable<Address, Account>({
  name: 'accounts',
  prefix: 0x01,
  codec: ACCOUNT_RECORD,
  id: (address) => address,
  holdings: ({ balance }) => [{ asset: NATIVE_ASSET, amount: balance }],
})

/** A new account. */
export function openedAccount(balance: Amount): Account {
  return { version: 1, nonce: 0n, balance, auth: ZERO_HEX_32 as Hash }
}

/** False if the account does not exist. */
export function credit(overlay: Overlay, address: Address, value: Amount): boolean {
  const account = overlay.get(ACCOUNTS, address)
  if (account === undefined) return false
  overlay.put(ACCOUNTS, address, { ...account, balance: add(account.balance, value) })
  return true
}

/** For automatic effects, and for transactions that paid for a new account. */
export function creditOrOpen(overlay: Overlay, address: Address, value: Amount): void {
  if (!credit(overlay, address, value)) overlay.put(ACCOUNTS, address, openedAccount(value))
}

/** Takes native coins from an account; a fault if it does not exist or holds too little. */
export function debit(overlay: Overlay, address: Address, value: Amount): Fault | null {
  const account = overlay.get(ACCOUNTS, address)
  const balance = account?.balance ?? ZERO
  const left = subtract(balance, value)
  if (account === undefined || left === undefined) {
    return fault('ledger/insufficient-balance', { balance: balance.toString(), amount: value.toString() })
  }
  overlay.put(ACCOUNTS, address, { ...account, balance: left })
  return null
}

/** Without the create bit, the receiver must have an account. */
const transfer: KindHandler<'transfer'> = {
  spends: ({ payload }) => payload.amount,
  apply: ({ overlay }, { body: { sender, payload } }) => {
    const { to, amount, create } = payload
    const short = debit(overlay, sender, amount)
    if (short !== null) return short
    if (create) creditOrOpen(overlay, to, amount)
    else if (!credit(overlay, to, amount)) return fault('ledger/no-account')
    return null
  },
}

/** Accounts with their native coins, the supply of each asset, and the stakers' pool. */
export const accountModule = {
  name: 'account',
  tables: [anyTable(ACCOUNTS), anyTable(SUPPLY), anyTable(STAKING_POOL)],
  handlers: { transfer },
} satisfies LedgerModule
