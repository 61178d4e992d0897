import { describe, expect, it } from 'vitest'
import { KeyRegistry, type Uncheckable, uncheckableFault } from '../../../../consensus/chain/key-registry.ts'
import { type AccountKeys, encodeAccountKeys } from '../../../../consensus/crypto/account-keys.ts'
import type { Address, BlockId } from '../../../../consensus/primitives/ids.ts'
import { fork, mineBranch, outcomeOf } from '../../../support/branches.ts'
import { TestChain, wallet } from '../../../support/chain.ts'
import { ForgetfulStore } from '../../../support/stores.ts'
import { filled, fillerSignature, SAMPLE, units, unsigned } from '../../../support/unsigned.ts'

const NETWORK = { chainId: 1, genesis: filled<BlockId>(7) }
const PAY = SAMPLE.transfer({ to: wallet(2).address, amount: units(5_000) })
const KEYS = encodeAccountKeys(wallet(1).keys)
const ALICE = wallet(1).address
const noKeys = { keysOf: () => undefined }
const unknown = () => false

function txOf(nonce: bigint, change: Parameters<typeof unsigned>[2] = {}) {
  const witness = nonce === 0n ? { keys: KEYS } : {}
  return unsigned('transfer', PAY, { sender: ALICE, nonce, witness, ...change })
}

describe('the key registry', () => {
  it('reads an account’s keys from its source once', () => {
    const asked: Address[] = []
    const registry = new KeyRegistry({
      keysOf: (address) => {
        asked.push(address)
        return address === ALICE ? KEYS : undefined
      },
    })
    expect(registry.keysOf(ALICE)).toEqual(wallet(1).keys)
    expect(registry.keysOf(ALICE)).toEqual(wallet(1).keys)
    expect(registry.keysOf(filled<Address>(9))).toBeUndefined()
    expect(asked).toEqual([ALICE, filled(9)])
  })

  it('asks again for keys that were not there', () => {
    let found: Uint8Array | undefined
    const registry = new KeyRegistry({ keysOf: () => found })
    expect(registry.keysFor(txOf(1n))).toEqual({ ok: false, fault: { code: 'tx/keys-missing', detail: {} } })
    found = KEYS
    expect(registry.keysFor(txOf(1n))).toEqual({ ok: true, value: wallet(1).keys })
  })

  it('takes the keys of a first transaction from its witness, if they are the sender’s', () => {
    const registry = new KeyRegistry(noKeys)
    expect(registry.keysFor(txOf(0n))).toEqual({ ok: true, value: wallet(1).keys })
    expect(registry.keysFor(txOf(0n, { sender: filled(9), witness: { keys: KEYS } }))).toEqual({
      ...{ ok: false, fault: { code: 'tx/keys-not-of-sender', detail: {} } },
    })
  })

  it('makes jobs in order, with the keys that earlier transactions of the block brought', () => {
    const registry = new KeyRegistry(noKeys)
    const jobs = registry.jobsFor([txOf(0n), txOf(1n), txOf(2n)], NETWORK, unknown)
    expect(jobs.ok && jobs.value.map(({ index }) => index)).toEqual([0, 1, 2])
  })

  it('makes no jobs for what is known to be good, yet remembers the keys it brought', () => {
    const registry = new KeyRegistry(noKeys)
    const [first, second] = [txOf(0n), txOf(1n)]
    const jobs = registry.jobsFor([first, second], NETWORK, (wtxId) => wtxId === first.wtxId)
    expect(jobs.ok && jobs.value.map(({ index }) => index)).toEqual([1])
    expect(new KeyRegistry(noKeys).jobsFor([second], NETWORK, () => true)).toEqual({ ok: true, value: [] })
  })

  it('stalls for unknown keys, naming the account', () => {
    const fault = { code: 'chain/keys-missing', detail: { address: ALICE } }
    const jobs = new KeyRegistry(noKeys).jobsFor([txOf(1n)], NETWORK, unknown)
    expect(jobs).toMatchObject({ ok: false, index: 0, fault: { code: 'tx/keys-missing', detail: {} } })
    expect(uncheckableFault(jobs as Uncheckable)).toEqual(fault)
  })

  it('refuses a witness that does not fit the account’s keys', () => {
    const registry = new KeyRegistry({ keysOf: () => KEYS })
    const two = txOf(1n, { witness: { signatures: [fillerSignature(0), fillerSignature(1)] } })
    const jobs = registry.jobsFor([txOf(1n), two], NETWORK, unknown)
    const detail = { index: 1, reason: 'tx/signature-count' }
    expect(jobs.ok).toBe(false)
    expect(uncheckableFault(jobs as Uncheckable)).toEqual({ code: 'block/transaction', detail })
  })

  it('takes the keys of a first transaction that waits outside the block, and leaves those as they are', () => {
    const pending = new Map([[ALICE, wallet(1).keys]])
    const jobs = new KeyRegistry(noKeys).jobsFor([txOf(1n)], NETWORK, unknown, pending)
    expect(jobs.ok && jobs.value.map(({ index }) => index)).toEqual([0])
    const none = new Map<Address, AccountKeys>()
    expect(new KeyRegistry(noKeys).jobsFor([txOf(0n)], NETWORK, unknown, none).ok).toBe(true)
    expect(none.size).toBe(0)
  })
})

describe('keys on a chain', () => {
  it('are registered by a first transaction even if it failed', async () => {
    const test = await TestChain.open()
    const failing = await test.tx(wallet(1), 'transfer', { ...PAY, to: filled(0x55) })
    await test.mine([failing])
    expect(test.chain.database.keysOf(ALICE)).toEqual(KEYS)
    expect(await outcomeOf(test, await test.build([await test.tx(wallet(1), 'transfer', PAY)]))).toBe('connected')
  })

  it('stay registered when their block leaves the best chain', async () => {
    const test = await TestChain.open()
    const other = await fork(test)
    await test.mine([await test.tx(wallet(1), 'transfer', PAY)])
    for (const block of [await other.mine(), await other.mine()]) {
      test.nowMs = other.nowMs
      await test.import(block)
    }
    expect(test.chain.head.id).toBe(other.chain.head.id)
    expect(test.chain.database.keysOf(ALICE)).toEqual(KEYS)
  })

  it('that are missing hold a block up without a verdict on it', async () => {
    const miner = await TestChain.open()
    await miner.mine([await miner.tx(wallet(1), 'transfer', PAY)])
    const store = new ForgetfulStore()
    await fork(miner, { store })
    const test = await TestChain.open(miner.ruleBook, store)
    const block = await miner.mine([await miner.tx(wallet(1), 'transfer', PAY)])
    test.nowMs = miner.nowMs
    const head = test.chain.head.id
    store.hidden = [`08${ALICE}`]
    for (let attempt = 0; attempt < 2; attempt++) {
      const fault = { code: 'chain/keys-missing', detail: { address: ALICE } }
      expect(await outcomeOf(test, block)).toEqual(fault)
      expect(test.chain.head.id).toBe(head)
    }
    expect(test.chain.database.entry(block.id)?.invalid ?? false).toBe(false)
    store.hidden = []
    expect(await outcomeOf(test, block)).toBe('connected')
  })

  it('that are missing on a heavier branch leave the old one in place, and the branch is taken later', async () => {
    const common = await TestChain.open()
    await common.mine([await common.tx(wallet(1), 'transfer', PAY)])
    const other = await fork(common)
    const store = new ForgetfulStore()
    const seed = await fork(common, { store })
    const mine = await seed.mine()
    const test = await TestChain.open(common.ruleBook, store)
    const heavier = [...(await mineBranch(other, 1, 2)), await other.mine([await other.tx(wallet(1), 'transfer', PAY)])]
    test.nowMs = other.nowMs
    store.hidden = [`08${ALICE}`]
    expect(await outcomeOf(test, heavier[0]!)).toBe('side')
    const fault = { code: 'chain/keys-missing', detail: { address: ALICE } }
    expect(await outcomeOf(test, heavier[1]!)).toEqual(fault)
    expect(test.chain.head.id).toBe(mine.id)
    store.hidden = []
    expect(await test.chain.resume()).toEqual({ ok: true, value: 'connected' })
    expect(test.chain.head.id).toBe(heavier[1]!.id)
  })
})
