import { hex, join, patched, unhex, utf8 } from './bytes.ts'
import { bodyBytes, fillerSignature, made, type RawBody, wireBytes, witnessBytes } from './tx-fields.ts'
import { txMalformedAssets } from './tx-malformed-assets.ts'
import { txMalformedBridge } from './tx-malformed-bridge.ts'
import { GRAMMAR, type MalformedCase, malformed, ONE_WITNESS, wireOf } from './tx-malformed-case.ts'
import { txMalformedTabs } from './tx-malformed-tabs.ts'
import { txMalformedWitnesses } from './tx-malformed-witness.ts'
import type { AgentFields, EntryFields, InvokeFields, ServiceFields } from './tx-market-payloads.ts'
import { PAYLOADS, type PayloadKind, rawBody, SOUND } from './tx-payloads.ts'
import { u32, type VectorSet } from './tx-wire.ts'

const BODY = bodyBytes(rawBody('transfer', PAYLOADS.transfer(SOUND.transfer)))

/** Bytes that do not decode as transaction, body or witness. The reason's text depends on the decoder. */
function undecodable(): readonly MalformedCase[] {
  const of = (type: string, name: string, wire: Uint8Array) =>
    malformed(1, name, wire, 'codec/malformed', { type, reason: null })
  const sound = wireBytes(BODY, ONE_WITNESS)
  const withBody = (body: Uint8Array) => wireBytes(body, ONE_WITNESS)
  const withWitness = (witness: Uint8Array) => wireBytes(BODY, witness)
  const plain = (change: Partial<RawBody>) =>
    withBody(bodyBytes(rawBody('transfer', PAYLOADS.transfer(SOUND.transfer), change)))
  const signatures = (count: number) =>
    witnessBytes({ keys: new Uint8Array(0), signatures: Array.from({ length: count }, (_, i) => fillerSignature(i)) })
  return [
    of('Transaction', 'no bytes', new Uint8Array(0)),
    of('Transaction', 'half an offset', sound.slice(0, 6)),
    of('Transaction', 'a gap before the body', join(u32(9), u32(9 + BODY.length), Uint8Array.of(0), BODY, ONE_WITNESS)),
    of('Transaction', 'a body that begins among the offsets', patched(sound, 0, u32(4))),
    of('Transaction', 'a witness that begins before the body', patched(sound, 4, u32(7))),
    of('Transaction', 'a witness that begins after the end', patched(sound, 4, u32(sound.length + 1))),
    of(
      'Transaction',
      'a witness of 49,153 bytes',
      withWitness(join(ONE_WITNESS, new Uint8Array(49_153 - ONE_WITNESS.length))),
    ),
    of('TransactionBody', 'an empty body', withBody(new Uint8Array(0))),
    of('TransactionBody', 'a body of 73 bytes', withBody(BODY.slice(0, 73))),
    of('TransactionBody', 'a gap before the memo', withBody(patched(BODY, 66, u32(75)))),
    of('TransactionBody', 'a payload that begins after the end', withBody(patched(BODY, 70, u32(BODY.length + 1)))),
    of('TransactionBody', 'a memo of 129 bytes', plain({ memo: new Uint8Array(129) })),
    of('TransactionBody', 'a payload longer than any kind has', plain({ payload: new Uint8Array(52_805) })),
    of('Witness', 'an empty witness', withWitness(new Uint8Array(0))),
    of('Witness', 'a gap before the keys', withWitness(join(u32(9), u32(9), Uint8Array.of(0), ONE_WITNESS.slice(8)))),
    of('Witness', 'keys of 15,951 bytes', withWitness(witnessBytes({ keys: new Uint8Array(15_951), signatures: [] }))),
    of('Witness', 'nine signatures', withWitness(signatures(9))),
    of('Witness', 'a list of signatures that begins at 0', withWitness(join(u32(8), u32(8), u32(0)))),
    of('Witness', 'a list of signatures with half an offset', withWitness(join(u32(8), u32(8), u32(6), u32(6)))),
    of('Witness', 'a signature of 3,374 bytes', withWitness(signatureOf(3_374))),
    of('Witness', 'a byte after an empty list of signatures', withWitness(join(u32(8), u32(8), Uint8Array.of(0)))),
    of('Witness', 'a signature without its offset', withWitness(join(u32(8), u32(8), u32(4), Uint8Array.of(0)))),
  ]
}

function signatureOf(length: number): Uint8Array {
  return witnessBytes({ keys: new Uint8Array(0), signatures: [{ keyIndex: 0, bytes: new Uint8Array(length) }] })
}

const transfer = (change: Partial<typeof SOUND.transfer>) => PAYLOADS.transfer({ ...SOUND.transfer, ...change })
const register = (change: Partial<AgentFields>) => PAYLOADS.agent_register({ ...SOUND.agent_register, ...change })
const update = (change: Partial<AgentFields>) => PAYLOADS.agent_update({ ...SOUND.agent_update, ...change })
const publish = (change: Partial<ServiceFields>) => PAYLOADS.service_publish({ ...SOUND.service_publish, ...change })
const invoke = (change: Partial<InvokeFields>) => PAYLOADS.agent_invoke({ ...SOUND.agent_invoke, ...change })
const retire = (agentId: string, serviceId: string) => PAYLOADS.service_retire({ agentId, serviceId })
const receipt = (entries: readonly EntryFields[]) => PAYLOADS.agent_receipt({ entries })
const ENTRY = SOUND.agent_receipt.entries[0] as EntryFields

function unknownKinds(): readonly MalformedCase[] {
  return [0x00, 0x02, 0x03, 0x0f, 0x16, 0x1f, 0x24, 0x2f, 0x34, 0x3f, 0x43, 0x4f, 0x57, 0x5f, 0x6b, 0xff].map((kind) =>
    malformed(
      1,
      `the kind 0x${kind.toString(16).padStart(2, '0')}`,
      wireOf('transfer', transfer({}), { kind }),
      'tx/kind',
      {
        kind,
      },
    ),
  )
}

/** A payload with the name's bytes replaced by others of the same length that are not a text. */
function renamed(kind: 'agent_register' | 'service_publish', bytes: Uint8Array): Uint8Array {
  const name = '@'.repeat(bytes.length)
  const payload = kind === 'agent_register' ? register({ name }) : publish({ name })
  return wireOf(kind, patched(payload, Buffer.from(payload).indexOf(utf8(name)), bytes))
}

function undecodablePayloads(): readonly MalformedCase[] {
  const of = (kind: PayloadKind, name: string, payload: Uint8Array, reason: string | null = null) =>
    malformed(1, `${kind} with ${name}`, wireOf(kind, payload), 'tx/payload', { kind, reason })
  return [
    of('transfer', 'no payload', new Uint8Array(0)),
    of('transfer', 'a byte too few', transfer({}).slice(0, -1)),
    of('transfer', 'a byte left over', join(transfer({}), Uint8Array.of(0))),
    of('transfer', 'a create bit of 2', transfer({ create: 2 })),
    of('agent_register', 'the payload of an update', update({})),
    of('agent_register', 'an agent id of 2 characters', register({ agentId: 'ab' }), GRAMMAR),
    of('agent_register', 'an agent id of 33 characters', register({ agentId: 'a'.repeat(33) })),
    of('agent_register', 'a capital letter in its id', register({ agentId: 'Acme' }), GRAMMAR),
    of('agent_register', 'an id that begins with a hyphen', register({ agentId: '-acme' }), GRAMMAR),
    of('agent_register', 'an id that ends with a hyphen', register({ agentId: 'acme-' }), GRAMMAR),
    of('agent_register', 'a slash in its id', register({ agentId: 'ac/me' }), GRAMMAR),
    of('agent_register', 'a name of 65 bytes', register({ name: 'n'.repeat(65) })),
    of('agent_register', 'an endpoint of ftp', register({ endpoint: 'ftp://acme.example' }), GRAMMAR),
    of('agent_register', 'an endpoint in capitals', register({ endpoint: 'HTTP://acme.example' }), GRAMMAR),
    of('agent_register', 'an endpoint that ends after its scheme', register({ endpoint: 'https://' }), GRAMMAR),
    of('agent_register', 'a blank in its endpoint', register({ endpoint: 'http://acme example' }), GRAMMAR),
    of('agent_register', 'an umlaut in its endpoint', register({ endpoint: 'http://äcme' }), GRAMMAR),
    of(
      'agent_register',
      'an endpoint of 200 bytes over http',
      register({ endpoint: `http://${'a'.repeat(193)}` }),
      GRAMMAR,
    ),
    of('agent_register', 'an endpoint of 201 bytes', register({ endpoint: `https://${'a'.repeat(193)}` })),
    of('agent_register', 'nine settlers', register({ settlers: Array.from({ length: 9 }, (_, i) => made(`s${i}`)) })),
    of('agent_update', 'a settler of 31 bytes', update({}).slice(0, -1)),
    of('service_publish', 'a service id of 3 characters', publish({ serviceId: 'abc' }), GRAMMAR),
    of('service_publish', 'a service id of 49 characters', publish({ serviceId: 'a'.repeat(49) })),
    of('service_publish', 'a service id that begins with a digit', publish({ serviceId: '1abc' }), GRAMMAR),
    of('service_publish', 'a service id that ends with a hyphen', publish({ serviceId: 'abc-' }), GRAMMAR),
    of('service_publish', 'a request format of 241 bytes', publish({ requestFormat: 'r'.repeat(241) })),
    of('service_publish', 'a description of 481 bytes', publish({ description: 'd'.repeat(481) })),
    of('service_retire', 'an empty service id', retire('acme-labs', ''), GRAMMAR),
    of('service_retire', 'an empty agent id', retire('', 'summarise'), GRAMMAR),
    of('agent_invoke', 'an amount of 15 bytes', invoke({}).slice(1)),
    of('agent_receipt', 'a byte after its entries', join(receipt([ENTRY]), Uint8Array.of(0))),
    of('agent_receipt', '257 entries', receipt(new Array(257).fill(ENTRY))),
    of('agent_receipt', 'a gap before its entries', join(u32(5), Uint8Array.of(0), receipt([ENTRY]).slice(4))),
  ]
}

/** Bytes that are not UTF-8. Every text field refuses them; the cases use the name. */
const NO_UTF8: readonly (readonly [string, string])[] = [
  ['a stray continuation byte', '80'],
  ['an overlong slash', 'c0af'],
  ['an overlong slash of three bytes', 'e080af'],
  ['an overlong slash of four bytes', 'f08080af'],
  ['the first surrogate', 'eda080'],
  ['the last surrogate', 'edbfbf'],
  ['a code point above U+10FFFF', 'f4908080'],
  ['a sequence cut short', 'e282'],
  ['a byte FF', 'ff'],
]

/** Invisible code points: the first and the last of every range, and a few within. */
const INVISIBLE: readonly number[] = [
  ...[0x0000, 0x000a, 0x001f, 0x007f, 0x00a0, 0x00ad, 0x034f, 0x061c, 0x115f, 0x1160, 0x1680, 0x17b4, 0x17b5],
  ...[0x180b, 0x180f, 0x2000, 0x200e, 0x200f, 0x2028, 0x202e, 0x202f, 0x205f, 0x2066, 0x206f, 0x3000, 0x3164],
  ...[0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff0, 0xfffb, 0x1d173, 0x1d17a, 0xe0000, 0xe0fff],
]

const NO_TEXT: readonly (readonly [string, string])[] = [
  ...NO_UTF8,
  ...INVISIBLE.map((point) => {
    const name = `U+${point.toString(16).toUpperCase().padStart(4, '0')}`
    return [name, hex(utf8(String.fromCodePoint(point)))] as const
  }),
]

function textCases(): readonly MalformedCase[] {
  return (['agent_register', 'service_publish'] as const).flatMap((kind) =>
    NO_TEXT.map(([name, bytes]) =>
      malformed(1, `${kind} with a name that holds ${name}`, renamed(kind, unhex(`41${bytes}42`)), 'tx/payload', {
        kind,
        reason: GRAMMAR,
      }),
    ),
  )
}

function envelopes(): readonly MalformedCase[] {
  return [
    ...[0, 2, 255].map((version) =>
      malformed(2, `version ${version}`, wireOf('transfer', transfer({}), { version }), 'tx/version', { version }),
    ),
    ...[0, 2, 2 ** 32 - 1].map((chainId) =>
      malformed(2, `chain id ${chainId}`, wireOf('transfer', transfer({}), { chainId }), 'tx/chain-id', {
        chainId,
        expected: 1,
      }),
    ),
  ]
}

const NAME_REASON = 'must not be empty or begin or end with a blank'

function outOfRange(): readonly MalformedCase[] {
  const field = (kind: PayloadKind, name: string, payload: Uint8Array, fieldName: string, reason: string) =>
    malformed(3, `${kind} with ${name}`, wireOf(kind, payload), 'tx/field', { field: fieldName, reason })
  const amount = (kind: PayloadKind, value: bigint, least: number, payload: Uint8Array) =>
    malformed(3, `${kind} of ${value}`, wireOf(kind, payload), 'tx/amount', {
      ...{ field: 'amount', value: value.toString(), least: least.toString() },
    })
  const twice = [made('settler'), made('other'), made('settler')]
  const TERM_REASON = 'must be one of 100, 400, 1200, 9600'
  return [
    ...[0n, 2n ** 112n, 2n ** 128n - 1n].map((value) => amount('transfer', value, 1, transfer({ amount: value }))),
    ...[0n, 99_999n, 2n ** 112n].map((value) => amount('agent_invoke', value, 100_000, invoke({ amount: value }))),
    ...['', ' Acme', 'Acme ', ' '].flatMap((name) => [
      field('agent_register', `the name "${name}"`, register({ name }), 'name', NAME_REASON),
      field('agent_update', `the name "${name}"`, update({ name }), 'name', NAME_REASON),
      field('service_publish', `the name "${name}"`, publish({ name }), 'name', NAME_REASON),
    ]),
    field('agent_register', 'a settler twice', register({ settlers: twice }), 'settlers', 'an address stands twice'),
    field('agent_update', 'a settler twice', update({ settlers: twice }), 'settlers', 'an address stands twice'),
    ...[16, 255].map((capability) =>
      field(
        'service_publish',
        `capability ${capability}`,
        publish({ capability }),
        'capability',
        `${capability} is unknown`,
      ),
    ),
    ...[0n, 1_000_000_000_001n, 2n ** 64n - 1n].map((priceUsdMicros) =>
      field(
        'service_publish',
        `the price ${priceUsdMicros}`,
        publish({ priceUsdMicros }),
        'priceUsdMicros',
        'allowed is 1 to 10^12',
      ),
    ),
    ...[0, 2].map((units) => field('agent_invoke', `${units} units`, invoke({ units }), 'units', 'must be 1')),
    ...[0, 99, 101, 9601, 2 ** 32 - 1].map((term) =>
      field('agent_invoke', `a term of ${term}`, invoke({ term }), 'term', TERM_REASON),
    ),
    field('agent_receipt', 'no entries', receipt([]), 'entries', 'must not be empty'),
    ...[2, 255].map((outcome) =>
      field(
        'agent_receipt',
        `outcome ${outcome}`,
        receipt([ENTRY, { ...ENTRY, outcome }]),
        'outcome',
        `${outcome} is unknown`,
      ),
    ),
  ]
}

export function txMalformed(): VectorSet<MalformedCase> {
  return {
    about:
      'Transactions that make a block invalid by themselves, with the fault. A reason of null is any text: the words ' +
      'are the decoder’s. `[5a*2484]` in hex stands for 2,484 bytes 5a.',
    spec: 'transactions.md, sections 1 and 3; encoding.md, sections 1 and 2',
    cases: [
      ...undecodable(),
      ...unknownKinds(),
      ...undecodablePayloads(),
      ...textCases(),
      ...envelopes(),
      ...outOfRange(),
      ...txMalformedWitnesses(),
      ...txMalformedAssets(),
      ...txMalformedBridge(),
      ...txMalformedTabs(),
    ],
  }
}
