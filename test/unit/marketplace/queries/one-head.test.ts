import { describe, expect, it } from 'vitest'
import { atOneHead } from '../../../../marketplace/queries/one-head.ts'
import { blocksFrom, deviantRuleBook, fork, importAll, mineBranch } from '../../../support/branches.ts'
import { TestChain } from '../../../support/chain.ts'

describe('a reading', () => {
  it('says which head it is of', async () => {
    const test = await TestChain.open()
    await test.mine()
    const reading = await atOneHead(test.chain, () => 'read')
    expect(reading).toMatchObject({ ok: true, value: { value: 'read', head: { id: test.chain.head.id } } })
  })

  it('is begun anew where the head moves, and shows the new one', async () => {
    const test = await TestChain.open()
    const heights: number[] = []
    const reading = await atOneHead(test.chain, async ({ header }) => {
      heights.push(header.height)
      if (heights.length < 3) await test.mine()
      return test.height
    })
    expect(heights).toEqual([0, 1, 2])
    expect(reading).toMatchObject({ ok: true, value: { value: 2, head: { header: { height: 2 } } } })
  })

  it('is given up where the head never rests', async () => {
    const test = await TestChain.open()
    let times = 0
    const reading = await atOneHead(test.chain, async () => {
      times += 1
      await test.mine()
    })
    expect(reading).toMatchObject({ ok: false, fault: { code: 'chain/head-moving', detail: { tries: 20 } } })
    expect(times).toBe(20)
  })

  it('is begun anew where the head left and came back meanwhile', async () => {
    const test = await TestChain.open()
    await test.mine()
    // A heavier branch, which is invalid from its second block on.
    const other = await fork(test, { ruleBook: deviantRuleBook(3) })
    await mineBranch(test, 1, 1)
    await mineBranch(other, 2, 2)
    const { id } = test.chain.head
    const moves: number[] = []
    test.chain.onHeadChange(({ disconnected }) => moves.push(disconnected.length))
    let times = 0
    const reading = await atOneHead(test.chain, async () => {
      times += 1
      if (times === 1) await importAll(test, blocksFrom(other, 2))
    })
    expect(moves.length).toBeGreaterThan(0)
    expect(test.chain.head.id).toBe(id)
    expect(times).toBe(2)
    expect(reading).toMatchObject({ ok: true, value: { head: { id } } })
  })

  it('does not look at a chain that is moving', async () => {
    const test = await TestChain.open()
    await test.mine()
    const other = await fork(test)
    await mineBranch(test, 1, 1)
    await mineBranch(other, 3, 2)
    const branch = blocksFrom(other, 2)
    const moved = importAll(test, branch)
    const seen: boolean[] = []
    const readings = Array.from({ length: 20 }, async () => {
      await Promise.resolve()
      return atOneHead(test.chain, () => {
        seen.push(test.chain.moving)
        return test.chain.head.id
      })
    })
    for (const reading of await Promise.all(readings)) {
      if (!reading.ok) throw new Error(reading.fault.code)
      expect(reading.value.value).toBe(reading.value.head.id)
    }
    await moved
    expect(seen.length).toBeGreaterThanOrEqual(20)
    expect(seen).not.toContain(true)
    expect(test.chain.head.id).toBe(branch.at(-1)!.id)
  })
})
