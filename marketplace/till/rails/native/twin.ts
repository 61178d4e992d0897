import { executedFrom } from '../../../../consensus/chain/adoption.ts'
import type { Chain } from '../../../../consensus/chain/chain.ts'
import { storedBodies } from '../../../../consensus/chain/stored-bodies.ts'
import { equal } from '../../../../consensus/primitives/bytes.ts'
import type { BlockId } from '../../../../consensus/primitives/ids.ts'
import type { TxBody } from '../../../../consensus/tx/transaction.ts'
import type { Shop } from '../../shop.ts'

/**
 * Tells whether another node with the same key sells with it: two such nodes would both work for the same payment. On a devnet all nodes
 * have the same key. The memo of the agent's registration is the mark of the node that sent it.
 */
export class Twin {
  /** Memo of this node's registration. */
  readonly mark: Uint8Array
  readonly #chain: Chain
  readonly #shop: Shop
  #seen: { readonly id: BlockId; readonly sells: boolean } | null = null

  constructor(chain: Chain, shop: Shop, mark: Uint8Array) {
    this.#chain = chain
    this.#shop = shop
    this.mark = mark
  }

  /**
   * Whether another node registered the agent. A registration without a memo was made by hand: any node may sell. Without the body of the
   * registration's block this is a guess, which is wrong for a node that restarts after it pruned another node's registration.
   */
  get sells(): boolean {
    const { agent } = this.#shop
    if (agent === undefined) return false
    const { database } = this.#chain
    const id = database.idAt(agent.registeredAt)
    if (this.#seen !== null && this.#seen.id === id) return this.#seen.sells
    const bodies = id === undefined ? undefined : storedBodies(database.store, id)
    if (id === undefined || bodies === undefined) return executedFrom(database) > agent.registeredAt
    const memo = this.#memoIn(bodies)
    const sells = memo.length > 0 && !equal(memo, this.mark)
    this.#seen = { id, sells }
    return sells
  }

  /** A registration of the same id by another key has failed. */
  #memoIn(bodies: readonly TxBody[]): Uint8Array {
    const { agentId, owner } = this.#shop.operator
    const sent = bodies.find(
      ({ kind, payload, sender }) => kind === 'agent_register' && payload.agentId === agentId && sender === owner,
    )
    return sent?.memo ?? new Uint8Array(0)
  }
}
