import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Address } from '../../consensus/primitives/ids.ts'
import type { MempoolEntry } from '../../mempool/account-queue.ts'
import { Pool } from '../../mempool/pool.ts'
import { Ranking } from '../../mempool/ranking.ts'
import { entryOf, nameOf } from '../support/mempool.ts'
import { runs } from '../support/runs.ts'
import { filled } from '../support/unsigned.ts'

const ACCOUNTS = [1, 2, 3]

const steps = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('put' as const), account: fc.nat(2), nonce: fc.nat(7), rate: fc.nat(9) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('take' as const), pick: fc.nat(99) }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'evict' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('head' as const), account: fc.nat(2), nonce: fc.nat(4), fee: fc.nat(9) }),
  },
)

interface Facts {
  readonly nonces: Map<Address, bigint>
  baseFee: bigint
  head: number
}

/**
 * The lowest fee rate of an entry and its sender's transactions before it, found by walking the pool. 0 if one of them
 * is missing or cannot be mined.
 */
function rankOf(pool: Pool, { tx }: MempoolEntry, { nonces, baseFee }: Facts): bigint {
  const { sender, nonce } = tx.body
  const rates: bigint[] = []
  for (let next = nonces.get(sender) ?? 0n; next <= nonce; next++) {
    const on = [...pool.entries()].find((one) => one.tx.body.sender === sender && one.tx.body.nonce === next)
    if (on === undefined || on.tx.body.maxFeeRate < baseFee) return 0n
    rates.push(on.tx.body.maxFeeRate)
  }
  return rates.reduce((least, rate) => (rate < least ? rate : least), rates[0] ?? 0n)
}

function worstOf(pool: Pool, facts: Facts): string | undefined {
  const last = [...pool.accounts()].flatMap(([address]) => {
    const own = [...pool.entries()].filter(({ tx }) => tx.body.sender === address)
    return own.toSorted((a, b) => Number(b.tx.body.nonce - a.tx.body.nonce)).slice(0, 1)
  })
  const ranked = last.map((entry) => ({ entry, rank: rankOf(pool, entry, facts) }))
  ranked.sort((a, b) => Number(a.rank - b.rank) || b.entry.sequence - a.entry.sequence)
  return ranked[0] === undefined ? undefined : `${nameOf(ranked[0].entry)} ${ranked[0].rank}`
}

describe('a ranking that is kept between questions', () => {
  it('answers like one that is worked out for each', () => {
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 60 }), (plan) => {
        const facts: Facts = { nonces: new Map(), baseFee: 44n, head: 0 }
        const pool = new Pool()
        const ranking = new Ranking(pool, {
          get headId() {
            return `head ${facts.head}`
          },
          get baseFee() {
            return facts.baseFee
          },
          nonceOf: (address) => facts.nonces.get(address) ?? 0n,
        })
        for (const [sequence, step] of plan.entries()) {
          if (step.kind === 'put') {
            const entry = entryOf({ account: step.account + 1, nonce: step.nonce, rate: 40 + step.rate, sequence })
            const free = pool.account(filled(step.account + 1))?.at(BigInt(step.nonce)) === undefined
            const rank = ranking.rankOf(entry.tx)
            pool.insert(entry)
            if (free) expect(rank).toBe(rankOf(pool, entry, facts))
          }
          if (step.kind === 'take') {
            const entry = [...pool.entries()][step.pick % Math.max(1, pool.count)]
            if (entry !== undefined) pool.remove(entry)
          }
          if (step.kind === 'head') {
            facts.head++
            facts.baseFee = BigInt(40 + step.fee)
            facts.nonces.set(filled(ACCOUNTS[step.account] as number), BigInt(step.nonce))
          }
          const worst = ranking.worst()
          const named = worst === undefined ? undefined : `${nameOf(worst.entry)} ${worst.rank}`
          expect(named).toBe(worstOf(pool, facts))
          if (step.kind === 'evict' && worst !== undefined) pool.remove(worst.entry)
        }
      }),
      { numRuns: runs(300) },
    )
  })
})
