import type { Command } from './command.ts'
import { agentPublishCommand, agentRegisterCommand, agentRetireCommand, agentUpdateCommand } from './commands/agent.ts'
import { agentListCommand, agentShowCommand } from './commands/agent-lists.ts'
import { attestorKeyCommand, attestorSignCommand, attestorSubmitCommand } from './commands/attestor.ts'
import { bridgeWithdrawCommand } from './commands/bridge.ts'
import { bridgeDepositsCommand, bridgeStatusCommand, bridgeWithdrawalCommand } from './commands/bridge-lists.ts'
import { walletHistoryCommand, walletHoldingsCommand } from './commands/holdings.ts'
import { poolAddCommand, poolCreateCommand, poolRemoveCommand } from './commands/pool.ts'
import { poolCandlesCommand, poolListCommand, poolShowCommand } from './commands/pool-lists.ts'
import {
  stableDepositCommand,
  stableMintCommand,
  stableRedeemCommand,
  stableWithdrawCommand,
} from './commands/stable.ts'
import { stakeClaimCommand, stakeCommand, stakeUnstakeCommand } from './commands/stake.ts'
import { stakeListCommand, stakeTiersCommand } from './commands/stake-lists.ts'
import { swapCommand } from './commands/swap.ts'
import {
  tabCallCommand,
  tabCloseCommand,
  tabFundCommand,
  tabListCommand,
  tabOpenCommand,
  tabReceiptsCommand,
  tabRecoverCommand,
  tabShowCommand,
  tabVerifyCommand,
} from './commands/tab.ts'
import {
  tokenBurnCommand,
  tokenCreateCommand,
  tokenFlagsCommand,
  tokenIssuerCommand,
  tokenMintCommand,
  tokenTransferCommand,
} from './commands/token.ts'
import { stableListCommand, tokenHoldersCommand, tokenListCommand, tokenShowCommand } from './commands/token-lists.ts'

/** Commands for holdings and ledger transactions of a wallet, in the order of the usage text. */
export const LEDGER_COMMANDS: readonly Command[] = [
  walletHoldingsCommand,
  walletHistoryCommand,
  tokenListCommand,
  tokenShowCommand,
  tokenHoldersCommand,
  tokenTransferCommand,
  tokenCreateCommand,
  tokenMintCommand,
  tokenBurnCommand,
  tokenFlagsCommand,
  tokenIssuerCommand,
  stableListCommand,
  stableRedeemCommand,
  stableDepositCommand,
  stableMintCommand,
  stableWithdrawCommand,
  poolListCommand,
  poolShowCommand,
  poolCandlesCommand,
  poolCreateCommand,
  poolAddCommand,
  poolRemoveCommand,
  swapCommand,
  stakeCommand,
  stakeListCommand,
  stakeTiersCommand,
  stakeUnstakeCommand,
  stakeClaimCommand,
  bridgeStatusCommand,
  bridgeWithdrawCommand,
  bridgeDepositsCommand,
  bridgeWithdrawalCommand,
  attestorKeyCommand,
  attestorSignCommand,
  attestorSubmitCommand,
  agentListCommand,
  agentShowCommand,
  agentRegisterCommand,
  agentUpdateCommand,
  agentPublishCommand,
  agentRetireCommand,
  tabOpenCommand,
  tabCallCommand,
  tabListCommand,
  tabShowCommand,
  tabFundCommand,
  tabCloseCommand,
  tabReceiptsCommand,
  tabVerifyCommand,
  tabRecoverCommand,
]
