import { beforeAll, describe, expect, it } from 'vitest'
import { extendTip, type HeaderTip } from '../../../../../consensus/block/header-tip.ts'
import { MemoryKeyValueStore } from '../../../../../consensus/chain/key-value.ts'
import { KeptHeaders } from '../../../../../src/p2p/snapshot/kept-headers.ts'
import { TestChain } from '../../../../support/chain.ts'
import { headerBranch } from '../../../../support/header-branch.ts'
import { headersAbove } from '../../../../support/snapshot-nodes.ts'

let test: TestChain
let headers: readonly HeaderTip[]

beforeAll(async () => {
  test = await TestChain.open()
  await test.mineTo(1)
  const [first] = headersAbove(test, 0) as readonly [HeaderTip]
  headers = [first, ...headerBranch(test.ruleBook, first, 599)]
})

async function keptOver(store: MemoryKeyValueStore): Promise<KeptHeaders> {
  const kept = new KeptHeaders(store)
  await kept.keep(headers.slice(0, 300))
  await kept.keep(headers.slice(300, 500))
  await kept.keep(headers.slice(500, 501))
  return kept
}

describe('kept headers that are shortened', () => {
  it('end a hundred before, and go on from there, after a restart too', async () => {
    const store = new MemoryKeyValueStore()
    await (await keptOver(store)).shorten()
    const kept = new KeptHeaders(store)
    expect(kept.tip?.id).toBe(headers[399]?.id)
    expect(kept.tipAt(400)?.id).toBe(headers[399]?.id)
    expect(kept.tipAt(401)).toBeUndefined()
    const next = extendTip(test.ruleBook, kept.tip as HeaderTip, headers[400] as HeaderTip)
    expect(next).toEqual({ ok: true, value: headers[400] })
    await kept.keep(headers.slice(400))
    expect(kept.tip).toEqual(headers.at(-1))
  })

  it('stay where that was done before and too few came since', async () => {
    const kept = await keptOver(new MemoryKeyValueStore())
    expect(await kept.shorten()).toBe(true)
    expect(await kept.shorten()).toBe(false)
    await kept.keep(headers.slice(400, 450))
    expect(await kept.shorten()).toBe(false)
    expect(kept.tip).toEqual(headers[449])
  })

  it('stay where there are too few', async () => {
    const kept = new KeptHeaders(new MemoryKeyValueStore())
    await kept.keep(headers.slice(0, 50))
    expect(await kept.shorten()).toBe(false)
    expect(kept.tip).toEqual(headers[49])
  })
})
