import { assert } from '../../consensus/primitives/assert.ts'
import type { AgentId } from '../../consensus/primitives/ids.ts'
import type { StateView } from '../../consensus/state/view.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { AGENTS, type Agent } from './agents.ts'

/** The agent fields that an escrow and a tab freeze. */
export type Seller = Pick<Agent, 'owner' | 'payout' | 'settlers'>

/** Sellers as the transactions of a block find them: one that is changed in the same block is in no stored state. */
export class Sellers {
  readonly #before: StateView
  readonly #changed = new Map<AgentId, Seller>()

  constructor(before: StateView) {
    this.#before = before
  }

  /** Takes the block's successful transactions, in order. */
  see({ body: { kind, payload, sender } }: Pick<Transaction, 'body'>): void {
    if (kind === 'agent_register') this.#changed.set(payload.agentId, { ...payload, owner: sender })
    else if (kind === 'agent_update') this.#changed.set(payload.agentId, payload)
  }

  /** The seller as of the last seen transaction. */
  of(agentId: AgentId): Seller {
    const seller = this.#changed.get(agentId) ?? this.#before.get(AGENTS, agentId)
    assert(seller !== undefined, 'something was paid to an agent that is not there')
    return seller
  }
}
