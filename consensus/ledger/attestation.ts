import { KEY_SCHEMES } from '../crypto/schemes.ts'
import { attestationMessage, type SignaturePart } from '../crypto/signing.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import { type AttestedAction, attestationDigest } from '../tx/attestations.ts'
import type { Attestation } from '../tx/bridge-payloads.ts'
import type { Committee } from './bridge-records.ts'
import type { TxContext } from './module.ts'

/**
 * How many members must sign an action: the threshold. For a halt: as many as could block all other actions by not
 * signing.
 */
export function membersWanted({ threshold, keys }: Pick<Committee, 'threshold' | 'keys'>, halts: boolean): number {
  return halts ? keys.length - threshold + 1 : threshold
}

/**
 * Null if the attestation holds for the action, else why not. It must have exactly the wanted number of signatures.
 * Their key indices ascend (malformed otherwise), so each counts for one member. The signatures are verified last,
 * since verifying blocks the calling thread.
 */
export function whyUnattested(
  { network, verifies }: Pick<TxContext, 'network' | 'verifies'>,
  committee: Committee,
  { epoch, signatures }: Attestation,
  action: AttestedAction,
): Fault | null {
  if (epoch !== committee.epoch) return fault('bridge/epoch', { epoch, current: committee.epoch })
  const wanted = membersWanted(committee, action.action === 'halt')
  if (signatures.length !== wanted) {
    return fault('bridge/attestation', { reason: `it takes ${wanted} signatures, here are ${signatures.length}` })
  }
  const parts = signatures.flatMap((signature) => partOf(committee, signature))
  if (parts.length !== wanted) {
    return fault('bridge/attestation', { reason: 'a signature is not of a key of the committee or has a wrong length' })
  }
  const message = attestationMessage(network, attestationDigest(action, epoch))
  if (verifies({ domain: 'attestation', message, parts })) return null
  return fault('bridge/attestation', { reason: 'a signature does not verify' })
}

function partOf({ keys }: Committee, { keyIndex, bytes }: Attestation['signatures'][number]): readonly SignaturePart[] {
  const key = keys[keyIndex] as SignaturePart['key'] | undefined
  if (key === undefined || bytes.length !== KEY_SCHEMES[key.scheme].signatureBytes) return []
  return [{ key, signature: bytes }]
}
