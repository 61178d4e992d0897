import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../../../config/networks/rules.ts'
import type { Address, TxId } from '../../../../consensus/primitives/ids.ts'
import type { AttestedAction } from '../../../../consensus/tx/attestations.ts'
import {
  actionFromJson,
  actionToJson,
  attestedPayload,
  whyUnsoundAction,
} from '../../../../consensus/tx/attested-payload.ts'
import { BASE, EXTERNAL, externalId, keyOf, members, rotationTo, SOLANA } from '../../../support/bridge.ts'
import { filled, units } from '../../../support/unsigned.ts'

const { tx: rules } = LAUNCH_RULES
const withdrawalId = filled<TxId>(7)
const attestation = { epoch: 3, signatures: [{ keyIndex: 1, bytes: externalId(9) }] }

const PAID = { network: BASE, externalTxId: externalId(1), outputIndex: 2 }
const DEPOSIT = { action: 'deposit', ...PAID, to: filled<Address>(3), amount: units(4) } as const
const RELEASE = { action: 'release', network: BASE, withdrawalId, externalTxId: externalId(1) } as const
const ROTATE = {
  action: 'rotate',
  ...rotationTo(members(2), 1, { vaults: [{ network: BASE, address: EXTERNAL.evm }], resume: [1, 5] }),
} as const
const ACTIONS: readonly AttestedAction[] = [
  DEPOSIT,
  { action: 'sign', network: BASE, withdrawalId },
  { action: 'cancel', network: SOLANA, withdrawalId },
  RELEASE,
  { ...RELEASE, network: SOLANA, externalTxId: externalId(1, 64) },
  ROTATE,
  { action: 'halt', network: 9 },
]

describe('an attested action', () => {
  it('travels as JSON and comes back the same', () => {
    for (const action of ACTIONS) {
      const json = JSON.parse(JSON.stringify(actionToJson('far', action))) as unknown
      expect(actionFromJson('far', rules, json)).toEqual({ ok: true, value: action })
    }
  })

  it('is carried by the payload of its kind', () => {
    const carried = ACTIONS.map((action) => attestedPayload(action, attestation, true))
    expect(carried.map(({ kind }) => kind)).toEqual([
      ...['bridge_deposit', 'bridge_sign', 'bridge_cancel', 'bridge_release', 'bridge_release'],
      ...['bridge_rotate', 'bridge_halt'],
    ])
    expect(carried[0]?.payload).toEqual({
      ...{ network: BASE, externalTxId: externalId(1), outputIndex: 2, to: filled(3), amount: 4n },
      ...{ create: true, attestation },
    })
    expect(attestedPayload(DEPOSIT, attestation).payload).toMatchObject({ create: false })
    expect(carried[1]?.payload).toEqual({ withdrawalId, attestation })
    expect(carried[3]?.payload).toEqual({ withdrawalId, externalTxId: externalId(1), attestation })
    expect(carried[5]?.payload).toEqual({
      ...{ threshold: 1, keys: members(2).map(keyOf), vaults: ROTATE.vaults, resume: [1, 5], attestation },
    })
    expect(carried[6]?.payload).toEqual({ network: 9, attestation })
  })

  it.each([
    ['a network that is not there', { ...DEPOSIT, network: 10 }, 'tx/field'],
    ['a network beyond a byte', { ...DEPOSIT, network: 256 }, 'tx/payload'],
    ['an output beyond 32 bits', { ...DEPOSIT, outputIndex: 2 ** 32 }, 'tx/payload'],
    ['a transaction id of another length', { ...DEPOSIT, externalTxId: externalId(1, 64) }, 'tx/field'],
    ['nothing to mint', { ...DEPOSIT, amount: units(0) }, 'tx/amount'],
    ['a withdrawal on a network that is not there', { action: 'sign', network: 10, withdrawalId }, 'tx/field'],
    ['a payment of another length', { ...RELEASE, network: SOLANA }, 'tx/field'],
    ['a payment of no length', { ...RELEASE, externalTxId: externalId(1, 5) }, 'tx/field'],
    ['a threshold above its keys', { ...ROTATE, threshold: 3 }, 'tx/field'],
    ['networks out of order', { ...ROTATE, resume: [5, 1] }, 'tx/field'],
    ['a vault that is no address', { ...ROTATE, vaults: [{ network: BASE, address: EXTERNAL.solana }] }, 'tx/field'],
    ['a halt of a network that is not there', { action: 'halt', network: 10 }, 'tx/field'],
  ] as readonly (readonly [string, AttestedAction, string])[])('with %s is unsound', (_, action, code) => {
    expect(whyUnsoundAction(action, rules)?.code).toBe(code)
    expect(actionFromJson('far', rules, actionToJson('far', action))).toMatchObject({ ok: false, fault: { code } })
  })

  it('in invalid JSON is refused', () => {
    const json = actionToJson('far', DEPOSIT)
    for (const other of [
      ...[null, 7, 'halt', [], {}, { action: 'mint' }, { action: 'toString' }, { ...json, create: true }],
      ...[{ ...json, amount: 4 }, { ...json, to: 'far1' }, { ...json, network: '1' }, { action: 'halt' }],
    ]) {
      expect(actionFromJson('far', rules, other)).toMatchObject({ ok: false, fault: { code: 'tx/json' } })
    }
    expect(actionFromJson('dfar', rules, json)).toMatchObject({ ok: false })
  })
})
