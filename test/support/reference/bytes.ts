import { hash } from 'node:crypto'

/** Why the reference refuses a block. */
export class Refusal extends Error {
  readonly reason: string

  constructor(reason: string) {
    super(reason)
    this.reason = reason
  }

  override toString(): string {
    return this.reason
  }
}

let lenient = false

/** Refuses with `reason` unless `condition` holds. Within {@link leniently} it refuses nothing. */
export function demand(condition: boolean, reason: string): asserts condition {
  if (!condition && !lenient) throw new Refusal(reason)
}

/**
 * The result of `work`, in which {@link demand} refuses nothing. Undefined if `work` throws. So a test can give an invalid block correct
 * roots, and the broken rule is its only defect.
 */
export function leniently<T>(work: () => T): T | undefined {
  lenient = true
  try {
    return work()
  } catch {
    return undefined
  } finally {
    lenient = false
  }
}

/** 32 zero bytes in hex. */
export const ZERO32 = '00'.repeat(32)

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
}

export function unhex(text: string): Uint8Array {
  const bytes = Uint8Array.from(Buffer.from(text, 'hex'))
  if (bytes.length * 2 !== text.length) throw new Error(`not hex: ${text}`)
  return bytes
}

export function utf8(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'utf8'))
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts))
}

/** An unsigned integer in `size` bytes, little-endian. */
export function littleEndian(value: bigint, size: number): Uint8Array {
  if (value < 0n || value >> BigInt(8 * size) !== 0n) throw new Error(`${value} does not fit ${size} bytes`)
  return Uint8Array.from(Buffer.from(value.toString(16).padStart(2 * size, '0'), 'hex')).reverse()
}

export function readLittleEndian(bytes: Uint8Array): bigint {
  let value = 0n
  for (let i = bytes.length - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i] as number)
  return value
}

export function xor(a: Uint8Array, b: Uint8Array): Uint8Array {
  return a.map((byte, i) => byte ^ (b[i] as number))
}

export function sha256(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(hash('sha256', parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts), 'buffer'))
}

/** H(tag, data) of encoding.md, section 3. `tag` is given without `farthing/` and `/1`. */
export function tagged(tag: string, ...data: readonly Uint8Array[]): Uint8Array {
  const name = utf8(`farthing/${tag}/1`)
  return sha256(Uint8Array.of(name.length), name, ...data)
}
