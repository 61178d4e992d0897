import { KEY_SCHEMES, type KeyScheme } from '../../consensus/crypto/schemes.ts'
import type { SignatureJob, SignaturePart, SigningDomain } from '../../consensus/crypto/signing.ts'
import type { TabSignature } from '../../consensus/crypto/tab-signing.ts'
import { assert } from '../../consensus/primitives/assert.ts'

/**
 * Format of signature jobs in one flat buffer, so that a chunk is sent to a worker in a single transfer. Per job:
 * domain, number of parts, message length (2 bytes), message; per part: scheme, key, signature, with lengths given by
 * the scheme.
 */
const DOMAIN_NUMBERS: Readonly<Record<SigningDomain, number>> = { transaction: 0, text: 1, attestation: 2 }
const DOMAINS = Object.keys(DOMAIN_NUMBERS) as readonly SigningDomain[]
const JOB_HEAD_BYTES = 4
const LENGTH_BYTES = 2

/** Packs jobs; their keys and signatures must have the lengths of their scheme. */
export function packJobs(jobs: readonly SignatureJob[]): Uint8Array<ArrayBuffer> {
  const packed = new Uint8Array(jobs.reduce((sum, job) => sum + packedSize(job), 0))
  let offset = 0
  for (const { domain, message, parts } of jobs) {
    packed.set([DOMAIN_NUMBERS[domain], parts.length, message.length & 0xff, message.length >> 8], offset)
    packed.set(message, offset + JOB_HEAD_BYTES)
    offset += JOB_HEAD_BYTES + message.length
    for (const { key, signature } of parts) {
      const { publicKeyBytes, signatureBytes } = KEY_SCHEMES[key.scheme]
      assert(key.bytes.length === publicKeyBytes && signature.length === signatureBytes, 'a job with checked lengths')
      packed[offset] = key.scheme
      packed.set(key.bytes, offset + 1)
      packed.set(signature, offset + 1 + publicKeyBytes)
      offset += 1 + publicKeyBytes + signatureBytes
    }
  }
  return packed
}

/** Unpacks the output of {@link packJobs}, without copying. */
export function unpackJobs(packed: Uint8Array): readonly SignatureJob[] {
  const jobs: SignatureJob[] = []
  for (let offset = 0; offset < packed.length; ) {
    const [domain = 0, count = 0, low = 0, high = 0] = packed.subarray(offset, offset + JOB_HEAD_BYTES)
    const messageEnd = offset + JOB_HEAD_BYTES + low + (high << 8)
    const message = packed.subarray(offset + JOB_HEAD_BYTES, messageEnd)
    const parts: SignaturePart[] = []
    offset = messageEnd
    for (let i = 0; i < count; i++) {
      const scheme = packed[offset] as KeyScheme
      const { publicKeyBytes, signatureBytes } = KEY_SCHEMES[scheme]
      const signatureStart = offset + 1 + publicKeyBytes
      const bytes = packed.subarray(offset + 1, signatureStart)
      parts.push({
        key: { scheme, bytes },
        signature: packed.subarray(signatureStart, signatureStart + signatureBytes),
      })
      offset = signatureStart + signatureBytes
    }
    jobs.push({ domain: domainOf(domain), message, parts })
  }
  return jobs
}

/** Signatures of keys of tabs in one buffer. Per job: message, key and signature, each after its length (2 bytes). */
export function packTabJobs(jobs: readonly TabSignature[]): Uint8Array<ArrayBuffer> {
  const parts = jobs.map(({ message, key, signature }) => [message, key, signature])
  const size = parts.reduce((sum, each) => each.reduce((own, { length }) => own + LENGTH_BYTES + length, sum), 0)
  const packed = new Uint8Array(size)
  let offset = 0
  for (const part of parts.flat()) {
    packed.set([part.length & 0xff, part.length >> 8], offset)
    packed.set(part, offset + LENGTH_BYTES)
    offset += LENGTH_BYTES + part.length
  }
  return packed
}

/** Unpacks the output of {@link packTabJobs}, without copying. */
export function unpackTabJobs(packed: Uint8Array): readonly TabSignature[] {
  const jobs: TabSignature[] = []
  let offset = 0
  const next = (): Uint8Array => {
    const [low = 0, high = 0] = packed.subarray(offset, offset + LENGTH_BYTES)
    const start = offset + LENGTH_BYTES
    offset = start + low + (high << 8)
    return packed.subarray(start, offset)
  }
  while (offset < packed.length) jobs.push({ message: next(), key: next(), signature: next() })
  return jobs
}

function domainOf(number: number): SigningDomain {
  const domain = DOMAINS.find((name) => DOMAIN_NUMBERS[name] === number)
  assert(domain !== undefined, 'a job of a known domain')
  return domain
}

function packedSize({ message, parts }: SignatureJob): number {
  return parts.reduce((sum, { key }) => {
    const { publicKeyBytes, signatureBytes } = KEY_SCHEMES[key.scheme]
    return sum + 1 + publicKeyBytes + signatureBytes
  }, JOB_HEAD_BYTES + message.length)
}
