import type { ConnectedBlock } from '../../consensus/chain/events.ts'
import { assert } from '../../consensus/primitives/assert.ts'
import type { AgentId, TxId } from '../../consensus/primitives/ids.ts'
import type { StateView } from '../../consensus/state/view.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { AGENTS, type Agent, isInsider } from './agents.ts'
import { ESCROWS, type Escrow } from './escrow.ts'

/** As frozen when the escrow was opened. */
export type Parties = Pick<Escrow, 'agentId' | 'serviceId' | 'caller' | 'payout' | 'amount' | 'insider'>

/** The agent fields that an escrow freezes. */
type Seller = Pick<Agent, 'owner' | 'payout' | 'settlers'>

/**
 * The parties of escrows that a block opens or closes. One that is opened and closed in the same block is in no stored
 * state, so the block's transactions are followed in order.
 */
export class EscrowParties {
  readonly #before: StateView
  readonly #sellers = new Map<AgentId, Seller>()
  readonly #opened = new Map<TxId, Parties>()

  constructor({ parentState }: Pick<ConnectedBlock, 'parentState'>) {
    this.#before = parentState
  }

  /** Takes the block's successful transactions, in order. */
  see({ txId, body }: Transaction): void {
    const { kind, payload, sender } = body
    if (kind === 'agent_register') this.#sellers.set(payload.agentId, { ...payload, owner: sender })
    else if (kind === 'agent_update') this.#sellers.set(payload.agentId, payload)
    else if (kind === 'agent_invoke') {
      const { agentId, serviceId, amount } = payload
      const seller = this.#sellerOf(agentId)
      const { payout } = seller
      const insider = isInsider(seller, sender)
      this.#opened.set(txId, { agentId, serviceId, caller: sender, payout, amount, insider })
    }
  }

  /** The escrow is one that the last seen transaction opens or closes, or that the block closes before its transactions. */
  of(txId: TxId): Parties {
    const parties = this.#opened.get(txId) ?? this.#before.get(ESCROWS, txId)
    assert(parties !== undefined, 'an escrow was closed that was not open')
    return parties
  }

  #sellerOf(agentId: AgentId): Seller {
    const seller = this.#sellers.get(agentId) ?? this.#before.get(AGENTS, agentId)
    assert(seller !== undefined, 'an escrow was opened for an agent that is not there')
    return seller
  }
}
