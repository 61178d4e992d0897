import type { Resolution } from '../../config/load.ts'
import type { Config } from '../../config/settings.ts'
import type { NetworkParams } from '../../consensus/chain/params.ts'
import { parseAmount } from '../../consensus/primitives/amount.ts'
import type { Fault } from '../../consensus/primitives/fault.ts'
import { ok, type Result } from '../../consensus/primitives/result.ts'
import { FEE_MAX_DEFAULT } from '../../rpc/client/transactions.ts'
import { localUrl } from '../daemon/own-url.ts'
import type { Logger } from '../telemetry/logger.ts'

/** Everything a command may use. */
export interface CommandContext {
  readonly config: Config
  readonly resolution: Resolution
  readonly params: NetworkParams
  /** Words after the name of the command. */
  readonly words: readonly string[]
  /** Flags of this command and those that every command takes, without settings. */
  readonly flags: Readonly<Record<string, string>>
  readonly logger: Logger
  /** Writes one line to standard output, with terminal control characters removed. */
  readonly print: (line: string) => void
  /** Writes JSON to standard output on one line or indented, with terminal control characters escaped. */
  readonly printJson: (value: unknown, indent?: number) => void
  /** Writes one line for people to standard error. */
  readonly note: (line: string) => void
}

/** A command of the program. */
export interface Command {
  /** Words that select the command, such as `wallet new`. */
  readonly name: string
  /** Arguments as the usage text shows them. */
  readonly usage: string
  readonly wordsMax: number
  readonly about: string
  /** A command line that works on the devnet, without the name of the program. */
  readonly example?: string
  /** Flags of this command, with their help. Settings are not among them. */
  readonly flags: Readonly<Record<string, string>>
  /** True if every setting of a node matters to the command, so its help lists them all. */
  readonly isNode?: true
  /** Runs the command. The result is an exit code, or a fault that is printed as one line. */
  readonly run: (context: CommandContext) => Promise<number | Fault>
}

/** Base address of the node that commands talk to. */
export function nodeUrl({ config, flags }: Pick<CommandContext, 'config' | 'flags'>): string {
  return (flags.rpc ?? localUrl(config.rpc)).replace(/\/+$/, '')
}

/** The flag that names the node, for commands that talk to one. */
export const RPC_FLAG = { rpc: 'Base address of the node; default: the local API' }
/** Lets a script pass one set of flags to every command. */
export const OFFLINE_FLAG = { rpc: 'Accepted as by other commands, but no node is asked' }
/** The flag that names a wallet. */
export const WALLET_FLAG = { wallet: 'Name of the wallet; default: caller' }
/** The flag that limits the fee of a transaction. */
export const FEE_FLAG = { 'max-fee': 'Highest fee in coins; default 0.1' }

/** In base units. */
export function feeFlag({ flags, params }: Pick<CommandContext, 'flags' | 'params'>): Result<bigint> {
  const text = flags['max-fee']
  return text === undefined ? ok(FEE_MAX_DEFAULT) : parseAmount(text, params.decimals)
}
