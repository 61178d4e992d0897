import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { toHex } from '../../../../consensus/primitives/bytes.ts'
import type { Address, TxId } from '../../../../consensus/primitives/ids.ts'
import { type AttestedAction, attestationDigest, depositRecordId } from '../../../../consensus/tx/attestations.ts'
import { externalId, keyOf, members } from '../../../support/bridge.ts'
import { filled, units } from '../../../support/unsigned.ts'

/** Tagged hash of hex data, by Node's own SHA-256. */
function hash(tag: string, ...hex: readonly string[]): string {
  const prefix = Buffer.concat([Uint8Array.of(tag.length), Buffer.from(tag)])
  return createHash('sha256')
    .update(prefix)
    .update(Buffer.from(hex.join(''), 'hex'))
    .digest('hex')
}

const ID = filled<TxId>(0xab)
const PAYMENT = externalId(0xcd)
/** 258 and 5,000,000,000 in little-endian. */
const [EPOCH_HEX, AMOUNT_HEX] = ['02010000', `00f2052a01${'00'.repeat(11)}`]

function attested(action: string, network: string, record: string, content = ''): string {
  return hash('farthing/attestation/1', action, network, EPOCH_HEX, record, content)
}

const digest = (action: AttestedAction) => toHex(attestationDigest(action, 258))

describe('what members sign', () => {
  it('of a deposit: its record, who gets it and how much', () => {
    const record = hash('farthing/bridge-deposit/1', '07', '03000000', 'cd'.repeat(64))
    const name = { network: 7, outputIndex: 3, externalTxId: externalId(0xcd, 64) }
    expect(depositRecordId(name)).toBe(record)
    const to = filled<Address>(0x11)
    const action = { action: 'deposit', ...name, to, amount: units(5_000_000_000n) } as const
    expect(digest(action)).toBe(attested('01', '07', record, '11'.repeat(32) + AMOUNT_HEX))
  })

  it('of a withdrawal: its id, and of a release what paid it', () => {
    expect(digest({ action: 'sign', network: 1, withdrawalId: ID })).toBe(attested('02', '01', ID))
    expect(digest({ action: 'cancel', network: 1, withdrawalId: ID })).toBe(attested('04', '01', ID))
    const release = { action: 'release', network: 1, withdrawalId: ID, externalTxId: PAYMENT } as const
    expect(digest(release)).toBe(attested('03', '01', ID, 'cd'.repeat(32)))
  })

  it('of a halt: the network', () => {
    expect(digest({ action: 'halt', network: 9 })).toBe(attested('06', '09', '00'.repeat(32)))
  })

  it('of a rotation: all that it changes, over every network', () => {
    const [key] = members(1, 1).map(keyOf)
    const bytes = (key as NonNullable<typeof key>).bytes
    const address = '0x000000000000000000000000000000000000dEaD'
    const rotation = { threshold: 1, keys: [{ scheme: 1, bytes }], vaults: [{ network: 4, address }], resume: [2, 5] }
    const [uint32, text] = [
      (value: number) => {
        const four = Buffer.alloc(4)
        four.writeUInt32LE(value)
        return four.toString('hex')
      },
      Buffer.from(address).toString('hex'),
    ]
    // Fixed part: threshold and three offsets. A list of one element of variable size begins with its offset, 4.
    const keys = `${uint32(4)}01${uint32(5)}${toHex(bytes)}`
    const vaults = `${uint32(4)}04${uint32(5)}${text}`
    const offsets = [13, 13 + keys.length / 2, 13 + (keys.length + vaults.length) / 2].map(uint32).join('')
    const record = hash('farthing/bridge-rotation/1', `01${offsets}${keys}${vaults}0205`)
    expect(digest({ action: 'rotate', ...rotation })).toBe(attested('05', 'ff', record))
  })

  it('names the epoch', () => {
    const action = { action: 'halt', network: 9 } as const
    expect(toHex(attestationDigest(action, 0))).not.toBe(toHex(attestationDigest(action, 1)))
  })
})
