import { formatAddress, parseAddress } from '../crypto/address.ts'
import { fromHex, isHex, isHexBytes, toHex } from '../primitives/bytes.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import type { Address } from '../primitives/ids.ts'
import { fail, ok, type Result } from '../primitives/result.ts'
import { type FieldForm, type FieldForms, PAYLOAD_FORMS } from './json-forms.ts'
import { TX_KIND_NAMES, type TxKind } from './kinds.ts'
import { assembleTransaction, encodeBody, encodeWitness, type Transaction, type TxBody } from './transaction.ts'

/**
 * The JSON form of a transaction: addresses as text, amounts and 64-bit integers as decimal strings, bytes and hashes
 * as lower-case hex, everything else as its JSON type.
 */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json }

/** JSON of a payload. */
export function payloadToJson(prefix: string, { kind, payload }: Pick<TxBody, 'kind' | 'payload'>): JsonObject {
  return writeFields(prefix, PAYLOAD_FORMS[kind], payload)
}

/** Has the ids too, which {@link transactionFromJson} ignores. */
export function transactionToJson(prefix: string, tx: Transaction): JsonObject {
  const { body, witness, txId, wtxId, size } = tx
  return {
    txId,
    wtxId,
    size,
    version: body.version,
    chainId: body.chainId,
    sender: formatAddress(prefix, body.sender),
    nonce: body.nonce.toString(),
    kind: body.kind,
    payload: payloadToJson(prefix, body),
    maxFeeRate: body.maxFeeRate.toString(),
    tip: body.tip.toString(),
    validUntil: body.validUntil,
    memo: toHex(body.memo),
    witness: {
      keys: toHex(witness.keys),
      signatures: witness.signatures.map(({ keyIndex, bytes }) => ({ keyIndex, bytes: toHex(bytes) })),
    },
  }
}

/** JSON of a record whose fields have these forms. */
export function recordToJson(prefix: string, forms: FieldForms, record: object): JsonObject {
  return writeFields(prefix, forms, record)
}

/** Reads a record with exactly these fields. Only types are checked: the encoding checks ranges and grammars. */
export function recordFromJson(prefix: string, forms: FieldForms, json: unknown): Result<object> {
  return reading(() => ok(new Reader(prefix, json, '').fields(forms)))
}

/** Field types are checked here; the encoding and decoding at the end check ranges and grammars. */
export function transactionFromJson(prefix: string, json: unknown): Result<Transaction> {
  return reading(() => readTransaction(new Reader(prefix, json, '')))
}

function readTransaction(reader: Reader): Result<Transaction> {
  const kind = reader.text('kind')
  if (!TX_KIND_NAMES.includes(kind as TxKind))
    return fail(fault('tx/json', { field: 'kind', reason: `${kind} is unknown` }))
  const body = {
    version: reader.integer('version'),
    chainId: reader.integer('chainId'),
    sender: reader.address('sender'),
    nonce: reader.bigint('nonce'),
    kind,
    payload: reader.object('payload').fields(PAYLOAD_FORMS[kind as TxKind]),
    maxFeeRate: reader.bigint('maxFeeRate'),
    tip: reader.bigint('tip'),
    validUntil: reader.integer('validUntil'),
    memo: reader.bytes('memo'),
  } as unknown as TxBody
  const witness = reader.object('witness')
  const signatures = witness
    .list('signatures')
    .map((item) => ({ keyIndex: item.integer('keyIndex'), bytes: item.bytes('bytes') }))
  return assembleTransaction(encodeBody(body), encodeWitness({ keys: witness.bytes('keys'), signatures }))
}

function reading<T>(read: () => Result<T>): Result<T> {
  try {
    return read()
  } catch (error) {
    if (error instanceof JsonRefusal) return fail(error.fault)
    if (error instanceof RangeError) return fail(fault('tx/json', { field: 'transaction', reason: error.message }))
    throw error
  }
}

function writeFields(prefix: string, forms: FieldForms, fields: object): JsonObject {
  const values = fields as Readonly<Record<string, unknown>>
  return Object.fromEntries(Object.entries(forms).map(([name, form]) => [name, writeField(prefix, form, values[name])]))
}

function writeField(prefix: string, form: FieldForm, value: unknown): Json {
  if (typeof form === 'object') {
    if ('record' in form) return writeFields(prefix, form.record, value as object)
    return (value as readonly object[]).map((item) => writeFields(prefix, form.list, item))
  }
  switch (form) {
    case 'address':
      return formatAddress(prefix, value as Address)
    case 'addresses':
      return (value as readonly Address[]).map((address) => formatAddress(prefix, address))
    case 'bigint':
      return (value as bigint).toString()
    case 'bytes':
      return toHex(value as Uint8Array)
    default:
      return value as Json
  }
}

/** Carries a fault out of nested readers; never leaves this file. */
class JsonRefusal extends Error {
  readonly fault: Fault

  constructor(field: string, reason: string) {
    super(reason)
    this.fault = fault('tx/json', { field, reason })
  }
}

const UINT_DECIMAL = /^(0|[1-9][0-9]{0,38})$/

class Reader {
  readonly #prefix: string
  readonly #path: string
  readonly #fields: Readonly<Record<string, unknown>>

  constructor(prefix: string, json: unknown, path: string) {
    if (json === null || typeof json !== 'object' || Array.isArray(json))
      throw new JsonRefusal(path || 'transaction', 'must be an object')
    this.#prefix = prefix
    this.#path = path
    this.#fields = json as Readonly<Record<string, unknown>>
  }

  text(name: string): string {
    const value = this.#value(name)
    return typeof value === 'string' ? value : this.#refuse(name, 'must be a string')
  }

  integer(name: string): number {
    const value = this.#value(name)
    const fits = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    return fits ? value : this.#refuse(name, 'must be a whole number')
  }

  boolean(name: string): boolean {
    const value = this.#value(name)
    return typeof value === 'boolean' ? value : this.#refuse(name, 'must be true or false')
  }

  bigint(name: string): bigint {
    const value = this.text(name)
    return UINT_DECIMAL.test(value)
      ? BigInt(value)
      : this.#refuse(name, 'must be an unsigned decimal integer in a string')
  }

  bytes(name: string): Uint8Array {
    const value = this.text(name)
    return isHexBytes(value) ? fromHex(value) : this.#refuse(name, 'must be lower-case hex')
  }

  hash(name: string): string {
    const value = this.text(name)
    return isHex(value, 32) ? value : this.#refuse(name, 'must be 32 bytes of lower-case hex')
  }

  address(name: string): Address {
    const parsed = parseAddress(this.#prefix, this.text(name))
    return parsed.ok ? parsed.value : this.#refuse(name, 'must be an address of this network')
  }

  object(name: string): Reader {
    return new Reader(this.#prefix, this.#value(name), this.#pathOf(name))
  }

  list(name: string): readonly Reader[] {
    return this.#array(name).map((item, i) => new Reader(this.#prefix, item, `${this.#pathOf(name)}[${i}]`))
  }

  /** Reads exactly these fields; unknown ones are refused. */
  fields(forms: FieldForms): object {
    const unknown = Object.keys(this.#fields).find((name) => !Object.hasOwn(forms, name))
    if (unknown !== undefined) this.#refuse(unknown, 'is not a field of this kind')
    return Object.fromEntries(Object.entries(forms).map(([name, form]) => [name, this.#read(name, form)]))
  }

  #read(name: string, form: FieldForm): unknown {
    if (typeof form === 'object') {
      if ('record' in form) return this.object(name).fields(form.record)
      return this.list(name).map((item) => item.fields(form.list))
    }
    switch (form) {
      case 'text':
        return this.text(name)
      case 'integer':
        return this.integer(name)
      case 'boolean':
        return this.boolean(name)
      case 'bigint':
        return this.bigint(name)
      case 'hash':
        return this.hash(name)
      case 'address':
        return this.address(name)
      case 'addresses':
        return this.#array(name).map((item, i) =>
          new Reader(this.#prefix, { item }, `${this.#pathOf(name)}[${i}]`).address('item'),
        )
      case 'integers':
        return this.#array(name).map((item, i) =>
          new Reader(this.#prefix, { item }, `${this.#pathOf(name)}[${i}]`).integer('item'),
        )
      default:
        return this.bytes(name)
    }
  }

  #array(name: string): readonly unknown[] {
    const value = this.#value(name)
    return Array.isArray(value) ? value : this.#refuse(name, 'must be a list')
  }

  #value(name: string): unknown {
    return Object.hasOwn(this.#fields, name) ? this.#fields[name] : this.#refuse(name, 'is missing')
  }

  #pathOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`
  }

  #refuse(name: string, reason: string): never {
    throw new JsonRefusal(this.#pathOf(name), reason)
  }
}
