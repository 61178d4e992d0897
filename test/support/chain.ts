import { DEV_ADDRESSES, devSeed } from '../../config/networks/dev-keys.ts'
import { type Block, decodeBlock, encodeBlock } from '../../consensus/block/block.ts'
import { sealHeader } from '../../consensus/block/header.ts'
import { Chain, type ChainDependencies } from '../../consensus/chain/chain.ts'
import { ChainDatabase } from '../../consensus/chain/database.ts'
import { type KeyValueStore, MemoryKeyValueStore } from '../../consensus/chain/key-value.ts'
import { UNPACED } from '../../consensus/chain/ports.ts'
import type { RuleBook } from '../../consensus/chain/rule-book.ts'
import { createInlineVerifier } from '../../consensus/crypto/verifier.ts'
import { ACCOUNTS } from '../../consensus/ledger/account.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import type { PayloadOf, TxKind } from '../../consensus/tx/kinds.ts'
import { signTransaction } from '../../consensus/tx/sign.ts'
import type { Transaction, TxBody } from '../../consensus/tx/transaction.ts'
import { buildTemplate } from '../../miner/template.ts'
import { NATIVE_BACKEND, useNativeSha256 } from '../../src/crypto/native-backend.ts'
import { nativePowHasher } from '../../src/crypto/native-pow.ts'
import { type WalletKey, walletKey } from '../../src/crypto/wallet-key.ts'
import { testRuleBook } from './network.ts'

useNativeSha256()

/** Development wallets, key 1 first. */
export const WALLETS: readonly WalletKey[] = DEV_ADDRESSES.map((_, i) => walletKey(devSeed(i + 1)))

/** Development wallet `number`, 1 to 10. */
export function wallet(number: number): WalletKey {
  return WALLETS[number - 1] as WalletKey
}

/** Options of one transaction. What is left out gets a value that works. */
export interface TxOptions {
  readonly nonce?: bigint
  readonly maxFeeRate?: bigint
  readonly tip?: bigint
  readonly validUntil?: number
  readonly memo?: Uint8Array
}

/** Parts of a chain that a test may replace. */
export type ChainParts = Partial<Pick<ChainDependencies, 'powHasher' | 'verifier' | 'reorganisationDepthMax' | 'pacer'>>

/** A chain in this process, with a clock that the test moves and a miner that mines on demand. */
export class TestChain {
  readonly chain: Chain
  readonly ruleBook: RuleBook
  readonly #nonces = new Map<Address, bigint>()
  nowMs: number

  private constructor(ruleBook: RuleBook, database: ChainDatabase, genesis: Block, parts: ChainParts) {
    this.ruleBook = ruleBook
    this.nowMs = genesis.header.timeMs
    this.chain = new Chain({
      ruleBook,
      database,
      network: { chainId: 1, genesis: genesis.id },
      verifier: createInlineVerifier(NATIVE_BACKEND),
      powHasher: nativePowHasher,
      clock: { now: () => this.nowMs },
      pacer: UNPACED,
      reorganisationDepthMax: 1_200,
      ...parts,
    })
  }

  /** Opens a chain at genesis, or at the head that the store holds. */
  static async open(
    ruleBook: RuleBook = testRuleBook(),
    store: KeyValueStore = new MemoryKeyValueStore(),
    parts: ChainParts = {},
  ): Promise<TestChain> {
    const genesis = ruleBook.genesis
    const database = await ChainDatabase.open(store, ruleBook, genesis, 'memory')
    if ('code' in database) throw new Error(database.code)
    return new TestChain(ruleBook, database, genesis.block, parts)
  }

  get height(): number {
    return this.chain.head.header.height
  }

  get stateRoot(): string {
    return this.chain.head.header.stateRoot
  }

  balance(address: Address): bigint {
    return this.chain.database.get(ACCOUNTS, address)?.balance ?? 0n
  }

  /** Signs a transaction with the sender's next nonce, counted by this helper. */
  async tx<K extends TxKind>(
    signer: WalletKey,
    kind: K,
    payload: PayloadOf<K>,
    options: TxOptions = {},
  ): Promise<Transaction> {
    const stored = this.chain.database.get(ACCOUNTS, signer.address)?.nonce ?? 0n
    const given = this.#nonces.get(signer.address) ?? 0n
    const nonce = options.nonce ?? (stored > given ? stored : given)
    this.#nonces.set(signer.address, nonce + 1n)
    const body = {
      version: 1,
      chainId: 1,
      sender: signer.address,
      nonce,
      kind,
      payload,
      maxFeeRate: options.maxFeeRate ?? 10_000n,
      tip: options.tip ?? 1n,
      validUntil: options.validUntil ?? 0,
      memo: options.memo ?? new Uint8Array(0),
    } as unknown as TxBody
    return signTransaction(body, signer, this.chain.network)
  }

  /** Builds the next block without importing it. Every transaction must fit. */
  async build(
    transactions: readonly Transaction[] = [],
    { miner = WALLETS[8]?.address as Address, afterMs = 3_000, extra = new Uint8Array(32) } = {},
  ): Promise<Block> {
    this.nowMs = Math.max(this.nowMs, this.chain.head.header.timeMs) + afterMs
    const template = await buildTemplate(this.chain, UNPACED, {
      miner,
      nowMs: this.nowMs,
      candidates: transactions,
      extra,
    })
    if (template === undefined) throw new Error('the head moved')
    if (template.refused.length > 0)
      throw new Error(`refused: ${template.refused.map(({ fault }) => JSON.stringify(fault)).join()}`)
    if (template.block.transactions.length !== transactions.length) throw new Error('not everything fitted')
    return template.block
  }

  /** Mines a block and imports its wire bytes. */
  async mine(
    transactions: readonly Transaction[] = [],
    options: Parameters<TestChain['build']>[1] = {},
  ): Promise<Block> {
    const block = await this.build(transactions, options)
    await this.import(block)
    return block
  }

  /** Imports a block through its wire bytes; throws the fault's code. */
  async import(block: Block): Promise<string> {
    const decoded = decodeBlock(encodeBlock(block))
    if (!decoded.ok) throw new Error(decoded.fault.code)
    const outcome = await this.chain.import(decoded.value)
    if (!outcome.ok) throw new Error(`${outcome.fault.code} ${JSON.stringify(outcome.fault.detail)}`)
    return outcome.value
  }

  /** Mines empty blocks up to a height. */
  async mineTo(height: number): Promise<void> {
    while (this.height < height) await this.mine()
  }
}

/** The block with some header fields changed and its id recomputed. */
export function withHeader(block: Block, change: Partial<Block['header']>): Block {
  return { ...sealHeader({ ...block.header, ...change }), transactions: block.transactions }
}
