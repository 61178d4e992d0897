import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { signDigest } from '../../../consensus/external/eip712.ts'
import { fromHex } from '../../../consensus/primitives/bytes.ts'
import type { ChannelPayment, ClaimRow } from '../../../marketplace/till/rails/dollar/channel/channel.ts'
import { FacilitatorChain } from '../../../marketplace/till/rails/dollar/channel/facilitator-chain.ts'
import { OwnChain } from '../../../marketplace/till/rails/dollar/channel/own-chain.ts'
import { readChannelPayment } from '../../../marketplace/till/rails/dollar/channel/payment.ts'
import { type ChannelTerms, channelOffer } from '../../../marketplace/till/rails/dollar/channel/terms.ts'
import { FacilitatorPool } from '../../../marketplace/till/rails/dollar/facilitators.ts'
import { JsonRpcNode } from '../../../src/adapters/evm/json-rpc-node.ts'
import { EvmRpc } from '../../../src/adapters/evm-rpc.ts'
import { EvmKeySender } from '../../../src/adapters/evm-sender.ts'
import { HttpFacilitator } from '../../../src/adapters/facilitator-http.ts'
import { systemTimers } from '../../../src/daemon/runtime.ts'
import { LocalChain } from '../evm/chain.ts'
import { LocalFacilitator } from '../evm/facilitator.ts'
import { LocalSettlement } from '../evm/settlement.ts'

/** Most that a call of these tests costs, in units. */
export const AMOUNT = 1_000n

/** Terms of a seller with new keys, and the key that signs its claims. */
export function newTerms(chain: LocalChain, change: Partial<ChannelTerms> = {}) {
  const key = generatePrivateKey()
  const { chainId, word, token, domain, decimals } = chain.network
  const terms: ChannelTerms = {
    network: { word, caip2: `eip155:${chainId}`, chainId },
    asset: { symbol: 'USDC', contract: token, decimals, domain },
    payTo: chain.newKey().address,
    maxTimeoutSeconds: 120,
    receiverAuthorizer: privateKeyToAccount(key).address,
    withdrawDelay: 900,
    leastDeposit: 0n,
    ...change,
  }
  return {
    terms,
    authorizer: privateKeyToAccount(key),
    sign: (digest: Uint8Array) => signDigest(fromHex(key.slice(2)), digest),
  }
}

/** A seller that is paid in channels on a local chain, through a facilitator. */
export class ChannelShop {
  readonly chain: LocalChain
  readonly settlement: LocalSettlement
  readonly facilitator: LocalFacilitator
  readonly terms: ChannelTerms
  readonly authorizer: PrivateKeyAccount
  readonly channels: FacilitatorChain
  readonly #sign: (digest: Uint8Array) => string
  readonly #pool: FacilitatorPool

  private constructor(
    parts: Pick<ChannelShop, 'chain' | 'settlement' | 'facilitator'>,
    { terms, authorizer, sign }: ReturnType<typeof newTerms>,
  ) {
    this.chain = parts.chain
    this.settlement = parts.settlement
    this.facilitator = parts.facilitator
    this.terms = terms
    this.authorizer = authorizer
    this.#sign = sign
    const facilitators = [new HttpFacilitator(parts.facilitator.url, {}, 'batch-settlement')]
    this.#pool = new FacilitatorPool({ facilitators, network: terms.network, clock: Date, timers: systemTimers })
    this.channels = new FacilitatorChain({ facilitators: this.#pool, terms, sign })
  }

  static async open(): Promise<ChannelShop> {
    const chain = await LocalChain.start()
    const settlement = await LocalSettlement.on(chain)
    const facilitator = await LocalFacilitator.start(chain, {}, true)
    const shop = new ChannelShop({ chain, settlement, facilitator }, newTerms(chain))
    await shop.#pool.start()
    return shop
  }

  /** The same seller without a facilitator: a key of its own pays for gas. */
  async own(times: { readonly patienceMs?: number; readonly raiseMs?: number } = {}): Promise<OwnChain> {
    const { network } = this.terms
    const key = generatePrivateKey()
    await this.chain.sender(privateKeyToAccount(key))
    const node = new JsonRpcNode(new URL(this.chain.rpcUrl), 'the local chain', network.chainId)
    const sender = new EvmKeySender({ node, chainId: network.chainId, key: fromHex(key.slice(2)), ...times })
    const ledger = new EvmRpc(this.chain.rpcUrl, network.chainId, Date.now)
    return new OwnChain({ sender, ledger, terms: this.terms, sign: this.#sign })
  }

  async close(): Promise<void> {
    this.#pool.stop()
    await this.facilitator.close()
    await this.chain.close()
  }

  /** What the payer's client sends for an offer, as this node reads it. */
  async payment(client: BatchSettlementEvmScheme, amount = AMOUNT): Promise<ChannelPayment> {
    const accepted = channelOffer(this.terms, amount)
    const made = await client.createPaymentPayload(2, accepted as never)
    return this.read({ ...made, accepted })
  }

  read(payment: object): ChannelPayment {
    const read = readChannelPayment(payment, 'the header', this.terms)
    if (!read.ok) throw new Error(JSON.stringify(read.fault))
    return read.value
  }

  balance(address: string): Promise<bigint> {
    return this.chain.balance(address as `0x${string}`)
  }
}

/** A client of an account, with no memory of earlier payments. */
export function schemeOf(
  { chain }: ChannelShop,
  account: PrivateKeyAccount,
  options: object = {},
): BatchSettlementEvmScheme {
  const signer = { ...account, readContract: (call: never) => chain.reader.readContract(call) }
  return new BatchSettlementEvmScheme(signer as never, options)
}

/** A row that claims so much of a payment's voucher. */
export function rowOf({ config, voucher }: ChannelPayment, totalClaimed: bigint): ClaimRow {
  return { config, maxClaimable: voucher.maxClaimable, signature: voucher.signature, totalClaimed }
}
