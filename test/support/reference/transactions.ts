import { SIGNATURE_BYTES, unsoundness } from './account-keys.ts'
import { concat, demand, hex, tagged } from './bytes.ts'
import type { ReferenceRules } from './params.ts'
import { KINDS, type Kind, type Payload } from './payloads.ts'
import { inRange } from './ranges.ts'
import { ACCOUNT_KEYS, type AccountKeys, BODY, type Body, TRANSACTION, WITNESS, type Witness } from './schemas.ts'
import type { Ssz } from './ssz.ts'
import { declaredWrites, weightOf } from './weight.ts'

type TxRules = ReferenceRules['tx']

const KIND_NUMBERS: ReadonlyMap<number, Kind> = new Map(
  (Object.keys(KINDS) as Kind[]).map((kind) => [KINDS[kind][0], kind]),
)

export interface ReferenceTransaction {
  readonly wire: Uint8Array
  readonly body: Body
  readonly payload: Payload
  readonly witness: Witness
  readonly txid: Uint8Array
  readonly wtxid: Uint8Array
  readonly writes: number
  readonly weight: number
}

/** Decodes a transaction; refuses bytes that do not decode. */
export function readTransaction(wire: Uint8Array, rules: TxRules): ReferenceTransaction {
  const outer = TRANSACTION.decode(wire)
  const body = BODY.decode(outer.body)
  const witness = WITNESS.decode(outer.witness)
  const kind = KIND_NUMBERS.get(body.kind)
  demand(kind !== undefined, 'transaction: kind')
  demand(!kind.startsWith('tab_') || rules.tabs !== undefined, 'transaction: kind of a later step')
  const type = KINDS[kind][1] as unknown as Ssz<object>
  const payload = { kind, ...type.decode(body.payload) } as Payload
  const writes = declaredWrites(payload)
  const weight = weightOf(payload, wire.length, witness.signatures.length, rules)
  const txid = tagged('tx-id', outer.body)
  return { wire, body, payload, witness, txid, wtxid: tagged('wtx-id', concat(txid, outer.witness)), writes, weight }
}

/** Rules 2 to 4 of transactions.md, section 1. */
export function checkForm({ body, payload, witness }: ReferenceTransaction, rules: TxRules): void {
  demand(body.version === 1, 'transaction: version')
  demand(body.chainId === rules.chainId, 'transaction: chain id')
  demand(inRange(payload, rules), 'transaction: payload out of range')
  demand((body.nonce === 0n) === witness.keys.length > 0, 'transaction: keys')
  const indices = witness.signatures.map(({ keyIndex }) => keyIndex)
  demand(indices.length > 0, 'transaction: no signature')
  demand(
    indices.every((index, i) => i === 0 || index > (indices[i - 1] as number)),
    'transaction: order of key indices',
  )
}

/**
 * Rule 5 of transactions.md, section 1. Rule 6, the signatures, is not checked: that would need the same cryptographic
 * libraries as the code under test. `known` has the keys that senders have shown; this transaction's keys are added.
 */
export function checkKeys({ body, witness }: ReferenceTransaction, known: Map<string, AccountKeys>): void {
  if (body.nonce === 0n) {
    demand(hex(tagged('address', witness.keys)) === body.sender, 'keys: not of the sender')
    const keys = ACCOUNT_KEYS.decode(witness.keys)
    const unsound = unsoundness(keys)
    demand(unsound === undefined, `keys: ${unsound}`)
    known.set(body.sender, keys)
  }
  const account = known.get(body.sender)
  demand(account !== undefined, 'keys: not known')
  demand(witness.signatures.length === account.threshold, 'signatures: not the threshold')
  for (const { keyIndex, bytes } of witness.signatures) {
    const key = account.keys[keyIndex]
    demand(key !== undefined, 'signatures: key index')
    demand(bytes.length === SIGNATURE_BYTES[key.scheme], 'signatures: length')
  }
}
