import type { Codec } from '../../consensus/primitives/codec.ts'
import { below, joined, type Random, randomBytes } from './mutate.ts'

/** How the types of the codec library describe themselves. */
interface Shape {
  readonly typeName: string
  readonly fixedSize: number | null
  readonly fields?: Readonly<Record<string, Shape>>
  readonly elementType?: Shape
  readonly limit?: number
  readonly limitBytes?: number
}

const OFFSET_BYTES = 4
const MANY = 5
/** Most elements of a list that is made too long on purpose. Lists with a higher limit stay within it. */
const CROWD = 2_049
const SHORT = 40

/** Bytes with the structure of a codec and random contents, which mutations of valid messages would not reach. */
export function structured<V>(codec: Codec<V>, random: Random): Uint8Array {
  return bytesOf(codec as unknown as Shape, random)
}

function bytesOf(shape: Shape, random: Random): Uint8Array {
  const { fields, elementType, limit = 0, limitBytes, fixedSize, typeName } = shape
  if (fields !== undefined) return packed(Object.values(fields), random)
  if (elementType !== undefined) {
    const count = random() < 0.02 ? Math.min(limit + 1, CROWD) : below(random, MANY)
    return packed(
      Array.from({ length: count }, () => elementType),
      random,
    )
  }
  if (limitBytes !== undefined) return someText(Math.min(limitBytes, below(random, SHORT)), random)
  if (typeName === 'boolean') return Uint8Array.of(below(random, 2))
  return number(fixedSize as number, random)
}

/** Packs parts of fixed size in place, and every other part behind an offset. */
function packed(shapes: readonly Shape[], random: Random): Uint8Array {
  const parts = shapes.map((shape) => bytesOf(shape, random))
  let offset = parts.reduce((sum, part, i) => sum + (shapes[i]?.fixedSize === null ? OFFSET_BYTES : part.length), 0)
  const heads = parts.map((part, i) => {
    if (shapes[i]?.fixedSize !== null) return part
    const head = new Uint8Array(OFFSET_BYTES)
    new DataView(head.buffer).setUint32(0, offset, true)
    offset += part.length
    return head
  })
  return joined(...heads, ...parts.filter((_, i) => shapes[i]?.fixedSize === null))
}

function someText(length: number, random: Random): Uint8Array {
  if (random() < 0.3) return randomBytes(random, length)
  return Uint8Array.from({ length }, () => 0x20 + below(random, 95))
}

function number(size: number, random: Random): Uint8Array {
  const kind = random()
  if (kind < 0.2) return new Uint8Array(size)
  if (kind < 0.3) return new Uint8Array(size).fill(0xff)
  const bytes = randomBytes(random, size)
  if (kind < 0.6) bytes.fill(0, 1)
  return bytes
}
