import { verifyHybrid } from '../../../consensus/crypto/hybrid.ts'
import { NATIVE_BACKEND } from '../../../src/crypto/native-backend.ts'
import { SIGNATURE_BYTES } from './account-keys.ts'
import { type Attestation, type COMMITTEE, ROTATION } from './bridge-schemas.ts'
import { concat, hex, littleEndian, sha256, tagged, unhex, utf8, ZERO32 } from './bytes.ts'
import { need } from './outcome.ts'
import type { Fields } from './payloads.ts'
import { u8, u32, u128, type Value } from './ssz.ts'

type Committee = Value<typeof COMMITTEE>

/** What a committee attests: ledgers.md, section 9. */
export type Statement =
  | ({ readonly action: 'deposit' } & Omit<Fields<'bridge_deposit'>, 'attestation' | 'create'>)
  | { readonly action: 'sign' | 'cancel'; readonly network: number; readonly withdrawalId: string }
  | ({ readonly action: 'release'; readonly network: number } & Omit<Fields<'bridge_release'>, 'attestation'>)
  | ({ readonly action: 'rotate' } & Value<typeof ROTATION>)
  | { readonly action: 'halt'; readonly network: number }

const ACTION_NUMBERS = { deposit: 1, sign: 2, release: 3, cancel: 4, rotate: 5, halt: 6 } as const

/** A rotation concerns all networks. Its attestation has this number in place of a network's. */
const EVERY_NETWORK = 255

export function depositId(deposit: {
  readonly network: number
  readonly outputIndex: number
  readonly externalTxId: Uint8Array
}): string {
  const { network, outputIndex, externalTxId } = deposit
  return hex(tagged('bridge-deposit', u8.encode(network), u32.encode(outputIndex), externalTxId))
}

/** Network, record id and content of a statement. */
function parts(statement: Statement): readonly [network: number, record: Uint8Array, content: Uint8Array] {
  const nothing = new Uint8Array(0)
  switch (statement.action) {
    case 'deposit': {
      const content = concat(unhex(statement.to), u128.encode(statement.amount))
      return [statement.network, unhex(depositId(statement)), content]
    }
    case 'sign':
    case 'cancel':
      return [statement.network, unhex(statement.withdrawalId), nothing]
    case 'release':
      return [statement.network, unhex(statement.withdrawalId), statement.externalTxId]
    case 'rotate':
      return [EVERY_NETWORK, tagged('bridge-rotation', ROTATION.encode(statement)), nothing]
    case 'halt':
      return [statement.network, unhex(ZERO32), nothing]
  }
}

const LABEL = utf8('farthing-attestation/1')

/** The chain that an attestation is for. */
export interface AttestedChain {
  readonly genesisId: string
  readonly chainId: number
}

/** Message and context that a member signs in an epoch. */
export function attestationMessage(
  statement: Statement,
  epoch: number,
  { genesisId, chainId }: AttestedChain,
): { readonly message: Uint8Array; readonly context: Uint8Array } {
  const [network, record, content] = parts(statement)
  const action = u8.encode(ACTION_NUMBERS[statement.action])
  const digest = tagged('attestation', action, u8.encode(network), u32.encode(epoch), record, content)
  const chain = [littleEndian(BigInt(chainId), 4), unhex(genesisId)]
  return { message: concat(LABEL, ...chain, u8.encode(3), digest), context: LABEL }
}

const verdicts = new Map<string, boolean>()

/** Verifies a signature and remembers the result: random chains repeat the same signatures. */
function verifies(key: Committee['keys'][number], signed: Parameters<typeof verifyHybrid>[2]): boolean {
  const id = hex(sha256(key.bytes, signed.signature, signed.message))
  const scheme = key.scheme as 1 | 2
  const verdict = verdicts.get(id) ?? verifyHybrid(NATIVE_BACKEND, { scheme, bytes: key.bytes }, signed)
  verdicts.set(id, verdict)
  return verdict
}

/** Fails unless the attestation of the statement is valid. */
export function needAttestation(
  committee: Committee,
  statement: Statement,
  { epoch, signatures }: Attestation,
  chain: AttestedChain,
): void {
  const { threshold, keys } = committee
  need(epoch === committee.epoch, 'epoch')
  need(signatures.length === (statement.action === 'halt' ? keys.length - threshold + 1 : threshold), 'attestation')
  const { message, context } = attestationMessage(statement, epoch, chain)
  for (const { keyIndex, bytes } of signatures) {
    const key = keys[keyIndex]
    need(key !== undefined && bytes.length === SIGNATURE_BYTES[key.scheme], 'attestation')
    need(verifies(key, { message, signature: bytes, context }), 'attestation')
  }
}
