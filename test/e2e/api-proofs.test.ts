import { beforeAll, describe, expect, it } from 'vitest'
import { DEVNET } from '../../config/networks/devnet.ts'
import { decodeBlock } from '../../consensus/block/block.ts'
import { decodeHeader, type SealedHeader } from '../../consensus/block/header.ts'
import { verifyHistoryProof } from '../../consensus/block/history.ts'
import { meetsTarget, powHash } from '../../consensus/block/pow.ts'
import { type MerkleProof, RECEIPT_TREE, TRANSACTION_TREE, verifyMerkleProof } from '../../consensus/crypto/merkle.ts'
import { ACCOUNTS } from '../../consensus/ledger/account.ts'
import { decodeReceipt } from '../../consensus/ledger/receipt.ts'
import { fromHex } from '../../consensus/primitives/bytes.ts'
import { decodeOwn } from '../../consensus/primitives/codec.ts'
import { verifyStateProof } from '../../consensus/state/proof.ts'
import { nativePowHasher } from '../../src/crypto/native-pow.ts'
import { walletKey } from '../../src/crypto/wallet-key.ts'
import { ask } from '../support/api.ts'
import { Caller, marketOpen } from '../support/caller.ts'
import { type RunningDaemon, Workshop } from '../support/daemon.ts'
import { until } from '../support/processes.ts'

const workshop = new Workshop()
let daemon: RunningDaemon
let buyer: Caller

beforeAll(async () => {
  daemon = await workshop.start(workshop.folder(), { env: { TEST_FAST_BLOCKS: '1' } })
  await marketOpen(daemon.url)
  buyer = new Caller(daemon.url, 1)
  await until('70 blocks', async () => (await ask<{ height: number }>(daemon.url, '/api/v1/status')).body.height > 70)
})

interface ProofView {
  readonly index: number
  readonly count: number
  readonly siblings: readonly string[]
}

const merkle = ({ index, count, siblings }: ProofView): MerkleProof => ({
  index,
  count,
  siblings: siblings.map(fromHex),
})

/** Decodes a header and checks its work; all proofs rest on it. */
function sealed(hex: string): SealedHeader {
  const decoded = decodeHeader(fromHex(hex))
  if (!decoded.ok) throw new Error('no header')
  const cost = DEVNET.steps[0]!.rules.block.pow
  expect(meetsTarget(powHash(nativePowHasher, decoded.value.bytes, cost), decoded.value.header.target)).toBe(true)
  return decoded.value
}

/** The same hex with its last digit changed. */
const bent = (hex: string): string => `${hex.slice(0, -1)}${hex.endsWith('0') ? '1' : '0'}`

describe('by the header alone a client can check', () => {
  it('that a transaction is in its block, and what became of it', async () => {
    interface TxProofView {
      readonly blockId: string
      readonly proof: {
        readonly header: string
        readonly transaction: ProofView
        readonly receipt: ProofView
        readonly receiptBytes: string
      }
    }
    const others = [3, 4, 5].map((key) => new Caller(daemon.url, key))
    const payload = { to: buyer.key.address, amount: 7n as never, create: false }
    const sent = await Promise.all([buyer, ...others].map((caller) => caller.send('transfer', payload)))
    for (const { txId } of sent) {
      await buyer.mined(txId)
      const { body } = await ask<TxProofView>(daemon.url, `/api/v1/tx/${txId}`)
      const { header, id } = sealed(body.proof.header)
      expect(id).toBe(body.blockId)
      const { transaction, receipt, receiptBytes } = body.proof
      const [transactions, receipts] = [fromHex(header.transactionsRoot), fromHex(header.receiptsRoot)]
      expect(verifyMerkleProof(TRANSACTION_TREE, transactions, fromHex(txId), merkle(transaction))).toBe(true)
      expect(verifyMerkleProof(RECEIPT_TREE, receipts, fromHex(receiptBytes), merkle(receipt))).toBe(true)
      expect(decodeReceipt(fromHex(receiptBytes))).toMatchObject({ type: 'transaction', txId, code: 0 })
      expect(verifyMerkleProof(TRANSACTION_TREE, transactions, fromHex(bent(txId)), merkle(transaction))).toBe(false)
      expect(verifyMerkleProof(RECEIPT_TREE, receipts, fromHex(bent(receiptBytes)), merkle(receipt))).toBe(false)
    }
  })

  interface AccountView {
    readonly exists: boolean
    readonly balance: string
    readonly nonce: string
    readonly blockId: string
    readonly proof: {
      readonly key: string
      readonly value: string | null
      readonly siblings: readonly string[]
      readonly leaf: { readonly path: string; readonly value: string } | null
      readonly header: string
    }
  }

  /** The proof as the client's code takes it, and the state root of the header that came with it. */
  function stateProof({ proof }: AccountView) {
    const { siblings, leaf, header } = proof
    const { stateRoot } = sealed(header).header
    const place = leaf === null ? null : { path: fromHex(leaf.path), value: fromHex(leaf.value) }
    return { stateRoot, proof: { siblings: siblings.map(fromHex), leaf: place } }
  }

  it('that an account holds what the API says', async () => {
    for (const number of [1, 3, 7, 10]) {
      const caller = new Caller(daemon.url, number)
      const { body } = await ask<AccountView>(daemon.url, `/api/v1/accounts/${caller.address}`)
      const { stateRoot, proof } = stateProof(body)
      const key = ACCOUNTS.key(caller.key.address)
      const value = fromHex(body.proof.value!)
      expect(body.proof.key).toBe(key)
      expect(verifyStateProof(stateRoot, key, value, proof)).toBe(true)
      const { balance, nonce } = decodeOwn(ACCOUNTS.codec, value)
      expect({ balance: String(balance), nonce: String(nonce) }).toEqual({ balance: body.balance, nonce: body.nonce })
      expect(verifyStateProof(stateRoot, key, fromHex(bent(body.proof.value!)), proof)).toBe(false)
      expect(verifyStateProof(stateRoot, key, undefined, proof)).toBe(false)
      expect(verifyStateProof(stateRoot, ACCOUNTS.key('ab'.repeat(32) as never), value, proof)).toBe(false)
    }
  })

  it('that an account does not exist', async () => {
    for (let fill = 200; fill < 206; fill++) {
      const noAccount = new Caller(daemon.url, walletKey(new Uint8Array(32).fill(fill)))
      const { body } = await ask<AccountView>(daemon.url, `/api/v1/accounts/${noAccount.address}`)
      expect(body).toMatchObject({ exists: false, balance: '0', nonce: '0', proof: { value: null } })
      const { stateRoot, proof } = stateProof(body)
      const key = ACCOUNTS.key(noAccount.key.address)
      expect(verifyStateProof(stateRoot, key, undefined, proof)).toBe(true)
      expect(verifyStateProof(stateRoot, ACCOUNTS.key(buyer.key.address), undefined, proof)).toBe(false)
    }
  })

  it('that a block is an ancestor of the head', async () => {
    interface AncestryView {
      readonly header: string
      readonly under: { readonly id: string; readonly header: string; readonly historyRoot: string }
      readonly index: number
      readonly count: number
      readonly siblings: readonly { readonly hash: string; readonly work: string }[]
    }
    for (const height of [0, 1, 2, 31, 32, 63, 64, 70]) {
      const { body } = await ask<AncestryView>(daemon.url, `/api/v1/blocks/${height}/ancestry`)
      const decoded = decodeHeader(fromHex(body.header))
      if (!decoded.ok) throw new Error('no header')
      const under = sealed(body.under.header)
      expect(under.id).toBe(body.under.id)
      const siblings = body.siblings.map(({ hash, work }) => ({ hash: fromHex(hash), work: BigInt(work) }))
      const proof = { index: body.index, count: body.count, siblings }
      expect(decoded.value.header.height).toBe(height)
      expect(verifyHistoryProof(under.header.historyRoot, decoded.value, proof)).toBe(true)
      const lighter = siblings.map(({ hash, work }) => ({ hash, work: work + 1n }))
      expect(verifyHistoryProof(under.header.historyRoot, decoded.value, { ...proof, siblings: lighter })).toBe(false)
      expect(verifyHistoryProof(under.header.historyRoot, under, proof)).toBe(false)
    }
  })

  it('a whole block in its wire encoding', async () => {
    const response = await fetch(`${daemon.url}/api/v1/blocks/2`, { headers: { accept: 'application/octet-stream' } })
    expect(response.headers.get('content-type')).toBe('application/octet-stream')
    const block = decodeBlock(new Uint8Array(await response.arrayBuffer()))
    const { body } = await ask<{ id: string; transactions: { txId: string }[] }>(daemon.url, '/api/v1/blocks/2')
    if (!block.ok) throw new Error('no block')
    expect(block.value.id).toBe(body.id)
    expect(block.value.transactions.map(({ txId }) => txId)).toEqual(body.transactions.map(({ txId }) => txId))
  })
})
