import { readFile } from 'node:fs/promises'
import { externalTxIdBytes, parseExternalTxId } from '../../consensus/external/transaction-id.ts'
import type { BridgeNetwork } from '../../consensus/ledger/rules.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { AttestedAction } from '../../consensus/tx/attestations.ts'
import { actionFromJson, whyUnsoundAction } from '../../consensus/tx/attested-payload.ts'
import { transactionFromJson } from '../../consensus/tx/json.ts'
import type { AssetView } from '../../rpc/client/ledger-client.ts'
import { LedgerClient, type WithdrawalView } from '../../rpc/client/ledger-client.ts'
import { knownAsset } from './assets.ts'
import { type CommandContext, nodeUrl } from './command.ts'
import { findNetwork, paidOut } from './commands/bridge.ts'
import { readAmount } from './session.ts'
import { readAddress, readId, usage } from './values.ts'

/**
 * An action that a member is asked to sign. `withdrawal` is the withdrawal that the action is about: null if there is
 * none, or if it was not looked up because of --on.
 */
export interface AskedAction {
  readonly action: AttestedAction
  readonly withdrawal: WithdrawalView | null
}

/** Names of the actions that a member can sign. */
export const ACTION_NAMES = 'deposit, sign, release, cancel, rotate, halt'
const ACTION_USAGE =
  'deposit <network> <transaction> <output> <to> <amount> | sign|cancel <withdrawal> | release <withdrawal> <transaction> | halt <network> | rotate <file>'

/** Without --on, asks the node for the withdrawal that the action names. */
export async function readAction(context: CommandContext): Promise<Result<AskedAction>> {
  const [name, ...words] = context.words
  switch (name) {
    case 'deposit':
      return alone(context, readDeposit(context, words))
    case 'halt':
      return alone(context, readHalt(context, words))
    case 'rotate':
      return alone(context, await readRotation(context, words))
    case 'sign':
    case 'cancel':
    case 'release':
      return readWithdrawalAction(context, name, words)
    default:
      return badWords()
  }
}

/** The bridge networks that this release knows. */
export function bridgeNetworks({ params }: Pick<CommandContext, 'params'>): readonly BridgeNetwork[] {
  return rulesOf({ params }).bridge.networks
}

/** The token that wraps this network's asset. It exists since genesis. */
export function wrappedAsset(context: Pick<CommandContext, 'params'>, { asset }: BridgeNetwork): AssetView {
  return { symbol: asset, decimals: knownAsset(context, asset)?.decimals ?? 0 }
}

function rulesOf({ params }: Pick<CommandContext, 'params'>) {
  return (params.steps.at(-1) as (typeof params.steps)[number]).rules
}

function alone(context: CommandContext, action: Result<AttestedAction>): Result<AskedAction> {
  if (!action.ok) return action
  const unsound = whyUnsoundAction(action.value, rulesOf(context).tx)
  return unsound === null ? ok({ action: action.value, withdrawal: null }) : fail(unsound)
}

function readDeposit(context: CommandContext, words: readonly string[]): Result<AttestedAction> {
  const [key, transaction, output, receiver, text] = words
  if (key === undefined || transaction === undefined || output === undefined) return badWords()
  if (receiver === undefined || text === undefined || words.length > 5) return badWords()
  const found = findNetwork(bridgeNetworks(context), key)
  if (!found.ok) return found
  const { number, network } = found.value
  const externalTxId = readExternalTxId(network, transaction)
  if (!externalTxId.ok) return externalTxId
  if (!/^(0|[1-9][0-9]{0,9})$/.test(output)) return usage(`"${output.slice(0, 40)}" is no number of an output`)
  const to = readAddress(context, receiver)
  if (!to.ok) return to
  const amount = readAmount(text, wrappedAsset(context, network))
  if (!amount.ok) return amount
  const name = { network: number, externalTxId: externalTxId.value, outputIndex: Number(output) }
  return ok({ action: 'deposit', ...name, to: to.value, amount: amount.value })
}

function readHalt(context: CommandContext, [key, ...more]: readonly string[]): Result<AttestedAction> {
  if (key === undefined || more.length > 0) return badWords()
  const found = findNetwork(bridgeNetworks(context), key)
  return found.ok ? ok({ action: 'halt', network: found.value.number }) : found
}

async function readRotation(
  context: CommandContext,
  [path, ...more]: readonly string[],
): Promise<Result<AttestedAction>> {
  if (path === undefined || more.length > 0) return badWords()
  const json = await readJsonFile(path)
  if (!json.ok) return json
  const rotation = { ...(json.value as object), action: 'rotate' }
  return actionFromJson(context.params.addressPrefix, rulesOf(context).tx, rotation)
}

/** The state that a withdrawal must be in for each action to succeed. */
const STATE_WANTED = { sign: 'pending', cancel: 'pending', release: 'signing' } as const

async function readWithdrawalAction(
  context: CommandContext,
  name: keyof typeof STATE_WANTED,
  [id, transaction, ...more]: readonly string[],
): Promise<Result<AskedAction>> {
  if (id === undefined || more.length > 0) return badWords()
  if ((transaction === undefined) === (name === 'release')) return badWords()
  const withdrawalId = readId('withdrawal', id)
  if (!withdrawalId.ok) return withdrawalId
  const found = await networkOf(context, withdrawalId.value)
  if (!found.ok) return found
  const { network, withdrawal } = found.value
  if (withdrawal !== null && withdrawal.status !== STATE_WANTED[name])
    return fail(fault('bridge/withdrawal-state', { status: withdrawal.status }))
  const about = { network, withdrawalId: withdrawalId.value }
  if (name !== 'release') return ok({ action: { action: name, ...about }, withdrawal })
  const paid = readExternalTxId(bridgeNetworks(context)[network] as BridgeNetwork, transaction as string)
  return paid.ok ? ok({ action: { action: name, ...about, externalTxId: paid.value }, withdrawal }) : paid
}

/** The network of a withdrawal: from --on, else from the transaction that made it. The node's record must agree with it. */
async function networkOf(
  context: CommandContext,
  id: TxId,
): Promise<Result<{ readonly network: number; readonly withdrawal: WithdrawalView | null }>> {
  const { on } = context.flags
  if (on !== undefined) {
    const found = findNetwork(bridgeNetworks(context), on)
    return found.ok ? ok({ network: found.value.number, withdrawal: null }) : found
  }
  const client = new LedgerClient(nodeUrl(context))
  const withdrawal = await client.withdrawal(id)
  if (!withdrawal.ok) return withdrawal
  const asked = await askedFor(context, client, id)
  if (!asked.ok) return asked
  const { network, recipient, receives } = asked.value
  const told = withdrawal.value
  const same = told.network === network && told.recipient === recipient && told.receives.units === receives.units
  if (same) return ok({ network, withdrawal: { ...asked.value, status: told.status } })
  return fail(fault('cli/refused', { message: `its record of ${id} contradicts the transaction with this id` }))
}

/**
 * What a withdrawal asks for, read from the transaction whose id it has. Members pay the recipient that they are shown.
 * The id commits to the transaction, so a node cannot invent another recipient or amount.
 */
async function askedFor(
  context: CommandContext,
  client: LedgerClient,
  id: TxId,
): Promise<Result<Omit<WithdrawalView, 'status'>>> {
  const answer = await client.document(`/api/v1/tx/${id}`)
  if (!answer.ok) return answer
  const { addressPrefix } = context.params
  const tx = transactionFromJson(addressPrefix, answer.value.transaction)
  if (!tx.ok || tx.value.txId !== id || tx.value.body.kind !== 'bridge_withdraw')
    return fail(fault('cli/refused', { message: `its answer has no withdrawal of the id ${id}` }))
  const { network, recipient, amount } = tx.value.body.payload
  const rules = bridgeNetworks(context)[network]
  if (rules === undefined) return fail(fault('cli/refused', { message: `${id} is for the unknown network ${network}` }))
  const receives = { ...wrappedAsset(context, rules), units: paidOut(rules, amount) }
  return ok({ network, recipient, receives })
}

function readExternalTxId({ format, name }: BridgeNetwork, text: string): Result<Uint8Array> {
  const bytes = parseExternalTxId(format, text)
  if (bytes !== undefined) return ok(bytes)
  return usage(
    `"${text.slice(0, 100)}" is no transaction of ${name}, whose ids have ${externalTxIdBytes(format)} bytes`,
  )
}

/** Reads and parses a JSON file. */
export async function readJsonFile(path: string): Promise<Result<unknown>> {
  try {
    return ok(JSON.parse(await readFile(path, 'utf8')))
  } catch (error) {
    return fail(fault('file/unreadable', { path, reason: error instanceof Error ? error.message : 'unknown' }))
  }
}

function badWords(): Result<never> {
  return usage(`usage: farthing attestor sign ${ACTION_USAGE}`)
}
