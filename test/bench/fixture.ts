import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Block, decodeBlock, encodeBlock } from '../../consensus/block/block.ts'
import { Chain } from '../../consensus/chain/chain.ts'
import type { NetworkParams } from '../../consensus/chain/params.ts'
import { UNPACED } from '../../consensus/chain/ports.ts'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import { taggedHash } from '../../consensus/crypto/hash.ts'
import type { SignatureVerifier } from '../../consensus/crypto/verifier.ts'
import type { Amount } from '../../consensus/primitives/amount.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import { encodeText } from '../../consensus/primitives/text.ts'
import type { PayloadOf, TxKind } from '../../consensus/tx/kinds.ts'
import { signTransaction } from '../../consensus/tx/sign.ts'
import type { Transaction, TxBody } from '../../consensus/tx/transaction.ts'
import { buildTemplate } from '../../miner/template.ts'
import { useNativeSha256 } from '../../src/crypto/native-backend.ts'
import { nativePowHasher } from '../../src/crypto/native-pow.ts'
import { type WalletKey, walletKey } from '../../src/crypto/wallet-key.ts'
import { eventLoopPacer } from '../../src/daemon/runtime.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { openChain } from '../../src/storage/folder.ts'
import { fastDevnet } from '../support/network.ts'

useNativeSha256()

const COINS = 10n ** 14n / 1_000n
const MIB = 1_048_576
/** Sizes of LevelDB as in the daemon. */
export const BENCH_SIZES = { cacheBytes: 32 * MIB, writeBufferBytes: 16 * MIB }

/** A network of accounts that send, among many idle ones. */
export interface Fixture {
  readonly params: NetworkParams
  readonly senders: readonly WalletKey[]
}

/** A network whose genesis funds `accounts` accounts, `senders` of which can sign. */
export function createFixture(accounts: number, senders: number): Fixture {
  const keys = Array.from({ length: senders }, (_, i) => walletKey(taggedHash('textDigest', encodeText(`bench ${i}`))))
  const idle = Array.from({ length: accounts - senders }, (_, i) =>
    taggedHash('textDigest', encodeText(`idle ${i}`)).toHex(),
  )
  const devnet = fastDevnet()
  const allocations = [...keys.map(({ address }) => address as string), ...idle].map((address) => ({
    address,
    amount: COINS,
  }))
  return {
    params: {
      ...devnet,
      genesis: { ...devnet.genesis, allocations: [...devnet.genesis.allocations, ...allocations] as never },
    },
    senders: keys,
  }
}

/** A chain on a real LevelDB in a temporary folder. */
export interface BenchChain {
  readonly chain: Chain
  readonly close: () => Promise<void>
}

export interface BenchOptions {
  /** Imports blocks in slices as the daemon does. True by default. */
  readonly paced?: boolean
  /** Folder to copy and open. */
  readonly copyOf?: string
  /** Blocks whose signatures count as checked. */
  readonly cached?: readonly Uint8Array[]
}

export async function openBenchChain(
  { params }: Fixture,
  verifier: SignatureVerifier,
  { paced = true, copyOf, cached = [] }: BenchOptions = {},
): Promise<BenchChain> {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-bench-'))
  if (copyOf !== undefined) cpSync(copyOf, folder, { recursive: true })
  const ruleBook = createRuleBook(params, PROTOCOL)
  const { genesis } = ruleBook
  const opened = await openChain(folder, ruleBook, genesis, BENCH_SIZES)
  if (!opened.ok) throw new Error(opened.fault.code)
  const chain = new Chain({
    ruleBook,
    database: opened.value.database,
    network: { chainId: 1, genesis: genesis.block.id },
    verifier,
    powHasher: nativePowHasher,
    clock: { now: () => Number.MAX_SAFE_INTEGER / 2 },
    pacer: paced ? eventLoopPacer() : UNPACED,
    reorganisationDepthMax: 1_200,
  })
  for (const bytes of cached) for (const { wtxId } of decoded(bytes).transactions) chain.verified.add(wtxId)
  const close = async (): Promise<void> => {
    await opened.value.store.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { chain, close }
}

/** Signs one transfer for every sender at the nonce given, to changing accounts of the genesis. */
export function signTransfers(fixture: Fixture, chain: Chain, nonce: bigint): Promise<readonly Transaction[]> {
  const idle = fixture.params.genesis.allocations
  return signTransfersTo(
    fixture,
    chain,
    nonce,
    (i) => idle[(i * 7919 + Number(nonce) * 104729) % idle.length]?.address as Address,
  )
}

/** Signs one transfer for every sender at the nonce given. */
export function signTransfersTo(
  { senders }: Fixture,
  chain: Chain,
  nonce: bigint,
  receiver: (sender: number, nonce: bigint) => Address,
): Promise<readonly Transaction[]> {
  const amount = 1_000n as Amount
  return signEach(chain, senders, nonce, (i) => ({
    kind: 'transfer',
    payload: { to: receiver(i, nonce), amount, create: false },
  }))
}

/** A transaction's kind and payload, without its envelope. */
export type Action = { [K in TxKind]: { readonly kind: K; readonly payload: PayloadOf<K> } }[TxKind]

/** Signs one action for every sender at the nonce given. */
export function signEach(
  chain: Chain,
  senders: readonly WalletKey[],
  nonce: bigint,
  action: (sender: number) => Action,
): Promise<readonly Transaction[]> {
  const envelope = {
    version: 1,
    chainId: 1,
    nonce,
    maxFeeRate: 1_000n,
    tip: 1n,
    validUntil: 0,
    memo: new Uint8Array(0),
  }
  return Promise.all(
    senders.map((key, i) =>
      signTransaction({ ...envelope, sender: key.address, ...action(i) } as TxBody, key, chain.network),
    ),
  )
}

/** Builds and imports the next block. Returns its wire bytes. */
export async function mineBlock(chain: Chain, transactions: readonly Transaction[]): Promise<Uint8Array> {
  const bytes = await buildBlock(chain, transactions)
  await importBytes(chain, bytes)
  return bytes
}

/** Wire bytes of the next block. */
export async function buildBlock(chain: Chain, transactions: readonly Transaction[]): Promise<Uint8Array> {
  for (const { wtxId } of transactions) chain.verified.add(wtxId)
  const nowMs = chain.head.header.timeMs + 3_000
  const miner = chain.ruleBook.params.genesis.allocations[0]?.address as never
  const template = await buildTemplate(chain, UNPACED, {
    miner,
    nowMs,
    candidates: transactions,
    extra: new Uint8Array(32),
  })
  if (template === undefined || template.block.transactions.length !== transactions.length)
    throw new Error('the block does not hold everything')
  return encodeBlock(template.block)
}

export async function importBytes(chain: Chain, bytes: Uint8Array): Promise<Block> {
  const block = decoded(bytes)
  const outcome = await chain.import(block)
  if (!outcome.ok) throw new Error(`${outcome.fault.code} ${JSON.stringify(outcome.fault.detail)}`)
  return block
}

/** Decodes a valid block; throws on a fault. */
export function decoded(bytes: Uint8Array): Block {
  const block = decodeBlock(bytes)
  if (!block.ok) throw new Error(block.fault.code)
  return block.value
}
