import { join, madeBytes, utf8 } from './bytes.ts'
import { container, listOfVarying, tagged, u8, u16, u32, u64, u128, vary } from './tx-wire.ts'

/**
 * Raw transactions: the fields of docs/spec/transactions.md with nothing checked, so that a malformed one can be
 * written down as easily as a sound one.
 */

export interface RawBody {
  readonly version: number
  readonly chainId: number
  readonly sender: Uint8Array
  readonly nonce: bigint
  readonly kind: number
  readonly maxFeeRate: bigint
  readonly tip: bigint
  readonly validUntil: number
  readonly memo: Uint8Array
  readonly payload: Uint8Array
}

export interface RawSignature {
  readonly keyIndex: number
  readonly bytes: Uint8Array
}

export interface RawWitness {
  readonly keys: Uint8Array
  readonly signatures: readonly RawSignature[]
}

export function bodyBytes(body: RawBody): Uint8Array {
  return container(
    u8(body.version),
    u32(body.chainId),
    body.sender,
    u64(body.nonce),
    u8(body.kind),
    u64(body.maxFeeRate),
    u64(body.tip),
    u32(body.validUntil),
    vary(body.memo),
    vary(body.payload),
  )
}

export function witnessBytes({ keys, signatures }: RawWitness): Uint8Array {
  const encoded = signatures.map(({ keyIndex, bytes }) => container(u8(keyIndex), vary(bytes)))
  return container(vary(keys), vary(listOfVarying(encoded)))
}

export function wireBytes(body: Uint8Array, witness: Uint8Array): Uint8Array {
  return container(vary(body), vary(witness))
}

/** A key that is only ever measured: schemes say its length, nothing says that it is a point. */
export function fillerKey(scheme: number, fill: number): { scheme: number; bytes: Uint8Array } {
  return { scheme, bytes: new Uint8Array(scheme === 1 ? 1344 : 1984).fill(fill) }
}

export function accountKeys(
  scheme: number,
  threshold: number,
  keys: readonly { scheme: number; bytes: Uint8Array }[],
): Uint8Array {
  const encoded = keys.map((key) => container(u8(key.scheme), vary(key.bytes)))
  return container(u8(scheme), u8(threshold), vary(listOfVarying(encoded)))
}

export function addressOf(keys: Uint8Array): Uint8Array {
  return tagged('farthing/address/1', keys)
}

/** A signature of the right length that nobody made. */
export function fillerSignature(keyIndex: number, scheme = 1, fill = 0x5a): RawSignature {
  return { keyIndex, bytes: new Uint8Array(scheme === 1 ? 2484 : 3373).fill(fill) }
}

/** A text or byte string in a payload. */
const words = (text: string) => vary(utf8(text))
const addresses = (list: readonly Uint8Array[]) => vary(join(...list))

/** Payloads by kind; every field may be out of its range. */
export const PAYLOADS = {
  transfer: ({ to, amount, create }: { to: Uint8Array; amount: bigint; create: number }) =>
    container(to, u128(amount), u8(create)),
  agent_register: (p: AgentFields) =>
    container(words(p.agentId), words(p.name), words(p.endpoint), u16(p.capabilities), p.payout, addresses(p.settlers)),
  agent_update: (p: AgentFields & { owner: Uint8Array }) =>
    container(
      words(p.agentId),
      words(p.name),
      words(p.endpoint),
      u16(p.capabilities),
      p.owner,
      p.payout,
      addresses(p.settlers),
    ),
  service_publish: (p: ServiceFields) =>
    container(
      words(p.agentId),
      words(p.serviceId),
      u8(p.capability),
      u64(p.priceUsdMicros),
      words(p.name),
      words(p.requestFormat),
      words(p.description),
    ),
  service_retire: (p: { agentId: string; serviceId: string }) => container(words(p.agentId), words(p.serviceId)),
  agent_invoke: (p: InvokeFields) =>
    container(
      words(p.agentId),
      words(p.serviceId),
      u128(p.amount),
      u32(p.units),
      u32(p.term),
      p.requestCommitment,
      p.redeemLock,
    ),
  agent_receipt: ({ entries }: { entries: readonly EntryFields[] }) =>
    container(
      vary(join(...entries.map((e) => join(e.txId, u8(e.outcome), e.resultHash, e.opener, u32(e.durationMs))))),
    ),
}

export interface AgentFields {
  readonly agentId: string
  readonly name: string
  readonly endpoint: string
  readonly capabilities: number
  readonly payout: Uint8Array
  readonly settlers: readonly Uint8Array[]
}

export interface ServiceFields {
  readonly agentId: string
  readonly serviceId: string
  readonly capability: number
  readonly priceUsdMicros: bigint
  readonly name: string
  readonly requestFormat: string
  readonly description: string
}

export interface InvokeFields {
  readonly agentId: string
  readonly serviceId: string
  readonly amount: bigint
  readonly units: number
  readonly term: number
  readonly requestCommitment: Uint8Array
  readonly redeemLock: Uint8Array
}

export interface EntryFields {
  readonly txId: Uint8Array
  readonly outcome: number
  readonly resultHash: Uint8Array
  readonly opener: Uint8Array
  readonly durationMs: number
}

export type PayloadKind = keyof typeof PAYLOADS

/** Numbers of the kinds on the wire. */
export const KIND_NUMBERS: Readonly<Record<PayloadKind, number>> = {
  transfer: 0x01,
  agent_register: 0x60,
  agent_update: 0x61,
  service_publish: 0x62,
  service_retire: 0x63,
  agent_invoke: 0x64,
  agent_receipt: 0x65,
}

/** A sound payload of each kind. */
export const SOUND = {
  transfer: { to: made('to'), amount: 150_000_000n, create: 0 },
  agent_register: {
    agentId: 'acme-labs',
    name: 'Acme Labs',
    endpoint: 'https://acme.example/api',
    capabilities: 0b1000_0000_0000_0101,
    payout: made('payout'),
    settlers: [made('settler 1'), made('settler 2')],
  },
  agent_update: {
    agentId: 'acme-labs',
    name: 'Acme',
    endpoint: '',
    capabilities: 0,
    owner: made('owner'),
    payout: made('payout'),
    settlers: [made('settler 1')],
  },
  service_publish: {
    agentId: 'acme-labs',
    serviceId: 'summarise',
    capability: 11,
    priceUsdMicros: 20_000n,
    name: 'Summaries',
    requestFormat: 'plain text, at most 8,000 characters',
    description: 'Three sentences about any text.',
  },
  service_retire: { agentId: 'acme-labs', serviceId: 'summarise' },
  agent_invoke: {
    agentId: 'acme-labs',
    serviceId: 'summarise',
    amount: 8_000_000n,
    units: 1,
    term: 400,
    requestCommitment: made('commitment'),
    redeemLock: made('lock'),
  },
  agent_receipt: {
    entries: [
      { txId: made('invoke 1'), outcome: 0, resultHash: made('result'), opener: made('opener'), durationMs: 812 },
      {
        txId: made('invoke 2'),
        outcome: 1,
        resultHash: new Uint8Array(32),
        opener: new Uint8Array(32),
        durationMs: 30_000,
      },
    ],
  },
}

/** 32 made-up bytes. */
export function made(label: string): Uint8Array {
  return madeBytes(`tx ${label}`, 32)
}

/** A body of a kind with a made-up sender; `change` replaces fields of the envelope. */
export function rawBody(kind: PayloadKind, payload: Uint8Array, change: Partial<RawBody> = {}): RawBody {
  return {
    version: 1,
    chainId: 1,
    sender: made('sender'),
    nonce: 7n,
    kind: KIND_NUMBERS[kind],
    maxFeeRate: 64n,
    tip: 2n,
    validUntil: 0,
    memo: new Uint8Array(0),
    payload,
    ...change,
  }
}
