import type { AccountKeys } from '../../consensus/crypto/account-keys.ts'
import { type Fault, fault, faultMessage } from '../../consensus/primitives/fault.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import { payloadToJson } from '../../consensus/tx/json.ts'
import { type AssetView, amountOf } from '../../rpc/client/ledger-views.ts'
import type { ChangeView, SimulationView } from '../../rpc/client/simulation-view.ts'
import { type Intent, rehearseTransaction } from '../../rpc/client/transactions.ts'
import { printable } from '../telemetry/terminal.ts'
import { nativeAsset } from './assets.ts'
import { EXIT } from './exit-codes.ts'
import { labelled } from './labels.ts'
import { outcomeOfApi, outcomeText } from './outcome-text.ts'
import type { Proposal } from './proposal.ts'
import { lookUpAsset, type Session } from './session.ts'
import { amountText, readSymbol } from './values.ts'

/** Shows what a proposal would come to in the next block. Nothing is signed, nothing is sent. */
export async function rehearse(
  session: Session,
  keys: AccountKeys,
  proposal: Proposal,
  intent: Intent,
): Promise<number | Fault> {
  const { client, context } = session
  const tx = await rehearseTransaction(client, context.params, keys, intent)
  if (!tx.ok) return tx.fault
  const simulated = await client.simulate(tx.value)
  if (!simulated.ok) return simulated.fault
  if (context.flags.json !== undefined) context.printJson(factsOf(session, proposal, simulated.value))
  else for (const line of await linesOf(session, proposal, simulated.value)) context.print(line)
  const reason = failureOf(proposal, simulated.value)
  if (reason === null) return EXIT.ok
  if (!simulated.value.wouldMine) return fault('cli/would-not-mine', { reason })
  return fault('cli/would-fail', { reason, fee: amountText(simulated.value.fee, nativeAsset(context)) })
}

/**
 * Why a transaction with that nonce would fail as the chain is now, or null. Nothing is sent. Where others of its sender wait before
 * it, they may change that; where the node does not simulate, it is not known: then it is sent.
 */
export async function failureBefore(
  session: Session,
  keys: AccountKeys,
  proposal: Proposal,
  { intent, nonce }: { readonly intent: Intent; readonly nonce: bigint },
): Promise<Fault | null> {
  const { client, context } = session
  const tx = await rehearseTransaction(client, context.params, keys, intent)
  if (!tx.ok) return tx.fault
  if (tx.value.body.nonce !== nonce) return null
  const simulated = await client.simulate(tx.value)
  if (simulated.ok) {
    const reason = failureOf(proposal, simulated.value)
    return reason === null ? null : fault('cli/not-sent', { reason })
  }
  context.note(`not tried before it is sent: ${faultMessage(simulated.fault)}`)
  return null
}

/** Why it fails, or null where it does not. */
function failureOf(proposal: Proposal, simulated: SimulationView): string | null {
  return simulated.success ? null : printable(reasonOf(proposal, simulated))
}

/** The code of what it fails with and its sentence. */
function reasonOf({ kind }: Proposal, { wouldMine, code, error }: SimulationView): string {
  const known = wouldMine && code !== null ? outcomeOfApi(code, kind) : undefined
  if (known !== undefined) return outcomeText(known)
  return error === null ? `${code}` : `${code}: ${error}`
}

function factsOf({ context }: Session, { kind, payload }: Proposal, { fee, ...simulated }: SimulationView): object {
  const json = payloadToJson(context.params.addressPrefix, { kind, payload } as never)
  return { dryRun: true, kind, payload: json, ...simulated, fee: fee.toString() }
}

async function linesOf(
  session: Session,
  proposal: Proposal,
  { success, fee, amounts, changes }: SimulationView,
): Promise<readonly string[]> {
  const would = `dry run: ${proposal.says}`
  if (!success) return [would]
  const told = [...labelled(proposal.amounts, amounts), `fee ${amountText(fee, nativeAsset(session.context))}`]
  const lines: string[] = []
  for (const change of changes) lines.push(...changeLines(change, await assetsOf(session, change)))
  return [would, `comes to: ${told.join(', ')}`, ...lines, 'nothing was signed or sent']
}

/** How a price moves over time; nobody's balance. */
const BOOKKEEPING = new Set(['xPerY', 'yPerX', 'accumulatedAt'])

/** What the fields of a record count; those that are not named are shown in base units. */
async function assetsOf(session: Session, { what, of }: ChangeView): Promise<Readonly<Record<string, AssetView>>> {
  if (what === 'accounts') return { balance: nativeAsset(session.context) }
  const [first, second] = what === 'pools' && typeof of.pool === 'string' ? of.pool.split('-') : []
  const symbols = { amount: what === 'token-balances' ? of.symbol : undefined, reserveX: first, reserveY: second }
  const assets: Record<string, AssetView> = {}
  for (const [field, symbol] of Object.entries(symbols)) {
    const asset = typeof symbol === 'string' ? await shownAsset(session, symbol) : undefined
    if (asset?.ok) assets[field] = asset.value
  }
  return assets
}

async function shownAsset(session: Session, text: string): Promise<Result<AssetView>> {
  const symbol = readSymbol(text)
  return symbol.ok ? lookUpAsset(session, symbol.value) : symbol
}

/** Each field that changes. */
function changeLines(
  { what, of, before, after }: ChangeView,
  assets: Readonly<Record<string, AssetView>>,
): readonly string[] {
  const { poolId, ...named } = of
  const name = [what, ...Object.values(named.pool === undefined ? of : named).map(String)].join(' ')
  const fields = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  return [...fields.difference(BOOKKEEPING)].flatMap((field) => {
    const [was, is] = [before, after].map((record) => valueText(record?.[field], assets[field]))
    return was === is ? [] : [printable(`  ${name}: ${field} ${was} -> ${is}`)]
  })
}

function valueText(value: unknown, asset: AssetView | undefined): string {
  if (value === undefined || value === null) return 'none'
  const units = asset === undefined ? undefined : amountOf(value)
  if (units !== undefined && asset !== undefined) return amountText(units, asset)
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
