import { expect, it } from 'vitest'
import { workOfTarget } from '../../../../../consensus/block/pow.ts'
import { leastWork } from '../../../../../consensus/chain/chain.ts'
import { isClaimEnough } from '../../../../../src/p2p/sync/claim.ts'

const TARGET = 2n ** 240n
const SLACK = workOfTarget(TARGET) * 144n

it('a branch of exactly the least work is enough, and one hash less is not', () => {
  const head = { header: { target: TARGET }, totalWork: 2n * SLACK }
  const least = leastWork(head as never, 0n)
  expect(least).toBe(SLACK)
  const judge = { ruleBook: { params: { minimumWork: 0n } }, leastWork: least } as never
  expect(isClaimEnough(judge, least)).toBe(true)
  expect(isClaimEnough(judge, least - 1n)).toBe(false)
})

it('awaited work counts where it is more than the work of the head', () => {
  const head = { header: { target: TARGET }, totalWork: 2n * SLACK } as never
  expect(leastWork(head, 2n * SLACK)).toBe(SLACK)
  expect(leastWork(head, 2n * SLACK + 1n)).toBe(SLACK + 1n)
})
