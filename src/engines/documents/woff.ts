import { inflateSync } from 'node:zlib'

const WOFF = 0x774f4646
const HEADER = { woff: 44, plain: 12 }
const ENTRY = { woff: 20, plain: 16 }
/** A table is inflated to at most so many bytes, whatever it claims. */
const TABLE_BYTES_MAX = 64 * 1_048_576

interface Table {
  readonly tag: number
  readonly checksum: number
  readonly bytes: Uint8Array
}

/**
 * Unpacks WOFF 1.0 (https://www.w3.org/TR/WOFF/). Other files are returned as they are. Throws if the file is cut off.
 * Without this, fontkit would inflate each table again for every document, which takes longer than all other work.
 */
export function plainFont(file: Uint8Array): Uint8Array {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  if (file.length < HEADER.woff || view.getUint32(0) !== WOFF) return file
  const tables = Array.from({ length: view.getUint16(12) }, (_, i) => tableAt(file, HEADER.woff + i * ENTRY.woff))
  return assembled(view.getUint32(4), tables)
}

function tableAt(file: Uint8Array, at: number): Table {
  const view = new DataView(file.buffer, file.byteOffset + at, ENTRY.woff)
  const field = (index: number): number => view.getUint32(4 * index)
  const [tag, offset, packed, length, checksum] = [field(0), field(1), field(2), field(3), field(4)]
  const stored = file.subarray(offset, offset + packed)
  if (stored.length < packed) throw new Error('the font file is cut')
  const bytes = packed < length ? inflateSync(stored, { maxOutputLength: Math.min(length, TABLE_BYTES_MAX) }) : stored
  return { tag, checksum, bytes }
}

function assembled(flavor: number, tables: readonly Table[]): Uint8Array {
  const padded = (length: number): number => (length + 3) & ~3
  const directory = HEADER.plain + tables.length * ENTRY.plain
  const font = new Uint8Array(tables.reduce((end, { bytes }) => end + padded(bytes.length), directory))
  const view = new DataView(font.buffer)
  const power = Math.floor(Math.log2(Math.max(1, tables.length)))
  view.setUint32(0, flavor)
  for (const [i, value] of [tables.length, 16 << power, power, 16 * tables.length - (16 << power)].entries())
    view.setUint16(4 + 2 * i, value)
  let offset = directory
  for (const [i, { tag, checksum, bytes }] of tables.entries()) {
    for (const [j, value] of [tag, checksum, offset, bytes.length].entries())
      view.setUint32(HEADER.plain + i * ENTRY.plain + 4 * j, value)
    font.set(bytes, offset)
    offset += padded(bytes.length)
  }
  return font
}
