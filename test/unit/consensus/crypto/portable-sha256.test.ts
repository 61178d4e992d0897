import {
  digest as theirDigest,
  hashInto as theirHashes,
  byteArrayToHashObject as theirObject,
  digest64HashObjects as theirPair,
} from '@chainsafe/as-sha256'
import { expect, test } from 'vitest'
import {
  allocUnsafe,
  byteArrayToHashObject,
  digest,
  digest64HashObjects,
  hashInto,
  hashObjectToByteArray,
} from '../../../../consensus/crypto/portable-sha256.ts'

/** Bytes that are the same in every run and differ between lengths. */
function bytes(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i * 197 + length * 31 + 255 * (i % 7)) % 256)
}

test('hashes as the WebAssembly one does, at every length around its blocks', () => {
  for (let length = 0; length <= 200; length++) expect(digest(bytes(length))).toEqual(theirDigest(bytes(length)))
  expect(digest(bytes(100_000))).toEqual(theirDigest(bytes(100_000)))
})

test('hashes many pairs as the WebAssembly one does', () => {
  for (const count of [1, 3, 4, 5, 9]) {
    const [ours, theirs] = [new Uint8Array(32 * count), new Uint8Array(32 * count)]
    hashInto(bytes(64 * count), ours)
    theirHashes(bytes(64 * count), theirs)
    expect(ours).toEqual(theirs)
  }
})

test('reads and writes the words of the SSZ library', () => {
  const [left, right] = [bytes(40).subarray(8), bytes(32)]
  expect(byteArrayToHashObject(left, 0)).toEqual(theirObject(left, 0))
  expect(digest64HashObjects(byteArrayToHashObject(left, 0), byteArrayToHashObject(right, 0))).toEqual(
    theirPair(theirObject(left, 0), theirObject(right, 0)),
  )
  const written = allocUnsafe(36)
  hashObjectToByteArray(byteArrayToHashObject(left, 0), written, 4)
  expect(written.subarray(4)).toEqual(left)
})
