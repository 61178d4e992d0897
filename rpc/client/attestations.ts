import { type SignatureBackend, verifyHybrid } from '../../consensus/crypto/hybrid.ts'
import { KEY_SCHEMES } from '../../consensus/crypto/schemes.ts'
import { attestationMessage, type SigningNetwork, signingContext } from '../../consensus/crypto/signing.ts'
import { fromHex, isHex, isHexBytes, toHex } from '../../consensus/primitives/bytes.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { BlockId } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { type AttestedAction, attestationDigest } from '../../consensus/tx/attestations.ts'
import { actionFromJson, actionToJson } from '../../consensus/tx/attested-payload.ts'
import type { Attestation } from '../../consensus/tx/bridge-payloads.ts'
import type { JsonObject } from '../../consensus/tx/json.ts'
import type { TxRules } from '../../consensus/tx/rules.ts'
import type { AccountSigner } from '../../consensus/tx/sign.ts'
import { fieldsOf } from './http.ts'
import type { CommitteeView } from './ledger-client.ts'

const VERSION = 1
const EPOCH_BOUND = 2 ** 32
const KEY_INDEX_BOUND = 8

/** What a committee member signs: an action in an epoch, on one network. */
export interface Statement {
  readonly network: SigningNetwork
  readonly epoch: number
  readonly action: AttestedAction
}

/** A statement with one member's signature. */
export interface SignedStatement extends Statement {
  readonly keyIndex: number
  readonly signature: Uint8Array
}

/** A statement with signatures of several members, by ascending key index. */
export interface Attested extends Statement {
  readonly attestation: Attestation
}

/** The digest of the action and the epoch of a statement, for members to compare before they sign. */
export function statementDigest({ action, epoch }: Statement): string {
  return toHex(attestationDigest(action, epoch))
}

/** Signs a statement with the one key of a wallet. */
export async function signStatement(
  signer: AccountSigner,
  statement: Statement,
  keyIndex: number,
): Promise<SignedStatement> {
  const signatures = await signer.sign(messageOf(statement), signingContext('attestation'))
  return { ...statement, keyIndex, signature: (signatures[0] as (typeof signatures)[number]).bytes }
}

function messageOf({ network, action, epoch }: Statement): Uint8Array {
  return attestationMessage(network, attestationDigest(action, epoch))
}

/** JSON of a signed statement, which members pass on. */
export function signedToJson(prefix: string, signed: SignedStatement): JsonObject {
  const { network, epoch, action, keyIndex, signature } = signed
  const where = { version: VERSION, chainId: network.chainId, genesis: network.genesis, epoch }
  return { ...where, action: actionToJson(prefix, action), keyIndex, signature: toHex(signature) }
}

/** The sender of the JSON is not trusted. */
export function signedFromJson(prefix: string, rules: TxRules, json: unknown): Result<SignedStatement> {
  const { version, chainId, genesis, epoch, action: stated, keyIndex, signature } = fieldsOf(json)
  if (version !== VERSION) return unusable('version', 'is unknown')
  if (!isBelow(chainId, EPOCH_BOUND)) return unusable('chainId', 'must be a whole number')
  if (typeof genesis !== 'string' || !isHex(genesis, 32)) return unusable('genesis', 'must be 32 bytes in hex')
  if (!isBelow(epoch, EPOCH_BOUND)) return unusable('epoch', 'must be a whole number')
  if (!isBelow(keyIndex, KEY_INDEX_BOUND)) return unusable('keyIndex', 'must be 0 to 7')
  if (typeof signature !== 'string' || !isHexBytes(signature)) return unusable('signature', 'must be hex')
  const action = actionFromJson(prefix, rules, stated)
  if (!action.ok) return action
  const network = { chainId, genesis: genesis as BlockId }
  return ok({ network, epoch, action: action.value, keyIndex, signature: fromHex(signature) })
}

/** Joins signatures over one statement. */
export function mergeSigned(all: readonly SignedStatement[]): Result<Attested> {
  const [first] = all
  if (first === undefined) return unusable('signatures', 'there are none')
  const names = (one: Statement) => [one.network.chainId, one.network.genesis, one.epoch, statementDigest(one)].join()
  if (all.some((one) => names(one) !== names(first)))
    return unusable('signatures', 'they are over different statements')
  const sorted = [...all].sort((a, b) => a.keyIndex - b.keyIndex)
  const twice = sorted.find(({ keyIndex }, i) => keyIndex === sorted[i - 1]?.keyIndex)
  if (twice !== undefined) return unusable('signatures', `the key ${twice.keyIndex} signed twice`)
  const { network, epoch, action } = first
  const signatures = sorted.map(({ keyIndex, signature }) => ({ keyIndex, bytes: signature }))
  return ok({ network, epoch, action, attestation: { epoch, signatures } })
}

/**
 * The attestation with exactly as many signatures as the committee wants. A fault says why the chain would refuse it, so that no sender
 * pays a fee to find out.
 */
export function completeAttestation(
  backend: SignatureBackend,
  { attestation, ...statement }: Attested,
  { epoch, threshold, haltThreshold, keys }: CommitteeView,
): Result<Attestation> {
  if (statement.epoch !== epoch) return fail(fault('bridge/epoch', { epoch: statement.epoch, current: epoch }))
  const wanted = statement.action.action === 'halt' ? haltThreshold : threshold
  const [message, context] = [messageOf(statement), signingContext('attestation')]
  for (const { keyIndex, bytes } of attestation.signatures) {
    const key = keys[keyIndex]
    if (key === undefined) return refused(`the committee has no key ${keyIndex}`)
    const sized = bytes.length === KEY_SCHEMES[key.scheme].signatureBytes
    if (!sized || !verifyHybrid(backend, key, { message, signature: bytes, context }))
      return refused(`the signature of key ${keyIndex} does not verify`)
  }
  const { signatures } = attestation
  if (signatures.length < wanted) return refused(`it takes ${wanted} signatures, here are ${signatures.length}`)
  return ok({ epoch, signatures: signatures.slice(0, wanted) })
}

function refused(reason: string): Result<never> {
  return fail(fault('bridge/attestation', { reason }))
}

function unusable(field: string, reason: string): Result<never> {
  return fail(fault('tx/json', { field, reason }))
}

function isBelow(value: unknown, bound: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < bound
}
