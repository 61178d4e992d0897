import { InvariantError } from '../../../consensus/chain/execution.ts'
import { AssertionError } from '../../../consensus/primitives/assert.ts'
import type { Fault } from '../../../consensus/primitives/fault.ts'
import { SERVICE_TABLE } from '../../../marketplace/services/table.ts'
import { type Daemon, type DaemonOptions, startDaemon } from '../../daemon.ts'
import { folderPaths, isStorageFailure } from '../../storage/folder.ts'
import { LevelClaimStore } from '../../storage/level-claims.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { walletNames } from '../../wallet/keystore.ts'
import type { Command, CommandContext } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { importDevWallets, MARKET_WALLET, unlockWallet } from '../wallets.ts'

/** A stop that takes longer is forced: everything durable is on disk already. */
const STOP_MS_MAX = 4_500

/** What a daemon is made of beside its configuration. */
export type DaemonParts = Pick<DaemonOptions, 'services' | 'openClaims'>

/** `farthing start`: runs the daemon until it is told to stop. */
export const startCommand: Command = {
  name: 'start',
  usage: '',
  about: 'Run the node',
  flags: {},
  run: (context) => runDaemon(context, { services: SERVICE_TABLE, openClaims: (path) => LevelClaimStore.open(path) }),
}

/** Runs a daemon with the parts given until it is told to stop. */
export async function runDaemon(context: CommandContext, parts: DaemonParts): Promise<number | Fault> {
  const { config, params, logger } = context
  const imported = await importDevWallets(config, params)
  if (!imported.ok) return imported.fault
  if (params.name !== 'devnet' && params.seeds.length === 0) {
    logger.warn(`no public seeds of ${params.name} exist yet: this node runs alone`)
  }
  const names = await walletNames(folderPaths(config.dataDir).wallets)
  const sells = config.market.enabled && names.includes(MARKET_WALLET)
  if (config.market.enabled && !sells)
    logger.warn('no market wallet: nothing is sold; make one with: npx farthing wallet new --wallet market')
  const wallet = sells ? await unlockWallet(config, params, MARKET_WALLET) : null
  if (wallet !== null && !wallet.ok) return wallet.fault
  return new Promise((resolve) => {
    const onFatal = fatalHandler(logger)
    startDaemon({ config, params, ...parts, wallet: wallet === null ? null : wallet.value, logger, onFatal }).then(
      (daemon) => {
        if (!daemon.ok) return resolve(daemon.fault)
        greet(context, daemon.value)
        stopOnSignal(daemon.value, logger, resolve)
      },
      onFatal,
    )
  })
}

/** What must not be survived: the process ends with a code that says why, before anything wrong is committed. */
function fatalHandler(logger: Logger): (error: unknown) => void {
  const onFatal = (error: unknown): void => {
    const bug = error instanceof InvariantError || error instanceof AssertionError
    const code = bug ? EXIT.invariant : isStorageFailure(error) ? EXIT.storage : EXIT.failed
    logger.fatal(
      { error: error instanceof Error ? (error.stack ?? error.message) : String(error), code },
      'the node stops',
    )
    process.exit(code)
  }
  process.on('uncaughtException', onFatal)
  process.on('unhandledRejection', onFatal)
  return onFatal
}

function greet({ note, params }: CommandContext, { url, node }: Daemon): void {
  note(`${params.name} node, API at ${url}`)
  const offer = node.market?.shop.offers[0]?.definition
  if (offer !== undefined) note(`Buy a first call:  npx farthing call ${offer.serviceId} --rpc ${url}`)
}

function stopOnSignal(daemon: Daemon, logger: Logger, resolve: (code: number) => void): void {
  let stopping = false
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) {
      logger.warn({ signal }, 'forced to stop')
      process.exit(EXIT.failed)
    }
    stopping = true
    logger.info({ signal }, 'stopping')
    const forced = setTimeout(() => {
      logger.warn('stopping took too long; the rest is taken up at the next start')
      process.exit(EXIT.ok)
    }, STOP_MS_MAX)
    daemon.stop().then(
      () => {
        clearTimeout(forced)
        logger.info('stopped')
        resolve(EXIT.ok)
      },
      (error: unknown) => {
        logger.error({ error: String(error) }, 'error while stopping')
        process.exit(EXIT.failed)
      },
    )
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal)
}
