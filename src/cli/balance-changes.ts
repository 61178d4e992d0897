import type { AssetView, ChangeView } from '../../rpc/client/ledger-client.ts'
import { amountOf } from '../../rpc/contract/amounts.ts'
import { printable } from '../telemetry/terminal.ts'
import { nativeAsset } from './assets.ts'
import type { Proposal } from './proposal.ts'
import { lookUpAsset, ownAddress, type Session } from './session.ts'
import { amountText, readSymbol, unitsText } from './values.ts'

/** `who` is the owner for people. `symbol` is null for pool shares. */
interface Holding {
  readonly who: string
  readonly symbol: string | null
  readonly field: string
}

/** Who receives or pays how much of each asset, and what is burned or minted. Records without amounts are only named. */
export async function balanceLines(
  session: Session,
  { kind }: Proposal,
  changes: readonly ChangeView[],
): Promise<readonly string[]> {
  const lines: string[] = []
  const others = new Set<string>()
  for (const change of changes) {
    const holdings = holdingsOf(session, change)
    if (holdings === undefined) others.add(change.what)
    for (const holding of holdings ?? []) lines.push(...(await changeLine(session, change, holding)))
  }
  const { createBurn } = session.rules.token
  // Every block changes the coin's supply, so a simulation does not list the burn as a change.
  if (kind === 'token_create') lines.push(`burned: ${amountText(createBurn, nativeAsset(session.context))}`)
  if (others.size > 0) lines.push(`also written: ${[...others].join(', ')}`)
  return lines.map((line) => `  ${printable(line)}`)
}

/** Undefined if the record holds no amounts. */
function holdingsOf(session: Session, { what, of, before, after }: ChangeView): readonly Holding[] | undefined {
  const who = of.address === ownAddress(session) ? 'you' : String(of.address)
  const { ticker } = session.context.params
  const record = after ?? before ?? {}
  const pool = typeof of.pool === 'string' ? of.pool : 'the new pool'
  switch (what) {
    case 'accounts':
      return [{ who, symbol: ticker, field: 'balance' }]
    case 'token-balances':
      return [{ who, symbol: String(of.symbol), field: 'amount' }]
    case 'pool-shares':
      return [{ who: `${who}, shares of ${pool}`, symbol: null, field: 'shares' }]
    case 'pools':
      return ['X', 'Y'].map((side) => ({
        who: of.pool === undefined ? pool : `pool ${pool}`,
        symbol: String(record[`asset${side}`]),
        field: `reserve${side}`,
      }))
    case 'stakes':
      return [{ who: `${who}, staked`, symbol: ticker, field: 'amount' }]
    case 'tabs':
      return ['deposit', 'claimed'].map((field) => ({ who: `${field} of a tab`, symbol: ticker, field }))
    case 'stable-reserves':
      return [{ who: `reserve of ${String(of.symbol)}`, symbol: String(record.reserveAsset), field: 'reserve' }]
    case 'supply':
      return ['burned', 'minted'].map((field) => ({ who: field, symbol: String(of.symbol), field }))
    default:
      return undefined
  }
}

/** Burned and minted totals only grow, so they have no sign. */
async function changeLine(
  session: Session,
  { before, after }: ChangeView,
  { who, symbol, field }: Holding,
): Promise<readonly string[]> {
  const [was, is] = [before, after].map((record) => amountOf(record?.[field]) ?? 0n) as [bigint, bigint]
  if (was === is) return []
  const size = is > was ? is - was : was - is
  const text = symbol === null ? String(size) : unitsText(size.toString(), await shownAsset(session, symbol), symbol)
  const sign = who === field ? '' : is > was ? '+' : '-'
  return [`${who}: ${sign}${text}`]
}

async function shownAsset(session: Session, text: string): Promise<AssetView | undefined> {
  const symbol = readSymbol(text)
  const asset = symbol.ok ? await lookUpAsset(session, symbol.value) : symbol
  return asset.ok ? asset.value : undefined
}
