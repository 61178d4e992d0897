import { bech32Text, fiveBitGroups } from './accounts.ts'
import { hex, join, madeBytes, utf8 } from './bytes.ts'
import { shownFields } from './shown.ts'
import {
  EXTERNAL_ADDRESSES,
  externalTxId,
  fillerCommittee,
  type RotationFields,
  rotationParts,
} from './tx-bridge-payloads.ts'
import { fillerKey, made } from './tx-fields.ts'
import { container, tagged, u8, u32, u128, type VectorSet } from './tx-wire.ts'

/** An attestation's digest and message, from docs/spec/ledgers.md, section 9. */

export interface AttestationCase {
  readonly name: string
  /** Addresses as text of the mainnet, amounts as decimal text, bytes as hex. */
  readonly action: Readonly<Record<string, unknown>>
  readonly epoch: number
  readonly chainId: number
  readonly genesis: string
  /** Record id in the digest. */
  readonly record: string
  readonly digest: string
  readonly message: string
}

interface Payment {
  readonly network: number
  readonly externalTxId: Uint8Array
  readonly outputIndex: number
}

export function depositRecord(payment: Payment): Uint8Array {
  return tagged('farthing/bridge-deposit/1', ...[u8(payment.network), u32(payment.outputIndex), payment.externalTxId])
}

interface Attested {
  readonly name: string
  readonly action: Readonly<Record<string, unknown>>
  readonly number: number
  readonly network: number
  readonly record: Uint8Array
  readonly content: Uint8Array
}

const NOTHING = new Uint8Array(0)
const EPOCHS = [0, 3, 258, 2 ** 32 - 1]
const GENESES = [hex(madeBytes('genesis', 32)), hex(madeBytes('another genesis', 32))]
const [TO, WITHDRAWAL] = [made('to'), made('withdrawal')]

function deposit(name: string, payment: Payment, amount: bigint): Attested {
  const to = bech32Text('far', fiveBitGroups(TO))
  return {
    ...{ name, number: 1, network: payment.network, record: depositRecord(payment), content: join(TO, u128(amount)) },
    action: { action: 'deposit', ...payment, to, amount },
  }
}

function ofWithdrawal(action: 'sign' | 'cancel', number: number, network: number): Attested {
  return {
    ...{ name: `${action} on network ${network}`, number, network, record: WITHDRAWAL, content: NOTHING },
    action: { action, network, withdrawalId: WITHDRAWAL },
  }
}

function release(network: number): Attested {
  const paidBy = externalTxId(network)
  return {
    ...{ name: `a release on network ${network}`, number: 3, network, record: WITHDRAWAL, content: paidBy },
    action: { action: 'release', network, withdrawalId: WITHDRAWAL, externalTxId: paidBy },
  }
}

function rotation(name: string, change: RotationFields): Attested {
  const record = tagged('farthing/bridge-rotation/1', container(...rotationParts(change)))
  return { name, number: 5, network: 255, record, content: NOTHING, action: { action: 'rotate', ...change } }
}

function halt(network: number): Attested {
  return {
    ...{ name: `a halt of network ${network}`, number: 6, network, record: new Uint8Array(32), content: NOTHING },
    action: { action: 'halt', network },
  }
}

const ACTIONS: readonly Attested[] = [
  ...[0, 1, 7, 8, 9].map((network) =>
    deposit(
      `a deposit from network ${network}`,
      { network, externalTxId: externalTxId(network), outputIndex: 3 },
      25_000_000n,
    ),
  ),
  deposit('the first output of a transaction', { network: 8, externalTxId: externalTxId(8), outputIndex: 0 }, 1n),
  deposit(
    'the largest output and amount',
    { network: 8, externalTxId: externalTxId(8), outputIndex: 2 ** 32 - 1 },
    2n ** 112n - 1n,
  ),
  ...[1, 8].flatMap((network) => [ofWithdrawal('sign', 2, network), ofWithdrawal('cancel', 4, network)]),
  ...[1, 7, 9].map(release),
  rotation('a rotation', {
    ...{ threshold: 2, keys: fillerCommittee(3), vaults: [{ network: 1, address: EXTERNAL_ADDRESSES[1] as string }] },
    resume: [0, 1],
  }),
  rotation('a rotation of keys alone', { threshold: 1, keys: [fillerKey(1, 0x11)], vaults: [], resume: [] }),
  rotation('a rotation with everything at its longest', {
    ...{ threshold: 8, keys: fillerCommittee(8), resume: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] },
    vaults: EXTERNAL_ADDRESSES.map((address, network) => ({ network, address })),
  }),
  ...[0, 9].map(halt),
]

function attestationCase({ name, action, number, network, record, content }: Attested, i: number): AttestationCase {
  const epoch = EPOCHS[i % EPOCHS.length] as number
  const genesis = GENESES[(i >> 2) % GENESES.length] as string
  const digest = tagged('farthing/attestation/1', u8(number), u8(network), u32(epoch), record, content)
  const message = join(utf8('farthing-attestation/1'), u32(1), Buffer.from(genesis, 'hex'), u8(3), digest)
  return {
    ...{ name, action: shownFields(action) as AttestationCase['action'], epoch, chainId: 1, genesis },
    ...{ record: hex(record), digest: hex(digest), message: hex(message) },
  }
}

export function attestations(): VectorSet<AttestationCase> {
  return {
    about:
      'Every action that a committee attests, in its JSON form, with record id, digest and signing message. Scheme 3, ' +
      'context farthing-attestation/1. `[5a*1984]` in hex stands for 1,984 bytes 5a.',
    spec: 'ledgers.md, section 9; encoding.md, section 6',
    cases: ACTIONS.map(attestationCase),
  }
}
