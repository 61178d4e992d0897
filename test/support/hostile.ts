import { type Actor, FUNDED, NEWCOMERS } from './actors.ts'
import { BAD_LEDGER_PAYLOADS } from './hostile-ledgers.ts'
import { BAD_TAB_PAYLOADS, GOOD_TAB_PAYLOADS } from './hostile-tabs.ts'
import { utf8, ZERO32 } from './reference/bytes.ts'
import { bodyOf, transactionBytes } from './reference/craft.ts'
import {
  AGENT_INVOKE,
  AGENT_RECEIPT,
  AGENT_REGISTER,
  AGENT_UPDATE,
  type Body,
  SERVICE_PUBLISH,
  SERVICE_RETIRE,
  TRANSACTION,
  TRANSFER,
  WITNESS,
  type Witness,
} from './reference/schemas.ts'
import type { Ssz } from './reference/ssz.ts'
import type { Op, Place, Scenario } from './scenario.ts'

const ADDRESS = FUNDED[0]?.address as string
const AGENT = {
  agentId: 'abc',
  name: 'A',
  endpoint: '',
  capabilities: 0,
  payout: ADDRESS,
  settlers: [] as string[],
}
const SERVICE = {
  agentId: 'abc',
  serviceId: 'echo',
  capability: 0,
  priceUsdMicros: 1n,
  name: 'A',
  requestFormat: '',
  description: '',
}
const INVOKE = {
  agentId: 'abc',
  serviceId: 'echo',
  amount: 100_000n,
  units: 1,
  term: 100,
  requestCommitment: ZERO32,
  redeemLock: ZERO32,
}
const ENTRY = { txId: ZERO32, outcome: 0, resultHash: ZERO32, opener: ZERO32, durationMs: 0 }

const variants = <T>(kind: number, type: Ssz<T>, base: T, changes: readonly Partial<T>[]): [number, Uint8Array][] =>
  changes.map((change) => [kind, type.encode({ ...base, ...change })])

const NAMES = [
  '',
  ' A',
  'A ',
  ' ',
  'a\u0000',
  'a\u200eb',
  'a\u2028',
  '\u202ea',
  '\u2066',
  '\ufeffa',
  '\u0085',
  '\u00a0a',
  'a\u200b',
  'a\u3000',
  '\u{e0041}',
  'x'.repeat(65),
]
const AGENT_IDS = ['', 'ab', '-ab', 'ab-', 'Abc', 'a_c', 'a/c', 'a'.repeat(33), 'abc\n', 'ab\u00e9']
const SERVICE_IDS = ['', 'abc', '0abc', '-abc', 'abc-', 'Abcd', 'a'.repeat(49), 'ab/cd', 'abcd\n']
const ENDPOINTS = [
  'http://',
  'https://',
  'ftp://a',
  'http:/a',
  'HTTP://a',
  'http://a b',
  'http://\u00e9',
  `http://${'a'.repeat(193)}`,
  ' ',
]
const names = NAMES.map((name) => ({ name }))
const agentIds = AGENT_IDS.map((agentId) => ({ agentId }))
const serviceIds = SERVICE_IDS.map((serviceId) => ({ serviceId }))
const endpoints = ENDPOINTS.map((endpoint) => ({ endpoint }))
const settlers = [
  { settlers: [ADDRESS, ADDRESS] },
  { settlers: Array.from({ length: 9 }, (_, i) => `${i}0`.repeat(32)) },
]

/** Payloads that no block may hold, with their kinds. */
export const BAD_PAYLOADS: readonly (readonly [number, Uint8Array])[] = [
  ...variants(0x01, TRANSFER, { to: ADDRESS, amount: 1n, create: false }, [
    { amount: 0n },
    { amount: 2n ** 112n },
    { amount: 2n ** 128n - 1n },
  ]),
  ...variants(0x60, AGENT_REGISTER, AGENT, [...names, ...agentIds, ...endpoints, ...settlers]),
  ...variants(0x61, AGENT_UPDATE, { ...AGENT, owner: ADDRESS }, [...names, ...agentIds, ...endpoints, ...settlers]),
  ...variants(0x62, SERVICE_PUBLISH, SERVICE, [
    ...names,
    ...agentIds,
    ...serviceIds,
    { capability: 16 },
    { capability: 255 },
    { priceUsdMicros: 0n },
    { priceUsdMicros: 10n ** 12n + 1n },
    { requestFormat: 'x'.repeat(241) },
    { description: 'x'.repeat(481) },
    { description: 'a\tb' },
  ]),
  ...variants(0x63, SERVICE_RETIRE, SERVICE, [...agentIds, ...serviceIds]),
  ...variants(0x64, AGENT_INVOKE, INVOKE, [
    ...agentIds,
    ...serviceIds,
    { amount: 99_999n },
    { amount: 2n ** 112n },
    { units: 0 },
    { units: 2 },
    { term: 0 },
    { term: 101 },
  ]),
  ...variants(0x65, AGENT_RECEIPT, { entries: [ENTRY] }, [
    { entries: [] },
    { entries: [{ ...ENTRY, outcome: 2 }] },
    { entries: Array.from({ length: 257 }, () => ENTRY) },
  ]),
  ...[0x00, 0x02, 0x03, 0x16, 0x24, 0x34, 0x43, 0x57, 0x6b, 0xff].flatMap((kind) =>
    variants(kind, TRANSFER, { to: ADDRESS, amount: 1n, create: false }, [{}]),
  ),
  // Not UTF-8: overlong, surrogate, above the last code point, cut short, a stray continuation, a lead byte of five.
  ...['c080', 'e08080', 'eda080', 'f4908080', 'e282', '80', 'f8888080'].map((bytes): [number, Uint8Array] => {
    const good = AGENT_REGISTER.encode({ ...AGENT, name: 'N'.repeat(bytes.length / 2) })
    const at = Buffer.from(good).indexOf(Buffer.from(utf8('N'.repeat(bytes.length / 2))))
    const bad = good.slice()
    bad.set(Buffer.from(bytes, 'hex'), at)
    return [0x60, bad]
  }),
  // Bad booleans, bytes left over, and missing bytes.
  ...['02', 'ff', '0000', '0100', ''].map((end): [number, Uint8Array] => {
    const good = TRANSFER.encode({ to: ADDRESS, amount: 1n, create: false })
    return [0x01, Uint8Array.from([...good.subarray(0, -1), ...Buffer.from(end, 'hex')])]
  }),
  [0x01, new Uint8Array(0)],
  [0x65, new Uint8Array(0)],
  ...BAD_LEDGER_PAYLOADS,
  ...BAD_TAB_PAYLOADS,
]

const rewitness = (wire: Uint8Array, change: (witness: Witness) => Partial<Witness>): Uint8Array => {
  const { body, witness } = TRANSACTION.decode(wire)
  const decoded = WITNESS.decode(witness)
  return transactionBytes(body, { ...decoded, ...change(decoded) })
}

type Part = Witness['signatures'][number]

/** Changes of a witness that are refused before any signature check. */
const WITNESSES: readonly ((witness: Witness) => Partial<Witness>)[] = [
  ({ keys }) => ({ keys: keys.length > 0 ? new Uint8Array(0) : (FUNDED[0] as Actor).keys }),
  ({ keys }) => ({ keys: keys.length > 0 ? (NEWCOMERS[2] as Actor).keys : new Uint8Array(1) }),
  () => ({ signatures: [] }),
  ({ signatures }) => ({ signatures: [...signatures, ...signatures] }),
  ({ signatures }) => ({ signatures: [...signatures, { ...(signatures[0] as Part), keyIndex: 7 }] }),
  ({ signatures }) => ({ signatures: signatures.map((one) => ({ ...one, keyIndex: one.keyIndex + 8 })) }),
  ({ signatures }) => ({ signatures: signatures.map((one) => ({ ...one, bytes: one.bytes.subarray(1) })) }),
  ({ signatures }) => ({ signatures: signatures.map((one) => ({ ...one, bytes: new Uint8Array(0) })) }),
  ({ signatures }) => ({
    signatures: Array.from({ length: 9 }, (_, keyIndex) => ({ ...(signatures[0] as Part), keyIndex })),
  }),
]

const at = <T>(values: readonly T[], choice: number | undefined): T => values[(choice ?? 0) % values.length] as T

/** A copy of the transaction for each change of {@link WITNESSES}. */
export function badWitnesses(wire: Uint8Array): Uint8Array[] {
  return WITNESSES.map((change) => rewitness(wire, change))
}

type Fault = (scenario: Scenario, place: Place, op: Op) => Promise<Uint8Array[]>

/** Ways to make transactions of which a block must not hold all. Should they turn out valid, node and reference must still agree. */
const FAULTS: readonly Fault[] = [
  async (scenario, _, op) => [await scenario.make(op, { nonce: 2n ** 64n - 1n })],
  async (scenario, _, op) => {
    const first = await scenario.make(op)
    return [first, first]
  },
  async (scenario, { height }, op) => [await scenario.make(op, { validUntil: height - 1 })],
  async (scenario, { baseFee }, op) => [await scenario.make(op, { maxFeeRate: baseFee - 1n, tip: 7n })],
  async (scenario, _, op) => [await scenario.make(op, { maxFeeRate: 2n ** 64n - 1n, tip: 2n ** 64n - 1n })],
  async (scenario, _, op) => [await scenario.make(op, { version: at([0, 2, 255], op.n[0]) })],
  async (scenario, _, op) => [await scenario.make(op, { chainId: at([0, 2, 257], op.n[0]) })],
  async (scenario, _, op) => [rewitness(await scenario.make(op), at(WITNESSES, op.n[0]))],
  async (scenario, _, op) => [rewitness(await scenario.make(op), at(WITNESSES, op.n[1]))],
  ...[0, 1, 2].map(
    (i): Fault =>
      async (scenario, _, op) => {
        const [kind, payload] = at(BAD_PAYLOADS, op.n[i])
        return [await scenario.make(op, { kind, payload })]
      },
  ),
  // Malformed only before the step that brings tabs, or where the network has other terms.
  async (scenario, _, op) => {
    const [kind, payload] = at(GOOD_TAB_PAYLOADS, op.n[3])
    return [await scenario.make(op, { kind, payload })]
  },
  // A nonce that is too high by one, or too low by one.
  async (scenario, _, op) => {
    const sender = at(FUNDED, op.n[0])
    const nonce = scenario.nonce(sender.address)
    return [
      await scenario.sign(
        plain(sender, (op.n[1] as number) % 2 === 0 || nonce === 0n ? nonce + 1n : nonce - 1n),
        sender,
      ),
    ]
  },
  // The sender may have no account.
  async (scenario, _, op) => {
    const sender = at(NEWCOMERS, op.n[0])
    return [await scenario.sign(plain(sender, scenario.nonce(sender.address)), sender)]
  },
]

/** The body of a transfer of one base unit to the first development account. */
export const plain = (sender: Actor, nonce: bigint, change: Partial<Body> = {}): Body =>
  bodyOf({
    sender: sender.address,
    nonce,
    kind: 0x01,
    payload: TRANSFER.encode({ to: ADDRESS, amount: 1n, create: false }),
    ...change,
  })

/** Transactions made in one of the ways of {@link FAULTS}. A block with all of them should be invalid. */
export async function faulty(scenario: Scenario, place: Place, op: Op): Promise<Uint8Array[]> {
  return at(FAULTS, op.n[7])(scenario, place, op)
}
