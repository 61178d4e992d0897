import type { Command } from './command.ts'
import { auditCommand } from './commands/audit.ts'
import { exportCommand, importCommand } from './commands/blocks.ts'
import { callCommand } from './commands/call.ts'
import { initCommand } from './commands/init.ts'
import { blockCommand, configPrintCommand, txCommand } from './commands/inspect.ts'
import { startCommand } from './commands/start.ts'
import {
  walletAddressCommand,
  walletBalanceCommand,
  walletImportCommand,
  walletNewCommand,
  walletSendCommand,
} from './commands/wallet.ts'

/** Every command, in the order of the usage text. */
export const COMMANDS: readonly Command[] = [
  startCommand,
  initCommand,
  walletNewCommand,
  walletImportCommand,
  walletAddressCommand,
  walletBalanceCommand,
  walletSendCommand,
  callCommand,
  txCommand,
  blockCommand,
  auditCommand,
  exportCommand,
  importCommand,
  configPrintCommand,
]
