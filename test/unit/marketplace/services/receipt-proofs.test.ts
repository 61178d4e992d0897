import { beforeAll, describe, expect, it } from 'vitest'
import { decodeHeader } from '../../../../consensus/block/header.ts'
import { RECEIPT_TREE, TRANSACTION_TREE, verifyMerkleProof } from '../../../../consensus/crypto/merkle.ts'
import { decodeReceipt } from '../../../../consensus/ledger/receipt.ts'
import { fromHex, toHex } from '../../../../consensus/primitives/bytes.ts'
import type { BlockId } from '../../../../consensus/primitives/ids.ts'
import { type ServiceChain, serviceChain } from '../../../support/service-chain.ts'
import { resultOf } from '../../../support/service-results.ts'

interface Proof {
  readonly of: string
  readonly tree: 'transactions' | 'receipts'
  readonly header: string
  readonly item: string
  readonly index: number
  readonly count: number
  readonly siblings: readonly string[]
}

interface Verified {
  readonly payment: { readonly blockHash: string }
  readonly receipt: { readonly blockHash: string; readonly txId: string | null } | null
  readonly proofs: readonly Proof[]
}

/** Verifies a proof from its item to the root in its header, without any other data. */
function leads({ tree, header, item, index, count, siblings }: Proof): boolean {
  const sealed = decodeHeader(fromHex(header))
  if (!sealed.ok) return false
  const { transactionsRoot, receiptsRoot } = sealed.value.header
  const [of, root] = tree === 'transactions' ? [TRANSACTION_TREE, transactionsRoot] : [RECEIPT_TREE, receiptsRoot]
  return verifyMerkleProof(of, fromHex(root), fromHex(item), { index, count, siblings: siblings.map(fromHex) })
}

describe('proofs of a paid call', () => {
  let chain: ServiceChain
  beforeAll(async () => {
    chain = await serviceChain()
  })
  const verified = (name: string) =>
    resultOf<Verified>('node-receipt-verify', chain.named[name] as string, chain.context)

  for (const [name, count] of [
    ['delivered', 4],
    ['failed', 4],
    ['expired', 3],
    ['open', 2],
    ['receipt', 2],
  ] as const) {
    it(`of one that is ${name} lead to the roots of blocks of the best chain`, async () => {
      const { proofs, payment, receipt } = await verified(name)
      expect(proofs).toHaveLength(count)
      for (const proof of proofs) {
        expect(leads(proof)).toBe(true)
        const sealed = decodeHeader(fromHex(proof.header))
        const id = sealed.ok ? sealed.value.id : ''
        expect(id).toBe(proof.of.startsWith('payment') ? payment.blockHash : receipt?.blockHash)
        const entry = chain.test.chain.database.entry(id as BlockId)
        expect(entry !== undefined && chain.test.chain.database.isCanonical(entry)).toBe(true)
      }
    })
  }

  it('hold for no other item, header, place or sibling', async () => {
    const [proof, outcome] = (await verified('delivered')).proofs as readonly [Proof, Proof]
    const other = (await verified('open')).proofs[0] as Proof
    expect(leads({ ...proof, item: other.item })).toBe(false)
    expect(leads({ ...proof, header: other.header })).toBe(false)
    expect(leads({ ...proof, index: proof.index ^ 1 })).toBe(false)
    expect(leads({ ...proof, siblings: proof.siblings.toReversed() })).toBe(false)
    expect(leads({ ...proof, tree: 'receipts' })).toBe(false)
    expect(leads({ ...outcome, count: outcome.count + 1 })).toBe(false)
  })

  it('show what they prove', async () => {
    const { proofs, receipt } = await verified('delivered')
    const [payment, outcome, closing, closed] = proofs as readonly [Proof, Proof, Proof, Proof]
    expect(payment.item).toBe(chain.named.delivered)
    expect(decodeReceipt(fromHex(outcome.item))).toMatchObject({ type: 'transaction', txId: payment.item, code: 0 })
    expect(closing.item).toBe(receipt?.txId)
    expect(decodeReceipt(fromHex(closed.item))).toMatchObject({ type: 'transaction', entries: Uint8Array.of(0, 0) })
    const refund = decodeReceipt(fromHex((await verified('expired')).proofs.at(-1)?.item as string))
    expect(refund).toMatchObject({ type: 'refund', txId: chain.named.expired, amount: 2_400_001n })
    expect(toHex(fromHex(payment.item))).toBe(payment.item)
  })
})
