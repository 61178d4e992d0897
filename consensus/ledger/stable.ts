import {
  type Amount,
  add,
  amount,
  formatAmount,
  mulDivDown,
  subtract,
  subtractProven,
  ZERO,
} from '../primitives/amount.ts'
import { assert } from '../primitives/assert.ts'
import { container, hex32, uint128, type ValueOf } from '../primitives/codec.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import type { Address, Hash, TokenSymbol } from '../primitives/ids.ts'
import type { Overlay } from '../state/overlay.ts'
import { anyTable, stateTable } from '../state/table.ts'
import type { StateView } from '../state/view.ts'
import { tokenAsset } from './asset.ts'
import type { KindHandler, LedgerModule, LedgerRules } from './module.ts'
import type { GenesisLedgers } from './rules.ts'
import { burnAsset, mintAsset, supplyOf } from './supply.ts'
import { issue } from './token.ts'
import { creditOrCreate, debitAsset } from './token-balances.ts'
import { checkIssuer, checkKind, checkUnfrozen } from './token-checks.ts'
import { kindOfToken, type NamedToken, type Token, tokenOf } from './token-records.ts'

const RESERVE_RECORD = container('StableReserve', { reserveAsset: hex32<Hash>(), reserve: uint128 })

/** One base unit of the reserve asset backs one base unit of the token. */
export type StableReserve = ValueOf<typeof RESERVE_RECORD>

/** Reserves by the token's asset. */
export const STABLE_RESERVES = stateTable<Hash, StableReserve>({
  name: 'stable-reserves',
  prefix: 0x13,
  codec: RESERVE_RECORD,
  id: (asset) => asset,
  holdings: ({ reserveAsset, reserve }) => [{ asset: reserveAsset, amount: reserve }],
})

/** A stable token and its reserve. */
export interface NamedStable extends NamedToken {
  readonly backing: StableReserve
}

/** Faults: `token/unknown`, `token/wrong-kind`. */
export function stableOf(view: StateView, symbol: TokenSymbol): NamedStable | Fault {
  const named = tokenOf(view, symbol)
  if ('code' in named) return named
  const wrong = checkKind(named, 'stable')
  return wrong ?? { ...named, backing: backingOf(view, named.asset) }
}

function backingOf(view: StateView, asset: Hash): StableReserve {
  const backing = view.get(STABLE_RESERVES, asset)
  assert(backing !== undefined, `the reserve record of ${asset} is missing`)
  return backing
}

function setReserve(overlay: Overlay, { asset, backing }: NamedStable, reserve: Amount): void {
  overlay.put(STABLE_RESERVES, asset, { ...backing, reserve })
}

const stableDeposit: KindHandler<'stable_deposit'> = {
  spends: () => ZERO,
  apply: ({ overlay }, { body: { sender, payload } }) => {
    const stable = stableOf(overlay, payload.symbol)
    if ('code' in stable) return stable
    const { reserveAsset, reserve } = stable.backing
    const short = debitAsset(overlay, { address: sender, asset: reserveAsset }, payload.amount)
    if (short !== null) return short
    setReserve(overlay, stable, add(reserve, payload.amount))
    return null
  },
}

const stableMint: KindHandler<'stable_mint'> = {
  spends: () => ZERO,
  apply: ({ overlay }, { body: { sender, payload } }) => {
    const stable = stableOf(overlay, payload.symbol)
    if ('code' in stable) return stable
    const refused =
      checkIssuer(stable, sender) ?? checkUnfrozen(stable) ?? checkBacking(overlay, stable, payload.amount)
    return refused ?? issue(overlay, stable, payload)
  },
}

function checkBacking(view: StateView, { symbol, asset, backing, token }: NamedStable, minted: Amount): Fault | null {
  const supply = add(supplyOf(view, asset), minted)
  const { reserve } = backing
  if (supply <= reserve) return null
  return fault('stable/under-backed', { symbol, ...told(token, { reserve, supply }) })
}

/** The amounts in base units and as decimal text. A stable token and its reserve have the same unit. */
function told({ decimals }: Token, amounts: Readonly<Record<string, Amount>>): Readonly<Record<string, string>> {
  const texts = Object.entries(amounts).map(([name, value]) => [`${name}Text`, formatAmount(value, decimals)])
  const units = Object.entries(amounts).map(([name, value]) => [name, value.toString()])
  return Object.fromEntries([...units, ...texts])
}

/**
 * What redeeming pays: one for one while the reserve covers the supply, else a proportional part of the reserve,
 * rounded down. So redeeming never lowers the reserve per token that the remaining holders have.
 */
export function redemptionOf(redeemed: Amount, reserve: Amount, supply: Amount): Amount {
  return reserve >= supply ? redeemed : amount(mulDivDown(redeemed, reserve, supply))
}

const stableRedeem: KindHandler<'stable_redeem'> = {
  spends: () => ZERO,
  apply: ({ overlay, reportAmounts }, { body: { sender, payload } }) => {
    const stable = stableOf(overlay, payload.symbol)
    if ('code' in stable) return stable
    const { asset, backing, token } = stable
    const short = debitAsset(overlay, { address: sender, asset }, payload.amount)
    if (short !== null) return short
    const paid = redemptionOf(payload.amount, backing.reserve, supplyOf(overlay, asset))
    if (paid === 0n || paid < payload.minPaid) {
      return fault('stable/below-minimum', told(token, { paid, minimum: payload.minPaid }))
    }
    burnAsset(overlay, asset, payload.amount)
    reportAmounts([paid])
    return payOut(overlay, stable, { to: sender, paid })
  },
}

const stableWithdraw: KindHandler<'stable_withdraw'> = {
  spends: () => ZERO,
  apply: ({ overlay }, { body: { sender, payload } }) => {
    const stable = stableOf(overlay, payload.symbol)
    if ('code' in stable) return stable
    const refused = checkIssuer(stable, sender) ?? checkSurplus(overlay, stable, payload.amount)
    return refused ?? payOut(overlay, stable, { to: sender, paid: payload.amount })
  },
}

function checkSurplus(view: StateView, { symbol, asset, backing, token }: NamedStable, wanted: Amount): Fault | null {
  const surplus = surplusOf(backing.reserve, supplyOf(view, asset))
  return wanted <= surplus ? null : fault('stable/no-surplus', { symbol, ...told(token, { surplus }) })
}

/** The reserve above the supply. */
export function surplusOf(reserve: Amount, supply: Amount): Amount {
  return subtract(reserve, supply) ?? ZERO
}

/** The caller has proved that the reserve holds enough. */
function payOut(overlay: Overlay, stable: NamedStable, { to, paid }: { to: Address; paid: Amount }): Fault | null {
  const { reserveAsset, reserve } = stable.backing
  setReserve(overlay, stable, subtractProven(reserve, paid))
  return creditOrCreate(overlay, { address: to, asset: reserveAsset }, paid, false)
}

/** Every stable token needs a reserve record, even if it is empty. */
function fillReserves(overlay: Overlay, _: LedgerRules, { tokens, stables }: GenesisLedgers): void {
  for (const { symbol, reserveSymbol, reserve } of stables) {
    const [named, backer] = [tokenOf(overlay, symbol), tokenOf(overlay, reserveSymbol)]
    assert(!('code' in named) && kindOfToken(named.token) === 'stable', `${symbol} is a stable token`)
    // If the issuer of the reserve token could freeze it, holders who redeem would get units that they cannot pass on.
    assert(
      !('code' in backer) && kindOfToken(backer.token) === 'bridged' && !backer.token.freezable,
      `${reserveSymbol} is a bridged token that cannot be frozen`,
    )
    assert(overlay.get(STABLE_RESERVES, named.asset) === undefined, `${symbol} has one reserve`)
    mintAsset(overlay, backer.asset, amount(reserve))
    overlay.put(STABLE_RESERVES, named.asset, { reserveAsset: backer.asset, reserve: amount(reserve) })
  }
  for (const { symbol, kind } of tokens) {
    if (kind === 'stable') backingOf(overlay, tokenAsset(symbol))
  }
}

/** Stable tokens and their reserves. */
export const stableModule = {
  name: 'stables',
  tables: [anyTable(STABLE_RESERVES)],
  handlers: {
    stable_deposit: stableDeposit,
    stable_mint: stableMint,
    stable_redeem: stableRedeem,
    stable_withdraw: stableWithdraw,
  },
  genesis: fillReserves,
} satisfies LedgerModule
