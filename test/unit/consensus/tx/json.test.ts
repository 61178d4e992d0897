import { describe, expect, it } from 'vitest'
import { toHex } from '../../../../consensus/primitives/bytes.ts'
import {
  type JsonObject,
  payloadToJson,
  transactionFromJson,
  transactionToJson,
} from '../../../../consensus/tx/json.ts'
import { type FieldForms, PAYLOAD_FORMS } from '../../../../consensus/tx/json-forms.ts'
import { TX_KIND_NAMES, type TxKind } from '../../../../consensus/tx/kinds.ts'
import { encodeTransaction, type Transaction } from '../../../../consensus/tx/transaction.ts'
import { MONEY_KINDS, MONEY_SAMPLE, moneyTx } from '../../../support/money-samples.ts'
import { SAMPLE, unsigned } from '../../../support/unsigned.ts'

const PREFIX = 'far'

function sample(kind: TxKind): Transaction {
  if (kind in MONEY_SAMPLE) return moneyTx(kind as keyof typeof MONEY_SAMPLE)
  return unsigned(kind, SAMPLE[kind as keyof typeof SAMPLE]() as never)
}

const read = (json: unknown) => transactionFromJson(PREFIX, JSON.parse(JSON.stringify(json)))
const withPayload = (tx: Transaction, payload: object) => ({ ...transactionToJson(PREFIX, tx), payload })

/** Paths of all fields of a payload, also inside records and the first element of lists. */
function pathsOf(forms: FieldForms, json: JsonObject, path: readonly (string | number)[] = []): (string | number)[][] {
  return Object.entries(forms).flatMap(([name, form]) => {
    const here = [...path, name]
    if (typeof form !== 'object') return [here]
    if ('record' in form) return [here, ...pathsOf(form.record, json[name] as JsonObject, here)]
    const [first] = json[name] as readonly JsonObject[]
    return [here, ...pathsOf(form.list, first as JsonObject, [...here, 0])]
  })
}

/** A copy of the JSON with another value at the path. Undefined removes the field. */
function replaced(json: JsonObject, path: readonly (string | number)[], value: unknown): JsonObject {
  const copy = structuredClone(json) as Record<string, unknown>
  const parent = path.slice(0, -1).reduce<Record<string, unknown>>((at, step) => at[step] as never, copy)
  const last = path.at(-1) as string
  if (value === undefined) delete parent[last]
  else parent[last] = value
  return copy as JsonObject
}

const shown = (path: readonly (string | number)[]) => {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : `${text}.${step}`),
    'payload',
  )
}

describe.each(TX_KIND_NAMES)('the JSON of %s', (kind) => {
  const tx = sample(kind)
  const json = payloadToJson(PREFIX, tx.body)
  const paths = pathsOf(PAYLOAD_FORMS[kind], json)

  it('reads back as the same bytes', () => {
    const back = read(transactionToJson(PREFIX, tx))
    if (!back.ok) throw new Error(JSON.stringify(back.fault))
    expect(toHex(encodeTransaction(back.value))).toBe(toHex(encodeTransaction(tx)))
    expect(back.value.txId).toBe(tx.txId)
  })

  it('has every field of the payload, in its order', () => {
    expect(Object.keys(json)).toEqual(Object.keys(PAYLOAD_FORMS[kind]))
    expect(new Set(Object.keys(json))).toEqual(new Set(Object.keys(tx.body.payload)))
  })

  it('lacks no field', () => {
    for (const path of paths) {
      const fault = { code: 'tx/json', detail: { field: shown(path), reason: 'is missing' } }
      expect(read(withPayload(tx, replaced(json, path, undefined)))).toEqual({ ok: false, fault })
    }
  })

  it.each([[null], [{}], [1.5], [-1], ['\u0000'], [['x']]])('takes no field as %j', (value) => {
    for (const path of paths) {
      const back = read(withPayload(tx, replaced(json, path, value)))
      expect([shown(path), back.ok]).toEqual([shown(path), false])
    }
  })

  it('has no field beside them', () => {
    const fault = { code: 'tx/json', detail: { field: 'payload.more', reason: 'is not a field of this kind' } }
    expect(read(withPayload(tx, { ...json, more: 1 }))).toEqual({ ok: false, fault })
  })
})

describe('JSON of a transaction', () => {
  const json = transactionToJson(PREFIX, sample('transfer'))
  const refusal = (field: string, reason: unknown) => ({
    ok: false,
    fault: { code: 'tx/json', detail: { field, reason } },
  })

  it('of a kind that the table does not have is refused by name', () => {
    for (const kind of ['account_rekey', 'Transfer', 'toString', '']) {
      expect(read({ ...json, kind })).toEqual(refusal('kind', `${kind} is unknown`))
    }
  })

  it('with an envelope beyond its encoding is refused as a whole', () => {
    const beyond = {
      nonce: `${1n << 64n}`,
      tip: `${1n << 64n}`,
      validUntil: 2 ** 32,
      version: 256,
      memo: '00'.repeat(129),
    }
    for (const [field, value] of Object.entries(beyond)) {
      expect(read({ ...json, [field]: value })).toEqual(refusal('transaction', expect.stringMatching(/./)))
    }
  })
})

describe('JSON of money', () => {
  it('has amounts as decimal text, addresses as text and bytes as hex', () => {
    expect(payloadToJson(PREFIX, moneyTx('bridge_deposit').body)).toMatchObject({
      ...{ network: 1, externalTxId: '08'.repeat(32), outputIndex: 3, amount: '5000000', create: false },
      ...{ to: expect.stringMatching(/^far1/), attestation: { epoch: 7, signatures: [{ keyIndex: 0 }] } },
    })
    expect(payloadToJson(PREFIX, moneyTx('swap').body)).toEqual({
      ...{ assetIn: 'FAR', exactOut: false, amount: '1000', limit: '1' },
      hops: [{ asset: 'FUSD', feeBps: 30 }],
    })
  })

  it('stands for every kind of money', () => {
    expect(new Set([...MONEY_KINDS, ...Object.keys(SAMPLE)])).toEqual(new Set(TX_KIND_NAMES))
  })

  it('is no symbol outside its grammar, nor a number too large for its field', () => {
    const create = payloadToJson(PREFIX, moneyTx('token_create').body)
    for (const change of [{ symbol: 'rent' }, { name: 'n'.repeat(65) }, { decimals: 256 }]) {
      expect(read(withPayload(moneyTx('token_create'), { ...create, ...change }))).toMatchObject({ ok: false })
    }
    const tooMuch = { ...create, maxSupply: (1n << 128n).toString() }
    expect(read(withPayload(moneyTx('token_create'), tooMuch))).toMatchObject({ ok: false })
  })

  it('refuses networks to resume that are no numbers', () => {
    const rotate = payloadToJson(PREFIX, moneyTx('bridge_rotate').body)
    const fault = (field: string, reason: string) => ({
      ok: false,
      fault: { code: 'tx/json', detail: { field, reason } },
    })
    const resumed = (resume: unknown) => read(withPayload(moneyTx('bridge_rotate'), { ...rotate, resume }))
    expect(resumed(['1'])).toEqual(fault('payload.resume[0].item', 'must be a whole number'))
    expect(resumed(1)).toEqual(fault('payload.resume', 'must be a list'))
  })
})
