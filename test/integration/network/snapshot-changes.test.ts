import { describe, expect, it } from 'vitest'
import { collect, type KeyValueStore, MemoryKeyValueStore, type Write } from '../../../consensus/chain/key-value.ts'
import { idOfKey, KEYS, prefixKey } from '../../../consensus/chain/layout.ts'
import { ACCOUNTS, type Account } from '../../../consensus/ledger/account.ts'
import { amount } from '../../../consensus/primitives/amount.ts'
import { toHex, uintBE } from '../../../consensus/primitives/bytes.ts'
import { decodeOwn, encode } from '../../../consensus/primitives/codec.ts'
import type { Address } from '../../../consensus/primitives/ids.ts'
import { encodeText } from '../../../consensus/primitives/text.ts'
import type { StateKey } from '../../../consensus/state/table.ts'
import { type PageId, pathOf } from '../../../consensus/state/tree.ts'
import { auditState } from '../../../src/cli/commands/audit.ts'
import type { WalletKey } from '../../../src/crypto/wallet-key.ts'
import { replyCodec } from '../../../src/p2p/wire/messages.ts'
import { TestChain, WALLETS, wallet } from '../../support/chain.ts'
import { restlessRuleBook } from '../../support/random-chain.ts'
import { connect, copiedPin, joiningNode, servingNode, takeSnapshot } from '../../support/snapshot-nodes.ts'
import { copyStore } from '../../support/stores.ts'
import { SAMPLE, units } from '../../support/unsigned.ts'

const RULES = restlessRuleBook()
/** So many blocks that no page of the tree disappears in the next three. */
const QUIET_BLOCKS = 10
/** The miner of empty blocks. */
const MINER = wallet(9)

function nibblesOf(key: StateKey, count: number): string {
  return toHex(pathOf(key)).slice(0, count)
}

/** An address without an account whose record would lie in the same third page as that of another account. */
function neighbourOf(address: Address, nth: number): Address {
  const wanted = nibblesOf(ACCOUNTS.key(address), 2)
  for (let i = 1n + BigInt(nth) * 1_000_000n; ; i++) {
    const found = toHex(uintBE(i, 32)) as Address
    if (nibblesOf(ACCOUNTS.key(found), 2) === wanted) return found
  }
}

/** A chain on which each wallet's account lies at least two pages below the root, and a wallet whose pages empty blocks do not change. */
async function world() {
  const store = new MemoryKeyValueStore()
  const test = await TestChain.open(RULES, store)
  for (const { address } of WALLETS) {
    const to = neighbourOf(address, 1)
    await test.mine([await test.tx(wallet(1), 'transfer', SAMPLE.transfer({ to, amount: units(1), create: true }))])
  }
  await test.mine()
  const pageOf = (id: string): string => toHex(test.chain.database.store.get(KEYS.page(id as PageId)) as Uint8Array)
  const ways = WALLETS.map(({ address }) => nibblesOf(ACCOUNTS.key(address), 1))
  const before = ways.map(pageOf)
  for (let i = 0; i < QUIET_BLOCKS; i++) await test.mine()
  const quiet = WALLETS.find((key, i) => key !== MINER && pageOf(ways[i] as string) === before[i]) as WalletKey
  expect(quiet).toBeDefined()
  return { store, test, pageOf, thief: quiet, way: nibblesOf(ACCOUNTS.key(quiet.address), 1) as PageId }
}

describe('a snapshot that is taken over leftovers of others', () => {
  it('never has a record of an older snapshot', async () => {
    const { store, test, pageOf, thief, way } = await world()
    // One page a reply, so that the node looks for the next page among those that it has.
    const server = servingNode('thief', test, store, { most: 1 })
    await test.mine()
    const old = await copyStore(store)
    const { balance } = test.chain.database.get(ACCOUNTS, thief.address) as Account
    const node = await joiningNode(RULES, new MemoryKeyValueStore())
    await connect(node, server)

    // All pages of the first state are fetched.
    const first = server.snapshots.refs()[0] as never
    const stopped = (): boolean => server.wire.asked.includes('stateRecords')
    expect(await takeSnapshot(node, test, first, { stopped })).toMatchObject({ ok: false })

    // Of the second state, in which the thief has spent its coins, pages are fetched down to the one above its account.
    const spent = { to: MINER.address, amount: amount(balance - units(1_000)) }
    await test.mine([await test.tx(thief, 'transfer', SAMPLE.transfer(spent))])
    const second = server.snapshots.refs()[0] as never
    const above = pageOf(way)
    let withdrawn = false
    server.wire.tamper = (asked, bytes) => {
      if (asked !== 'statePages' || bytes[0] !== 0) return bytes
      const { pages, done } = decodeOwn(replyCodec(asked), bytes.subarray(1))
      const end = pages.findIndex(({ id }) => toHex(id) === toHex(encodeText(way)))
      withdrawn = end >= 0
      const reply = withdrawn ? { pages: pages.slice(0, end + 1), done: false } : { pages, done }
      return Uint8Array.of(0, ...encode(replyCodec(asked), reply))
    }
    const peers = () => (withdrawn ? [] : [server.wire.self])
    const cut = await takeSnapshot(node, test, second, { peers })
    expect(cut).toMatchObject({ ok: false, fault: { code: 'p2p/snapshot-unserved' } })
    expect(withdrawn).toBe(true)

    // The third state has that page too. The thief serves the records below it as they were in the first state.
    await test.mine()
    expect(pageOf(way)).toBe(above)
    for await (const [key] of old.entries(prefixKey('page'))) expect(store.get(key), toHex(key)).toBeDefined()
    server.wire.tamper = (_, bytes) => bytes
    const records = copiedPin(await withOldRecords(store, old, way), 7)
    server.past.map = (state) => ({
      read: (range, ...sizes) => (range.gte[0] === prefixKey('state')[0] ? records : state).read(range, ...sizes),
    })
    const third = server.snapshots.refs()[0] as never
    const lied = await takeSnapshot(node, test, third)
    expect(lied).toMatchObject({ ok: false, fault: { code: 'p2p/snapshot-unserved' } })
    expect(node.wire.ended.get(server.wire.self)).toBe('bad-state')

    const honest = servingNode('honest', test, store)
    await connect(node, honest)
    await test.mine()
    const fourth = honest.snapshots.refs()[0] as never
    expect(await takeSnapshot(node, test, fourth)).toEqual({ ok: true, value: undefined })
    expect(node.test.balance(thief.address)).toBe(test.balance(thief.address))
    expect((await auditState(node.test.chain)).sound).toBe(true)
    expect(node.peers.reputation.pointsOf(honest.wire.self)).toBe(0)
    node.test.nowMs = test.nowMs
    const spends = await test.tx(thief, 'transfer', SAMPLE.transfer({ to: MINER.address, amount: units(1) }))
    expect(await node.test.import(await test.mine([spends]))).toBe('connected')
  })
})

/** A copy of a store whose records below a page come from another store. */
async function withOldRecords(store: KeyValueStore, old: KeyValueStore, way: PageId): Promise<KeyValueStore> {
  const mixed = await copyStore(store)
  const below = async (from: KeyValueStore): Promise<readonly Write[]> => {
    const entries = await collect(from.entries(prefixKey('state')), ([key, value]) => ({ key, value }))
    return entries.filter(({ key }) => {
      const page = nibblesOf(idOfKey(key) as StateKey, way.length + 1) as PageId
      return page.startsWith(way) && from.get(KEYS.page(page)) !== undefined
    })
  }
  const dropped = (await below(store)).map(({ key }) => ({ key }))
  await mixed.batch([...dropped, ...(await below(old))], () => {})
  return mixed
}
