import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { PRICE_ENTRIES } from '../../../amm/pool.ts'
import { decodeReceipt, type ReceiptOf } from '../../../consensus/ledger/receipt.ts'
import { REWARDS } from '../../../consensus/ledger/rewards.ts'
import { STAKING_POOL, SUPPLY } from '../../../consensus/ledger/supply.ts'
import type { TokenSymbol, TxId } from '../../../consensus/primitives/ids.ts'
import { NATIVE_ASSET } from '../../../consensus/state/table.ts'
import { transactionToJson } from '../../../consensus/tx/json.ts'
import {
  assembleTransaction,
  encodeBody,
  encodeTransaction,
  encodeWitness,
  type Transaction,
} from '../../../consensus/tx/transaction.ts'
import { ESCROWS } from '../../../marketplace/ledger/escrow.ts'
import { simulate } from '../../../rpc/handlers/chain/simulating.ts'
import { ask, type JsonBody, post, type Reply } from '../../support/api.ts'
import { ApiServer } from '../../support/api-server.ts'
import { blocksFrom } from '../../support/branches.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { serviceChain } from '../../support/service-chain.ts'
import { filled, SAMPLE, units } from '../../support/unsigned.ts'

const symbol = (text: string): TokenSymbol => text as TokenSymbol

/** The transaction with made-up signatures of the right length. */
function unsigned({ body, witness }: Transaction): Transaction {
  const signatures = witness.signatures.map(({ keyIndex, bytes }) => ({
    keyIndex,
    bytes: new Uint8Array(bytes.length),
  }))
  const tx = assembleTransaction(encodeBody(body), encodeWitness({ keys: witness.keys, signatures }))
  if (!tx.ok) throw new Error(tx.fault.code)
  return tx.value
}

/** State changes of the head's block, without those that every block makes. */
function changesOfHead({ chain }: TestChain): readonly object[] {
  const own = [REWARDS.prefix, STAKING_POOL.prefix, PRICE_ENTRIES.prefix]
  const changes = chain.database.undoOf(chain.head)!
  const rest = changes.filter(({ table, key }) => !own.includes(table.prefix) && key !== SUPPLY.key(NATIVE_ASSET))
  return rest.map(({ table, key, before, after }) => ({ table: table.name, key, before, after }))
}

describe('a transaction that is tried out', () => {
  it('keeps none of the records that it read in memory', async () => {
    const test = await TestChain.open()
    const entries = [1, 2, 3].map((byte) => ({ txId: filled<TxId>(byte) }))
    const tx = await test.tx(wallet(1), 'agent_receipt', SAMPLE.agent_receipt(entries))
    const { database } = test.chain
    const asked = vi.spyOn(database, 'get')
    const reads = () => asked.mock.calls.filter(([table]) => table.prefix === ESCROWS.prefix).length
    expect(simulate(test.chain, tx).receipt?.entries).toEqual([32, 32, 32])
    expect(reads()).toBe(3)
    // If the first try had kept the records, the second try would not read them again.
    simulate(test.chain, tx)
    expect(reads()).toBe(6)
    asked.mockRestore()
  })

  it('has the outcome that it then has in a block, for every kind', async () => {
    const { test: script } = await serviceChain()
    const test = await TestChain.open(script.ruleBook)
    const { chain } = test
    const kinds = new Map<string, Set<number>>()
    for (const tx of blocksFrom(script, 1).flatMap(({ transactions }) => transactions)) {
      const tried = simulate(chain, unsigned(tx))
      expect(tried.refusal, tx.body.kind).toBeNull()
      await test.mine([tx])
      const receipts = chain.database.receipts(chain.head.id)!.map(decodeReceipt)
      const receipt = receipts.find((one): one is ReceiptOf<'transaction'> => one.type === 'transaction')!
      expect(tried.receipt).toEqual(receipt)
      const changes = tried.changes.map(({ table, key, before, after }) => ({ table: table.name, key, before, after }))
      expect(changes, tx.body.kind).toEqual(changesOfHead(test))
      kinds.set(tx.body.kind, (kinds.get(tx.body.kind) ?? new Set()).add(receipt.code))
    }
    // Each block has one transaction, and the chain is too short for anything to mature or fall due.
    expect(test.height).toBeLessThan(100)
    expect(kinds.size).toBeGreaterThan(20)
    const failed = [...kinds.values()].filter((codes) => [...codes].some((code) => code !== 0))
    expect(failed.length).toBeGreaterThan(0)
  })
})

describe('POST /api/v1/tx/simulate', () => {
  let server: ApiServer

  beforeAll(async () => {
    server = await ApiServer.open()
  })

  afterAll(() => server.close())

  const send = (tx: Transaction, change: JsonBody = {}): Promise<Reply> =>
    post(server.url, '/api/v1/tx/simulate', { ...transactionToJson('dfar', unsigned(tx)), ...change })

  /** A transfer of wallet 1 with the next nonce. `options` replace parts of it. */
  const transfer = (options: Parameters<TestChain['tx']>[3] = {}, from = 1): Promise<Transaction> =>
    server.test.tx(wallet(from), 'transfer', SAMPLE.transfer({ to: wallet(2).address }), { nonce: 0n, ...options })

  it('takes JSON, hex and bytes, and keeps nothing', async () => {
    const tx = unsigned(await transfer())
    const bytes = encodeTransaction(tx) as Uint8Array<ArrayBuffer>
    const headers = { 'content-type': 'application/octet-stream' }
    const { chain } = server.test
    const { stateRoot } = server.test
    const replies = [
      await send(tx),
      await post(server.url, '/api/v1/tx/simulate', { raw: Buffer.from(bytes).toString('hex') }),
      await ask(server.url, '/api/v1/tx/simulate', { method: 'POST', headers, body: bytes }),
    ]
    for (const reply of replies) {
      expect(reply.status, reply.text).toBe(200)
      expect(reply.body).toMatchObject({
        wouldMine: true,
        success: true,
        code: null,
        height: 0,
        blockId: chain.head.id,
      })
      expect(reply.text).toBe(replies[0]!.text)
    }
    expect(server.test.stateRoot).toBe(stateRoot)
    expect((await ask(server.url, '/api/v1/mempool')).body.count).toBe(0)
    expect((await ask(server.url, `/api/v1/tx/${tx.txId}`)).body.status).toBe('unknown')
  })

  it('names what would change', async () => {
    const { test } = server
    const swap = {
      ...{ assetIn: symbol('FAR'), exactOut: false, amount: units(10n ** 9n), limit: units(0) },
      hops: [{ asset: symbol('SALT'), feeBps: 30 }],
    }
    const { body } = await send(await test.tx(wallet(1), 'swap', swap, { nonce: 0n }))
    const { changes } = body as unknown as {
      changes: readonly { what: string; of: JsonBody; before: JsonBody; after: JsonBody }[]
    }
    expect(changes.map(({ what }) => what).toSorted()).toEqual(['accounts', 'pools', 'token-balances'])
    const of = (what: string) => changes.find((change) => change.what === what)!
    expect(of('accounts').of).toEqual({ address: expect.stringMatching(/^dfar1/) })
    expect(of('token-balances').of).toMatchObject({ symbol: 'SALT', address: of('accounts').of.address })
    expect(of('pools')).toMatchObject({ of: { pool: 'FAR-SALT-30' }, before: { assetX: 'FAR', assetY: 'SALT' } })
    const [paid, got] = (body.amounts as string[]).map(BigInt) as [bigint, bigint]
    expect(paid).toBe(10n ** 9n)
    expect(
      BigInt(of('token-balances').after.amount as string) - BigInt(of('token-balances').before.amount as string),
    ).toBe(got)
    const spent = BigInt(of('accounts').before.balance as string) - BigInt(of('accounts').after.balance as string)
    expect(spent).toBe(paid + BigInt(body.fee as string))
    const pool = {
      assetA: symbol('WOOL'),
      assetB: symbol('XUSD'),
      feeBps: 5,
      amountA: units(50_000),
      amountB: units(50_000),
    }
    const made = await send(await test.tx(wallet(1), 'pool_create', pool, { nonce: 0n }))
    const [created] = (made.body.changes as typeof changes).filter(({ what }) => what === 'pools')
    expect(created).toMatchObject({ before: null, after: { assetX: 'WOOL', assetY: 'XUSD', shares: '50000' } })
  })

  it('distinguishes a payload that fails from a transaction that no block could have', async () => {
    const { test } = server
    const dear = SAMPLE.transfer({ to: wallet(2).address, amount: units(10n ** 20n) })
    const failing = await send(await test.tx(wallet(1), 'transfer', dear, { nonce: 0n }))
    expect(failing.body).toMatchObject({ wouldMine: true, success: false, code: 'insufficient_balance' })
    expect(failing.body.fault).toBeUndefined()
    expect(BigInt(failing.body.fee as string)).toBeGreaterThan(0n)
    await test.mine([await transfer({}, 3)])
    const refusals: readonly (readonly [Transaction, string])[] = [
      [await transfer({ nonce: 0n }, 3), 'nonce_too_low'],
      [await transfer({ nonce: 9n }, 3), 'nonce_too_high'],
      [await transfer({ nonce: 7n }, 4), 'keys_unknown'],
      [await transfer({ maxFeeRate: 1n }), 'fee_too_low'],
      [await transfer({ maxFeeRate: 2n ** 63n, tip: 2n ** 62n }), 'insufficient_balance'],
      [await transfer({ validUntil: 1 }), 'transaction_expired'],
    ]
    for (const [tx, code] of refusals) {
      const { status, body } = await send(tx)
      expect({ status, code: (body.fault as JsonBody | undefined)?.code }).toEqual({ status: 200, code })
      expect(body).toMatchObject({ wouldMine: false, success: false, code: null, fee: '0', weight: 0, changes: [] })
    }
  })

  it('checks only the number and length of signatures', async () => {
    const tx = await transfer()
    const json = transactionToJson('dfar', tx) as unknown as { witness: { keys: string; signatures: JsonBody[] } }
    const [signature] = json.witness.signatures as [{ keyIndex: number; bytes: string }]
    const witnesses = [
      { signatures: [{ ...signature, bytes: signature.bytes.slice(2) }] },
      { signatures: [] },
      { signatures: [{ ...signature, keyIndex: 1 }] },
      { keys: '' },
      { keys: (transactionToJson('dfar', await transfer({}, 5)) as unknown as typeof json).witness.keys },
    ]
    for (const change of witnesses) {
      const { body } = await send(tx, { witness: { ...json.witness, ...change } })
      expect(body.wouldMine, JSON.stringify(change).slice(0, 80)).toBe(false)
      expect((body.fault as JsonBody).code).toMatch(/^(transaction_malformed|bad_signature)$/)
    }
    expect((await send(tx, { witness: json.witness })).body.wouldMine).toBe(true)
    expect((await send(tx, { sender: 'x' })).status).toBe(400)
    expect((await post(server.url, '/api/v1/tx/simulate', { raw: 'zz' })).status).toBe(400)
  })

  it('sees the next block as it will begin', async () => {
    const { test } = server
    const stake = { tier: 0, amount: units(10n ** 12n) }
    const staked = await test.tx(wallet(6), 'stake', stake, { nonce: 0n })
    await test.mine([staked])
    await test.mine()
    const claim = await test.tx(wallet(6), 'claim', { stakeId: staked.txId }, { nonce: 1n })
    const first = await send(claim)
    await test.mine()
    const second = await send(claim)
    const due = (reply: Reply): bigint => BigInt((reply.body.amounts as string[])[0]!)
    expect(due(second)).toBeGreaterThan(due(first))
    expect(second.body.height).toBe((first.body.height as number) + 1)
    const unknown = await send(await test.tx(wallet(6), 'claim', { stakeId: filled(9) }, { nonce: 1n }))
    expect(unknown.body).toMatchObject({ wouldMine: true, success: false, code: 'stake_unknown' })
    expect(server.errors).toEqual([])
  })
})
