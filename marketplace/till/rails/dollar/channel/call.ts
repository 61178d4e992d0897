import { amount } from '../../../../../consensus/primitives/amount.ts'
import type { Hash, TxId } from '../../../../../consensus/primitives/ids.ts'
import type { ClaimKind, TillStore } from '../../../claim-store.ts'
import type { Identity, Order, TillCall } from '../../../rail.ts'
import type { HeldVoucher } from '../../tab/tab-call.ts'
import { isAnswered, isTab, type ReservedTabCall, type TabCallRow, type TabStore } from '../../tab/tab-store.ts'
import type { ChannelConfig, ChannelPayment } from './channel.ts'
import type { Sightings } from './sightings.ts'

/** A call that is paid from a channel. */
export interface ChannelPaidCall extends TillCall {
  readonly payment: ChannelPayment
}

/** What is kept beside a voucher. */
export interface BesideVoucher {
  /** What the channel is made of, which a claim must repeat. */
  readonly config: ChannelConfig
  /** The deposit that came with the call. */
  readonly deposit?: { readonly transaction: string; readonly amount: string } | undefined
}

/** What is kept beside the voucher of a channel. */
export function besideOf({ beside }: HeldVoucher): BesideVoucher {
  return beside as BesideVoucher
}

/** What is compared between a call on a channel and a call in the store. */
export interface ChannelIdentity extends Identity {
  readonly channelId: TxId
  /** Hash of the request: the voucher does not sign it. */
  readonly context: Hash
}

/** A call of this rail. */
export type ChannelOrder = Order<ChannelPaidCall, ChannelIdentity>

/**
 * Name of a call. Vouchers name no call, and after a call that cost nothing official clients sign the same one again, so the request belongs
 * to the name.
 */
export function channelCallId({ tabId, voucher }: Pick<TabCallRow, 'tabId' | 'voucher'>): string {
  return `${tabId}:${voucher.ceiling}:${voucher.context}`
}

/** Calls on channels, as the till knows them. */
export const CHANNEL_CALLS: ClaimKind<TabCallRow> = {
  name: 'channel',
  idOf: channelCallId,
  isOpen: (call) => !isAnswered(call),
  paidFor: ({ caller, priceUsdMicros }) => ({
    payer: caller,
    priceUsdMicros: BigInt(priceUsdMicros),
    isDelivered: false,
  }),
}

/** The store of tabs in the form that the till works with, for channels. Only the ends of calls are written past it, in groups. */
export class ChannelDesk implements TillStore<TabCallRow> {
  readonly #store: TabStore
  readonly #sightings: Sightings
  /** Whether a deposit or a refund of a channel is under way. */
  readonly #isBusy: (channelId: string) => boolean

  constructor(store: TabStore, sightings: Sightings, isBusy: (channelId: string) => boolean) {
    this.#store = store
    this.#sightings = sightings
    this.#isBusy = isBusy
  }

  /**
   * The newest call of the channel, if it is the one that is asked for: a channel has one call at a time, so a client that missed an answer
   * repeats its newest call. One that failed was not charged, and is made anew.
   */
  async get(id: string): Promise<TabCallRow | undefined> {
    const call = await this.#newest(id.split(':', 1)[0] as TxId)
    return call === undefined || channelCallId(call) !== id || call.state === 'failed' ? undefined : call
  }

  /** A call that is refused by now counts as taken: it is judged again, which says why. */
  async claim(call: TabCallRow): Promise<TabCallRow | null> {
    const state = this.#sightings.state(call.tabId)
    if (state === undefined || this.#isBusy(call.tabId)) return call
    const bounds = { most: amount(state.balance), claimed: amount(state.totalClaimed), receipts: 0 }
    const reserved = await this.#store.reserve(call as ReservedTabCall, bounds)
    if (reserved.is === 'held') return null
    return reserved.is === 'known' ? reserved.call : call
  }

  advance(_: TabCallRow['state'], next: TabCallRow): Promise<boolean> {
    return this.#store.begin(next as ReservedTabCall)
  }

  async open(): Promise<readonly TabCallRow[]> {
    return (await this.#store.open()).filter((call) => !isTab(call))
  }

  /** What this process knows of a channel can be behind what its replicas do: asking for a call brings it up to date. */
  async #newest(channelId: TxId): Promise<TabCallRow | undefined> {
    for (let seq = 0; ; ) {
      const call = await this.#store.call(channelId, seq)
      const { seqMax = 0 } = this.#store.peek(channelId) ?? {}
      if (seqMax <= seq) return call
      seq = seqMax
    }
  }
}
