import { describe, expect, it } from 'vitest'
import { MemoryKeyValueStore } from '../../../../consensus/chain/key-value.ts'
import type { Address, TxId } from '../../../../consensus/primitives/ids.ts'
import type { PayloadOf } from '../../../../consensus/tx/kinds.ts'
import { closureOf } from '../../../../marketplace/ledger/closures.ts'
import {
  DURATION_CLASSES,
  decodeOutcomes,
  durationPercentile,
  NO_OUTCOMES,
  OUTCOMES,
  operatorOutcomesKey,
  outcomesKey,
} from '../../../../marketplace/ledger/outcomes.ts'
import { seeded } from '../../../sim/miners.ts'
import { blocksFrom, importAll } from '../../../support/branches.ts'
import { TestChain } from '../../../support/chain.ts'
import { RandomChain, restlessRuleBook } from '../../../support/random-chain.ts'
import { runs } from '../../../support/runs.ts'
import { agentId, serviceId } from '../../../support/unsigned.ts'

const RULES = restlessRuleBook()
const NAMES = ['agent-one', 'agent-two'].map((id) => ({ agentId: agentId(id), serviceId: serviceId('summarise') }))

type Seller = Pick<PayloadOf<'agent_update'>, 'owner' | 'payout' | 'settlers'>

interface Count {
  delivered: number
  failed: number
  expired: number
  volume: bigint
  feesBurned: bigint
  readonly payers: Map<Address, bigint>
}

/** Outcomes per agent, computed independently from the blocks and the closures of the finished chain. */
function counted(
  { chain: { database } }: TestChain,
  blocks: ReturnType<typeof blocksFrom>,
): ReadonlyMap<string, Count> {
  const sellers = new Map<string, Seller>()
  const counts = new Map<string, Count>()
  /** The amount that a successful transaction burned. Receipt layout: type, id, outcome, weight, rate, fee, burned. */
  const burnedBy = (txId: TxId, height: number): bigint | undefined => {
    const receipts = database.receipts(database.idAt(height)!)!
    const id = Buffer.from(txId, 'hex')
    const own = receipts.find(
      (bytes) => bytes[0] === 1 && id.equals(bytes.subarray(1, 33)) && bytes[33] === 0 && bytes[34] === 0,
    )
    return own && Buffer.from(own).readBigUInt64LE(63)
  }
  for (const { header, transactions } of blocks) {
    for (const { txId, body } of transactions) {
      const burned = burnedBy(txId, header.height)
      if (burned === undefined) continue
      if (body.kind === 'agent_register') sellers.set(body.payload.agentId, { ...body.payload, owner: body.sender })
      if (body.kind === 'agent_update') sellers.set(body.payload.agentId, body.payload)
      if (body.kind !== 'agent_invoke') continue
      const { owner, payout, settlers } = sellers.get(body.payload.agentId)!
      const closure = closureOf(database, txId)
      if ([owner, payout, ...settlers].includes(body.sender)) continue
      const count = counts.get(body.payload.agentId) ?? {
        ...{ delivered: 0, failed: 0, expired: 0, volume: 0n, feesBurned: 0n },
        payers: new Map(),
      }
      counts.set(body.payload.agentId, count)
      count.feesBurned += burned
      if (closure === undefined) continue
      count[closure.how] += 1
      if (closure.how === 'delivered') {
        count.volume += body.payload.amount
        count.payers.set(body.sender, (count.payers.get(body.sender) ?? 0n) + body.payload.amount)
      }
    }
  }
  return counts
}

describe('outcomes of paid calls', () => {
  it('are those that a count over all blocks gives, also where the chain was reorganised', async () => {
    const seen = { delivered: 0, failed: 0, expired: 0 }
    for (let seed = 1; seed <= runs(12); seed++) {
      const first = new RandomChain(await TestChain.open(RULES), seeded(seed))
      await first.grow(14)
      const second = await first.branch(seed % 9)
      await second.grow(18 - second.test.height)
      const node = await TestChain.open(RULES, new MemoryKeyValueStore())
      const best = blocksFrom(second.test, 1)
      await importAll(node, [...blocksFrom(first.test, 1), ...best])
      const counts = counted(second.test, best)
      for (const name of NAMES) {
        const { database } = node.chain
        const outcomes = decodeOutcomes(database.indexed(OUTCOMES, outcomesKey(name)))
        const { durations, provenCallsByTab, failedByTab, payersByTab, volumeByTab, burnedByTab, ...figures } = outcomes
        const byTab = { provenCallsByTab, failedByTab, payersByTab, volumeByTab, burnedByTab }
        const expected = counts.get(name.agentId) ?? { ...NO_OUTCOMES, payers: new Map<Address, bigint>() }
        const top = [...expected.payers.values()].reduce((most, paid) => (paid > most ? paid : most), 0n)
        expect(figures).toEqual({
          delivered: expected.delivered,
          failed: expected.failed,
          expired: expected.expired,
          volume: expected.volume,
          topPayerVolume: top,
          squares: [...expected.payers.values()].reduce((sum, paid) => sum + paid * paid, 0n),
          payers: expected.payers.size,
          feesBurned: expected.feesBurned,
        })
        // These agents have one service each, so the operator's record is the service's, but for failures on tabs: a claim
        // does not name their service. Calls on tabs are counted in their own test.
        const operator = decodeOutcomes(database.indexed(OUTCOMES, operatorOutcomesKey(name.agentId)))
        expect(operator).toEqual({ ...figures, durations, ...byTab, failedByTab: operator.failedByTab })
        // Every delivery on these chains claims to have taken 10 ms.
        expect(durations[4]).toBe(outcomes.delivered)
        for (const how of ['delivered', 'failed', 'expired'] as const) seen[how] += outcomes[how]
      }
    }
    expect(Math.min(seen.delivered, seen.failed, seen.expired)).toBeGreaterThan(0)
  })

  it('of a service without calls are none', () => {
    expect(decodeOutcomes(undefined)).toEqual(NO_OUTCOMES)
    expect(durationPercentile(NO_OUTCOMES, 95)).toBeNull()
  })
})

describe('the percentile of durations', () => {
  const of = (...counts: number[]) => ({
    ...NO_OUTCOMES,
    durations: Array.from({ length: DURATION_CLASSES }, (_, i) => counts[i] ?? 0),
  })

  it('is the upper bound of the class that the share reaches', () => {
    expect(durationPercentile(of(1), 95)).toBe(1)
    expect(durationPercentile(of(95, 0, 5), 95)).toBe(1)
    expect(durationPercentile(of(94, 0, 6), 95)).toBe(4)
    expect(durationPercentile(of(1, 1), 50)).toBe(1)
    expect(durationPercentile(of(0, 0, 0, 0, 0, 7), 1)).toBe(32)
  })
})
