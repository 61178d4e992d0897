import { KEY_SCHEMES, type KeyScheme } from '../../consensus/crypto/schemes.ts'
import { TAB_SCHEME } from '../../consensus/crypto/tab-signing.ts'
import type { Amount } from '../../consensus/primitives/amount.ts'
import type { Address, AgentId, Hash, ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import type { PayloadOf, TxKind } from '../../consensus/tx/kinds.ts'
import type { ClaimEntry } from '../../consensus/tx/tab-payloads.ts'
import {
  assembleTransaction,
  encodeBody,
  encodeWitness,
  type Transaction,
  type TxBody,
  type Witness,
} from '../../consensus/tx/transaction.ts'

/** Casts to the branded types of consensus. */
export const agentId = (text: string): AgentId => text as AgentId
export const serviceId = (text: string): ServiceId => text as ServiceId
export const units = (value: number | bigint): Amount => BigInt(value) as Amount

/** 32 equal bytes in hex: an address, a hash, an id. */
export function filled<Id extends string = Address & Hash & TxId>(byte: number): Id {
  return byte.toString(16).padStart(2, '0').repeat(32) as Id
}

/** A filler signature with the length that the key scheme demands. */
export function fillerSignature(keyIndex = 0, scheme: KeyScheme = 1, fill = 0x5a): Witness['signatures'][number] {
  return { keyIndex, bytes: new Uint8Array(KEY_SCHEMES[scheme].signatureBytes).fill(fill) }
}

/** What a test may change in an unsigned transaction. */
export type EnvelopeChange = Partial<Omit<TxBody, 'kind' | 'payload'>> & {
  readonly witness?: Partial<Witness>
}

/** A transaction of `filled(1)` with nonce 7 and a filler signature. `change` replaces parts of it. */
export function unsigned<K extends TxKind>(
  kind: K,
  payload: PayloadOf<K>,
  { witness, ...change }: EnvelopeChange = {},
): Transaction {
  const body = {
    version: 1,
    chainId: 1,
    sender: filled(1),
    nonce: 7n,
    maxFeeRate: 1_000n,
    tip: 1n,
    validUntil: 0,
    memo: new Uint8Array(0),
    ...change,
    kind,
    payload,
  } as unknown as TxBody
  const signed = { keys: new Uint8Array(0), signatures: [fillerSignature()], ...witness }
  const assembled = assembleTransaction(encodeBody(body), encodeWitness(signed))
  if (!assembled.ok) throw new Error(JSON.stringify(assembled.fault))
  return assembled.value
}

/** The public key of test 1 in RFC 8032, 7.1. */
const ED25519_KEY = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a' as Hash

const CLAIM_SAMPLE: ClaimEntry = {
  tabId: filled<TxId>(9),
  voucher: [{ seq: 0, ceiling: units(400_000), context: filled<Hash>(7), signature: new Uint8Array(64).fill(6) }],
  ...{ claimed: units(300_000), close: false, receipts: 3, failed: 1, root: filled<Hash>(5) },
  services: [{ serviceId: serviceId('summarise'), calls: 2, amount: units(300_000) }],
}

/** Valid payloads of transfers and of each kind of the market. `change` replaces fields. */
export const SAMPLE = {
  transfer: (change: Partial<PayloadOf<'transfer'>> = {}): PayloadOf<'transfer'> => ({
    ...{ to: filled(2), amount: units(5_000), create: false },
    ...change,
  }),
  agent_register: (change: Partial<PayloadOf<'agent_register'>> = {}): PayloadOf<'agent_register'> => ({
    ...{ agentId: agentId('acme'), name: 'Acme', endpoint: 'https://acme.example', capabilities: 3 },
    ...{ payout: filled(3), settlers: [filled(4)] },
    ...change,
  }),
  agent_update: (change: Partial<PayloadOf<'agent_update'>> = {}): PayloadOf<'agent_update'> => ({
    ...{ agentId: agentId('acme'), name: 'Acme Labs', endpoint: '', capabilities: 4 },
    ...{ owner: filled(1), payout: filled(3), settlers: [] },
    ...change,
  }),
  service_publish: (change: Partial<PayloadOf<'service_publish'>> = {}): PayloadOf<'service_publish'> => ({
    ...{ agentId: agentId('acme'), serviceId: serviceId('summarise'), capability: 1, priceUsdMicros: 20_000n },
    ...{ name: 'Summaries', requestFormat: 'text', description: 'Short.' },
    ...change,
  }),
  service_retire: (change: Partial<PayloadOf<'service_retire'>> = {}): PayloadOf<'service_retire'> => ({
    ...{ agentId: agentId('acme'), serviceId: serviceId('summarise') },
    ...change,
  }),
  agent_invoke: (change: Partial<PayloadOf<'agent_invoke'>> = {}): PayloadOf<'agent_invoke'> => ({
    ...{ agentId: agentId('acme'), serviceId: serviceId('summarise'), amount: units(8_000_000), units: 1, term: 100 },
    ...{ requestCommitment: filled<Hash>(0), redeemLock: filled<Hash>(0) },
    ...change,
  }),
  agent_receipt: (
    entries: readonly Partial<PayloadOf<'agent_receipt'>['entries'][number]>[] = [{}],
  ): PayloadOf<'agent_receipt'> => ({
    entries: entries.map((change) => ({
      ...{ txId: filled<TxId>(9), outcome: 0, resultHash: filled<Hash>(0), opener: filled<Hash>(0), durationMs: 10 },
      ...change,
    })),
  }),
  tab_open: (change: Partial<PayloadOf<'tab_open'>> = {}): PayloadOf<'tab_open'> => ({
    ...{ agentId: agentId('acme'), deposit: units(1_000_000), term: 1_200, closeDelay: 400 },
    ...{ scheme: TAB_SCHEME, voucherKey: ED25519_KEY },
    ...change,
  }),
  tab_fund: (change: Partial<PayloadOf<'tab_fund'>> = {}): PayloadOf<'tab_fund'> => ({
    ...{ tabId: filled<TxId>(9), amount: units(5_000) },
    ...change,
  }),
  tab_claim: (entries: readonly Partial<ClaimEntry>[] = [{}]): PayloadOf<'tab_claim'> => ({
    entries: entries.map((change) => ({ ...CLAIM_SAMPLE, ...change })),
  }),
  tab_close: (change: Partial<PayloadOf<'tab_close'>> = {}): PayloadOf<'tab_close'> => ({
    ...{ tabId: filled<TxId>(9) },
    ...change,
  }),
  tab_terms: (change: Partial<PayloadOf<'tab_terms'>> = {}): PayloadOf<'tab_terms'> => ({
    ...{ agentId: agentId('acme'), receiptKey: ED25519_KEY, minDeposit: units(0), minCloseDelay: 400 },
    ...change,
  }),
}
