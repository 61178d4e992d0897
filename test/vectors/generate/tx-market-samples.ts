import { madeBytes } from './bytes.ts'
import { accountKeys, addressOf, fillerKey, fillerSignature, made } from './tx-fields.ts'
import { type Sample, SOUND } from './tx-payloads.ts'

/** Transfers and transactions of the market, with fields at their limits. */

const SINGLE = accountKeys(1, 1, [fillerKey(1, 0x11)])
const VAULT = accountKeys(2, 1, [fillerKey(2, 0x22)])
const POLICY = accountKeys(3, 2, [fillerKey(1, 0x11), fillerKey(2, 0x22), fillerKey(1, 0x33)])
const ENTRY = SOUND.agent_receipt.entries[0]
const LONG = { agentId: 'a'.repeat(32), serviceId: `s${'-'.repeat(46)}9` }

/** Code points just outside the ranges that no text may hold. */
const NEIGHBOURS = [
  ...[0x20, 0x7e, 0xa1, 0xac, 0xae, 0x034e, 0x0350, 0x061b, 0x061d, 0x115e, 0x1161, 0x167f, 0x1681, 0x17b3, 0x17b6],
  ...[0x180a, 0x1810, 0x1fff, 0x2010, 0x2027, 0x2030, 0x205e, 0x2070, 0x2fff, 0x3001, 0x3163, 0x3165, 0xfdff],
  ...[0xfe10, 0xfefe, 0xff00, 0xff9f, 0xffa1, 0xffef, 0xfffc, 0xffff, 0x1d172, 0x1d17b, 0xdffff, 0xe1000, 0x10ffff],
]

export const MARKET_SAMPLES: readonly Sample[] = [
  { name: 'a transfer', kind: 'transfer', payload: SOUND.transfer },
  {
    name: 'a transfer that may open an account, first of its sender, with its key',
    kind: 'transfer',
    payload: { ...SOUND.transfer, create: 1 },
    envelope: { nonce: 0n, sender: addressOf(SINGLE) },
    witness: { keys: SINGLE, signatures: [fillerSignature(0)] },
  },
  {
    name: 'a transfer of the largest amount with every field of the envelope at its end',
    kind: 'transfer',
    payload: { ...SOUND.transfer, amount: 2n ** 112n - 1n },
    envelope: {
      nonce: 2n ** 64n - 1n,
      maxFeeRate: 2n ** 64n - 1n,
      tip: 2n ** 64n - 1n,
      validUntil: 2 ** 32 - 1,
      memo: madeBytes('tx memo', 128),
    },
  },
  {
    name: 'a first transfer of a vault key',
    kind: 'transfer',
    payload: { ...SOUND.transfer, amount: 1n },
    envelope: { nonce: 0n, sender: addressOf(VAULT) },
    witness: { keys: VAULT, signatures: [fillerSignature(0, 2)] },
  },
  {
    name: 'a first transfer of a two-of-three policy',
    kind: 'transfer',
    payload: SOUND.transfer,
    envelope: { nonce: 0n, sender: addressOf(POLICY) },
    witness: { keys: POLICY, signatures: [fillerSignature(1, 2), fillerSignature(2)] },
  },
  { name: 'an agent registered with two settlers', kind: 'agent_register', payload: SOUND.agent_register },
  {
    name: 'an agent registered with everything at its shortest',
    kind: 'agent_register',
    payload: { ...SOUND.agent_register, agentId: 'a-9', name: 'A', endpoint: '', settlers: [], capabilities: 0 },
  },
  {
    name: 'an agent registered with everything at its longest',
    kind: 'agent_register',
    payload: {
      ...SOUND.agent_register,
      agentId: LONG.agentId,
      name: `${'ä'.repeat(30)}🜚`,
      endpoint: `https://${'~'.repeat(192)}`,
      capabilities: 0xffff,
      settlers: Array.from({ length: 8 }, (_, i) => made(`settler ${i}`)),
    },
  },
  { name: 'an agent updated', kind: 'agent_update', payload: SOUND.agent_update },
  { name: 'a service published', kind: 'service_publish', payload: SOUND.service_publish },
  {
    name: 'a service published with everything at its longest',
    kind: 'service_publish',
    payload: {
      ...LONG,
      capability: 15,
      priceUsdMicros: 1_000_000_000_000n,
      name: 'n'.repeat(64),
      requestFormat: 'é'.repeat(120),
      description: '漢'.repeat(160),
    },
  },
  {
    name: 'a service published with everything at its shortest',
    kind: 'service_publish',
    payload: {
      ...{ agentId: '0a0', serviceId: 'abcd', capability: 0, priceUsdMicros: 1n },
      ...{ name: '.', requestFormat: '', description: '' },
    },
  },
  {
    name: 'a service whose description holds the visible neighbours of what cannot be seen',
    kind: 'service_publish',
    payload: { ...SOUND.service_publish, description: String.fromCodePoint(...NEIGHBOURS) },
  },
  { name: 'a service retired', kind: 'service_retire', payload: SOUND.service_retire },
  { name: 'a locked invoke for 400 blocks', kind: 'agent_invoke', payload: SOUND.agent_invoke },
  ...[100, 400, 1200, 9600].map((term) => ({
    name: `a plain invoke of the least amount for ${term} blocks`,
    kind: 'agent_invoke' as const,
    payload: {
      ...{ ...SOUND.agent_invoke, amount: 100_000n, term },
      ...{ requestCommitment: new Uint8Array(32), redeemLock: new Uint8Array(32) },
    },
  })),
  { name: 'a receipt of two entries', kind: 'agent_receipt', payload: SOUND.agent_receipt },
  {
    name: 'a receipt of 256 entries',
    kind: 'agent_receipt',
    payload: {
      entries: Array.from({ length: 256 }, (_, i) => ({
        ...ENTRY,
        txId: new Uint8Array(32).fill(i),
        resultHash: new Uint8Array(32).fill(0xaa),
        opener: new Uint8Array(32).fill(0xbb),
      })),
    },
  },
]
