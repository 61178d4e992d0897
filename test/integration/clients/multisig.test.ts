import { beforeAll, describe, expect, it } from 'vitest'
import { decodeBlock, encodeBlock } from '../../../consensus/block/block.ts'
import { MemoryKeyValueStore } from '../../../consensus/chain/key-value.ts'
import { addressOfKeys, encodeAccountKeys } from '../../../consensus/crypto/account-keys.ts'
import { ACCOUNTS } from '../../../consensus/ledger/account.ts'
import type { Amount } from '../../../consensus/primitives/amount.ts'
import { concat } from '../../../consensus/primitives/bytes.ts'
import { type Fault, type FaultDetail, fault } from '../../../consensus/primitives/fault.ts'
import type { FaultCode } from '../../../consensus/primitives/fault-table.ts'
import type { Address } from '../../../consensus/primitives/ids.ts'
import { checkTransaction, signatureJob } from '../../../consensus/tx/check.ts'
import type { Transaction, TxBody } from '../../../consensus/tx/transaction.ts'
import { withBody } from '../../support/branches.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { testRuleBook } from '../../support/network.ts'
import { encodedSingle, type Member, PolicyAccount, type WitnessChange } from '../../support/policy-signer.ts'
import { encodedAccountKeys } from '../../vectors/generate/accounts.ts'

const COIN = 100_000_000n
const seed = (fill: number) => new Uint8Array(32).fill(fill)
const MEMBERS: readonly Member[] = [
  { scheme: 1, seed: seed(101) },
  { scheme: 2, seed: seed(102) },
  { scheme: 1, seed: seed(103) },
]
const POLICY = new PolicyAccount(2, MEMBERS)

function transfer(sender: Address, nonce: bigint, amount: bigint): TxBody {
  return {
    version: 1,
    chainId: 1,
    sender,
    nonce,
    kind: 'transfer',
    payload: { to: wallet(1).address, amount: amount as Amount, create: false },
    maxFeeRate: 10_000n,
    tip: 1n,
    validUntil: 0,
    memo: new Uint8Array(0),
  }
}

async function fund(test: TestChain, address: Address, coins = 10n): Promise<void> {
  const payload = { to: address, amount: (coins * COIN) as Amount, create: true }
  await test.mine([await test.tx(wallet(2), 'transfer', payload)])
}

/** Imports a block with these transactions through its wire bytes. Returns the outcome. */
async function offered(test: TestChain, ...transactions: readonly Transaction[]): Promise<unknown> {
  const rules = test.ruleBook.at(test.height + 1).tx
  // A template refuses malformed transactions, so they are put into a block by hand.
  const malformed = transactions.some((tx) => checkTransaction(tx, rules) !== null)
  const built = malformed ? withBody(test, await test.build(), transactions) : await test.build(transactions)
  const block = decodeBlock(encodeBlock(built))
  return block.ok ? test.chain.import(block.value) : block
}

describe('an account of two keys out of three, of both schemes', () => {
  const store = new MemoryKeyValueStore()
  let test: TestChain
  const nonceOf = () => test.chain.database.get(ACCOUNTS, POLICY.address)?.nonce
  const spend = (nonce: bigint, change?: WitnessChange) =>
    POLICY.transaction(transfer(POLICY.address, nonce, COIN), test.chain.network, change)

  beforeAll(async () => {
    test = await TestChain.open(testRuleBook(), store)
    await fund(test, POLICY.address)
  })

  it('receives coins before its keys are on chain', () => {
    expect(test.balance(POLICY.address)).toBe(10n * COIN)
    expect(test.chain.keys.keysOf(POLICY.address)).toBeUndefined()
  })

  it('cannot spend at nonce 1 before nonce 0 brought its keys', async () => {
    await expect(test.build([spend(1n)])).rejects.toThrow('tx/nonce-too-high')
    expect(test.chain.keys.keysFor(spend(1n))).toEqual({ ok: false, fault: fault('tx/keys-missing') })
  })

  it('spends at nonce 0 with the policy, all three keys and two signatures', async () => {
    const before = test.balance(wallet(1).address)
    const tx = spend(0n, { signers: [0, 1] })
    expect([tx.witness.keys, tx.witness.signatures.length]).toEqual([POLICY.encoded, 2])
    expect(await offered(test, tx)).toEqual({ ok: true, value: 'connected' })
    expect(test.balance(wallet(1).address)).toBe(before + COIN)
    expect([nonceOf(), test.chain.keys.keysOf(POLICY.address)]).toEqual([1n, POLICY.keys])
  })

  it('spends at nonce 1 with two signatures alone, by any two of its keys', async () => {
    for (const [nonce, signers] of [
      [1n, [1, 2]],
      [2n, [0, 2]],
      [3n, [0, 1]],
    ] as const) {
      const tx = spend(nonce, { signers })
      expect([tx.witness.keys.length, tx.witness.signatures.map(({ keyIndex }) => keyIndex)]).toEqual([0, signers])
      expect(await offered(test, tx)).toEqual({ ok: true, value: 'connected' })
    }
    expect(nonceOf()).toBe(4n)
    expect(test.balance(POLICY.address)).toBeGreaterThan(5n * COIN)
    expect(test.balance(POLICY.address)).toBeLessThan(6n * COIN)
  })

  it('is known after a restart on the same store', async () => {
    test = await TestChain.open(testRuleBook(), store)
    expect(test.chain.keys.keysOf(POLICY.address)).toEqual(POLICY.keys)
    expect(await offered(test, spend(4n))).toEqual({ ok: true, value: 'connected' })
  })

  it('signs through the common signing path too', async () => {
    const payload = { to: wallet(1).address, amount: COIN as Amount, create: false }
    expect(await offered(test, await test.tx(POLICY, 'transfer', payload))).toEqual({ ok: true, value: 'connected' })
    expect(nonceOf()).toBe(6n)
  })

  it('spends at nonce 0 and 1 in one block', async () => {
    const other = new PolicyAccount(2, MEMBERS.toReversed())
    await fund(test, other.address)
    const [first, second] = [0n, 1n].map((nonce) =>
      other.transaction(transfer(other.address, nonce, COIN), test.chain.network),
    ) as [Transaction, Transaction]
    expect(await offered(test, first, second)).toEqual({ ok: true, value: 'connected' })
  })
})

type Wrong = readonly [string, WitnessChange, Fault]

const flipped = (at: number) => (bytes: Uint8Array, position: number) =>
  position === 0 ? bytes.map((byte, i) => (i === at ? byte ^ 1 : byte)) : bytes
const count = (found: number, expected: number | string) => fault('tx/signature-count', { count: found, expected })
const length = (index: number, bytes: number, expected: number) =>
  fault('tx/signature-length', { index, bytes, expected })
const order = (keys: number | string) => fault('tx/signature-order', { keys })
const UNORDERED = order('the number of keys')
const BAD = fault('tx/bad-signature')

const WRONG_WITNESSES: readonly Wrong[] = [
  ['no signature', { signers: [] }, count(0, 'at least 1')],
  ['one signature', { signers: [0] }, count(1, 2)],
  ['three good signatures', { signers: [0, 1, 2] }, count(3, 2)],
  ['one signature twice', { signers: [0, 0] }, UNORDERED],
  ['good signatures in falling order', { signers: [1, 0] }, UNORDERED],
  ['good signatures, the second twice', { signers: [0, 1, 1] }, UNORDERED],
  ['a key index that the policy does not have', { signers: [0, 2], indices: [0, 3] }, order(3)],
  ['key index 255', { signers: [0, 2], indices: [0, 255] }, order(3)],
  ['one key signing in the place of two', { signers: [0, 0], indices: [0, 2] }, BAD],
  ['two keys of one scheme in each other’s place', { signers: [2, 0], indices: [0, 2] }, BAD],
  ['two keys of two schemes in each other’s place', { signers: [1, 0], indices: [0, 1] }, length(0, 3_373, 2_484)],
  ['the message of a scheme-1 account', { messageScheme: 1 }, BAD],
  ['the message of a scheme-2 account', { messageScheme: 2 }, BAD],
  ['a bit of the Ed25519 half turned', { edit: flipped(3) }, BAD],
  ['a bit of the ML-DSA half turned', { edit: flipped(1_000) }, BAD],
  ['an empty signature', { edit: (bytes, i) => (i === 0 ? new Uint8Array(0) : bytes) }, length(0, 0, 2_484)],
  [
    'a signature one byte short',
    { edit: (bytes, i) => (i === 1 ? bytes.subarray(1) : bytes) },
    length(1, 3_372, 3_373),
  ],
  [
    'a signature one byte long',
    { edit: (bytes, i) => (i === 0 ? concat(bytes, new Uint8Array(1)) : bytes) },
    length(0, 2_485, 2_484),
  ],
]

describe.each([0n, 1n])('a wrong witness at nonce %i', (nonce) => {
  let test: TestChain
  const body = transfer(POLICY.address, nonce, COIN)
  const other = new PolicyAccount(1, MEMBERS)
  const misplaced = nonce === 0n ? new Uint8Array(0) : POLICY.encoded
  const ofNonce: readonly Wrong[] = [
    [nonce === 0n ? 'without its keys' : 'with its keys', { keys: misplaced }, fault('tx/keys-misplaced')],
  ]
  const first: readonly Wrong[] = [
    ['the keys under a lower threshold', { keys: other.encoded, signers: [0] }, fault('tx/keys-not-of-sender')],
    [
      'the key of one member alone',
      { keys: encodedSingle(MEMBERS[0] as Member), signers: [0] },
      fault('tx/keys-not-of-sender'),
    ],
    ['keys with a byte behind', { keys: concat(POLICY.encoded, new Uint8Array(1)) }, fault('tx/keys-not-of-sender')],
  ]

  beforeAll(async () => {
    test = await TestChain.open()
    await fund(test, POLICY.address)
    if (nonce > 0n) await test.mine([POLICY.transaction(transfer(POLICY.address, 0n, COIN), test.chain.network)])
  })

  /** The fault in the form of the transaction, or else against the keys of its account. Null if there is none. */
  const faultOf = (tx: Transaction): Fault | null => {
    const form = checkTransaction(tx, test.ruleBook.at(1).tx)
    if (form !== null) return form
    const keys = test.chain.keys.keysFor(tx)
    const job = keys.ok ? signatureJob(tx, keys.value, test.chain.network) : keys
    return job.ok ? null : job.fault
  }

  it.for([...WRONG_WITNESSES, ...ofNonce, ...(nonce === 0n ? first : [])])(
    'is refused: %s',
    async ([, change, expected]) => {
      const [head, balance] = [test.chain.head.id, test.balance(POLICY.address)]
      const tx = POLICY.transaction(body, test.chain.network, change)
      if (expected.code === 'tx/bad-signature') expect(faultOf(tx)).toBeNull()
      else expect(faultOf(tx)).toEqual(expected)
      const blockFault = fault('block/transaction', { index: 0, reason: expected.code })
      expect(await offered(test, tx)).toEqual({ ok: false, fault: blockFault })
      expect([test.chain.head.id, test.balance(POLICY.address)]).toEqual([head, balance])
    },
  )

  it('leaves the account free to spend with a right one', async () => {
    expect(await offered(test, POLICY.transaction(body, test.chain.network))).toEqual({ ok: true, value: 'connected' })
  })

  it('is refused: signatures over the transaction of another nonce', async () => {
    const next = transfer(POLICY.address, nonce + 1n, COIN)
    const stolen = POLICY.transaction(body, test.chain.network).witness.signatures
    const edit = (_: Uint8Array, position: number) => stolen[position]?.bytes as Uint8Array
    expect(await offered(test, POLICY.transaction(next, test.chain.network, { edit }))).toEqual({
      ok: false,
      fault: fault('block/transaction', { index: 0, reason: 'tx/bad-signature' }),
    })
  })
})

describe('coins on an address of unsound keys', () => {
  const inner = POLICY.keys.keys
  const single = inner[0] as (typeof inner)[0]
  const cases: readonly [string, Parameters<typeof encodeAccountKeys>[0], FaultCode, FaultDetail][] = [
    [
      'a policy inside a policy',
      { scheme: 3, threshold: 1, keys: [{ scheme: 3 as never, bytes: POLICY.encoded.subarray(0, 1_984) }] },
      'key/malformed',
      { reason: 'unknown key scheme 3' },
    ],
    [
      'more signatures wanted than there are keys',
      { scheme: 3, threshold: 4, keys: inner },
      'key/malformed',
      { reason: '4 of 3 keys cannot be satisfied' },
    ],
    [
      'no signature wanted',
      { scheme: 3, threshold: 0, keys: inner },
      'key/malformed',
      { reason: '0 of 3 keys cannot be satisfied' },
    ],
    [
      'one key twice',
      { scheme: 3, threshold: 2, keys: [single, single] },
      'key/malformed',
      { reason: 'a key stands twice in the policy' },
    ],
    [
      'the policy as a scheme-1 account',
      { scheme: 1, threshold: 2, keys: inner },
      'key/malformed',
      { reason: 'scheme 1 takes one key of its own scheme' },
    ],
  ]

  it.for(cases)('cannot be spent: %s', async ([, keys, code, detail]) => {
    const test = await TestChain.open()
    expect(() => encodeAccountKeys(keys)).toThrow(/unsound/)
    const raw = keys.keys.map(({ scheme, bytes }) => ({ scheme, publicKey: bytes }))
    const encoded = encodedAccountKeys(keys.scheme, keys.threshold, raw)
    const sender = addressOfKeys(encoded)
    await fund(test, sender)
    const tx = POLICY.transaction(transfer(sender, 0n, COIN), test.chain.network, { keys: encoded })
    expect(checkTransaction(tx, test.ruleBook.at(1).tx)).toEqual(fault(code, detail))
    const blockFault = fault('block/transaction', { index: 0, reason: code })
    expect(await offered(test, tx)).toEqual({ ok: false, fault: blockFault })
    expect(test.balance(sender)).toBe(10n * COIN)
  })
})
