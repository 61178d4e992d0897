import { describe, expect, it } from 'vitest'
import type { Address, TxId } from '../../../../consensus/primitives/ids.ts'
import type { PayloadOf } from '../../../../consensus/tx/kinds.ts'
import type { Transaction } from '../../../../consensus/tx/transaction.ts'
import { type HistoryCursor, type HistoryEntry, historyOf } from '../../../../marketplace/ledger/history.ts'
import { seeded } from '../../../sim/miners.ts'
import { blocksFrom, fork, importAll, mineBranch } from '../../../support/branches.ts'
import { TestChain, WALLETS, wallet } from '../../../support/chain.ts'
import { RandomChain, restlessRuleBook } from '../../../support/random-chain.ts'
import { filled, SAMPLE, units } from '../../../support/unsigned.ts'

const RULES = restlessRuleBook()
const OWNER = wallet(1)
const CALLER = wallet(2)
const PAYOUT = wallet(3)
const LATER = wallet(4)
const MINER = wallet(5)
const ALL = 1_000

const opened = () => TestChain.open(RULES)
const address = (number: number): Address => wallet(number).address

/** The history of an address, newest first, without positions. */
async function events({ chain }: TestChain, of: Address) {
  const entries = await historyOf(chain.database, of, ALL)
  return entries.map(({ event, txId, code, roles }) => ({ event, txId, code, roles }))
}

const mined = (tx: Transaction, ...roles: readonly string[]) => ({
  event: 'transaction',
  txId: tx.txId,
  code: 0,
  roles,
})
const closed = (event: string, txId: TxId, ...roles: readonly string[]) => ({ event, txId, code: 0, roles })

describe('a transaction', () => {
  it('stands under its sender and under the receiver that it names', async () => {
    const test = await opened()
    const tx = await test.tx(wallet(6), 'transfer', SAMPLE.transfer({ to: address(7) }))
    await test.mine([tx])
    expect(await events(test, address(6))).toEqual([mined(tx, 'sender')])
    expect(await events(test, address(7))).toEqual([mined(tx, 'receiver')])
    expect(await events(test, address(8))).toEqual([])
  })

  it('to oneself stands there once', async () => {
    const test = await opened()
    const tx = await test.tx(wallet(6), 'transfer', SAMPLE.transfer({ to: address(6) }))
    await test.mine([tx])
    expect(await events(test, address(6))).toEqual([mined(tx, 'sender', 'receiver')])
  })

  it('that failed stands there with its outcome', async () => {
    const test = await opened()
    const tx = await test.tx(wallet(6), 'transfer', SAMPLE.transfer({ to: filled(0x77), create: false }))
    await test.mine([tx])
    const [atSender, atReceiver] = [await events(test, address(6)), await events(test, filled(0x77))]
    expect(atSender).toEqual([{ ...mined(tx, 'sender'), code: atSender[0]?.code }])
    expect(atSender[0]?.code).toBeGreaterThan(0)
    expect(atReceiver).toEqual([{ ...atSender[0], roles: ['receiver'] }])
  })

  it('stands under every address in its payload, whatever the field is called', async () => {
    const test = await opened()
    const register = await test.tx(OWNER, 'agent_register', SAMPLE.agent_register({ payout: address(7), settlers: [] }))
    await test.mine([register])
    const payload = SAMPLE.agent_update({ payout: address(7), owner: address(8), settlers: [] })
    const update = await test.tx(OWNER, 'agent_update', payload)
    await test.mine([update])
    expect(await events(test, address(7))).toEqual([mined(update, 'receiver'), mined(register, 'receiver')])
    expect(await events(test, address(8))).toEqual([mined(update, 'receiver')])
  })
})

/** A chain with an agent whose payout is {@link PAYOUT}, and its service. */
async function market(): Promise<TestChain> {
  const test = await opened()
  const payload = SAMPLE.agent_register({ payout: PAYOUT.address, settlers: [] })
  const register = await test.tx(OWNER, 'agent_register', payload)
  await test.mine([register, await test.tx(OWNER, 'service_publish', SAMPLE.service_publish())])
  return test
}

const invoke = (test: TestChain, change: Partial<PayloadOf<'agent_invoke'>> = {}) =>
  test.tx(CALLER, 'agent_invoke', SAMPLE.agent_invoke({ term: 9, ...change }))
const settle = (test: TestChain, txId: TxId, outcome: number) =>
  test.tx(OWNER, 'agent_receipt', SAMPLE.agent_receipt([{ txId, outcome }]))
const payTo = (test: TestChain, payout: Address) =>
  test.tx(OWNER, 'agent_update', SAMPLE.agent_update({ owner: OWNER.address, payout, settlers: [] }))

describe('the end of an escrow', () => {
  it.each([
    ['delivered', 0],
    ['failed', 1],
  ])('%s stands under the caller and under the payout that was frozen', async (event, outcome) => {
    const test = await market()
    const paid = await invoke(test)
    await test.mine([paid])
    await test.mine([await payTo(test, LATER.address)])
    await test.mine([await settle(test, paid.txId, outcome)])
    expect(await events(test, CALLER.address)).toEqual([closed(event, paid.txId, 'caller'), mined(paid, 'sender')])
    expect((await events(test, PAYOUT.address))[0]).toEqual(closed(event, paid.txId, 'payout'))
    expect((await events(test, LATER.address)).map(({ event }) => event)).toEqual(['transaction'])
  })

  it('in the block of its payment stands under the payout of that moment', async () => {
    const test = await market()
    const before = await payTo(test, address(7))
    const paid = await invoke(test)
    const after = await payTo(test, address(8))
    const other = await invoke(test)
    const receipts = [await settle(test, paid.txId, 0), await settle(test, other.txId, 1)]
    await test.mine([before, paid, after, other, ...receipts])
    expect(await events(test, address(7))).toEqual([
      closed('delivered', paid.txId, 'payout'),
      mined(before, 'receiver'),
    ])
    expect(await events(test, address(8))).toEqual([closed('failed', other.txId, 'payout'), mined(after, 'receiver')])
    expect(await events(test, CALLER.address)).toEqual([
      closed('failed', other.txId, 'caller'),
      closed('delivered', paid.txId, 'caller'),
      mined(other, 'sender'),
      mined(paid, 'sender'),
    ])
  })

  it('in the block of its payment, of an agent that was not changed, stands under its payout', async () => {
    const test = await market()
    const paid = await invoke(test)
    await test.mine([paid, await settle(test, paid.txId, 0)])
    expect((await events(test, PAYOUT.address))[0]).toEqual(closed('delivered', paid.txId, 'payout'))
  })

  it('by a receipt that is refused is none', async () => {
    const test = await market()
    const paid = await invoke(test)
    await test.mine([paid, await test.tx(CALLER, 'agent_receipt', SAMPLE.agent_receipt([{ txId: paid.txId }]))])
    expect((await events(test, CALLER.address)).map(({ event }) => event)).toEqual(['transaction', 'transaction'])
  })

  it('at its deadline stands under the caller', async () => {
    const test = await market()
    const paid = await invoke(test, { term: 2 })
    await test.mine([paid])
    await test.mineTo(test.height + 2)
    expect((await events(test, CALLER.address))[0]).toEqual(closed('refunded', paid.txId, 'caller'))
  })
})

describe('a reward', () => {
  it('stands under its miner when it matures', async () => {
    const test = await opened()
    const before = test.balance(MINER.address)
    await test.mine([], { miner: MINER.address })
    await test.mineTo(3)
    expect(await events(test, MINER.address)).toEqual([])
    await test.mineTo(4)
    const amount = test.balance(MINER.address) - before
    expect(await historyOf(test.chain.database, MINER.address, ALL)).toEqual([
      { height: 4, position: 0, event: 'reward', txId: null, code: 0, roles: ['miner'], amount },
    ])
  })
})

/** All pages with `size` events each; `between` runs after each page. */
async function paged(
  test: TestChain,
  of: Address,
  { size, between = async () => {} }: { readonly size: number; readonly between?: () => Promise<unknown> },
): Promise<readonly HistoryEntry[]> {
  const entries: HistoryEntry[] = []
  for (let cursor: HistoryCursor | undefined; ; cursor = entries.at(-1)) {
    const page = await historyOf(test.chain.database, of, size, cursor)
    if (page.length === 0) return entries
    expect(page.length).toBeLessThanOrEqual(size)
    entries.push(...page)
    await between()
  }
}

describe('pages of a history', () => {
  it('have every event once, the newest first', async () => {
    const { test } = await grown(14)
    for (const { address: of } of WALLETS) {
      const all = await historyOf(test.chain.database, of, ALL)
      for (const size of [1, 2, 7]) expect(await paged(test, of, { size })).toEqual(all)
      const places = all.map(({ height, position }) => height * 10_000 + position)
      expect(places).toEqual([...new Set(places)].sort((a, b) => b - a))
    }
    expect((await historyOf(test.chain.database, OWNER.address, ALL)).length).toBeGreaterThan(10)
  })

  it('are not moved by blocks that come meanwhile', async () => {
    const chain = await grown(12)
    const { test } = chain
    const all = await historyOf(test.chain.database, OWNER.address, ALL)
    expect(await paged(test, OWNER.address, { size: 3, between: () => chain.grow(1) })).toEqual(all)
    expect((await historyOf(test.chain.database, OWNER.address, ALL)).length).toBeGreaterThan(all.length)
  })

  it('go on with what is below them after a reorganisation', async () => {
    const { test } = await grown(12)
    const other = await fork(test)
    await mineBranch(test, 2, 1)
    const tx = await test.tx(wallet(6), 'transfer', SAMPLE.transfer({ to: OWNER.address, amount: units(5) }))
    await test.mine([tx])
    const before = await historyOf(test.chain.database, OWNER.address, 2)
    expect(before[0]).toMatchObject({ txId: tx.txId, height: 15 })
    await importAll(test, await mineBranch(other, 5, 2))
    const all = await historyOf(test.chain.database, OWNER.address, ALL)
    expect(all.map(({ txId }) => txId)).not.toContain(tx.txId)
    const rest = await historyOf(test.chain.database, OWNER.address, ALL, before[1])
    expect(rest).toEqual(
      all.filter(({ height, position }) => isBefore({ height, position }, before[1] as HistoryEntry)),
    )
    expect(rest.length).toBeGreaterThan(5)
    expect(blocksFrom(test, 13).length).toBe(5)
  })
})

function isBefore(a: HistoryCursor, b: HistoryCursor): boolean {
  return a.height < b.height || (a.height === b.height && a.position < b.position)
}

async function grown(count: number): Promise<RandomChain> {
  const chain = new RandomChain(await opened(), seeded(5))
  await chain.grow(count)
  return chain
}
