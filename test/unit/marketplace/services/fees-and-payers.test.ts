import { beforeAll, describe, expect, it } from 'vitest'
import { baseFeeAfter } from '../../../../consensus/block/base-fee.ts'
import { decodeReceipt } from '../../../../consensus/ledger/receipt.ts'
import { parseAmount } from '../../../../consensus/primitives/amount.ts'
import type { ServiceId } from '../../../../consensus/primitives/ids.ts'
import { lockOf, openerOf } from '../../../../consensus/tx/redeem-lock.ts'
import type { Transaction } from '../../../../consensus/tx/transaction.ts'
import { type ServiceChain, serviceChain } from '../../../support/service-chain.ts'
import { SHOP } from '../../../support/service-chain-script.ts'
import { resultOf } from '../../../support/service-results.ts'
import { steadyWallet } from '../../../support/steady-keys.ts'
import { SAMPLE, units } from '../../../support/unsigned.ts'

interface Fees {
  readonly suggestedFee: { readonly maxFeeRate: string; readonly transferCost: string; readonly paidCallCost: string }
}

interface Scan {
  readonly widest: { readonly profitable: boolean; readonly transactionFees: { readonly amount: string } }
}

interface Roster {
  readonly agents: readonly { readonly id: string; readonly distinctPayers: number; readonly provenCalls: number }[]
}

/** Payers of delivered calls to an agent, computed from the blocks alone. */
function payersOf({ test: { chain } }: ServiceChain, agentId: string): ReadonlySet<string> {
  const callers = new Map<string, string>()
  const payers = new Set<string>()
  for (let height = 1; height <= chain.head.header.height; height++) {
    const block = chain.database.block(chain.database.idAt(height) as never)
    for (const { txId, body } of block?.transactions ?? []) {
      if (body.kind === 'agent_invoke' && body.payload.agentId === agentId) callers.set(txId, body.sender)
      if (body.kind !== 'agent_receipt') continue
      for (const entry of body.payload.entries) {
        const caller = callers.get(entry.txId)
        if (entry.outcome === 0 && caller !== undefined) payers.add(caller)
      }
    }
  }
  return payers
}

/** A service id that has 40 characters together with the shop's id. */
const SERVICE = 'node-price-feed'.padEnd(40 - SHOP.length, 'x') as ServiceId

describe('a seller that was asked to be exact', () => {
  let chain: ServiceChain
  beforeAll(async () => {
    chain = await serviceChain()
  })

  const call = (from: number, serviceId: ServiceId): Promise<Transaction> => {
    const payload = SAMPLE.agent_invoke({ agentId: SHOP, serviceId, term: 100 })
    return chain.test.tx(steadyWallet(from), 'agent_invoke', payload)
  }

  it('says what a transfer and a paid call cost, as blocks weigh them', async () => {
    const to = steadyWallet(2).address
    const transfer = await chain.test.tx(steadyWallet(4), 'transfer', { to, amount: units(1n), create: false })
    const paid = await call(6, SERVICE)
    await chain.test.mine([transfer, paid])
    const receipts = (chain.test.chain.database.receipts(chain.test.chain.head.id) ?? []).map(decodeReceipt)
    const weightOf = ({ txId }: Transaction): bigint => {
      const receipt = receipts.find((one) => one.type === 'transaction' && one.txId === txId)
      return BigInt(receipt?.type === 'transaction' ? receipt.weight : 0)
    }
    const { suggestedFee } = await resultOf<Fees>('node-gas-tracker', '', chain.context)
    const rate = BigInt(suggestedFee.maxFeeRate) / 2n
    const unitsOf = (text: string): bigint | null => {
      const read = parseAmount(text, 8)
      return read.ok ? read.value : null
    }
    expect(unitsOf(suggestedFee.transferCost)).toBe(rate * weightOf(transfer))
    expect(unitsOf(suggestedFee.paidCallCost)).toBe(rate * weightOf(paid))
  })

  it('calls a spread profitable only where it pays for two swaps, as blocks weigh them', async () => {
    const swap = await chain.test.tx(steadyWallet(4), 'swap', {
      ...{ assetIn: 'FAR', exactOut: false, amount: units(1n), limit: units(0n) },
      hops: [{ asset: 'FUSD', feeBps: 30 }],
    } as never)
    await chain.test.mine([swap])
    const receipts = (chain.test.chain.database.receipts(chain.test.chain.head.id) ?? []).map(decodeReceipt)
    const receipt = receipts.find((one) => one.type === 'transaction')
    const { head, ruleBook } = chain.test.chain
    const baseFee = baseFeeAfter(head.header, ruleBook.at(head.header.height + 1).block)
    const { widest } = await resultOf<Scan>('node-arb-scan', '', chain.context)
    const burned = 2n * baseFee * BigInt(receipt?.type === 'transaction' ? receipt.weight : 0)
    expect(parseAmount(widest.transactionFees.amount, 8)).toMatchObject({ value: burned })
    expect(widest.profitable).toBe(true)
  })

  it('counts a payer once, however many of its services that one calls', async () => {
    const secret = new Uint8Array(32).fill(77)
    const lock = { redeemLock: lockOf(openerOf(secret)) }
    const services = ['node-price-feed', 'node-tx-lookup', 'node-price-feed'] as ServiceId[]
    const calls: Transaction[] = []
    for (const serviceId of services) {
      const payload = SAMPLE.agent_invoke({ agentId: SHOP, serviceId, term: 100, ...lock })
      calls.push(await chain.test.tx(steadyWallet(6), 'agent_invoke', payload))
    }
    await chain.test.mine(calls)
    const entries = calls.map(({ txId }) => ({ txId, opener: openerOf(secret) }))
    await chain.test.mine([await chain.test.tx(steadyWallet(2), 'agent_receipt', SAMPLE.agent_receipt(entries))])
    const { agents } = await resultOf<Roster>('node-agent-roster', '', chain.context)
    const [shop] = agents.filter(({ id }) => id === SHOP)
    expect(shop).toMatchObject({ distinctPayers: payersOf(chain, SHOP).size })
    expect(shop?.provenCalls).toBeGreaterThan(shop?.distinctPayers ?? 0)
  })
})
