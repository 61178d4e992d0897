/** A number as protobuf and length prefixes encode it. */
export function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80)
  return Uint8Array.from([...bytes, rest])
}

/** Bytes with their length in front. */
export function prefixed(bytes: Uint8Array): Uint8Array {
  return joined(varint(bytes.length), bytes)
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts)
}

/** A field of protobuf that holds bytes. */
export function field(number: number, bytes: Uint8Array): Uint8Array {
  return joined(varint(number * 8 + 2), prefixed(bytes))
}

/** A frame of gossip with one message. */
export function gossipFrame(topic: string, data: Uint8Array): Uint8Array {
  return prefixed(field(2, joined(field(2, data), field(4, Buffer.from(topic)))))
}

/** A frame of gossip that subscribes to topics. */
export function subscribeFrame(...topics: readonly string[]): Uint8Array {
  return prefixed(joined(...topics.map((topic) => field(1, joined(Uint8Array.of(8, 1), field(2, Buffer.from(topic)))))))
}
