import { join } from './bytes.ts'
import {
  attestationBy,
  BRIDGE_PAYLOADS,
  EXTERNAL_ADDRESSES,
  externalTxId,
  fillerCommittee,
} from './tx-bridge-payloads.ts'
import { fillerKey } from './tx-fields.ts'
import { badAmounts, type MalformedCase, refused, undecodable, unreadable } from './tx-malformed-case.ts'
import { payload } from './tx-payloads.ts'

/** Malformed transactions of the bridge: fields out of range, malformed attestations, and undecodable payloads. */

type BridgeKind = keyof typeof BRIDGE_PAYLOADS

const KINDS = Object.keys(BRIDGE_PAYLOADS) as readonly BridgeKind[]
const ATTESTED = [
  'bridge_deposit',
  'bridge_sign',
  'bridge_release',
  'bridge_cancel',
  'bridge_rotate',
  'bridge_halt',
] as const satisfies readonly BridgeKind[]
const [EVM, SOLANA, BITCOIN, LITECOIN] = [0, 7, 8, 9].map((network) => EXTERNAL_ADDRESSES[network] as string) as [
  ...[string, string, string, string],
]

function shapes(): readonly MalformedCase[] {
  return [
    ...KINDS.flatMap((kind) => [
      undecodable(kind, 'no payload', new Uint8Array(0)),
      undecodable(kind, 'a byte of a payload', payload(kind).slice(0, 1)),
    ]),
    undecodable('bridge_withdraw', 'a byte left over', join(payload('bridge_withdraw'), Uint8Array.of(0))),
    unreadable('bridge_deposit', 'a create bit of 2', { create: 2 }),
    unreadable('bridge_deposit', 'an id of 65 bytes', { externalTxId: new Uint8Array(65) }),
    unreadable('bridge_release', 'an id of 65 bytes', { externalTxId: new Uint8Array(65) }),
    unreadable('bridge_withdraw', 'a recipient of 91 bytes', { recipient: '1'.repeat(91) }),
    unreadable('bridge_rotate', 'nine keys', { keys: fillerCommittee(9) }),
    unreadable('bridge_rotate', 'a key of 1,985 bytes', { keys: [{ scheme: 2, bytes: new Uint8Array(1_985) }] }),
    unreadable('bridge_rotate', 'seventeen vaults', {
      vaults: numbers(17).map((network) => ({ network, address: EVM })),
    }),
    unreadable('bridge_rotate', 'a vault of 91 bytes', { vaults: [{ network: 8, address: '1'.repeat(91) }] }),
    unreadable('bridge_rotate', 'seventeen networks resumed', { resume: numbers(17) }),
  ]
}

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i)

function attestations(): readonly MalformedCase[] {
  const long = { epoch: 3, signatures: [{ keyIndex: 0, bytes: new Uint8Array(3_374) }] }
  const order = 'must be strictly ascending'
  return ATTESTED.flatMap((kind) => [
    unreadable(kind, 'nine signatures', { attestation: attestationBy(numbers(9)) }),
    unreadable(kind, 'a signature of 3,374 bytes', { attestation: long }),
    undecodable(
      kind,
      'an attestation that is cut short',
      payload(kind, { attestation: attestationBy([]) }).slice(0, -1),
    ),
    refused(kind, 'no signature', { attestation: attestationBy([]) }, 'signatures', 'must not be empty'),
    ...[
      [0, 0],
      [1, 0],
      [0, 2, 1],
    ].map((indices) =>
      refused(
        kind,
        `signatures by ${indices.join(', ')}`,
        { attestation: attestationBy(indices) },
        'signatures',
        order,
      ),
    ),
  ])
}

function networks(): readonly MalformedCase[] {
  return [10, 255].flatMap((network) => {
    const reason = `${network} is unknown`
    return [
      ...(['bridge_deposit', 'bridge_withdraw', 'bridge_halt'] as const).map((kind) =>
        refused(kind, `network ${network}`, { network }, 'network', reason),
      ),
      refused(
        'bridge_rotate',
        `a vault on network ${network}`,
        { vaults: [{ network, address: EVM }] },
        'network',
        reason,
      ),
      refused('bridge_rotate', `network ${network} resumed`, { resume: [0, network] }, 'network', reason),
    ]
  })
}

function externalIds(): readonly MalformedCase[] {
  const deposit = (network: number, bytes: number) =>
    refused(
      ...(['bridge_deposit', `an id of ${bytes} bytes on network ${network}`] as const),
      { network, externalTxId: externalTxId(7).slice(0, bytes) },
      ...(['externalTxId', `must have ${network === 7 ? 64 : 32} bytes on this network`] as const),
    )
  return [
    ...numbers(10).flatMap((network) =>
      (network === 7 ? [0, 32, 63] : [0, 31, 33, 64]).map((n) => deposit(network, n)),
    ),
    ...[0, 31, 33, 63].map((bytes) =>
      refused(
        ...(['bridge_release', `an id of ${bytes} bytes`] as const),
        { externalTxId: externalTxId(7).slice(0, bytes) },
        ...(['externalTxId', 'must have 32 or 64 bytes'] as const),
      ),
    ),
  ]
}

/** Texts that are not an address of the network. external-addresses.json has all kinds of refusal. */
const NO_ADDRESSES: readonly (readonly [network: number, text: string, reason: string])[] = [
  [0, '', 'not 0x and 40 hex digits'],
  [1, EVM.toLowerCase(), 'not in the upper and lower case of EIP-55'],
  [6, '0x0000000000000000000000000000000000000000', 'the zero address'],
  [2, SOLANA, 'not 0x and 40 hex digits'],
]

function addresses(): readonly MalformedCase[] {
  const others = [
    ...[EVM, BITCOIN].map((text) => [7, text] as const),
    ...[EVM, LITECOIN, SOLANA].map((text) => [8, text] as const),
    ...[EVM, BITCOIN, SOLANA].map((text) => [9, text] as const),
  ]
  const both = (network: number, text: string, reason: string | null) => [
    refused(
      'bridge_withdraw',
      `the recipient "${text}" on network ${network}`,
      { network, recipient: text },
      'recipient',
      reason,
    ),
    refused(
      'bridge_rotate',
      `the vault "${text}" on network ${network}`,
      { vaults: [{ network, address: text }] },
      'vaults',
      reason,
    ),
  ]
  return [
    ...NO_ADDRESSES.flatMap(([network, text, reason]) => both(network, text, reason)),
    ...others.flatMap(([network, text]) => both(network, text, null)),
  ]
}

function rotations(): readonly MalformedCase[] {
  const keys = fillerCommittee(3)
  const [first] = keys as [(typeof keys)[number]]
  const unsound = (name: string, change: { keys?: typeof keys; threshold?: number }, reason: string) =>
    refused('bridge_rotate', name, change, 'keys', reason)
  const order = 'must be strictly ascending'
  const vaults = (...at: readonly number[]) => at.map((network) => ({ network, address: EVM }))
  return [
    unsound('no keys', { keys: [] }, '2 of 0 keys cannot be satisfied'),
    unsound('threshold 0', { threshold: 0 }, '0 of 3 keys cannot be satisfied'),
    unsound('threshold 4 of 3', { threshold: 4 }, '4 of 3 keys cannot be satisfied'),
    unsound('a key twice', { keys: [...keys, first] }, 'a key stands twice in the policy'),
    unsound('a key of scheme 0', { keys: [{ ...first, scheme: 0 }] }, 'unknown key scheme 0'),
    unsound('a key of scheme 3', { keys: [{ ...first, scheme: 3 }] }, 'unknown key scheme 3'),
    unsound('a key of another length', { keys: [{ ...first, scheme: 1 }] }, 'a key has 1984 bytes, scheme 1 has 1344'),
    unsound(
      'a key a byte short',
      { keys: [{ scheme: 1, bytes: fillerKey(1, 1).bytes.slice(1) }] },
      'a key has 1343 bytes, scheme 1 has 1344',
    ),
    refused('bridge_rotate', 'two vaults of a network', { vaults: vaults(1, 1) }, 'vaults', order),
    refused('bridge_rotate', 'vaults in disorder', { vaults: vaults(2, 1) }, 'vaults', order),
    refused('bridge_rotate', 'a network resumed twice', { resume: [0, 0] }, 'resume', order),
    refused('bridge_rotate', 'networks resumed in disorder', { resume: [0, 2, 1] }, 'resume', order),
  ]
}

export function txMalformedBridge(): readonly MalformedCase[] {
  return [
    ...[...shapes(), ...attestations(), ...networks(), ...externalIds(), ...addresses(), ...rotations()],
    ...badAmounts('bridge_deposit', 'amount', 1n),
    ...badAmounts('bridge_withdraw', 'amount', 1n),
  ]
}
