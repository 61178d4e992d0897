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
  /** Words after the command's own. */
  readonly words: readonly string[]
  /** The command's own flags. */
  readonly flags: Readonly<Record<string, string>>
  readonly logger: Logger
  /** Writes one line to standard output, without anything that a terminal would obey. */
  readonly print: (line: string) => void
  /** Writes JSON to standard output, escaped where a terminal would obey it: in one line, or indented. */
  readonly printJson: (value: unknown, indent?: number) => void
  /** Writes one line for people to standard error. */
  readonly note: (line: string) => void
}

/** A command of the program. */
export interface Command {
  /** Words that choose it: `wallet new`. */
  readonly name: string
  /** Arguments as usage text shows them. */
  readonly usage: string
  /** Most words that it takes. */
  readonly wordsMax: number
  readonly about: string
  /** A command line that works on the devnet, without the program's own name. */
  readonly example?: string
  /** Flags beside the settings, with what they do. */
  readonly flags: Readonly<Record<string, string>>
  /** Whether all settings of a node matter to it, so that its help shows them. */
  readonly isNode?: true
  /** Does the work; the exit code, or the fault that becomes one line and exit code 1. */
  readonly run: (context: CommandContext) => Promise<number | Fault>
}

/** Base address of the node that commands talk to. */
export function nodeUrl({ config, flags }: Pick<CommandContext, 'config' | 'flags'>): string {
  return (flags.rpc ?? localUrl(config.rpc)).replace(/\/+$/, '')
}

/** The flag that names the node, for commands that talk to one. */
export const RPC_FLAG = { rpc: 'Base address of the node; default: the local API' }
/** The same flag where no node is asked: one set of flags does for every command of a script. */
export const OFFLINE_FLAG = { rpc: 'Taken as by the other commands; no node is asked here' }
/** The flag that names a wallet. */
export const WALLET_FLAG = { wallet: 'Name of the wallet; default: caller' }
/** The flag that bounds what a transaction may cost in fees. */
export const FEE_FLAG = { 'max-fee': 'Most coins of fee; default 0.1' }

/** Bound of the fee, in base units. */
export function feeFlag({ flags, params }: Pick<CommandContext, 'flags' | 'params'>): Result<bigint> {
  const text = flags['max-fee']
  return text === undefined ? ok(FEE_MAX_DEFAULT) : parseAmount(text, params.decimals)
}
