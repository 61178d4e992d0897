import type { ChainReader } from '../../consensus/chain/reader.ts'
import {
  ED25519_PUBLIC_KEY_BYTES,
  ED25519_SIGNATURE_BYTES,
  passesEd25519Rules,
} from '../../consensus/crypto/ed25519-rules.ts'
import { KEY_SCHEMES } from '../../consensus/crypto/schemes.ts'
import { type SignatureJob, signingContext } from '../../consensus/crypto/signing.ts'
import { type TabSignature, verifyTabSignature } from '../../consensus/crypto/tab-signing.ts'
import { signatureJob } from '../../consensus/tx/check.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import type { HalfVerdicts, SignatureFacts } from '../../marketplace/services/context.ts'
import { NATIVE_BACKEND } from './native-backend.ts'

const CLASSICAL = 'Ed25519'

/** Verdicts on both halves of every signature in a job, by the consensus rules. */
export function halfVerdicts({ domain, message, parts }: SignatureJob): readonly HalfVerdicts[] {
  const context = signingContext(domain)
  return parts.map(({ key, signature }) => {
    const { mlDsa, publicKeyBytes, signatureBytes } = KEY_SCHEMES[key.scheme]
    if (key.bytes.length !== publicKeyBytes || signature.length !== signatureBytes) return NEITHER
    const [ed25519Key, mlDsaKey] = halves(key.bytes, ED25519_PUBLIC_KEY_BYTES)
    const [ed25519, mlDsaSignature] = halves(signature, ED25519_SIGNATURE_BYTES)
    return {
      classical:
        passesEd25519Rules(ed25519Key, ed25519) && NATIVE_BACKEND.verifyEd25519(message, ed25519, ed25519Key) === true,
      postQuantum: NATIVE_BACKEND.verifyMlDsa(mlDsa, message, mlDsaSignature, mlDsaKey, context) === true,
    }
  })
}

const NEITHER: HalfVerdicts = { classical: false, postQuantum: false }

function halves(bytes: Uint8Array, classical: number): readonly [Uint8Array, Uint8Array] {
  return [bytes.subarray(0, classical), bytes.subarray(classical)]
}

/** Whether a key of a tab signed a message, by the consensus rules. */
export function isTabSignature(part: TabSignature): boolean {
  return verifyTabSignature(NATIVE_BACKEND, part)
}

/** Verifies both halves of a transaction's signatures again. */
export function signatureFacts(chain: ChainReader, tx: Transaction): SignatureFacts {
  const keys = chain.keys.keysFor(tx)
  const job = keys.ok ? signatureJob(tx, keys.value, chain.network) : keys
  if (!job.ok) return { classical: { alg: CLASSICAL, valid: null }, postQuantum: { alg: 'ML-DSA', valid: null } }
  const levels = [...new Set(job.value.parts.map(({ key }) => `ML-DSA-${KEY_SCHEMES[key.scheme].mlDsa}`))]
  const verdicts = halfVerdicts(job.value)
  return {
    classical: { alg: CLASSICAL, valid: verdicts.every(({ classical }) => classical) },
    postQuantum: { alg: levels.join(', '), valid: verdicts.every(({ postQuantum }) => postQuantum) },
  }
}
