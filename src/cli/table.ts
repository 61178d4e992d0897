import type { Command } from './command.ts'
import { auditCommand } from './commands/audit.ts'
import { exportCommand, importCommand } from './commands/blocks.ts'
import { callCommand } from './commands/call.ts'
import { doctorProvidersCommand } from './commands/doctor.ts'
import { initCommand } from './commands/init.ts'
import { blockCommand, configPrintCommand, txCommand } from './commands/inspect.ts'
import {
  keysChangeCommand,
  keysCommand,
  keysCreateCommand,
  keysPasswordCommand,
  keysRevokeCommand,
} from './commands/keys.ts'
import { mineCommand } from './commands/mine.ts'
import { banCommand, peersCommand, unbanCommand } from './commands/peers.ts'
import { refundsCommand } from './commands/refunds.ts'
import { reindexCommand } from './commands/reindex.ts'
import { servicesCommand, servicesTestCommand } from './commands/services.ts'
import { startCommand } from './commands/start.ts'
import {
  walletAddressCommand,
  walletBalanceCommand,
  walletImportCommand,
  walletNewCommand,
  walletSendCommand,
} from './commands/wallet.ts'
import { walletSignTextCommand, walletVerifyTextCommand } from './commands/wallet-text.ts'
import { LEDGER_COMMANDS } from './ledger-commands.ts'

/** Every command, in the order of the usage text. */
export const COMMANDS: readonly Command[] = [
  startCommand,
  initCommand,
  mineCommand,
  walletNewCommand,
  walletImportCommand,
  walletAddressCommand,
  walletBalanceCommand,
  walletSendCommand,
  walletSignTextCommand,
  walletVerifyTextCommand,
  ...LEDGER_COMMANDS,
  callCommand,
  servicesCommand,
  servicesTestCommand,
  doctorProvidersCommand,
  txCommand,
  blockCommand,
  peersCommand,
  banCommand,
  unbanCommand,
  keysCommand,
  keysCreateCommand,
  keysChangeCommand,
  keysRevokeCommand,
  keysPasswordCommand,
  refundsCommand,
  auditCommand,
  reindexCommand,
  exportCommand,
  importCommand,
  configPrintCommand,
]
