import { beforeAll, describe, expect, it } from 'vitest'
import { devSeed } from '../../../../config/networks/dev-keys.ts'
import { LAUNCH_RULES, TAB_RULES } from '../../../../config/networks/rules.ts'
import { merkleProof } from '../../../../consensus/crypto/merkle.ts'
import { TAB_SCHEME } from '../../../../consensus/crypto/tab-signing.ts'
import { toHex } from '../../../../consensus/primitives/bytes.ts'
import type { Hash, TxId } from '../../../../consensus/primitives/ids.ts'
import {
  encodeTabReceipt,
  TAB_RECEIPT_TREE,
  type TabReceipt,
  tabReceiptMessage,
  tabReceiptsRoot,
  voucherMessage,
} from '../../../../consensus/tx/tab-messages.ts'
import type { ServiceContext } from '../../../../marketplace/services/context.ts'
import { NATIVE_BACKEND } from '../../../../src/crypto/native-backend.ts'
import { TestChain, wallet } from '../../../support/chain.ts'
import { testRuleBook } from '../../../support/network.ts'
import { serviceContext } from '../../../support/service-chain.ts'
import { resultOf } from '../../../support/service-results.ts'
import { agentId, filled, SAMPLE, serviceId, units } from '../../../support/unsigned.ts'

const [VOUCHER_SEED, RECEIPT_SEED] = [devSeed(7), devSeed(8)]
const PRICE = 200_000n
const keyOf = (seed: Uint8Array): Hash => toHex(NATIVE_BACKEND.publicKeyEd25519(seed)) as Hash

interface Told {
  readonly status: string
  readonly state: string
  readonly payment: { readonly type: string } | null
  readonly receipt: { readonly txId: string } | null
  readonly proofs: readonly { readonly of: string }[]
  readonly tab: {
    readonly signed: boolean | null
    readonly claim: { readonly first: number; readonly last: number } | null
    readonly inRoot: boolean | null
  }
}

/** A tab with five calls, of which a first claim covers two and a second one two more. */
describe('a receipt of a tab', () => {
  let context: ServiceContext
  let tabId: TxId
  let claimIds: readonly string[]
  let receipts: readonly TabReceipt[]
  beforeAll(async () => {
    const test = await TestChain.open(testRuleBook({ tx: { ...LAUNCH_RULES.tx, tabs: TAB_RULES } }))
    const owner = wallet(2)
    const agent = { ...SAMPLE.agent_register(), agentId: agentId('acme'), payout: owner.address, settlers: [] }
    await test.mine([await test.tx(owner, 'agent_register', agent)])
    const service = { ...SAMPLE.service_publish(), agentId: agentId('acme'), serviceId: serviceId('node-echo') }
    await test.mine([await test.tx(owner, 'service_publish', service)])
    const terms = {
      agentId: agentId('acme'),
      receiptKey: keyOf(RECEIPT_SEED),
      minDeposit: units(0),
      minCloseDelay: 400,
    }
    await test.mine([await test.tx(owner, 'tab_terms', terms)])
    const opening = { agentId: agentId('acme'), deposit: units(10_000_000), term: 1_200, closeDelay: 400 }
    const open = { ...opening, scheme: TAB_SCHEME, voucherKey: keyOf(VOUCHER_SEED) }
    const tx = await test.tx(wallet(1), 'tab_open', open)
    await test.mine([tx])
    tabId = tx.txId
    receipts = Array.from({ length: 5 }, (_, i) => receiptAt(tabId, i + 1))
    const network = test.chain.network
    const claim = async (from: number, to: number): Promise<string> => {
      const claimed = units(BigInt(to) * PRICE)
      const voucher = { seq: to, ceiling: claimed, context: filled<Hash>(3) }
      const signature = NATIVE_BACKEND.signEd25519(voucherMessage(network, tabId, voucher), VOUCHER_SEED)
      const root = tabReceiptsRoot(receipts.slice(from - 1, to).map(encodeTabReceipt))
      const calls = to - from + 1
      const services = [{ serviceId: serviceId('node-echo'), calls, amount: units(BigInt(calls) * PRICE) }]
      const entry = { tabId, voucher: [{ ...voucher, signature }], claimed, close: false, receipts: to, failed: 0 }
      const sent = await test.tx(owner, 'tab_claim', { entries: [{ ...entry, root, services }] })
      await test.mine([sent])
      return sent.txId
    }
    claimIds = [await claim(1, 2), await claim(3, 4)]
    context = serviceContext(test)
  })

  function receiptAt(of: TxId, n: number): TabReceipt {
    return {
      ...{ tabId: of, seq: n + 1, n, serviceId: serviceId('node-echo'), context: filled(3), resultHash: filled(4) },
      ...{ outcome: 0, charged: units(PRICE), cumulative: units(BigInt(n) * PRICE), durationMs: 5, timeMs: 1_000 },
    }
  }

  /** As its payer hands it on. */
  function shown(n: number, { seed = RECEIPT_SEED, change = {} } = {}): object {
    const receipt = { ...(receipts[n - 1] as TabReceipt), ...change }
    const message = tabReceiptMessage(context.chain.network, encodeTabReceipt(receipt))
    const { charged, cumulative, ...rest } = receipt
    const sums = { charged: String(charged), cumulative: String(cumulative) }
    return { ...rest, ...sums, signature: toHex(NATIVE_BACKEND.signEd25519(message, seed)) }
  }

  /** Its path in the tree of the receipts `from` to `to`. */
  function pathOf(n: number, from: number, to: number): object {
    const proof = merkleProof(TAB_RECEIPT_TREE, receipts.slice(from - 1, to).map(encodeTabReceipt), n - from)
    return { ...proof, siblings: proof.siblings.map(toHex) }
  }

  const ask = (request: object): Promise<Told> =>
    resultOf<Told>('node-receipt-verify', JSON.stringify(request), context)

  it('is signed by the key of its tab, and its path leads to the root of the claim that covers it', async () => {
    for (const [n, claim] of [
      [2, 0],
      [3, 1],
      [4, 1],
    ] as const) {
      const [first, last] = claim === 0 ? [1, 2] : [3, 4]
      const told = await ask({ receipt: shown(n), path: pathOf(n, first, last) })
      expect(told).toMatchObject({ status: 'mined', state: 'delivered', payment: { type: 'tab_open' } })
      expect(told.receipt?.txId).toBe(claimIds[claim])
      expect(told.tab).toMatchObject({ signed: true, inRoot: true, claim: { first, last, txId: claimIds[claim] } })
      expect(told.proofs.map(({ of }) => of)).toEqual(
        ['payment', 'closing'].flatMap((of) => [`${of} transaction`, `${of} outcome`]),
      )
    }
  })

  it('alone is told who signed it and which claim covers it', async () => {
    expect((await ask(shown(1))).tab).toMatchObject({ signed: true, inRoot: null, claim: { first: 1, last: 2 } })
    const waiting = await ask(shown(5))
    expect(waiting).toMatchObject({ status: 'mined', state: 'none', receipt: null })
    expect(waiting.tab).toMatchObject({ signed: true, claim: null, inRoot: null })
  })

  it('of another key, sum, place or tab does not pass', async () => {
    const path = pathOf(3, 3, 4)
    expect((await ask({ receipt: shown(3, { seed: VOUCHER_SEED }), path })).tab).toMatchObject({ signed: false })
    const dearer = shown(3, { change: { charged: units(1) } })
    expect((await ask({ receipt: dearer, path })).tab).toMatchObject({ signed: true, inRoot: false })
    expect((await ask({ receipt: shown(4), path })).tab).toMatchObject({ signed: true, inRoot: false })
    expect((await ask({ receipt: shown(3), path: { ...path, siblings: [] } })).tab).toMatchObject({ inRoot: false })
    const stranger = shown(3, { change: { tabId: filled<TxId>(9) } })
    expect(await ask({ receipt: stranger })).toMatchObject({ status: 'unknown', tab: { signed: null, claim: null } })
  })
})
