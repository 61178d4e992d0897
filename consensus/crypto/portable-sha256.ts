import { sha256 } from '@noble/hashes/sha2.js'

/**
 * The functions of `@chainsafe/as-sha256` that this folder and the SSZ library use, in plain JavaScript. The client's
 * bundle has this file in the place of the package: it also loads in pages whose policy forbids WebAssembly, and is a
 * tenth as long.
 */
export interface HashObject {
  h0: number
  h1: number
  h2: number
  h3: number
  h4: number
  h5: number
  h6: number
  h7: number
}

const WORDS = ['h0', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'h7'] as const

/** SHA-256. */
export function digest(data: Uint8Array): Uint8Array {
  return sha256(data)
}

/** SHA-256 of each 64 bytes of the input. */
export function hashInto(input: Uint8Array, output: Uint8Array): void {
  for (let i = 0; i * 64 < input.length; i++) output.set(sha256(input.subarray(i * 64, i * 64 + 64)), i * 32)
}

/** A new buffer. */
export function allocUnsafe(length: number): Uint8Array {
  return new Uint8Array(length)
}

/** Writes 32 bytes as eight little-endian words. */
export function byteArrayIntoHashObject(bytes: Uint8Array, offset: number, output: HashObject): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, 32)
  WORDS.forEach((word, i) => {
    output[word] = view.getInt32(4 * i, true)
  })
}

/** Reads 32 bytes as eight little-endian words. */
export function byteArrayToHashObject(bytes: Uint8Array, offset: number): HashObject {
  const output = { h0: 0, h1: 0, h2: 0, h3: 0, h4: 0, h5: 0, h6: 0, h7: 0 }
  byteArrayIntoHashObject(bytes, offset, output)
  return output
}

/** Writes eight little-endian words as 32 bytes. */
export function hashObjectToByteArray(words: HashObject, bytes: Uint8Array, offset: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, 32)
  WORDS.forEach((word, i) => {
    view.setInt32(4 * i, words[word], true)
  })
}

/** SHA-256 of two concatenated hashes. */
export function digest64HashObjects(left: HashObject, right: HashObject): HashObject {
  const input = new Uint8Array(64)
  hashObjectToByteArray(left, input, 0)
  hashObjectToByteArray(right, input, 32)
  return byteArrayToHashObject(sha256(input), 0)
}
