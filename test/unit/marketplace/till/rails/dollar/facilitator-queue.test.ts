import { expect, it } from 'vitest'
import type {
  Facilitator,
  FacilitatorRequest,
  FacilitatorVerdict,
} from '../../../../../../marketplace/till/rails/dollar/facilitator.ts'
import {
  CHECKS_WAITING_MAX,
  FacilitatorPool,
  type PoolVerdict,
} from '../../../../../../marketplace/till/rails/dollar/facilitators.ts'
import { TERMS } from '../../../../../support/dollar.ts'
import { TestTime } from '../../../../../support/market-parts.ts'

const REQUEST = {} as FacilitatorRequest
const AT_ONCE = 64
const GOOD: FacilitatorVerdict = { is: 'good', payer: null, transaction: null }

/** A facilitator that answers when the test says so. */
class HeldFacilitator implements Facilitator {
  readonly url = 'https://facilitator.example'
  readonly #answers: (() => void)[] = []

  get asked(): number {
    return this.#answers.length
  }

  verify(): Promise<FacilitatorVerdict> {
    return new Promise((resolve) => this.#answers.push(() => resolve(GOOD)))
  }

  settle = this.verify
  supports = async () => ({ ok: true, answered: true, detail: '' })

  answerAll(): void {
    for (const answer of this.#answers.splice(0)) answer()
  }
}

it('payments that wait for a facilitator are bounded, and the client with most of them makes room for others', async () => {
  const held = new HeldFacilitator()
  const time = new TestTime()
  const pool = new FacilitatorPool({ facilitators: [held], network: TERMS.network, clock: time, timers: time })
  await pool.start()
  const said = new Map<string, PoolVerdict['verdict']['is'][]>()
  const verify = async (client: string): Promise<void> => {
    const { verdict } = await pool.verify(REQUEST, { client })
    said.set(client, [...(said.get(client) ?? []), verdict.is])
  }
  const crowd = Array.from({ length: AT_ONCE + CHECKS_WAITING_MAX }, () => verify('crowd'))
  await verify('crowd')
  expect([...said]).toEqual([['crowd', ['unreachable']]])
  const buyer = verify('buyer')
  while (!said.has('buyer')) {
    held.answerAll()
    await Promise.resolve()
  }
  expect(said.get('buyer')).toEqual(['good'])
  expect(said.get('crowd')?.filter((is) => is === 'unreachable').length).toBe(2)
  while ((said.get('crowd')?.length ?? 0) < AT_ONCE + CHECKS_WAITING_MAX + 1) {
    held.answerAll()
    await Promise.resolve()
  }
  await Promise.all([...crowd, buyer])
  pool.stop()
})
