import { assetId } from './assets.ts'
import { depositRecord } from './attestations.ts'
import { hex, join, unhex } from './bytes.ts'
import { shownFields } from './shown.ts'
import type { RecordSample } from './state-record-case.ts'
import {
  committeeKeys,
  EXTERNAL_ADDRESSES,
  externalTxId,
  fillerCommittee,
  type RotationFields,
  rotationParts,
} from './tx-bridge-payloads.ts'
import { fillerKey, made } from './tx-fields.ts'
import { container, listOfVarying, u8, u32, u64, u128, vary, words } from './tx-wire.ts'

/**
 * State records of the bridge, from the table of docs/spec/ledgers.md. They hold no assets: wrapped tokens are in
 * balances.
 */

type Keys = RotationFields['keys']
type Pending = RotationFields & { readonly effectiveAt: number }

const LARGEST = 2n ** 128n - 1n

function committee(
  name: string,
  epoch: number,
  threshold: number,
  keys: Keys,
  pending: readonly Pending[],
): RecordSample {
  const rotation = pending.map((one) => container(u32(one.effectiveAt), ...rotationParts(one)))
  return {
    ...{ name, table: 'committee', prefix: 0x40, id: null, idBytes: new Uint8Array(0) },
    record: shownFields({ epoch, threshold, keys, rotation: pending }),
    bytes: container(u32(epoch), u8(threshold), vary(committeeKeys(keys)), vary(listOfVarying(rotation))),
  }
}

function committees(): readonly RecordSample[] {
  const keys = fillerCommittee(3)
  const vaults = EXTERNAL_ADDRESSES.map((address, network) => ({ network, address }))
  return [
    committee('a committee', 0, 2, keys, []),
    committee('a committee of one key', 7, 1, [fillerKey(1, 0x44)], []),
    committee('a committee whose rotation is pending', 3, 2, keys, [
      { effectiveAt: 28_900, threshold: 3, keys: fillerCommittee(5), vaults, resume: [0, 9] },
    ]),
    committee('a committee with the shortest rotation pending', 2 ** 32 - 1, 8, fillerCommittee(8), [
      { effectiveAt: 2 ** 32 - 1, threshold: 1, keys: [fillerKey(2, 0x44)], vaults: [], resume: [] },
    ]),
  ]
}

interface NetworkFields {
  readonly halted: number
  readonly deposited: bigint
  readonly released: bigint
  readonly fees: bigint
  readonly pending: bigint
  readonly mintDay: number
  readonly mintedToday: bigint
  readonly deposits: number
  readonly withdrawals: number
}

function network(name: string, number: number, symbol: string, n: NetworkFields): RecordSample {
  const vault = EXTERNAL_ADDRESSES[number] as string
  const fields = { version: 1, asset: assetId(symbol), vault, ...n }
  return {
    ...{ name, table: 'bridge-networks', prefix: 0x41, id: number, idBytes: u8(number), record: shownFields(fields) },
    bytes: container(
      ...[u8(1), unhex(assetId(symbol)), words(vault), u8(n.halted), u128(n.deposited), u128(n.released)],
      ...[u128(n.fees), u128(n.pending), u32(n.mintDay), u128(n.mintedToday), u64(n.deposits), u64(n.withdrawals)],
    ),
  }
}

function networks(): readonly RecordSample[] {
  const some = {
    ...{ halted: 0, deposited: 300_000_000_000n, released: 24_975_000n, fees: 25_000n, pending: 5_000_000n },
    ...{ mintDay: 3, mintedToday: 25_000_000n, deposits: 12, withdrawals: 2 },
  }
  const largest = {
    ...{ halted: 1, deposited: LARGEST, released: LARGEST, fees: LARGEST, pending: LARGEST, mintDay: 2 ** 32 - 1 },
    ...{ mintedToday: LARGEST, deposits: Number.MAX_SAFE_INTEGER, withdrawals: Number.MAX_SAFE_INTEGER },
  }
  return [
    network('a network of dollars', 1, 'XUSD', some),
    network('a halted network with the largest numbers', 9, 'XLTC', largest),
  ]
}

function deposits(): readonly RecordSample[] {
  return [1, 7].map((number) => {
    const id = depositRecord({ network: number, externalTxId: externalTxId(number), outputIndex: 3 })
    const fields = { network: number, to: made('to'), amount: 25_000_000n, height: 86_400 + number }
    return {
      ...{ name: `a deposit from network ${number}`, table: 'bridge-deposits', prefix: 0x42, id: hex(id), idBytes: id },
      record: shownFields(fields),
      bytes: join(u8(number), fields.to, u128(fields.amount), u32(fields.height)),
    }
  })
}

function withdrawals(): readonly RecordSample[] {
  const [id, sender] = [made('withdrawal'), made('sender')]
  const withdrawal = (state: string, status: number, number: number, paidBy: Uint8Array): RecordSample => {
    const recipient = EXTERNAL_ADDRESSES[number] as string
    const sums = { amount: 25_000_000n, fee: 25_000n }
    const fields = { network: number, sender, ...sums, recipient, status, createdAt: 86_500, externalTxId: paidBy }
    return {
      ...{ name: `a withdrawal, ${state}`, table: 'withdrawals', prefix: 0x43, id: hex(id), idBytes: id },
      record: shownFields(fields),
      bytes: container(
        ...[u8(number), sender, u128(sums.amount), u128(sums.fee), words(recipient), u8(status), u32(86_500)],
        vary(paidBy),
      ),
    }
  }
  const unpaid = new Uint8Array(0)
  return [
    withdrawal('pending', 0, 1, unpaid),
    withdrawal('signing', 1, 8, unpaid),
    withdrawal('released', 2, 7, externalTxId(7)),
    withdrawal('cancelled', 3, 9, unpaid),
  ]
}

export function stateBridgeRecords(): readonly RecordSample[] {
  return [...committees(), ...networks(), ...deposits(), ...withdrawals()]
}
