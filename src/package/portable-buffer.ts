/** Bytes with the one method of Node's that the SSZ library calls on them. */
class LengthBytes extends Uint8Array<ArrayBuffer> {
  writeUIntLE(value: number, offset: number, byteLength: number): number {
    for (let i = 0, rest = value; i < byteLength; i++, rest = Math.floor(rest / 256)) this[offset + i] = rest % 256
    return offset + byteLength
  }
}

/** Put in the place of Node's `Buffer` where the SSZ library makes room for the length of a list: browsers have none. */
export const Buffer = {
  from: (memory: ArrayBuffer, offset: number, length: number): LengthBytes => new LengthBytes(memory, offset, length),
}
