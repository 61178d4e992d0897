import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES, TAB_RULES } from '../../config/networks/rules.ts'
import { decodeAccountKeys } from '../../consensus/crypto/account-keys.ts'
import { verifyJob } from '../../consensus/crypto/verifier.ts'
import { toHex } from '../../consensus/primitives/bytes.ts'
import type { BlockId, TxId } from '../../consensus/primitives/ids.ts'
import { checkTransaction, signatureJob } from '../../consensus/tx/check.ts'
import { kindOfNumber, TX_KIND_NAMES } from '../../consensus/tx/kinds.ts'
import {
  decodeBody,
  decodeTransaction,
  encodeBody,
  encodeTransaction,
  encodeWitness,
  type TxBody,
  transactionId,
  witnessTransactionId,
} from '../../consensus/tx/transaction.ts'
import { declaredWrites, weightOf } from '../../consensus/tx/weight.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { CHAIN_VECTORS, vectorText } from './generate/chain-vectors.ts'
import type { EncodingCase } from './generate/tx-encoding.ts'
import { fullHex, revived, vectors } from './read.ts'

/** The launch rules in a step that has tabs. */
const RULES = { ...LAUNCH_RULES.tx, tabs: TAB_RULES }

describe('the vector files', () => {
  it.each(Object.entries(CHAIN_VECTORS))('%s holds cases, and is what its generator writes', (name, generate) => {
    const text = readFileSync(new URL(`${name}.json`, import.meta.url), 'utf8')
    expect(vectors(name as keyof typeof CHAIN_VECTORS).cases.length).toBeGreaterThan(0)
    expect(text).toBe(vectorText(generate()))
  })
})

/** The body of a vector as the code holds it. */
function bodyOf({ kind, body }: EncodingCase): TxBody {
  return { ...(revived(body) as object), version: 1, kind } as unknown as TxBody
}

describe('encodings of transactions', () => {
  const { cases } = vectors('tx-encoding')

  it.each(cases)('$name encodes to the bytes, ids and weight of the vector', (vector) => {
    const body = bodyOf(vector)
    const signatures = vector.signatures.map(({ keyIndex, bytes }) => ({ keyIndex, bytes: fullHex(bytes) }))
    const bodyBytes = encodeBody(body)
    const witnessBytes = encodeWitness({ keys: fullHex(vector.keys), signatures })
    const txId = transactionId(bodyBytes)
    expect(toHex(bodyBytes)).toBe(toHex(fullHex(vector.bodyBytes)))
    expect(toHex(witnessBytes)).toBe(toHex(fullHex(vector.witnessBytes)))
    expect(txId).toBe(vector.txId)
    expect(witnessTransactionId(txId, witnessBytes)).toBe(vector.wtxId)
    expect(toHex(encodeTransaction({ bodyBytes, witnessBytes }))).toBe(toHex(fullHex(vector.wire)))
    expect(declaredWrites(body)).toBe(vector.declaredWrites)
  })

  it.each(cases)('$name decodes from its wire bytes', (vector) => {
    const decoded = decodeTransaction(fullHex(vector.wire))
    if (!decoded.ok) throw new Error(JSON.stringify(decoded.fault))
    const { txId, wtxId, size, body, witness } = decoded.value
    expect({ txId, wtxId, size }).toEqual({ txId: vector.txId, wtxId: vector.wtxId, size: vector.size })
    expect(body).toEqual(bodyOf(vector))
    expect(toHex(witness.keys)).toBe(toHex(fullHex(vector.keys)))
    expect(weightOf(decoded.value, RULES)).toBe(vector.weight)
    expect(checkTransaction(decoded.value, RULES)).toBeNull()
  })
})

describe('transactions about tabs', () => {
  const cases = vectors('tx-encoding').cases.filter(({ kind }) => kind.startsWith('tab_'))

  it.each(cases)('$name is malformed before the step that brings tabs', ({ kind, wire }) => {
    const decoded = decodeTransaction(fullHex(wire))
    if (!decoded.ok) throw new Error(JSON.stringify(decoded.fault))
    expect(checkTransaction(decoded.value, LAUNCH_RULES.tx)).toEqual({ code: 'tx/kind', detail: { kind } })
  })
})

describe('encodings and malformed forms', () => {
  it('are there of every kind', () => {
    expect(new Set(vectors('tx-encoding').cases.map(({ kind }) => kind))).toEqual(new Set(TX_KIND_NAMES))
    const malformed = vectors('tx-malformed').cases.map(({ fault }) => fault.detail.kind)
    expect(TX_KIND_NAMES.filter((kind) => !malformed.includes(kind))).toEqual([])
  })
})

describe('kind numbers', () => {
  it('are the closed table of the vectors', () => {
    for (const { number, kind } of vectors('tx-kinds').cases) expect(kindOfNumber(number) ?? null).toBe(kind)
  })

  it('outside the table make a body malformed', () => {
    const bytes = fullHex(vectors('tx-encoding').cases[0]?.bodyBytes as string)
    for (const { number, kind } of vectors('tx-kinds').cases) {
      const decoded = decodeBody(bytes.map((byte, i) => (i === 45 ? number : byte)))
      if (kind === null) expect(decoded).toEqual({ ok: false, fault: { code: 'tx/kind', detail: { kind: number } } })
    }
  })
})

describe('malformed transactions', () => {
  const { cases } = vectors('tx-malformed')

  it.each([1, 2, 3, 4, 5])('there are some of rule %i', (rule) => {
    expect(cases.filter((vector) => vector.rule === rule).length).toBeGreaterThan(0)
  })

  it.each(cases)('$name: $fault.code', ({ wire, fault }) => {
    const decoded = decodeTransaction(fullHex(wire))
    const found = decoded.ok ? checkTransaction(decoded.value, RULES) : decoded.fault
    const anyText = Object.entries(fault.detail).map(([name, value]) => [
      name,
      value === null ? expect.stringMatching(/./) : value,
    ])
    expect(found).toStrictEqual({ code: fault.code, detail: Object.fromEntries(anyText) })
  })
})

describe('signed transactions', () => {
  it.each(vectors('tx-signed').cases)('$name: $valid', (vector) => {
    const decoded = decodeTransaction(fullHex(vector.wire))
    const keys = decodeAccountKeys(fullHex(vector.accountKeys))
    if (!decoded.ok || !keys.ok) throw new Error('the vector does not decode')
    expect(checkTransaction(decoded.value, RULES)).toBeNull()
    const network = { chainId: 1, genesis: vector.genesis as BlockId }
    const job = signatureJob(decoded.value, keys.value, network)
    if (!job.ok) throw new Error(job.fault.code)
    expect(toHex(job.value.message)).toBe(vector.message)
    expect(verifyJob(NATIVE_BACKEND, job.value)).toBe(vector.valid)
  })

  it('are named by their body alone', () => {
    const ids = new Set<TxId>()
    for (const { wire } of vectors('tx-signed').cases.slice(5, 9)) {
      const decoded = decodeTransaction(fullHex(wire))
      if (decoded.ok) ids.add(decoded.value.txId)
    }
    expect(ids.size).toBe(1)
  })
})
