import { describe, expect, it } from 'vitest'
import { historyProof, verifyHistoryProof } from '../../../../consensus/block/history.ts'
import { ChainDatabase, UNDO_BLOCKS } from '../../../../consensus/chain/database.ts'
import { MemoryKeyValueStore } from '../../../../consensus/chain/key-value.ts'
import { createRuleBook, type RuleBook } from '../../../../consensus/chain/rule-book.ts'
import { ACCOUNTS } from '../../../../consensus/ledger/account.ts'
import { decodeReceipt } from '../../../../consensus/ledger/receipt.ts'
import { fromHex, toHex } from '../../../../consensus/primitives/bytes.ts'
import { encode } from '../../../../consensus/primitives/codec.ts'
import { fault } from '../../../../consensus/primitives/fault.ts'
import { PAGE_SLOTS } from '../../../../consensus/state/page.ts'
import { proveState, verifyStateProof } from '../../../../consensus/state/proof.ts'
import { ROOT_PAGE } from '../../../../consensus/state/tree.ts'
import { PROTOCOL } from '../../../../src/protocol.ts'
import { fork, importAll, mineBranch } from '../../../support/branches.ts'
import { TestChain, wallet } from '../../../support/chain.ts'
import { testParams, testRuleBook } from '../../../support/network.ts'
import { filled, SAMPLE, units } from '../../../support/unsigned.ts'
import { treeHash } from '../../../vectors/generate/state-tree.ts'
import { tagged } from '../../../vectors/generate/tx-wire.ts'

const PAY = SAMPLE.transfer({ to: wallet(2).address, amount: units(5_000) })

/** Proves every ancestor of the head against the head's own history root. */
function expectAncestry({ chain }: TestChain): void {
  const { database, head } = chain
  const count = head.header.height
  for (let height = 0; height < count; height++) {
    const block = database.block(database.idAt(height)!)!
    const proof = historyProof(height, count, (level, index) => database.historyNode(level, index))
    expect(verifyHistoryProof(head.header.historyRoot, block, proof)).toBe(true)
  }
}

describe('ancestry proofs from the store', () => {
  it('hold for every block below the head', async () => {
    const test = await TestChain.open()
    for (let i = 0; i < 13; i++) {
      await test.mine()
      expectAncestry(test)
    }
  })

  it('hold for the new branch after a reorganisation, and not for blocks that left', async () => {
    const test = await TestChain.open()
    await test.mine()
    const other = await fork(test)
    const old = await mineBranch(test, 5, 1)
    const theirs = await mineBranch(other, 7, 2)
    await importAll(test, theirs)
    expectAncestry(test)
    const { database, head } = test.chain
    const proof = historyProof(3, head.header.height, (level, index) => database.historyNode(level, index))
    expect(verifyHistoryProof(head.header.historyRoot, theirs[1]!, proof)).toBe(true)
    expect(verifyHistoryProof(head.header.historyRoot, old[1]!, proof)).toBe(false)
  })

  it('hold after the old branch was restored from an invalid one', async () => {
    const test = await TestChain.open()
    await test.mine()
    const other = await fork(test)
    await mineBranch(test, 3, 1)
    await importAll(test, await mineBranch(other, 6, 2))
    await mineBranch(test, 2, 3)
    expectAncestry(test)
  })
})

describe('state proofs from the store', () => {
  it('show balances under the head’s state root', async () => {
    const test = await TestChain.open()
    await test.mine([await test.tx(wallet(1), 'transfer', PAY)])
    const { database, head } = test.chain
    for (const address of [wallet(1).address, wallet(2).address, filled(0x55)]) {
      const key = ACCOUNTS.key(address as never)
      const account = database.get(ACCOUNTS, address as never)
      const value = account && encode(ACCOUNTS.codec, account)
      expect(verifyStateProof(head.header.stateRoot, key, value, proveState(database, key))).toBe(true)
    }
  })
})

describe('what a store holds of a block', () => {
  it('is the block, its receipts and where its transactions are', async () => {
    const test = await TestChain.open()
    const tx = await test.tx(wallet(1), 'transfer', PAY)
    const block = await test.mine([tx])
    const { database } = test.chain
    expect(database.block(block.id)).toEqual({
      header: block.header,
      bytes: block.bytes,
      id: block.id,
      transactions: [tx],
    })
    expect(database.receipts(block.id)!.map((bytes) => decodeReceipt(bytes).type)).toEqual(['transaction', 'close'])
    expect(database.location(tx.txId)).toEqual({ height: 1, index: 0 })
    expect(database.block(filled(0x77))).toBeUndefined()
    expect([database.idAt(-1), database.idAt(2)]).toEqual([undefined, undefined])
  })

  it('is the same after the process starts again', async () => {
    const store = new MemoryKeyValueStore()
    const test = await TestChain.open(undefined, store)
    await test.mine([await test.tx(wallet(1), 'transfer', PAY)])
    const again = await TestChain.open(undefined, store)
    expect(again.chain.head).toEqual(test.chain.head)
    expect(again.balance(wallet(2).address)).toBe(test.balance(wallet(2).address))
    const hashes = ({ chain }: TestChain) => {
      const page = chain.database.page(ROOT_PAGE)!
      return Array.from({ length: 2 * PAGE_SLOTS }, (_, node) => [page.kind(node), toHex(page.hash(node))])
    }
    expect(hashes(again)).toEqual(hashes(test))
  })

  it('can be unwound for 2,400 blocks and no further', async () => {
    const store = new MemoryKeyValueStore()
    const test = await TestChain.open(undefined, store)
    await test.mineTo(UNDO_BLOCKS + 1)
    const { database } = test.chain
    const undo = (height: number) => database.undoOf(database.entry(database.idAt(height)!)!)
    expect([undo(1), undo(2) === undefined]).toEqual([undefined, false])
  })
})

describe('opening a store', () => {
  it('of another network is refused', async () => {
    const store = new MemoryKeyValueStore()
    await TestChain.open(undefined, store)
    const params = { ...testParams(), name: 'other', genesis: { ...testParams().genesis, message: 'another' } }
    const other = await ChainDatabase.open(
      store,
      createRuleBook(params, PROTOCOL),
      createRuleBook(params, PROTOCOL).genesis,
      '/data',
    )
    const mine = createRuleBook(testParams(), PROTOCOL).genesis.block.id.slice(0, 12)
    expect(other).toEqual({
      code: 'storage/other-genesis',
      detail: {
        folder: '/data',
        found: `test (genesis ${mine})`,
        expected: `other (genesis ${createRuleBook(params, PROTOCOL).genesis.block.id.slice(0, 12)})`,
      },
    })
  })

  it('of another schema is refused', async () => {
    const store = new MemoryKeyValueStore()
    const test = await TestChain.open(undefined, store)
    const key = Uint8Array.of(0, ...new TextEncoder().encode('schema'))
    await store.batch([{ key, value: Uint8Array.of(9, 0) }], () => {})
    const refused = await ChainDatabase.open(store, testRuleBook(), test.ruleBook.genesis, '/data')
    expect(refused).toMatchObject({ code: 'storage/other-schema', detail: { folder: '/data', found: 9 } })
  })

  it('whose chain went past a rule step without it is refused; before the step, and with it, it goes on', async () => {
    const at = (fromHeight: number) => {
      const params = testParams()
      const [step] = params.steps
      const later = { ...step!.rules, token: { createBurn: 1n } }
      return createRuleBook({ ...params, steps: [step!, { fromHeight, rules: later }] }, PROTOCOL)
    }
    const open = (store: MemoryKeyValueStore, book: RuleBook) => ChainDatabase.open(store, book, book.genesis, '/data')
    for (const marked of [true, false]) {
      const store = new MemoryKeyValueStore()
      const old = await TestChain.open(undefined, store)
      for (let i = 0; i < 5; i++) await old.mine()
      // Older releases wrote no mark.
      if (!marked) await store.batch([{ key: Uint8Array.of(0, ...new TextEncoder().encode('rules')) }], () => {})
      const refusal = fault('storage/other-rules', { folder: '/data', height: 5 })
      expect(await open(store, at(5))).toEqual(refusal)
      const later = await TestChain.open(at(6), store)
      expect(later.chain.head.id).toBe(old.chain.head.id)
      for (let i = 0; i < 3; i++) await later.mine()
      expect((await TestChain.open(at(6), store)).height).toBe(8)
      expect(await open(store, at(7))).toEqual({ ...refusal, detail: { folder: '/data', height: 8 } })
      expect(await open(store, testRuleBook())).toEqual({ ...refusal, detail: { folder: '/data', height: 8 } })
    }
  })

  it('that is empty writes genesis, whose state has the root of its header', async () => {
    const test = await TestChain.open()
    const { database, head } = test.chain
    expect(head.id).toBe(test.ruleBook.genesis.block.id)
    expect([head.anchor, head.invalid, database.idAt(0)]).toEqual([null, false, head.id])
    expect(database.receipts(head.id)).toEqual([])
    const records: { path: Uint8Array; value: Uint8Array }[] = []
    for await (const { key, value } of database.stateRecords()) {
      records.push({
        path: tagged('farthing/state-key/1', fromHex(key)),
        value: tagged('farthing/state-value/1', value),
      })
    }
    expect(toHex(treeHash(records))).toBe(head.header.stateRoot)
    const coins = { accounts: 10, supply: 1, skeleton: 1 }
    const tokens = { records: 3 * 6, balances: 4 * 10, reserves: 1 }
    const market = { pools: 3, shares: 3, priceEntries: 1, networks: 10, committee: 1 }
    const counts = Object.values({ ...coins, ...tokens, ...market })
    expect(records.length).toBe(counts.reduce((sum, count) => sum + count, 0))
  })
})
