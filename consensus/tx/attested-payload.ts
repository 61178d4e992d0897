import { externalTxIdBytes } from '../external/transaction-id.ts'
import { encode } from '../primitives/codec.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import { fail, ok, type Result } from '../primitives/result.ts'
import type { AttestedAction, AttestedActionName } from './attestations.ts'
import type { Attestation } from './bridge-payloads.ts'
import { checkPayload } from './check-payload.ts'
import type { JsonObject } from './json.ts'
import { recordFromJson, recordToJson } from './json.ts'
import { type FieldForms, PAYLOAD_FORMS } from './json-forms.ts'
import { TX_KINDS, type TxKind } from './kinds.ts'
import type { TxRules } from './rules.ts'
import type { TxBody } from './transaction.ts'

/** Kind and payload that bring an attested action on chain. */
export type AttestedPayload = Pick<TxBody, 'kind' | 'payload'>

/** `create` is for deposits only and is not attested. */
export function attestedPayload(action: AttestedAction, attestation: Attestation, create = false): AttestedPayload {
  switch (action.action) {
    case 'deposit': {
      const { network, externalTxId, outputIndex, to, amount } = action
      const payload = { network, externalTxId, outputIndex, to, amount, create, attestation }
      return { kind: 'bridge_deposit', payload } as AttestedPayload
    }
    case 'sign':
    case 'cancel': {
      const kind = action.action === 'sign' ? 'bridge_sign' : 'bridge_cancel'
      return { kind, payload: { withdrawalId: action.withdrawalId, attestation } } as AttestedPayload
    }
    case 'release': {
      const { withdrawalId, externalTxId } = action
      return { kind: 'bridge_release', payload: { withdrawalId, externalTxId, attestation } } as AttestedPayload
    }
    case 'rotate': {
      const { threshold, keys, vaults, resume } = action
      return { kind: 'bridge_rotate', payload: { threshold, keys, vaults, resume, attestation } } as AttestedPayload
    }
    case 'halt':
      return { kind: 'bridge_halt', payload: { network: action.network, attestation } } as AttestedPayload
  }
}

/** Placeholder attestation, to check an action alone. */
const UNSIGNED: Attestation = { epoch: 0, signatures: [{ keyIndex: 0, bytes: new Uint8Array(0) }] }

/** Checks an action by itself and the rules, so that members do not sign what no block could hold. */
export function whyUnsoundAction(action: AttestedAction, rules: TxRules): Fault | null {
  const { kind, payload } = attestedPayload(action, UNSIGNED)
  const refusal = whyUnencodable(kind, payload) ?? checkPayload({ kind, payload } as TxBody, rules)
  return refusal ?? (action.action === 'rotate' ? null : whyUnknownNetwork(action, rules))
}

function whyUnencodable(kind: TxKind, payload: object): Fault | null {
  try {
    encode(TX_KINDS[kind].payload as never, payload as never)
    return null
  } catch (error) {
    return fault('tx/payload', { kind, reason: error instanceof Error ? error.message : 'unreadable' })
  }
}

/** Payloads about a withdrawal do not name its network, so `checkPayload` cannot check it. Actions do name it. */
function whyUnknownNetwork(action: Exclude<AttestedAction, { action: 'rotate' }>, rules: TxRules): Fault | null {
  const format = rules.bridgeFormats[action.network]
  if (format === undefined) return fault('tx/field', { field: 'network', reason: `${action.network} is unknown` })
  if (action.action !== 'release' || action.externalTxId.length === externalTxIdBytes(format)) return null
  const reason = `must have ${externalTxIdBytes(format)} bytes on this network`
  return fault('tx/field', { field: 'externalTxId', reason })
}

const WITHDRAWAL: FieldForms = { action: 'text', network: 'integer', withdrawalId: 'hash' }

/** JSON forms of actions: the forms of their payloads, plus the network where a payload leaves it out. */
const ACTION_FORMS: Readonly<Record<AttestedActionName, FieldForms>> = {
  deposit: { action: 'text', ...without(PAYLOAD_FORMS.bridge_deposit, ['create', 'attestation']) },
  sign: WITHDRAWAL,
  cancel: WITHDRAWAL,
  release: { ...WITHDRAWAL, externalTxId: 'bytes' },
  rotate: { action: 'text', ...without(PAYLOAD_FORMS.bridge_rotate, ['attestation']) },
  halt: { action: 'text', network: 'integer' },
}

/** JSON of an action. */
export function actionToJson(prefix: string, action: AttestedAction): JsonObject {
  return recordToJson(prefix, ACTION_FORMS[action.action], action)
}

/** Also checks that a block could hold the action. */
export function actionFromJson(prefix: string, rules: TxRules, json: unknown): Result<AttestedAction> {
  const name = (json as { readonly action?: unknown } | null)?.action
  const known = typeof name === 'string' && Object.hasOwn(ACTION_FORMS, name)
  if (!known) return fail(fault('tx/json', { field: 'action', reason: 'is no action of the bridge' }))
  const read = recordFromJson(prefix, ACTION_FORMS[name as AttestedActionName], json)
  if (!read.ok) return read
  const action = read.value as AttestedAction
  const unsound = whyUnsoundAction(action, rules)
  return unsound === null ? ok(action) : fail(unsound)
}

function without(forms: FieldForms, names: readonly string[]): FieldForms {
  return Object.fromEntries(Object.entries(forms).filter(([name]) => !names.includes(name)))
}
