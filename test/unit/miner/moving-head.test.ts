import { expect, it } from 'vitest'
import { UNPACED } from '../../../consensus/chain/ports.ts'
import { buildTemplate } from '../../../miner/template.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { units } from '../../support/unsigned.ts'

it('gives no template of two states when the head moves at any moment of the work', async () => {
  const test = await TestChain.open(undefined, undefined, { powHasher: () => new Uint8Array(32) })
  const pay = { to: wallet(2).address, amount: units(5_000), create: false }
  let kept = 0
  for (let steps = 0; steps < 60; steps++) {
    const block = await test.build([await test.tx(wallet(1), 'transfer', pay)])
    const importing = test.import(block)
    for (let i = 0; i < steps; i++) await null
    const request = { miner: wallet(3).address, nowMs: test.nowMs + 1, candidates: [], extra: new Uint8Array(32) }
    const template = await buildTemplate(test.chain, UNPACED, request)
    await importing
    if (template === undefined || template.parent.id !== test.chain.head.id) continue
    kept++
    test.nowMs += 3_000
    expect(await test.import(template.block)).toBe('connected')
  }
  expect(kept).toBeGreaterThan(0)
})
