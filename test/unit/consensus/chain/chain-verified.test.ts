import { describe, expect, it } from 'vitest'
import type { WtxId } from '../../../../consensus/primitives/ids.ts'
import { LruSet } from '../../../../consensus/primitives/lru.ts'
import { outcomeOf } from '../../../support/branches.ts'
import { TestChain, wallet } from '../../../support/chain.ts'
import { filled, SAMPLE, units } from '../../../support/unsigned.ts'

describe('verified witnesses', () => {
  it('are remembered by their own id alone', () => {
    const verified = new LruSet<WtxId>(2)
    verified.add(filled<WtxId>(1))
    expect([verified.has(filled<WtxId>(1)), verified.has(filled<WtxId>(2))]).toEqual([true, false])
  })

  it('need no second check in a block, and vouch for no other witness', async () => {
    const checked: number[] = []
    const verifier = {
      verify: async (jobs: readonly unknown[]) => {
        checked.push(jobs.length)
        return jobs.map(() => true)
      },
    }
    const test = await TestChain.open(undefined, undefined, { verifier })
    const pay = SAMPLE.transfer({ to: wallet(2).address, amount: units(5_000) })
    const [known, other] = [await test.tx(wallet(1), 'transfer', pay), await test.tx(wallet(1), 'transfer', pay)]
    test.chain.verified.add(known.wtxId)
    expect(await outcomeOf(test, await test.build([known, other]))).toBe('connected')
    expect(checked).toEqual([1])
  })
})
