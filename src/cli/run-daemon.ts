import { type Config, SETTINGS } from '../../config/settings.ts'
import { InvariantError } from '../../consensus/chain/execution.ts'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { ACCOUNTS } from '../../consensus/ledger/account.ts'
import { AssertionError } from '../../consensus/primitives/assert.ts'
import { type Fault, faultMessage } from '../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../consensus/primitives/result.ts'
import type { SellerKey } from '../crypto/wallet-key.ts'
import { type Daemon, startDaemon } from '../daemon/daemon.ts'
import type { DaemonOptions } from '../daemon/open-core.ts'
import { offeredServices } from '../market/services-on-offer.ts'
import { parseNodeAddress } from '../p2p/host/node-address.ts'
import { PROTOCOL } from '../protocol.ts'
import { checkMarker, folderPaths, isStorageFailure, storageFaultOf } from '../storage/folder.ts'
import { claimsOpener } from '../storage/open-claims.ts'
import type { Logger } from '../telemetry/logger.ts'
import { walletNames } from '../wallet/keystore.ts'
import type { CommandContext } from './command.ts'
import { EXIT } from './exit-codes.ts'
import { folderHint } from './place.ts'
import { importDevWallets, MARKET_WALLET, sharedMarketAddress, unlockWallet } from './wallets.ts'

/** A slower stop is forced. Everything durable is on disk already. */
const STOP_MS_MAX = 4_500
/** It works on a new node without settings. */
const FIRST_CALL = 'node-network-stats' as ServiceId

/** What a daemon is given besides its configuration. */
export type DaemonParts = Pick<DaemonOptions, 'services' | 'openClaims' | 'openTabs' | 'internet' | 'fixtureModels'>

/** Runs the released node until it is stopped. */
export function runNode(context: CommandContext): Promise<number | Fault> {
  return runDaemon(context, {
    services: offeredServices(context.config, context.params),
    ...claimsOpener(context.config, context.params.name),
  })
}

/** Runs a daemon with these parts until it is stopped. */
export async function runDaemon(context: CommandContext, parts: DaemonParts): Promise<number | Fault> {
  const { params, logger } = context
  const joined = withPeers(context)
  if (!joined.ok) return joined.fault
  const marked = await checkMarker(joined.value.dataDir, {
    network: params.name,
    genesis: createRuleBook(params, PROTOCOL).genesis.block.id,
  })
  if (!marked.ok) return marked.fault
  const imported = await importDevWallets(joined.value, params)
  if (!imported.ok) return imported.fault
  const shared = await sharedKey(joined.value, context)
  const config = shared === null ? joined.value : withoutSelling(joined.value, context, shared)
  if (params.name !== 'devnet' && params.seeds.length + config.p2p.peers.length === 0) {
    logger.warn(`no public seeds of ${params.name} exist yet: this node runs alone`)
  }
  const wallet = await marketWallet({ ...context, config })
  if (wallet !== null && !wallet.ok) return wallet.fault
  const onFatal = fatalHandler(logger, config.dataDir)
  const told = toldToStop(logger)
  const key = { wallet: wallet === null ? null : wallet.value, sharesKey: shared !== null }
  const options = { config, params, ...parts, ...key, logger, onFatal }
  const daemon = await startDaemon(options).catch(onFatal)
  if (!daemon.ok) return daemon.fault
  greet({ ...context, config }, daemon.value)
  await told
  await daemon.value.stop().catch(onFatal)
  logger.info('stopped')
  return EXIT.ok
}

function withPeers({ config, flags }: CommandContext): Result<Config> {
  const peers = [...config.p2p.peers, ...(flags.peer?.split(',') ?? [])]
  for (const text of peers) {
    const address = parseNodeAddress(text)
    if (!address.ok) return address
  }
  return ok({ ...config, p2p: { ...config.p2p, peers } })
}

/** Address of the market wallet if it has the key that every new devnet folder has. Null if the user chose that key expressly. */
async function sharedKey(config: Config, { params, resolution }: CommandContext): Promise<string | null> {
  const { value, origin } = resolution['dev-key']
  if (origin !== 'default' && value === SETTINGS['dev-key'].default) return null
  return sharedMarketAddress(config, params)
}

/**
 * Two nodes that sell with the same key would both work for the same payment. So a node that is told to join peers does not sell with the
 * shared key. Mining may still pay that key. A node that finds its peers by itself sees on chain whether another one sells.
 */
function withoutSelling(config: Config, { note }: CommandContext, shared: string): Config {
  if (config.p2p.peers.length === 0) return config
  if (config.market.enabled)
    note(
      'This node sells nothing: every new devnet folder has its keys. A new --data-dir with --dev-key 3 (to 6) has its own',
    )
  const { mine, market } = config
  return { ...config, market: { ...market, enabled: false }, mine: { ...mine, address: mine.address ?? shared } }
}

/** Null if nothing is sold. */
async function marketWallet(context: CommandContext): Promise<Result<SellerKey> | null> {
  const { config, params, logger } = context
  if (!config.market.enabled) return null
  const names = await walletNames(folderPaths(config.dataDir).wallets)
  if (names.includes(MARKET_WALLET)) return unlockWallet(config, params, MARKET_WALLET)
  const command = folderHint(context, `wallet new --wallet ${MARKET_WALLET}`)
  logger.warn(`no market wallet: nothing is sold; make one with: ${command}`)
  return null
}

/** Ends the process on an error that the node must not survive. */
function fatalHandler(logger: Logger, dataDir: string): (error: unknown) => never {
  const onFatal = (error: unknown): never => {
    const bug = error instanceof InvariantError || error instanceof AssertionError
    const code = bug ? EXIT.invariant : isStorageFailure(error) ? EXIT.storage : EXIT.failed
    const disk = storageFaultOf(dataDir, error)
    // If the disk is the cause, the operator needs to know which disk and why. A stack trace does not say that.
    if (disk !== undefined) logger.fatal({ code }, `the node stops: ${faultMessage(disk)}`)
    else logger.fatal({ error: textOf(error), code }, 'the node stops')
    return process.exit(code)
  }
  process.on('uncaughtException', onFatal)
  process.on('unhandledRejection', onFatal)
  return onFatal
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function greet(context: CommandContext, { url, node, peerAddresses }: Daemon): void {
  const { note, params, config } = context
  note(`${params.name} node, API at ${url}`)
  // A node that listens on every address is meant to be reached from other machines too.
  const address = peerAddresses.find((text) => !/^\/(ip4\/127\.|ip6\/::1\/)/.test(text)) ?? peerAddresses[0]
  if (address !== undefined) note(`Others join with:  --peer ${address}`)
  // A devnet without peers has no other miners. Without blocks, services cannot be published or paid.
  const idle = params.name === 'devnet' && config.mine.threads === 0 && config.p2p.peers.length === 0
  const { shop } = node.market ?? {}
  const offered = shop?.offers.map(({ definition }) => definition) ?? []
  // Only a service whose request may be empty: the suggested command names no request.
  const ready = offered.filter(({ example }) => example === '')
  const first = ready.find(({ serviceId }) => serviceId === FIRST_CALL) ?? ready[0]
  const payout = shop?.operator.payout
  if (idle) note('This devnet mines nothing, so nothing can be bought: start it with --mine-threads 1')
  else if (payout !== undefined && node.chain.database.get(ACCOUNTS, payout) === undefined)
    note(`Nothing is sold before the wallet that is paid has coins: ${formatAddress(params.addressPrefix, payout)}`)
  else if (first !== undefined)
    note(`Buy a first call:  ${folderHint(context, `call ${first.serviceId} --rpc ${url}`)}`)
}

/**
 * Resolves at the first signal to stop, which may come during the start. A slow stop is forced, and a second signal
 * forces it at once.
 */
function toldToStop(logger: Logger): Promise<void> {
  return new Promise((resolve) => {
    let stopping = false
    const onSignal = (signal: NodeJS.Signals): void => {
      if (stopping) {
        logger.warn({ signal }, 'forced to stop')
        process.exit(EXIT.failed)
      }
      stopping = true
      logger.info({ signal }, 'stopping')
      setTimeout(() => {
        logger.warn('stopping took too long; the rest is taken up at the next start')
        process.exit(EXIT.ok)
      }, STOP_MS_MAX)
      resolve()
    }
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal)
  })
}
