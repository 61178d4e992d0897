import { keccakText } from '../../../../../consensus/external/eip712.ts'
import { type Fault, fault } from '../../../../../consensus/primitives/fault.ts'
import type { Fields } from '../../../../../consensus/primitives/fields.ts'
import { fail, ok, type Result } from '../../../../../consensus/primitives/result.ts'
import { claimCall, depositCall, manyCalls, refundCall, settleCall } from './calldata.ts'
import type {
  AuthorizerKey,
  ChainOutcome,
  ChannelChain,
  ChannelLedger,
  ChannelMove,
  ChannelSighting,
  EvmSender,
  RefundOrder,
  SentCall,
} from './chain.ts'
import {
  CHANNEL_CONTRACT,
  type ChannelPayment,
  type ChannelPaymentOf,
  type ChannelState,
  type ClaimRow,
} from './channel.ts'
import { checkVoucherSignature, isSignedOnChain } from './checks.ts'
import { claimDigest, refundDigest } from './digests.ts'
import type { ChannelTerms } from './terms.ts'

/** What an {@link OwnChain} works with. */
export interface OwnChainDependencies {
  readonly sender: EvmSender
  readonly ledger: ChannelLedger
  readonly terms: ChannelTerms
  readonly sign: AuthorizerKey
}

type Mined = Extract<SentCall, { readonly is: 'mined' }>

const SETTLED = keccakText('Settled(address,address,address,uint128)')
const AWAY = fault('channel/chain-away', { detail: 'its node gives no answer' })
const REFUSED = fault('stable/refused', { reason: 'simulation_failed' })

/** The chain side of channels with the node's own key and its own view of the chain: no facilitator is needed. */
export class OwnChain implements ChannelChain {
  readonly #deps: OwnChainDependencies

  constructor(dependencies: OwnChainDependencies) {
    this.#deps = dependencies
  }

  /** A payment is good if a claim of all that it promises would succeed now, after its deposit. */
  async verify(payment: ChannelPayment): Promise<Result<ChannelState>> {
    const { ledger, sender, terms } = this.#deps
    const wrong = isSignedOnChain(payment) ? null : checkVoucherSignature(payment, terms)
    if (wrong !== null) return fail(wrong)
    const sighting = await ledger.channel(payment.voucher.channelId)
    if (sighting === null) return fail(AWAY)
    const { config, voucher } = payment
    // The contract passes over a claim that brings nothing new, and does not look at its signature.
    const isClaimed = voucher.maxClaimable <= sighting.state.totalClaimed
    if (isClaimed && isSignedOnChain(payment))
      return fail(fault('channel/unverified', { channelId: voucher.channelId }))
    const row = { config, ...voucher, totalClaimed: voucher.maxClaimable }
    const claim = isClaimed ? [] : [this.#claimOf([row])]
    const calls = payment.kind === 'deposit' ? [depositCall(config, payment.deposit), ...claim] : claim
    const isGood = calls.length === 0 || (await sender.wouldSucceed(CHANNEL_CONTRACT, manyCalls(calls)))
    if (isGood === null) return fail(AWAY)
    return isGood ? ok(sighting.state) : fail(REFUSED)
  }

  async state({ voucher }: ChannelPayment): Promise<Result<ChannelState>> {
    const sighting = await this.#deps.ledger.channel(voucher.channelId)
    return sighting === null ? fail(AWAY) : ok(sighting.state)
  }

  async deposit({ config, voucher, deposit }: ChannelPaymentOf<'deposit'>): Promise<ChainOutcome<ChannelMove>> {
    const sent = await this.#deps.sender.send(CHANNEL_CONTRACT, depositCall(config, deposit))
    return sent.is === 'mined' ? this.#moved(sent, voucher.channelId, () => deposit.amount) : notMined(sent)
  }

  async claim(rows: readonly ClaimRow[]): Promise<ChainOutcome<object>> {
    const sent = await this.#deps.sender.send(CHANNEL_CONTRACT, this.#claimOf(rows))
    return sent.is === 'mined' ? { is: 'done', transaction: sent.transaction } : notMined(sent)
  }

  async settle(): Promise<ChainOutcome<{ readonly amount: bigint | null }>> {
    const { sender, terms } = this.#deps
    const sent = await sender.send(CHANNEL_CONTRACT, settleCall(terms.payTo, terms.asset.contract))
    if (sent.is !== 'mined') return notMined(sent)
    const amount = settledIn(sent.logs)
    if (amount === 0n) return { is: 'undone', cause: fault('channel/nothing-claimed') }
    return { is: 'done', transaction: sent.transaction, amount }
  }

  /** The nonce in the signature keeps a repeated order from giving back twice. */
  async refund({ payment, amount, refundNonce: nonce, claims }: RefundOrder): Promise<ChainOutcome<ChannelMove>> {
    const { sender, ledger, terms, sign } = this.#deps
    const { channelId } = payment.voucher
    const before = await ledger.channel(channelId)
    if (before === null) return { is: 'undone', cause: AWAY }
    const signature = sign(refundDigest(terms.network.chainId, { channelId, nonce, amount }))
    const refund = refundCall(payment.config, { amount, nonce }, signature)
    const calls = claims.length === 0 ? refund : manyCalls([this.#claimOf(claims), refund])
    const sent = await sender.send(CHANNEL_CONTRACT, calls)
    // Its signature is public by then, and good until the nonce is used up.
    if (sent.is === 'reverted') return { is: 'unknown', detail: 'its transaction failed', transaction: null }
    if (sent.is !== 'mined') return notMined(sent)
    return this.#moved(sent, channelId, ({ state }) => before.state.balance - state.balance)
  }

  #claimOf(rows: readonly ClaimRow[]): Uint8Array {
    const { terms, sign } = this.#deps
    return claimCall(rows, sign(claimDigest(terms.network.chainId, rows)))
  }

  /** Without a view of the block in which it was mined, the outcome is for a later look to tell. */
  async #moved(
    { transaction, height }: Mined,
    channelId: string,
    amountOf: (after: ChannelSighting) => bigint,
  ): Promise<ChainOutcome<ChannelMove>> {
    const after = await this.#deps.ledger.channel(channelId)
    if (after === null || after.height < height)
      return { is: 'unknown', detail: 'its block is not seen yet', transaction }
    return { is: 'done', transaction, amount: amountOf(after), state: after.state }
  }
}

function notMined(sent: Exclude<SentCall, Mined>): ChainOutcome<never> {
  if (sent.is === 'unknown') return sent
  const cause: Fault = sent.is === 'unsent' ? fault('channel/chain-away', { detail: sent.detail }) : REFUSED
  return { is: 'undone', cause }
}

/** Units that a settlement paid out: 0 without its log, null if the log cannot be read. */
function settledIn(logs: readonly Fields[]): bigint | null {
  const log = logs.find(({ topics }) => Array.isArray(topics) && topics[0] === SETTLED)
  if (log === undefined) return 0n
  return typeof log.data === 'string' && /^0x[0-9a-f]{64}$/.test(log.data) ? BigInt(log.data) : null
}
