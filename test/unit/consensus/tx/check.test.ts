import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../../../config/networks/rules.ts'
import { addressOfKeys, encodeAccountKeys, singleKey } from '../../../../consensus/crypto/account-keys.ts'
import type { HybridPublicKey } from '../../../../consensus/crypto/hybrid.ts'
import { KEY_SCHEMES, type KeyScheme } from '../../../../consensus/crypto/schemes.ts'
import { SUPPLY_BOUND } from '../../../../consensus/primitives/amount.ts'
import type { BlockId } from '../../../../consensus/primitives/ids.ts'
import { checkTransaction, checkWitnessAgainst, signatureJob } from '../../../../consensus/tx/check.ts'
import { CAPABILITY_COUNT, PRICE_USD_MICROS_MAX } from '../../../../consensus/tx/check-payload.ts'
import type { Transaction } from '../../../../consensus/tx/transaction.ts'
import { CAPABILITIES } from '../../../../marketplace/ledger/capabilities.ts'
import { filled, fillerSignature, SAMPLE, units, unsigned } from '../../../support/unsigned.ts'

const RULES = LAUNCH_RULES.tx

function check(tx: Transaction) {
  return checkTransaction(tx, RULES)
}

function keyOf(scheme: KeyScheme, fill: number): HybridPublicKey {
  return { scheme, bytes: new Uint8Array(KEY_SCHEMES[scheme].publicKeyBytes).fill(fill) }
}

describe('the envelope', () => {
  it('passes with version 1 and the chain id of the rules', () => {
    expect(check(unsigned('transfer', SAMPLE.transfer()))).toBeNull()
    const elsewhere = unsigned('transfer', SAMPLE.transfer(), { chainId: 9 })
    expect(checkTransaction(elsewhere, { ...RULES, chainId: 9 })).toBeNull()
  })

  it('is refused with another version', () => {
    const fault = { code: 'tx/version', detail: { version: 2 } }
    expect(check(unsigned('transfer', SAMPLE.transfer(), { version: 2 }))).toEqual(fault)
  })

  it('is refused with another chain id', () => {
    const fault = { code: 'tx/chain-id', detail: { chainId: 9, expected: 1 } }
    expect(check(unsigned('transfer', SAMPLE.transfer(), { chainId: 9 }))).toEqual(fault)
  })
})

describe('amounts', () => {
  const fault = (value: bigint, least: bigint) => ({
    ...{ code: 'tx/amount', detail: { field: 'amount', value: `${value}`, least: `${least}` } },
  })

  it.each([1n, SUPPLY_BOUND - 1n])('of a transfer may be %d', (amount) => {
    expect(check(unsigned('transfer', SAMPLE.transfer({ amount: units(amount) })))).toBeNull()
  })

  it.each([0n, SUPPLY_BOUND])('of a transfer may not be %d', (amount) => {
    expect(check(unsigned('transfer', SAMPLE.transfer({ amount: units(amount) })))).toEqual(fault(amount, 1n))
  })

  it.each([100_000n, SUPPLY_BOUND - 1n])('of an invoke may be %d', (amount) => {
    expect(check(unsigned('agent_invoke', SAMPLE.agent_invoke({ amount: units(amount) })))).toBeNull()
  })

  it.each([99_999n, SUPPLY_BOUND])('of an invoke may not be %d', (amount) => {
    const tx = unsigned('agent_invoke', SAMPLE.agent_invoke({ amount: units(amount) }))
    expect(check(tx)).toEqual(fault(amount, 100_000n))
  })
})

describe('fields of the registry', () => {
  const blank = { field: 'name', reason: 'must not be empty or begin or end with a blank' }

  it.each(['A', 'A B', 'Ä', '.'])('accept the name "%s"', (name) => {
    expect(check(unsigned('agent_register', SAMPLE.agent_register({ name })))).toBeNull()
    expect(check(unsigned('agent_update', SAMPLE.agent_update({ name })))).toBeNull()
    expect(check(unsigned('service_publish', SAMPLE.service_publish({ name })))).toBeNull()
  })

  it.each(['', ' ', ' A', 'A '])('refuse the name "%s"', (name) => {
    const fault = { code: 'tx/field', detail: blank }
    expect(check(unsigned('agent_register', SAMPLE.agent_register({ name })))).toEqual(fault)
    expect(check(unsigned('agent_update', SAMPLE.agent_update({ name })))).toEqual(fault)
    expect(check(unsigned('service_publish', SAMPLE.service_publish({ name })))).toEqual(fault)
  })

  it('accept eight different settlers and refuse one that stands twice', () => {
    const settlers = Array.from({ length: 8 }, (_, i) => filled(i + 10))
    const fault = { code: 'tx/field', detail: { field: 'settlers', reason: 'an address stands twice' } }
    expect(check(unsigned('agent_register', SAMPLE.agent_register({ settlers })))).toBeNull()
    const twice = [...settlers.slice(1), filled(11)]
    expect(check(unsigned('agent_register', SAMPLE.agent_register({ settlers: twice })))).toEqual(fault)
    expect(check(unsigned('agent_update', SAMPLE.agent_update({ settlers: twice })))).toEqual(fault)
  })

  it('accept the capabilities of the table and refuse the next number', () => {
    expect(CAPABILITIES.length).toBe(CAPABILITY_COUNT)
    expect(check(unsigned('service_publish', SAMPLE.service_publish({ capability: 15 })))).toBeNull()
    const fault = { code: 'tx/field', detail: { field: 'capability', reason: '16 is unknown' } }
    expect(check(unsigned('service_publish', SAMPLE.service_publish({ capability: 16 })))).toEqual(fault)
  })

  it.each([1n, PRICE_USD_MICROS_MAX])('accept a price of %d', (priceUsdMicros) => {
    expect(check(unsigned('service_publish', SAMPLE.service_publish({ priceUsdMicros })))).toBeNull()
  })

  it.each([0n, 1_000_000_000_001n])('refuse a price of %d', (priceUsdMicros) => {
    const fault = { code: 'tx/field', detail: { field: 'priceUsdMicros', reason: 'allowed is 1 to 10^12' } }
    expect(check(unsigned('service_publish', SAMPLE.service_publish({ priceUsdMicros })))).toEqual(fault)
  })
})

describe('invokes and receipts', () => {
  it.each([100, 400, 1_200, 9_600])('take a term of %d blocks', (term) => {
    expect(check(unsigned('agent_invoke', SAMPLE.agent_invoke({ term })))).toBeNull()
  })

  it.each([0, 101, 9_601])('refuse a term of %d blocks', (term) => {
    const fault = { code: 'tx/field', detail: { field: 'term', reason: 'must be one of 100, 400, 1200, 9600' } }
    expect(check(unsigned('agent_invoke', SAMPLE.agent_invoke({ term })))).toEqual(fault)
  })

  it.each([0, 2])('refuse %d units', (count) => {
    const fault = { code: 'tx/field', detail: { field: 'units', reason: 'must be 1' } }
    expect(check(unsigned('agent_invoke', SAMPLE.agent_invoke({ units: count })))).toEqual(fault)
  })

  it('need an entry, and outcomes that are known', () => {
    const fault = (field: string, reason: string) => ({ code: 'tx/field', detail: { field, reason } })
    expect(check(unsigned('agent_receipt', SAMPLE.agent_receipt([{ outcome: 0 }, { outcome: 1 }])))).toBeNull()
    expect(check(unsigned('agent_receipt', { entries: [] }))).toEqual(fault('entries', 'must not be empty'))
    const unknown = unsigned('agent_receipt', SAMPLE.agent_receipt([{ outcome: 1 }, { outcome: 2 }]))
    expect(check(unknown)).toEqual(fault('outcome', '2 is unknown'))
  })
})

describe('a witness by itself', () => {
  const keys = encodeAccountKeys(singleKey(keyOf(1, 0x11)))
  const first = { nonce: 0n, sender: addressOfKeys(keys), witness: { keys } }

  it('carries the keys of the sender at nonce 0, and none later', () => {
    expect(check(unsigned('transfer', SAMPLE.transfer(), first))).toBeNull()
    expect(check(unsigned('transfer', SAMPLE.transfer(), { nonce: 1n }))).toBeNull()
  })

  it.each([
    { ...first, witness: {} },
    { ...first, nonce: 1n },
  ])('is refused where keys and nonce do not go together', (change) => {
    expect(check(unsigned('transfer', SAMPLE.transfer(), change))).toEqual({ code: 'tx/keys-misplaced', detail: {} })
  })

  it('is refused with the keys of another', () => {
    const fault = { code: 'tx/keys-not-of-sender', detail: {} }
    expect(check(unsigned('transfer', SAMPLE.transfer(), { ...first, sender: filled(1) }))).toEqual(fault)
  })

  it('is refused without a signature, at any nonce', () => {
    const fault = { code: 'tx/signature-count', detail: { count: 0, expected: 'at least 1' } }
    expect(check(unsigned('transfer', SAMPLE.transfer(), { witness: { signatures: [] } }))).toEqual(fault)
    const none = { ...first, witness: { keys, signatures: [] } }
    expect(check(unsigned('transfer', SAMPLE.transfer(), none))).toEqual(fault)
  })

  it('takes ascending key indices and refuses any other order', () => {
    const signatures = (...indices: number[]) => ({ witness: { signatures: indices.map((i) => fillerSignature(i)) } })
    const fault = { code: 'tx/signature-order', detail: { keys: 'the number of keys' } }
    expect(check(unsigned('transfer', SAMPLE.transfer(), signatures(0, 2, 255)))).toBeNull()
    expect(check(unsigned('transfer', SAMPLE.transfer(), signatures(1, 1)))).toEqual(fault)
    expect(check(unsigned('transfer', SAMPLE.transfer(), signatures(2, 1)))).toEqual(fault)
  })
})

describe('a witness against the keys of its account', () => {
  const policy = { scheme: 3, threshold: 2, keys: [keyOf(1, 1), keyOf(2, 2), keyOf(1, 3)] } as const
  const network = { chainId: 1, genesis: filled<BlockId>(7) }

  it('fits with exactly the threshold of signatures, each of its key’s length', () => {
    expect(checkWitnessAgainst(policy, [fillerSignature(0), fillerSignature(1, 2)])).toBeNull()
    expect(checkWitnessAgainst(policy, [fillerSignature(0), fillerSignature(2)])).toBeNull()
  })

  it.each([1, 3])('does not fit with %d signatures in the place of two', (count) => {
    const signatures = [fillerSignature(0), fillerSignature(1, 2), fillerSignature(2)].slice(0, count)
    const fault = { code: 'tx/signature-count', detail: { count, expected: 2 } }
    expect(checkWitnessAgainst(policy, signatures)).toEqual(fault)
  })

  it('does not fit with a key that the policy does not have', () => {
    const fault = { code: 'tx/signature-order', detail: { keys: 3 } }
    expect(checkWitnessAgainst(policy, [fillerSignature(0), fillerSignature(3)])).toEqual(fault)
  })

  it('does not fit with a signature of another scheme’s length', () => {
    const fault = { code: 'tx/signature-length', detail: { index: 1, bytes: 2_484, expected: 3_373 } }
    expect(checkWitnessAgainst(policy, [fillerSignature(0), fillerSignature(1, 1)])).toEqual(fault)
  })

  it('makes a job of one part per signature, each with the key it names', () => {
    const signatures = [fillerSignature(1, 2), fillerSignature(2)]
    const job = signatureJob(unsigned('transfer', SAMPLE.transfer(), { witness: { signatures } }), policy, network)
    if (!job.ok) throw new Error(job.fault.code)
    expect(job.value.domain).toBe('transaction')
    expect(job.value.parts.map(({ key }) => key)).toEqual([policy.keys[1], policy.keys[2]])
    expect(job.value.parts.map(({ signature }) => signature.length)).toEqual([3_373, 2_484])
  })

  it('makes no job where it does not fit', () => {
    const fault = { code: 'tx/signature-count', detail: { count: 1, expected: 2 } }
    expect(signatureJob(unsigned('transfer', SAMPLE.transfer()), policy, network)).toEqual({ ok: false, fault })
  })
})
