import type { ConnectedBlock } from '../../consensus/chain/events.ts'
import { assert } from '../../consensus/primitives/assert.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import type { StateView } from '../../consensus/state/view.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { isInsider } from './agents.ts'
import { ESCROWS, type Escrow } from './escrow.ts'
import { Sellers } from './sellers.ts'

/** As frozen when the escrow was opened. */
export type Parties = Pick<Escrow, 'agentId' | 'serviceId' | 'caller' | 'payout' | 'amount' | 'insider'>

/**
 * The parties of escrows that a block opens or closes. One that is opened and closed in the same block is in no stored
 * state, so the block's transactions are followed in order.
 */
export class EscrowParties {
  readonly #before: StateView
  readonly #sellers: Sellers
  readonly #opened = new Map<TxId, Parties>()

  constructor({ parentState }: Pick<ConnectedBlock, 'parentState'>) {
    this.#before = parentState
    this.#sellers = new Sellers(parentState)
  }

  /** Takes the block's successful transactions, in order. */
  see(tx: Transaction): void {
    this.#sellers.see(tx)
    const { kind, payload, sender } = tx.body
    if (kind !== 'agent_invoke') return
    const { agentId, serviceId, amount } = payload
    const seller = this.#sellers.of(agentId)
    const { payout } = seller
    const insider = isInsider(seller, sender)
    this.#opened.set(tx.txId, { agentId, serviceId, caller: sender, payout, amount, insider })
  }

  /** The escrow is one that the last seen transaction opens or closes, or that the block closes before its transactions. */
  of(txId: TxId): Parties {
    const parties = this.#opened.get(txId) ?? this.#before.get(ESCROWS, txId)
    assert(parties !== undefined, 'an escrow was closed that was not open')
    return parties
  }
}
