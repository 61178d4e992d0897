/** Bytes with the one `Buffer` method that the SSZ library calls. */
class LengthBytes extends Uint8Array<ArrayBuffer> {
  writeUIntLE(value: number, offset: number, byteLength: number): number {
    for (let i = 0, rest = value; i < byteLength; i++, rest = Math.floor(rest / 256)) this[offset + i] = rest % 256
    return offset + byteLength
  }
}

/** Replaces Node's `Buffer`, which browsers lack. The SSZ library uses it for the length of a list. */
export const Buffer = {
  from: (memory: ArrayBuffer, offset: number, length: number): LengthBytes => new LengthBytes(memory, offset, length),
}
