import { access } from 'node:fs/promises'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import {
  type AgentClient,
  type ClientOptions,
  createClient,
  FarthingError,
  fileJournal,
} from '../../rpc/client/client.ts'
import { networkFacts } from '../market/network-facts.ts'
import { folderPaths } from '../storage/folder.ts'
import { type CommandContext, nodeUrl } from './command.ts'
import { importDevWallets, unlockWallet, walletName } from './wallets.ts'

/** Default of --max-price of a call in coins. */
export const PRICE_MAX_DEFAULT = '100'
/** The user names each deposit, so no limit of the client stands before it. */
const NO_LIMIT = { coins: '1000000000000', usd: 1e12 }
/** How long a command waits for a block or an answer. */
const SETTLE_MS = 300_000

/** A client of the tabs in the data folder. The wallet stays closed unless `signs`. */
export async function tabClient(context: CommandContext, signs: boolean): Promise<Result<AgentClient>> {
  const { config, params, flags } = context
  const options: ClientOptions = {
    ...{ baseUrl: nodeUrl(context), network: networkFacts(params), settleMs: SETTLE_MS },
    journal: fileJournal(folderPaths(config.dataDir).tabs),
    ...{ maxPerCallUsd: NO_LIMIT.usd, maxPerDayUsd: NO_LIMIT.usd, maxPerTabUsd: NO_LIMIT.usd },
    ...{ maxPerDayCoins: NO_LIMIT.coins, maxPerTabCoins: NO_LIMIT.coins },
    maxPerCallCoins: flags['max-price'] ?? PRICE_MAX_DEFAULT,
    ...(flags['max-fee'] === undefined ? {} : { maxFee: flags['max-fee'] }),
  }
  if (!signs) return made(() => createClient(options))
  const imported = await importDevWallets(config, params)
  if (!imported.ok) return imported
  const name = walletName(context)
  if (!name.ok) return name
  const wallet = await unlockWallet(config, params, name.value)
  return wallet.ok ? made(() => createClient({ ...options, wallet: wallet.value })) : wallet
}

/** Whether the data folder has notes of any tab. */
export function hasTabs({ config }: Pick<CommandContext, 'config'>): Promise<boolean> {
  return access(folderPaths(config.dataDir).tabs).then(
    () => true,
    () => false,
  )
}

/** The value, or the error of the client as a fault. Errors of any other kind go on. */
export async function settled<T>(context: CommandContext, work: () => Promise<T>): Promise<Result<T>> {
  try {
    return ok(await work())
  } catch (error) {
    if (error instanceof FarthingError) return fail(faultOf(context, error))
    throw error
  }
}

/** An error of the client as one line. */
export function faultOf(context: CommandContext, { code, message }: FarthingError): Fault {
  if (code === 'node_unreachable') return fault('cli/node-unreachable', { url: nodeUrl(context), advice: '' })
  if (code === 'invalid_option') return fault('cli/usage', { reason: message })
  return fault('cli/refused', { message: `${message} (${code})` })
}

function made(make: () => AgentClient): Result<AgentClient> {
  try {
    return ok(make())
  } catch (error) {
    if (error instanceof FarthingError) return fail(fault('cli/usage', { reason: error.message }))
    throw error
  }
}
