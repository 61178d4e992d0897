/** The contract of x402's channels. It has the same address on every network. */
export const CHANNEL_CONTRACT = '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003'
/** The contract that pulls deposits by authorizations of EIP-3009, with the same address on every network. */
export const DEPOSIT_COLLECTOR = '0x4020806089470a89826cB9fB1f4059150b550004'
/** Seconds between a payer's request to withdraw and the withdrawal that the contract allows. */
export const WITHDRAW_DELAY = { min: 900, max: 2_592_000 } as const
/** As `payerAuthorizer`: the payer itself signs vouchers, also if it is a contract. */
export const NO_ADDRESS = `0x${'0'.repeat(40)}`

/** What a channel is made of. Addresses and hex are in lower case. Nothing of it can change: another value makes another channel. */
export interface ChannelConfig {
  readonly payer: string
  /** The key that signs vouchers, or {@link NO_ADDRESS}. */
  readonly payerAuthorizer: string
  readonly receiver: string
  /** The key that signs claims and refunds for the receiver. */
  readonly receiverAuthorizer: string
  readonly token: string
  readonly withdrawDelay: number
  readonly salt: string
}

/**
 * A payer's promise of all that the receiver may claim since the channel began. The highest one replaces all others. It names no call: after
 * a call that cost nothing, official clients sign the same voucher again.
 */
export interface ChannelVoucher {
  readonly channelId: string
  /** Units of the token. */
  readonly maxClaimable: bigint
  readonly signature: string
}

/** An authorization of EIP-3009 that moves money into a channel. */
export interface ChannelDeposit {
  readonly amount: bigint
  /** Seconds since 1970. */
  readonly validAfter: bigint
  readonly validBefore: bigint
  /** Makes the nonce, together with the channel's id. */
  readonly salt: string
  readonly signature: string
}

/** What the contract holds of a channel. */
export interface ChannelState {
  /** All deposits less refunds and withdrawals. What was claimed is a part of it. */
  readonly balance: bigint
  readonly totalClaimed: bigint
  /** When the payer asked to withdraw, in seconds since 1970; 0 if it did not. */
  readonly withdrawRequestedAt: number
  /** The nonce of the next signed refund. */
  readonly refundNonce: bigint
}

/** A payment of scheme `batch-settlement`, strictly read. */
export type ChannelPayment = {
  readonly config: ChannelConfig
  readonly voucher: ChannelVoucher
  /** The offer as the client repeats it. */
  readonly accepted: Readonly<Record<string, unknown>>
} & (
  | { readonly kind: 'deposit'; readonly deposit: ChannelDeposit }
  | { readonly kind: 'voucher' }
  /** The payer asks for what is not charged, or for less. */
  | { readonly kind: 'refund'; readonly amount: bigint | null }
)

/** A payment of one kind. */
export type ChannelPaymentOf<K extends ChannelPayment['kind']> = Extract<ChannelPayment, { readonly kind: K }>

/** A voucher with the part of it that is claimed. */
export interface ClaimRow {
  readonly config: ChannelConfig
  readonly maxClaimable: bigint
  readonly signature: string
  /** All that is claimed from the channel, with the claims before. */
  readonly totalClaimed: bigint
}
