/** A field of a protobuf message: bytes, or a number. */
export interface Field {
  readonly number: number
  readonly value: Uint8Array | number
}

const WIRE_NUMBER = 0
const WIRE_BYTES = 2
/** Enough for every number in our messages, which are below 2^49. */
const VARINT_BYTES_MAX = 7

/** Reads the fields of a message; undefined if it is cut off or has a kind of field, or more fields, than allowed. Bytes are views. */
export function readFields(message: Uint8Array, fieldsMax: number): readonly Field[] | undefined {
  const fields: Field[] = []
  for (let at = 0; at < message.length; ) {
    const tag = readVarint(message, at)
    if (tag === undefined || fields.length === fieldsMax) return undefined
    const number = Math.floor(tag.value / 8)
    const wire = tag.value % 8
    const first = readVarint(message, tag.end)
    if (first === undefined || number === 0 || (wire !== WIRE_NUMBER && wire !== WIRE_BYTES)) return undefined
    at = first.end + (wire === WIRE_BYTES ? first.value : 0)
    if (at > message.length) return undefined
    fields.push({ number, value: wire === WIRE_NUMBER ? first.value : message.subarray(first.end, at) })
  }
  return fields
}

/** A field that holds bytes. */
export function bytesField(number: number, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([varint(number * 8 + WIRE_BYTES), varint(bytes.length), bytes])
}

/** A field that holds a number. */
export function numberField(number: number, value: number): Uint8Array {
  return Buffer.concat([varint(number * 8 + WIRE_NUMBER), varint(value)])
}

/** A number as an unsigned varint. */
export function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80)
  return Uint8Array.from([...bytes, rest])
}

function readVarint(bytes: Uint8Array, from: number): { readonly value: number; readonly end: number } | undefined {
  let value = 0
  for (let i = 0; i < VARINT_BYTES_MAX; i++) {
    const byte = bytes[from + i]
    if (byte === undefined) return undefined
    value += (byte & 0x7f) * 2 ** (7 * i)
    if (byte < 0x80) return { value, end: from + i + 1 }
  }
  return undefined
}
