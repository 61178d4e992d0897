import type { Rules } from '../../consensus/chain/params.ts'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { type Amount, parseAmount } from '../../consensus/primitives/amount.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { Address, TokenSymbol } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { AssetView } from '../../rpc/client/ledger-client.ts'
import { LedgerClient } from '../../rpc/client/ledger-client.ts'
import type { WalletKey } from '../crypto/wallet-key.ts'
import { PROTOCOL } from '../protocol.ts'
import { folderPaths } from '../storage/folder.ts'
import { walletAddress } from '../wallet/keystore.ts'
import { knownAsset, tellDecimals } from './assets.ts'
import { type CommandContext, nodeUrl } from './command.ts'
import { readAddress, readSymbol, usage } from './values.ts'
import { importDevWallets, isDevWallet, unlockWallet, walletName } from './wallets.ts'

/** A command with its node and its wallet. */
export interface Session {
  readonly context: CommandContext
  readonly client: LedgerClient
  /** Height of the node's head when the command began. */
  readonly height: number
  /** Genesis of the configured network. Nothing is signed for another one. */
  readonly genesis: string
  /** The newest rules of the network that this release knows. */
  readonly rules: Rules
  readonly sender: Address
}

/** The wallet stays closed. A node of another network is refused. */
export async function openSession(context: CommandContext): Promise<Result<Session>> {
  const { params } = context
  const sender = await ownWallet(context)
  if (!sender.ok) return sender
  const client = new LedgerClient(nodeUrl(context))
  const genesis = createRuleBook(params, PROTOCOL).genesis.block.id
  const status = await client.status()
  if (!status.ok) return status
  if (status.value.genesis !== genesis) {
    const message = `the node is on ${status.value.networkName}, this command is set to ${params.name}; see --network`
    return fail(fault('cli/refused', { message }))
  }
  const { rules } = params.steps.at(-1) as (typeof params.steps)[number]
  return ok({ context, client, height: status.value.height, genesis, rules, sender: sender.value })
}

/** On the devnet, missing development wallets are made if a node answers. */
export async function ownWallet(context: CommandContext, node = nodeUrl(context)): Promise<Result<Address>> {
  const { config, params } = context
  const name = walletName(context)
  if (!name.ok) return name
  const { wallets } = folderPaths(config.dataDir)
  const there = await walletAddress(wallets, name.value)
  if (there.ok) return ok(there.value as Address)
  if (!isDevWallet(name.value, params)) return there
  // Keys are made only if a node answers. Otherwise a mistyped data folder would be given keys.
  const status = await new LedgerClient(node).status()
  if (!status.ok) return status
  const imported = await importDevWallets(config, params)
  if (!imported.ok) return imported
  const address = await walletAddress(wallets, name.value)
  return address.ok ? ok(address.value as Address) : address
}

/** Path of a document about the named address, or about the wallet. */
export async function accountPath(context: CommandContext, document: string): Promise<Result<string>> {
  const [word] = context.words
  const address = word === undefined ? await ownWallet(context) : readAddress(context, word)
  if (!address.ok) return address
  return ok(`/accounts/${formatAddress(context.params.addressPrefix, address.value)}/${document}`)
}

/** Opens the wallet of a session. */
export async function openKey({ context }: Session): Promise<Result<WalletKey>> {
  const name = walletName(context)
  return name.ok ? unlockWallet(context.config, context.params, name.value) : name
}

/** Address of the session's wallet as text. */
export function ownAddress({ context, sender }: Session): string {
  return formatAddress(context.params.addressPrefix, sender)
}

/** Decimals that only the node knows are printed, since they determine the amount. */
export async function findAsset(session: Session, text: string): Promise<Result<AssetView>> {
  const symbol = readSymbol(text)
  if (!symbol.ok) return symbol
  const asset = await lookUpAsset(session, symbol.value)
  if (asset.ok) tellDecimals(session.context, asset.value)
  return asset
}

/** An asset with its decimals, from this release if it knows the asset, else from the node. */
export async function lookUpAsset(
  { client, context }: Pick<Session, 'client' | 'context'>,
  symbol: TokenSymbol,
): Promise<Result<AssetView>> {
  const known = knownAsset(context, symbol)
  if (known !== undefined) return ok({ symbol, decimals: known.decimals })
  const token = await client.token(symbol)
  return token.ok ? ok({ symbol, decimals: token.value.decimals }) : token
}

/** A token. */
export async function findToken(session: Session, text: string): Promise<Result<AssetView>> {
  const { ticker } = session.context.params
  if (text === ticker)
    return usage(`${ticker} is the native coin, not a token; see: npx --no farthing wallet send --help`)
  return findAsset(session, text)
}

/** Parses an amount of an asset. */
export function readAmount(text: string, { symbol, decimals }: AssetView): Result<Amount> {
  const amount = parseAmount(text, decimals)
  if (!amount.ok || amount.value > 0n) return amount
  return usage(`an amount of ${symbol} is more than 0`)
}

/** Whether a transaction must open the receiver's account. The user is told, since opening costs more. */
export async function mustCreate({ client, context }: Session, receiver: Address): Promise<Result<boolean>> {
  const text = formatAddress(context.params.addressPrefix, receiver)
  const account = await client.account(text)
  if (!account.ok) return account
  if (!account.value.exists) context.note(`${text} has no account yet: this opens it`)
  return ok(!account.value.exists)
}
