import { join } from 'node:path'
import { Level } from 'level'
import { afterEach, expect, it } from 'vitest'
import { decodeBlock } from '../../../consensus/block/block.ts'
import { fromHex } from '../../../consensus/primitives/bytes.ts'
import type { TxId } from '../../../consensus/primitives/ids.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import type { DollarPayment } from '../../../marketplace/till/rails/dollar/claim.ts'
import { readDollarPayment } from '../../../marketplace/till/rails/dollar/payment.ts'
import dollar from '../../fixtures/claims/dollar.json' with { type: 'json' }
import native from '../../fixtures/claims/native.json' with { type: 'json' }
import { TestChain } from '../../support/chain.ts'
import { closeRails, PRICE, TERMS, TestRail } from '../../support/dollar.ts'
import { closeMarkets, ONCE, TestMarket } from '../../support/market.ts'
import { temporaryFolder, until } from '../../support/processes.ts'

/*
 * Claims in every state, as the release of November 2026 (commit 779bd78) wrote them with LevelDB, and their calls.
 * Native claims come with the blocks of their payments, dollar claims with authorizations that are valid until 2087.
 */

afterEach(async () => {
  await closeRails()
  await closeMarkets()
})

/** A data folder with these entries as its claim store. */
async function folderWith(name: string, entries: readonly (readonly string[])[]): Promise<string> {
  const folder = temporaryFolder()
  const database = new Level<string, string>(join(folder, name))
  for (const [key, value] of entries) await database.put(key as string, value as string)
  await database.close()
  return folder
}

it('takes up native claims of an older release, and closes each as its state says', async () => {
  const test = await TestChain.open()
  for (const text of native.blocks) {
    const block = decodeBlock(new Uint8Array(Buffer.from(text, 'base64')))
    if (!block.ok) throw new Error(block.fault.code)
    test.nowMs = block.value.header.timeMs
    await test.import(block.value)
  }
  const market = await TestMarket.open({ test, folder: await folderWith('market', native.entries), published: false })
  await market.till.resume()
  const told: Record<string, unknown> = {}
  for (const { state, txId, secret, serviceId, request } of native.calls) {
    const call = { txId: txId as TxId, secret: secret === null ? null : fromHex(secret), serviceId, request }
    const outcome = await market.till.settle(call)
    if (!outcome.ok) throw new Error(`${state}: ${outcome.fault.code}`)
    const { claim } = outcome.value
    told[`${state}, ${request}`] = claim.state === 'failed' ? claim.reason : claim.result
  }
  expect(told).toEqual({
    'delivered final, ok:final': '{"echo":"ok:final"}',
    'delivered owed, ok:delivered': '{"echo":"ok:delivered"}',
    'failed owed, fail': 'service/failed',
    'executing, ok:once': 'service/interrupted',
    'executing, ok:again': '{"echo":"ok:again"}',
    'claimed, ok:claimed': '{"echo":"ok:claimed"}',
  })
  expect(market.workbench.begun).toHaveLength(2)
  await market.pass(500)
  await market.mineWaiting(2)
  const closures = native.calls.map(({ txId }) => market.closure({ txId: txId as TxId })?.how)
  expect(closures).toEqual(['delivered', 'delivered', 'failed', 'failed', 'delivered', 'delivered'])
})

it('takes up dollar claims of an older release, and brings each to its end', async () => {
  const folder = await folderWith('stable', dollar.entries)
  const rail = await TestRail.open({ folder, holdsWork: true, terms: { maxTimeoutSeconds: 2_000_000_000 } })
  const calls = dollar.calls.map(({ payment, ...call }) => ({
    ...call,
    payment: paymentIn(readDollarPayment(payment, 'fixture', TERMS)),
  }))
  for (const { payment } of calls) rail.token.mint(payment.authorization.from, PRICE)
  rail.market.workbench.release()
  await until('nothing is open', async () => (await rail.store.open()).every(({ state }) => state === 'unpaid'))
  const told: Record<string, string> = {}
  for (const { state, ...call } of calls) told[`${state}, ${call.request}`] = await rail.codeOf(call)
  expect(told).toEqual({
    'settled delivered, ok:delivered': 'stable/delivered',
    'settled, ok:settled': 'replayed',
    'unpaid failed, fail': 'service/failed',
    'unpaid refused, ok:refused': 'settled',
    'owed, fail:owed': 'stable/owed',
    'settling, ok:settling': 'replayed',
    'executing, ok:once': 'service/interrupted',
    'executing, ok:again': 'replayed',
    'claimed, ok:claimed': 'settled',
  })
  // Calls with results are not worked on again. Only the repeatable call and the one that had not begun are.
  expect(rail.market.workbench.begun).toEqual([expect.stringContaining('ok:again'), `${ONCE} ok:claimed`])
  const owed = (await rail.store.recent(50, null)).claims.filter(({ state }) => state === 'owed')
  expect(owed).toMatchObject([{ refund: { status: 'paid' } }])
})

function paymentIn(read: Result<DollarPayment>): DollarPayment {
  if (!read.ok) throw new Error(JSON.stringify(read.fault))
  return read.value
}
