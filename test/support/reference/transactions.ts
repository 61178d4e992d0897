import { concat, demand, hex, Refusal, tagged } from './bytes.ts'
import type { ReferenceRules } from './params.ts'
import {
  ACCOUNT_KEYS,
  type AccountKeys,
  AGENT_INVOKE,
  AGENT_RECEIPT,
  AGENT_REGISTER,
  AGENT_UPDATE,
  BODY,
  type Body,
  SERVICE_PUBLISH,
  SERVICE_RETIRE,
  TRANSACTION,
  TRANSFER,
  WITNESS,
  type Witness,
} from './schemas.ts'
import type { Ssz, Value } from './ssz.ts'

type TxRules = ReferenceRules['tx']

/** Payload type by kind. */
const PAYLOADS = {
  transfer: TRANSFER,
  agent_register: AGENT_REGISTER,
  agent_update: AGENT_UPDATE,
  service_publish: SERVICE_PUBLISH,
  service_retire: SERVICE_RETIRE,
  agent_invoke: AGENT_INVOKE,
  agent_receipt: AGENT_RECEIPT,
} as const

type Kind = keyof typeof PAYLOADS

/** A payload with the name of its kind. */
export type Payload = { [K in Kind]: { readonly kind: K } & Value<(typeof PAYLOADS)[K]> }[Kind]

const KIND_NUMBERS: ReadonlyMap<number, Kind> = new Map([
  [0x01, 'transfer'],
  [0x60, 'agent_register'],
  [0x61, 'agent_update'],
  [0x62, 'service_publish'],
  [0x63, 'service_retire'],
  [0x64, 'agent_invoke'],
  [0x65, 'agent_receipt'],
])

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

const AMOUNT_END = 2n ** 112n
const PRICE_MAX = 10n ** 12n
const CAPABILITIES = 16

const isName = (name: string): boolean => name !== '' && !name.startsWith(' ') && !name.endsWith(' ')

const distinct = (values: readonly string[]): boolean => new Set(values).size === values.length

/** Ranges of transactions.md, section 3. */
function inRange(payload: Payload, rules: TxRules): boolean {
  switch (payload.kind) {
    case 'transfer':
      return payload.amount >= 1n && payload.amount < AMOUNT_END
    case 'agent_register':
    case 'agent_update':
      return isName(payload.name) && distinct(payload.settlers)
    case 'service_publish':
      return (
        isName(payload.name) &&
        payload.capability < CAPABILITIES &&
        payload.priceUsdMicros >= 1n &&
        payload.priceUsdMicros <= PRICE_MAX
      )
    case 'service_retire':
      return true
    case 'agent_invoke':
      return (
        payload.units === 1 &&
        rules.invokeTerms.includes(payload.term) &&
        payload.amount >= rules.invokeAmountMin &&
        payload.amount < AMOUNT_END
      )
    case 'agent_receipt':
      return payload.entries.length >= 1 && payload.entries.every(({ outcome }) => outcome <= 1)
  }
}

/** Declared writes and surcharge: transactions.md, section 2. */
function declared(payload: Payload, { weight }: TxRules): { writes: number; surcharge: number } {
  switch (payload.kind) {
    case 'transfer':
      return { writes: 2, surcharge: payload.create ? weight.createAccount : 0 }
    case 'agent_register':
      return { writes: 3, surcharge: weight.registerAgent }
    case 'agent_update':
    case 'service_retire':
      return { writes: 2, surcharge: 0 }
    case 'service_publish':
      return { writes: 3, surcharge: weight.publishService }
    case 'agent_invoke':
      return { writes: 4, surcharge: weight.invokeRefund }
    case 'agent_receipt':
      return { writes: 3 + 5 * payload.entries.length, surcharge: 0 }
  }
}

/** Decodes a transaction; refuses bytes that do not decode. */
export function readTransaction(wire: Uint8Array, rules: TxRules): ReferenceTransaction {
  const outer = TRANSACTION.decode(wire)
  const body = BODY.decode(outer.body)
  const witness = WITNESS.decode(outer.witness)
  const kind = KIND_NUMBERS.get(body.kind)
  demand(kind !== undefined, 'transaction: kind')
  const type = PAYLOADS[kind] as unknown as Ssz<object>
  const payload = { kind, ...type.decode(body.payload) } as Payload
  const { writes, surcharge } = declared(payload, rules)
  const { perSignature, perStateWrite } = rules.weight
  const weight = wire.length + perSignature * witness.signatures.length + perStateWrite * writes + surcharge
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

const KEY_BYTES = [0, 1_344, 1_984]
const SIGNATURE_BYTES = [0, 2_484, 3_373]

function checkSound({ scheme, threshold, keys }: AccountKeys): void {
  for (const key of keys) {
    demand(key.scheme === 1 || key.scheme === 2, 'keys: scheme of a key')
    demand(key.bytes.length === KEY_BYTES[key.scheme], 'keys: length of a key')
  }
  if (scheme === 1 || scheme === 2) {
    demand(keys.length === 1 && keys[0]?.scheme === scheme && threshold === 1, 'keys: not one key')
  } else if (scheme === 3) {
    demand(threshold >= 1 && threshold <= keys.length, 'keys: threshold')
    demand(new Set(keys.map(({ bytes }) => hex(bytes))).size === keys.length, 'keys: not distinct')
  } else throw new Refusal('keys: scheme')
}

/**
 * Rule 5 of transactions.md, section 1, all but rule 6: signatures are not verified here, since elliptic curves and
 * lattices would have to come from the libraries under test. `known` holds the keys that senders have shown, and gains
 * those of this transaction.
 */
export function checkKeys({ body, witness }: ReferenceTransaction, known: Map<string, AccountKeys>): void {
  if (body.nonce === 0n) {
    demand(hex(tagged('address', witness.keys)) === body.sender, 'keys: not of the sender')
    const keys = ACCOUNT_KEYS.decode(witness.keys)
    checkSound(keys)
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
