import { ed25519 } from '@noble/curves/ed25519.js'
import { ml_dsa44, ml_dsa65 } from '@noble/post-quantum/ml-dsa.js'
import { hex, join, madeBytes, utf8 } from './bytes.ts'
import { accountKeys, addressOf, bodyBytes, made, type RawSignature, wireBytes, witnessBytes } from './tx-fields.ts'
import { PAYLOADS, rawBody, SOUND } from './tx-payloads.ts'
import { shortHex, tagged, u8, u32, type VectorSet } from './tx-wire.ts'

/** A transaction with real signatures, and whether they are valid on the network with this genesis. */
export interface SignedCase {
  readonly name: string
  readonly genesis: string
  /** Keys of the account: carried by the witness at nonce 0, known before at any other. */
  readonly accountKeys: string
  readonly wire: string
  readonly message: string
  readonly valid: boolean
}

interface Key {
  readonly scheme: 1 | 2
  readonly bytes: Uint8Array
  sign(message: Uint8Array): Uint8Array
}

const CONTEXT = utf8('farthing-transaction/1')
const GENESIS = madeBytes('tx genesis', 32)

function keyOf(scheme: 1 | 2, label: string): Key {
  const dsa = scheme === 1 ? ml_dsa44 : ml_dsa65
  const seed = madeBytes(`tx ed25519 seed ${label}`, 32)
  const pair = dsa.keygen(madeBytes(`tx ml-dsa seed ${label}`, 32))
  return {
    scheme,
    bytes: join(ed25519.getPublicKey(seed), pair.publicKey),
    // Deterministic signing, so that the file never changes.
    sign: (message) =>
      join(ed25519.sign(message, seed), dsa.sign(message, pair.secretKey, { context: CONTEXT, extraEntropy: false })),
  }
}

interface Account {
  readonly scheme: number
  readonly keys: readonly Key[]
  readonly encoded: Uint8Array
}

function accountOf(scheme: number, threshold: number, keys: readonly Key[]): Account {
  return { scheme, keys, encoded: accountKeys(scheme, threshold, keys) }
}

const PLAIN = accountOf(1, 1, [keyOf(1, 'plain')])
const VAULT = accountOf(2, 1, [keyOf(2, 'vault')])
const POLICY = accountOf(3, 2, [keyOf(1, 'a'), keyOf(2, 'b'), keyOf(1, 'c')])

interface Signing {
  readonly account: Account
  readonly nonce: bigint
  readonly by: readonly number[]
  /** Values in the signed message that replace the account's scheme and this chain's id and genesis. */
  readonly scheme?: number
  readonly chainId?: number
  readonly genesis?: Uint8Array
  /** Damage done to the signatures after signing. */
  readonly spoil?: (signatures: readonly RawSignature[]) => readonly RawSignature[]
}

function signedCase(name: string, valid: boolean, signing: Signing): SignedCase {
  const { account, nonce, by } = signing
  const body = bodyBytes(
    rawBody('transfer', PAYLOADS.transfer(SOUND.transfer), { nonce, sender: addressOf(account.encoded) }),
  )
  const digest = tagged('farthing/tx-id/1', body)
  const messageFor = (scheme: number, chainId: number, genesis: Uint8Array) =>
    join(CONTEXT, u32(chainId), genesis, u8(scheme), digest)
  const signed = messageFor(signing.scheme ?? account.scheme, signing.chainId ?? 1, signing.genesis ?? GENESIS)
  const signatures = by.map((keyIndex) => ({ keyIndex, bytes: (account.keys[keyIndex] as Key).sign(signed) }))
  const keys = nonce === 0n ? account.encoded : new Uint8Array(0)
  const witness = witnessBytes({ keys, signatures: signing.spoil?.(signatures) ?? signatures })
  return {
    ...{
      name,
      genesis: hex(GENESIS),
      accountKeys: shortHex(account.encoded),
      wire: shortHex(wireBytes(body, witness)),
    },
    ...{ message: hex(messageFor(account.scheme, 1, GENESIS)), valid },
  }
}

/** Flips the lowest bit of one byte of one signature. */
function flip(which: number, byte: number): NonNullable<Signing['spoil']> {
  return (signatures) =>
    signatures.map(({ keyIndex, bytes }, i) => ({
      keyIndex,
      bytes: i === which ? bytes.map((value, at) => (at === byte ? value ^ 1 : value)) : bytes,
    }))
}

/** The cases of `tx-signed.json`: rule 6 of transactions.md, section 1. */
export function txSigned(): VectorSet<SignedCase> {
  const first = { account: PLAIN, nonce: 0n, by: [0] }
  const policy = { account: POLICY, nonce: 7n, by: [0, 1] }
  return {
    about: 'Signed transactions. Signatures are made without randomness. Chain id 1 everywhere.',
    spec: 'transactions.md, section 1, rule 6; encoding.md, section 6',
    cases: [
      signedCase('a first transaction', true, first),
      signedCase('a later transaction', true, { ...first, nonce: 7n }),
      signedCase('a first transaction of a vault', true, { account: VAULT, nonce: 0n, by: [0] }),
      signedCase('two of three, a vault key among them', true, policy),
      signedCase('two of three, the other two, at nonce 0', true, { ...policy, nonce: 0n, by: [0, 2] }),
      signedCase('a bit of R turned over', false, { ...first, spoil: flip(0, 0) }),
      signedCase('a bit of S turned over', false, { ...first, spoil: flip(0, 32) }),
      signedCase('a bit of the ML-DSA half turned over', false, { ...first, spoil: flip(0, 64) }),
      signedCase('the last bit of the ML-DSA half turned over', false, { ...first, spoil: flip(0, 2_483) }),
      signedCase('two of three with the second one damaged', false, { ...policy, spoil: flip(1, 70) }),
      signedCase('a signature for another network', false, { ...first, genesis: made('another genesis') }),
      signedCase('a signature for another chain id', false, { ...first, chainId: 2 }),
      signedCase('a policy’s signatures made as for single keys', false, { ...policy, scheme: 1 }),
      signedCase('two of three with the signatures swapped', false, {
        ...{ ...policy, by: [0, 2] },
        spoil: ([a, b]) => [
          { keyIndex: 0, bytes: (b as RawSignature).bytes },
          { keyIndex: 2, bytes: (a as RawSignature).bytes },
        ],
      }),
    ],
  }
}
