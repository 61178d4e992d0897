import { devSeed } from '../../config/networks/dev-keys.ts'
import { hybridPublicKey, signHybrid } from '../../consensus/crypto/hybrid.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { type Part, seedOf } from './actors.ts'
import { type AttestedChain, attestationMessage, type Statement } from './reference/attestation.ts'
import type { Attestation, COMMITTEE } from './reference/bridge-schemas.ts'
import { hex, sha256 } from './reference/bytes.ts'
import type { Value } from './reference/ssz.ts'

type Committee = Value<typeof COMMITTEE>

/** Keys for committees of tests. Those of the development committee come first. */
const PARTS: readonly Part[] = [
  ...[8, 9, 10].map((number): Part => ({ scheme: 2, seed: devSeed(number) })),
  ...[60, 61, 62].map((number): Part => ({ scheme: 1, seed: seedOf(number) })),
  ...[63, 64].map((number): Part => ({ scheme: 2, seed: seedOf(number) })),
]

/** Public keys of {@link PARTS}. */
export const MEMBERS = PARTS.map(({ scheme, seed }) => ({
  scheme,
  bytes: hybridPublicKey(NATIVE_BACKEND, scheme, seed).bytes,
}))

const partOf = new Map(MEMBERS.map(({ bytes }, i) => [hex(bytes), PARTS[i] as Part]))
const signatures = new Map<string, Uint8Array>()

/** A member's signature, remembered: random chains sign the same messages again and again. */
function signature(
  key: Uint8Array,
  signed: { readonly message: Uint8Array; readonly context: Uint8Array },
): Uint8Array {
  const id = hex(sha256(key, signed.message))
  const part = partOf.get(hex(key)) as Part
  const bytes = signatures.get(id) ?? signHybrid(NATIVE_BACKEND, { ...part, ...signed })
  signatures.set(id, bytes)
  return bytes
}

/** How many must sign. To halt, as many suffice as could block every attestation. */
export function signersNeeded({ keys, threshold }: Committee, { action }: Statement): number {
  return action === 'halt' ? keys.length - threshold + 1 : threshold
}

/** The attestation of a statement by `count` members from `first` on. */
export function attest(
  committee: Committee,
  statement: Statement,
  chain: AttestedChain,
  { first = 0, count = signersNeeded(committee, statement), epoch = committee.epoch } = {},
): Attestation {
  const { keys } = committee
  const signed = attestationMessage(statement, epoch, chain)
  const indices = Array.from({ length: Math.min(count, keys.length) }, (_, i) => (first + i) % keys.length)
  return {
    epoch,
    signatures: indices
      .sort((a, b) => a - b)
      .map((keyIndex) => ({ keyIndex, bytes: signature((keys[keyIndex] as (typeof keys)[number]).bytes, signed) })),
  }
}

type Spoil = (good: Attestation, committee: Committee) => Attestation

const edited = (attestation: Attestation, edit: (bytes: Uint8Array) => Uint8Array): Attestation => ({
  ...attestation,
  signatures: attestation.signatures.map((one, i) => (i === 0 ? { ...one, bytes: edit(one.bytes) } : one)),
})

/** Ways to spoil an attestation. Each result is invalid. Almost all are well-formed. */
export const SPOILS: readonly Spoil[] = [
  (good) => ({ ...good, epoch: good.epoch + 1 }),
  (good) => edited(good, (bytes) => bytes.with(5, (bytes[5] as number) ^ 1)),
  (good) => edited(good, (bytes) => bytes.with(bytes.length - 200, (bytes[bytes.length - 200] as number) ^ 1)),
  (good) => edited(good, (bytes) => bytes.subarray(1)),
  (good) => edited(good, () => new Uint8Array(0)),
  // One signature too few if there are several, else one too many.
  (good, { keys }) => {
    const { length } = good.signatures
    if (length > 1) return { ...good, signatures: good.signatures.slice(1) }
    const bytes = good.signatures[0]?.bytes as Uint8Array
    return { ...good, signatures: [...good.signatures, { keyIndex: Math.max(keys.length - 1, 1), bytes }] }
  },
  // A key index that no member has.
  (good, { keys }) => {
    const bytes = good.signatures[0]?.bytes as Uint8Array
    return { ...good, signatures: [...good.signatures.slice(1), { keyIndex: keys.length, bytes }] }
  },
  // The last signature names another key index than that of its signer.
  (good, { keys }) => ({
    ...good,
    signatures: good.signatures.map(({ keyIndex, bytes }, i) =>
      i === good.signatures.length - 1
        ? { keyIndex: (keyIndex + 1) % keys.length || keys.length, bytes }
        : { keyIndex, bytes },
    ),
  }),
]
