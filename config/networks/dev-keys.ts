import { taggedHash } from '../../consensus/crypto/hash.ts'
import { assert } from '../../consensus/primitives/assert.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import { encodeText } from '../../consensus/primitives/text.ts'

/** Addresses of the published development keys, key 1 first. Their seeds are public: never send value to them. */
export const DEV_ADDRESSES = [
  '0f677daa2337fe242a7e3b2237a34728648601be6fa0a673b7ce3c67116139fd',
  '42b5b481186a013b52f91f5dc98cdd8e3a554d90b8de1c568d1c57ecf042fe4c',
  '79c275116b2dd0711ac6f4adbe5e7e39eb46a500c8355692e286a0ade56a5da3',
  '33d7c15943c11ac1d6fa5f7f91ff1f8e6794f2928c95cebe28decac11ce39efd',
  '57db24d603b7af04c64c6e8e8ab6e7d5e4225827c42b98f78cd85bf0d21ba7a4',
  '6f5f897540deb05f627c247c641cb7a8182a9fdc645931f34863c673edf37ce2',
  'fac6b3b347af21d8ba94bad0581ef7d8530e907d8825f6372beb1bdb08ba00c7',
  'd3df959f409c6807f344cfbdc36c2e78cbcfd9d612c5acf48f0b688c822c342c',
  '561fa1402c2384dbb6e0aaa8a0af5b94257b70bce4163b5ab9aa9240203b75b2',
  '499bf01a5e888dc4df8067af638575ec87a4284abe67c02167c404d778ac387e',
] as readonly string[] as readonly Address[]

/** Seed of development key `number`, 1 to 10: H(text tag, "farthing devnet key N"). */
export function devSeed(number: number): Uint8Array {
  assert(Number.isInteger(number) && number >= 1 && number <= DEV_ADDRESSES.length, 'development keys are 1 to 10')
  return taggedHash('textDigest', encodeText(`farthing devnet key ${number}`))
}
