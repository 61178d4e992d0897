import { decodeReceipt } from '../../consensus/ledger/receipt.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import type { PayloadOf, TxKind } from '../../consensus/tx/kinds.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import type { TestChain } from './chain.ts'
import { steadyWallet } from './steady-keys.ts'

/** Ids of the transactions that the script named, for use in requests. */
export type NamedTransactions = Readonly<Record<string, TxId>>

/** Writes the chain for the script. Wallet 9 mines the blocks, by default every 3 seconds. */
export class ServiceChainWriter {
  readonly test: TestChain
  readonly #named: Record<string, TxId> = {}
  #waiting: Transaction[] = []

  constructor(test: TestChain) {
    this.test = test
  }

  get named(): NamedTransactions {
    return this.#named
  }

  /** Id of a named transaction. */
  id(name: string): TxId {
    const txId = this.#named[name]
    if (txId === undefined) throw new Error(`there is no transaction called ${name}`)
    return txId
  }

  /** Signs a transaction for the next block. */
  async add<K extends TxKind>(from: number, kind: K, payload: PayloadOf<K>, name?: string): Promise<Transaction> {
    const tx = await this.sign(from, kind, payload)
    this.#waiting.push(tx)
    if (name !== undefined) this.#named[name] = tx.txId
    return tx
  }

  /** Signs a transaction without adding it to a block. */
  sign<K extends TxKind>(from: number, kind: K, payload: PayloadOf<K>): Promise<Transaction> {
    return this.test.tx(steadyWallet(from), kind, payload)
  }

  /** Mines the signed transactions. Only those named `fails...` may fail. */
  async mine(afterMs = 3_000): Promise<void> {
    const transactions = this.#waiting.splice(0)
    await this.test.mine(transactions, { miner: steadyWallet(9).address, afterMs })
    const { database, head } = this.test.chain
    const failed = (database.receipts(head.id) ?? []).map(decodeReceipt).flatMap((receipt) => {
      const bad = receipt.type === 'transaction' && (receipt.code !== 0 || receipt.entries.some((code) => code !== 0))
      return bad ? [receipt] : []
    })
    for (const { txId, code } of failed) {
      const name = Object.entries(this.#named).find(([, id]) => id === txId)?.[0]
      if (name?.startsWith('fails') !== true) throw new Error(`${name ?? txId} failed with code ${code}`)
    }
  }

  /** Mines empty blocks up to a height. */
  async mineTo(height: number, afterMs = 3_000): Promise<void> {
    while (this.test.height < height) await this.mine(afterMs)
  }
}
