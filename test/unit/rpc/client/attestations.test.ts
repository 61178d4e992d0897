import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../../../config/networks/rules.ts'
import { type HybridPublicKey, hybridPublicKey } from '../../../../consensus/crypto/hybrid.ts'
import type { AttestedAction } from '../../../../consensus/tx/attestations.ts'
import { attestedPayload } from '../../../../consensus/tx/attested-payload.ts'
import {
  completeAttestation,
  mergeSigned,
  type SignedStatement,
  signedFromJson,
  signedToJson,
  signStatement,
  statementDigest,
} from '../../../../rpc/client/attestations.ts'
import { COMMITTEE_ANSWER, WITHDRAWAL_ANSWER } from '../../../../rpc/client/ledger-client.ts'
import { decode } from '../../../../rpc/contract/schema.ts'
import { NATIVE_BACKEND } from '../../../../src/crypto/native-backend.ts'
import { walletKey } from '../../../../src/crypto/wallet-key.ts'
import { BASE, BridgeLedger, members } from '../../../support/bridge.ts'
import { filled } from '../../../support/unsigned.ts'

const ledger = new BridgeLedger()
const { network } = ledger.ruleBook
const { tx: rules } = LAUNCH_RULES
const ACTION: AttestedAction = { action: 'halt', network: BASE }
const keysOf = (scheme: 1 | 2): HybridPublicKey[] =>
  members(3, scheme).map(({ seed }) => hybridPublicKey(NATIVE_BACKEND, scheme, seed))
const COMMITTEE = { epoch: 0, threshold: 2, haltThreshold: 2, keys: keysOf(2) }

function signed(keyIndex: number, action = ACTION, epoch = 0, where = network): Promise<SignedStatement> {
  const { seed, scheme } = members(3)[keyIndex] as (typeof ledger.members)[number]
  return signStatement(walletKey(seed, scheme), { network: where, epoch, action }, keyIndex)
}

async function merged(...indices: readonly number[]) {
  const result = mergeSigned(await Promise.all(indices.map((index) => signed(index))))
  if (!result.ok) throw new Error(result.fault.code)
  return result.value
}

describe('signatures of members', () => {
  it('make an attestation that the chain takes, in whatever order they are joined', async () => {
    const attestation = completeAttestation(NATIVE_BACKEND, await merged(2, 0), COMMITTEE)
    if (!attestation.ok) throw new Error(attestation.fault.code)
    expect(attestation.value.signatures.map(({ keyIndex }) => keyIndex)).toEqual([0, 2])
    const { payload } = attestedPayload(ACTION, attestation.value)
    expect(new BridgeLedger().send(filled(6), 'bridge_halt', payload as never).code).toBe('success')
  })

  it('travel as JSON and come back the same', async () => {
    const one = await signed(1)
    const json = JSON.parse(JSON.stringify(signedToJson('far', one))) as unknown
    expect(signedFromJson('far', rules, json)).toEqual({ ok: true, value: one })
  })

  it('in invalid files are refused', async () => {
    const json = signedToJson('far', await signed(1))
    for (const change of [
      ...[{ version: 2 }, { chainId: -1 }, { chainId: '1' }, { genesis: 'ab' }, { genesis: 7 }, { epoch: 2 ** 32 }],
      ...[{ epoch: 0.5 }, { keyIndex: 8 }, { keyIndex: null }, { signature: 'xy' }, { signature: 7 }, { action: null }],
    ]) {
      expect(signedFromJson('far', rules, { ...json, ...change })).toMatchObject({ fault: { code: 'tx/json' } })
    }
    for (const other of [null, [], 'text']) expect(signedFromJson('far', rules, other).ok).toBe(false)
  })

  it('over different statements are never joined', async () => {
    const first = await signed(0)
    const elsewhere = { ...network, genesis: filled(9) as typeof network.genesis }
    for (const other of [
      await signed(1, { action: 'halt', network: 0 }),
      await signed(1, ACTION, 1),
      await signed(1, ACTION, 0, elsewhere),
      await signed(1, ACTION, 0, { ...network, chainId: 2 }),
    ]) {
      expect(mergeSigned([first, other])).toMatchObject({ fault: { code: 'tx/json' } })
    }
    expect(mergeSigned([first, await signed(0)])).toMatchObject({ fault: { code: 'tx/json' } })
    expect(mergeSigned([]).ok).toBe(false)
  })

  it('that would not hold are refused before a payer pays', async () => {
    const complete = async (change: Partial<typeof COMMITTEE>, ...indices: readonly number[]) => {
      const result = completeAttestation(NATIVE_BACKEND, await merged(...indices), { ...COMMITTEE, ...change })
      return result.ok ? result.value.signatures.length : result.fault.code
    }
    expect(await complete({}, 0, 1)).toBe(2)
    expect(await complete({}, 0, 1, 2)).toBe(2)
    expect(await complete({}, 0)).toBe('bridge/attestation')
    expect(await complete({ haltThreshold: 1 }, 0)).toBe(1)
    expect(await complete({ haltThreshold: 3, threshold: 1 }, 0, 1)).toBe('bridge/attestation')
    expect(await complete({ epoch: 1 }, 0, 1)).toBe('bridge/epoch')
    expect(await complete({ keys: COMMITTEE.keys.slice(0, 1) }, 0, 1)).toBe('bridge/attestation')
    expect(await complete({ keys: [...COMMITTEE.keys].reverse() }, 0, 1)).toBe('bridge/attestation')
    expect(await complete({ keys: keysOf(1) }, 0, 1)).toBe('bridge/attestation')
  })

  it('are counted by the threshold for everything but a halt', async () => {
    const cancel: AttestedAction = { action: 'cancel', network: BASE, withdrawalId: filled(4) }
    const one = mergeSigned([await signed(0, cancel)])
    if (!one.ok) throw new Error(one.fault.code)
    const view = { ...COMMITTEE, threshold: 1, haltThreshold: 3 }
    expect(completeAttestation(NATIVE_BACKEND, one.value, view).ok).toBe(true)
  })

  it('have a digest that says everything but the network of nodes', async () => {
    const statement = { network, epoch: 0, action: ACTION }
    expect(statementDigest(statement)).toMatch(/^[0-9a-f]{64}$/)
    expect(statementDigest({ ...statement, epoch: 1 })).not.toBe(statementDigest(statement))
  })
})

describe('what a node says of the bridge', () => {
  const key = { index: 0, scheme: 2, key: 'ab', member: `far1${'q'.repeat(30)}` }
  const committee = { epoch: 4, threshold: 2, haltThreshold: 2, keys: [key], rotation: null }
  const units = { symbol: 'XUSD', decimals: 6, units: '5', text: '0.000005' }
  const withdrawal = { network: { number: 1 }, recipient: '0x', receives: units, status: 'pending' }

  it('is read', () => {
    expect(decode(COMMITTEE_ANSWER, { committee })).toEqual({
      ...{ epoch: 4, threshold: 2, haltThreshold: 2 },
      keys: [{ scheme: 2, bytes: Uint8Array.of(0xab) }],
    })
    expect(decode(COMMITTEE_ANSWER, { committee: null })).toBeNull()
    expect(decode(WITHDRAWAL_ANSWER, { withdrawal })).toEqual({
      ...{ network: 1, recipient: '0x', status: 'pending' },
      receives: { symbol: 'XUSD', decimals: 6, units: 5n },
    })
  })

  it('is not believed in another shape', () => {
    for (const change of [
      ...[{ epoch: '4' }, { epoch: -1 }, { threshold: null }, { haltThreshold: 1.5 }, { keys: 7 }],
      ...[{ keys: [{ ...key, scheme: 3 }] }, { keys: [{ ...key, key: 'x' }] }, { keys: [null] }],
    ]) {
      expect(decode(COMMITTEE_ANSWER, { committee: { ...committee, ...change } })).toBeUndefined()
    }
    expect(decode(COMMITTEE_ANSWER, {})).toBeUndefined()
    for (const change of [{ network: 1 }, { recipient: 7 }, { receives: '5' }, { status: 'lost' }]) {
      expect(decode(WITHDRAWAL_ANSWER, { withdrawal: { ...withdrawal, ...change } })).toBeUndefined()
    }
  })
})
