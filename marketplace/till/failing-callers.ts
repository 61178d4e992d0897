import type { Clock } from '../../consensus/chain/ports.ts'
import type { Holder } from '../../consensus/primitives/fair-share.ts'
import type { Fault } from '../../consensus/primitives/fault.ts'
import { ClientCounts, RecentCounts } from './client-counts.ts'

/** The caller that work is done for: its payer, and the client that sent the call. */
export interface Caller {
  readonly payer: string
  readonly client: Holder
}

/** The client of calls whose client is not known, for example of calls that a start takes up. */
export const NO_CLIENT: Holder = { address: '', network: '' }

/**
 * Calls that may fail within ten minutes at services that reach an address of the payer's choice or use a model. A failed call costs at
 * most a fee: without this bound a payer could use the node's network access and models for free. Honest payers meet broken pages, too.
 */
export const FAILED_OUTSIDE = { ofPayer: 10, ofClient: 30 } as const
/** A result of the wrong shape, or an interruption, is the node's own fault. */
const CAUSED_OUTSIDE: ReadonlySet<string> = new Set(['service/failed', 'service/timeout'])

const SPAN = { withinMs: 10 * 60_000, namesMax: 10_000 }
/** Maximum good calls that are counted for a payer, and for a client. */
const GOOD_OF_PAYER_MAX = 64
const GOOD_OF_CLIENT_MAX = 200

/** Whether the address that was reached, or the model, can have caused a fault. */
export function isCausedOutside({ reachesOut }: { readonly reachesOut?: true }, { code }: Fault): boolean {
  return reachesOut === true && CAUSED_OUTSIDE.has(code)
}

/** Each good call allows one more failure. Clients are bounded like payers, because an attacker can make any number of payers. */
export class FailingCallers {
  readonly #failedOfPayer: RecentCounts
  readonly #goodOfPayer: RecentCounts
  readonly #failedOfClient: ClientCounts
  readonly #goodOfClient: ClientCounts

  constructor(clock: Clock) {
    this.#failedOfPayer = new RecentCounts(clock, { ...SPAN, most: FAILED_OUTSIDE.ofPayer + GOOD_OF_PAYER_MAX })
    this.#goodOfPayer = new RecentCounts(clock, { ...SPAN, most: GOOD_OF_PAYER_MAX })
    this.#failedOfClient = new ClientCounts(clock, { ...SPAN, most: FAILED_OUTSIDE.ofClient + GOOD_OF_CLIENT_MAX })
    this.#goodOfClient = new ClientCounts(clock, { ...SPAN, most: GOOD_OF_CLIENT_MAX })
  }

  /** Notes a call that was paid and answered. */
  good({ payer, client }: Caller): void {
    this.#goodOfPayer.add(payer)
    if (isKnown(client)) this.#goodOfClient.add(client)
  }

  /** Notes a call that failed at an address of the payer's choice, or at a model. */
  failed({ payer, client }: Caller): void {
    this.#failedOfPayer.add(payer)
    if (isKnown(client)) this.#failedOfClient.add(client)
  }

  /** Returns a function that tells whether a caller has too many failures now. */
  judge(): (caller: Caller) => boolean {
    const clients = new Map<string, boolean>()
    return ({ payer, client }) => {
      const good = this.#goodOfPayer.count(payer)
      if (this.#failedOfPayer.waitMs(payer, FAILED_OUTSIDE.ofPayer + good) > 0) return true
      // A payer whose calls are mostly good is not held back by other payers behind the same address.
      if (good > this.#failedOfPayer.count(payer) || !isKnown(client)) return false
      const isFailing =
        clients.get(client.address) ??
        this.#failedOfClient.waitMs(client, FAILED_OUTSIDE.ofClient, this.#goodOfClient) > 0
      clients.set(client.address, isFailing)
      return isFailing
    }
  }
}

function isKnown({ address }: Holder): boolean {
  return address !== NO_CLIENT.address
}
