import { type GetContractReturnType, getContract, type Hex, parseAbi } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { CHANNEL_CONTRACT, DEPOSIT_COLLECTOR } from '../../../marketplace/till/rails/dollar/channel/channel.ts'
import type { LocalChain } from './chain.ts'
import { codeOf } from './token.ts'

/** Where Multicall3 stands on every network. The official packages read channels through it. */
const MANY_CALLS: Hex = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** The functions of the contract of channels that tests call and read. */
export const SETTLEMENT_ABI = parseAbi([
  'struct Config { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }',
  'struct Voucher { Config channel; uint128 maxClaimableAmount; }',
  'struct Claim { Voucher voucher; bytes signature; uint128 totalClaimed; }',
  'function channels(bytes32 channelId) view returns (uint128 balance, uint128 totalClaimed)',
  'function pendingWithdrawals(bytes32 channelId) view returns (uint128 amount, uint40 initiatedAt)',
  'function refundNonce(bytes32 channelId) view returns (uint256)',
  'function receivers(address receiver, address token) view returns (uint128 totalClaimed, uint128 totalSettled)',
  'function getChannelId(Config config) view returns (bytes32)',
  'function getVoucherDigest(bytes32 channelId, uint128 maxClaimableAmount) view returns (bytes32)',
  'function getRefundDigest(bytes32 channelId, uint256 nonce, uint128 amount) view returns (bytes32)',
  'function getClaimBatchDigest(Claim[] claims) view returns (bytes32)',
  'function deposit(Config config, uint128 amount, address collector, bytes collectorData)',
  'function claim(Claim[] claims)',
  'function claimWithSignature(Claim[] claims, bytes authorizerSignature)',
  'function settle(address receiver, address token)',
  'function multicall(bytes[] calls) returns (bytes[] results)',
  'function initiateWithdraw(Config config, uint128 amount)',
  'function finalizeWithdraw(Config config)',
  'function refund(Config config, uint128 amount)',
  'function refundWithSignature(Config config, uint128 amount, uint256 nonce, bytes receiverAuthorizerSignature)',
  'error Refused(string why)',
])

/** What the contract holds of a channel. */
export interface OnChain {
  readonly balance: bigint
  readonly totalClaimed: bigint
  readonly withdrawing: bigint
  readonly refundNonce: bigint
}

type Contract = GetContractReturnType<typeof SETTLEMENT_ABI, LocalChain['reader']>

/** The contract of channels on a local chain. */
export class LocalSettlement {
  readonly read: Contract['read']
  readonly #chain: LocalChain

  private constructor(chain: LocalChain) {
    this.#chain = chain
    this.read = getContract({ address: CHANNEL_CONTRACT, abi: SETTLEMENT_ABI, client: chain.reader }).read
  }

  /** Puts the contract, its collector and Multicall3 at their addresses. */
  static async on(chain: LocalChain): Promise<LocalSettlement> {
    await chain.ask('hardhat_setCode', [CHANNEL_CONTRACT, codeOf('BatchSettlement')])
    await chain.ask('hardhat_setCode', [DEPOSIT_COLLECTOR, codeOf('DepositCollector')])
    await chain.ask('hardhat_setCode', [MANY_CALLS, codeOf('ManyCalls')])
    return new LocalSettlement(chain)
  }

  async channel(channelId: string): Promise<OnChain> {
    const id = channelId as Hex
    const [balance, totalClaimed] = await this.read.channels([id])
    const [withdrawing] = await this.read.pendingWithdrawals([id])
    return { balance, totalClaimed, withdrawing, refundNonce: await this.read.refundNonce([id]) }
  }

  /** Sums that were claimed for and paid out to a receiver. */
  receiver(address: Hex): Promise<readonly [bigint, bigint]> {
    return this.read.receivers([address, this.#chain.network.token])
  }

  /** Calls a function as an account. Throws what the contract says. */
  async call(account: PrivateKeyAccount, functionName: string, ...args: readonly unknown[]): Promise<void> {
    const sender = await this.#chain.sender(account)
    const call = { address: CHANNEL_CONTRACT, abi: SETTLEMENT_ABI, functionName, args, account } as never
    await this.#chain.reader.simulateContract(call)
    const hash = await sender.writeContract(call)
    await this.#chain.reader.waitForTransactionReceipt({ hash, timeout: 60_000 })
  }
}
