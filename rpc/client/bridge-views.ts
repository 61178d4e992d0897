import type { HybridPublicKey } from '../../consensus/crypto/hybrid.ts'
import { isKeyScheme } from '../../consensus/crypto/schemes.ts'
import type { WithdrawalState } from '../../consensus/ledger/bridge-records.ts'
import { fromHex, isHexBytes } from '../../consensus/primitives/bytes.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { fieldsOf } from './http.ts'
import { allOf, type Reader, type UnitsView, unitsOf } from './ledger-views.ts'
import type { NodeClient } from './node-client.ts'

/** Who attests, as far as one needs to know who signs. */
export interface CommitteeView {
  readonly epoch: number
  readonly threshold: number
  readonly haltThreshold: number
  readonly keys: readonly HybridPublicKey[]
}

/** A withdrawal, as far as one needs to know who signs. */
export interface WithdrawalView {
  readonly network: number
  readonly recipient: string
  readonly receives: UnitsView
  readonly status: WithdrawalState
}

const STATES: readonly unknown[] = ['pending', 'signing', 'released', 'cancelled'] satisfies WithdrawalState[]

/** The committee of `/api/v1/bridge`; null where the network has none. */
export const readCommittee: Reader<CommitteeView | null> = ({ committee }) => {
  if (committee === null) return null
  const { epoch, threshold, haltThreshold, keys } = fieldsOf(committee)
  const members = allOf(keys, readMember)
  if (!isCount(epoch) || !isCount(threshold) || !isCount(haltThreshold) || members === undefined) return undefined
  return { epoch, threshold, haltThreshold, keys: members }
}

const readMember: Reader<HybridPublicKey> = ({ scheme, key }) => {
  const sound = isCount(scheme) && isKeyScheme(scheme) && typeof key === 'string' && isHexBytes(key)
  return sound ? { scheme, bytes: fromHex(key) } : undefined
}

/** A withdrawal of `/api/v1/bridge/withdrawals/{id}`. */
export const readWithdrawal: Reader<WithdrawalView> = ({ withdrawal }) => {
  const { network, recipient, receives, status } = fieldsOf(withdrawal)
  const { number } = fieldsOf(network)
  const units = unitsOf(receives)
  if (!isCount(number) || typeof recipient !== 'string' || units === undefined || !STATES.includes(status))
    return undefined
  return { network: number, recipient, receives: units, status: status as WithdrawalState }
}

/** The committee as a node knows it. */
export async function fetchCommittee(client: NodeClient): Promise<Result<CommitteeView>> {
  const committee = await fetchView(client, '/api/v1/bridge', readCommittee)
  if (!committee.ok) return committee
  return committee.value === null ? fail(fault('bridge/closed', { network: 'any other' })) : ok(committee.value)
}

/** A withdrawal as a node knows it. */
export function fetchWithdrawal(client: NodeClient, id: string): Promise<Result<WithdrawalView>> {
  return fetchView(client, `/api/v1/bridge/withdrawals/${encodeURIComponent(id)}`, readWithdrawal)
}

async function fetchView<T>(client: NodeClient, path: string, read: Reader<T>): Promise<Result<T>> {
  const answer = await client.document(path)
  if (!answer.ok) return answer
  const value = read(answer.value)
  if (value !== undefined) return ok(value)
  return fail(fault('cli/refused', { message: `its answer at ${path} is not what this client understands` }))
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
