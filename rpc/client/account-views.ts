import type { Amount } from '../../consensus/primitives/amount.ts'
import { isHex } from '../../consensus/primitives/bytes.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { CAPABILITIES, type Capability } from '../../marketplace/ledger/capabilities.ts'
import { fieldsOf } from './http.ts'
import { allOf, amountOf, type Reader, type UnitsView, unitsOf } from './ledger-views.ts'

/** Shares of a pool that an address holds, with what they would take out of it now. */
export interface PositionView {
  readonly poolId: string
  readonly pool: string
  readonly shares: Amount
  readonly x: UnitsView
  readonly y: UnitsView
}

/** A stake with what a claim would pay in the next block. One that was taken back has 0 staked. */
export interface StakeView {
  readonly stakeId: TxId
  readonly tier: number
  readonly staked: UnitsView
  readonly pending: UnitsView
  readonly unlocksAt: number
  readonly unlocked: boolean
}

/** What an address holds, as far as clients count with it. At most 100 of each are listed. */
export interface HoldingsView {
  readonly native: UnitsView
  readonly tokens: readonly UnitsView[]
  readonly positions: readonly PositionView[]
  readonly stakes: readonly StakeView[]
  readonly truncated: { readonly positions: boolean; readonly stakes: boolean }
}

/** Holdings of `/api/v1/accounts/{address}/holdings`. */
export const readHoldings: Reader<HoldingsView> = ({ native, tokens, positions, stakes, truncated }) => {
  const coins = unitsOf(native)
  const held = allOf(tokens, unitsOf)
  const shares = allOf(positions, readPosition)
  const locked = allOf(stakes, readStake)
  if (coins === undefined || held === undefined || shares === undefined || locked === undefined) return undefined
  const more = fieldsOf(truncated)
  const cut = { positions: more.positions === true, stakes: more.stakes === true }
  return { native: coins, tokens: held, positions: shares, stakes: locked, truncated: cut }
}

const readPosition: Reader<PositionView> = ({ poolId, pool, shares, x, y }) => {
  const [held, unitsX, unitsY] = [amountOf(shares), unitsOf(x), unitsOf(y)]
  if (held === undefined || unitsX === undefined || unitsY === undefined) return undefined
  if (typeof poolId !== 'string' || typeof pool !== 'string') return undefined
  return { poolId, pool, shares: held, x: unitsX, y: unitsY }
}

const readStake: Reader<StakeView> = ({ stakeId, tier, staked, pending, unlocksAt, unlocked }) => {
  const [locked, due] = [unitsOf(staked), unitsOf(pending)]
  if (typeof stakeId !== 'string' || !isHex(stakeId, 32) || locked === undefined || due === undefined) return undefined
  if (!Number.isSafeInteger(tier) || !Number.isSafeInteger(unlocksAt) || typeof unlocked !== 'boolean') return undefined
  const facts = { tier: tier as number, unlocksAt: unlocksAt as number, unlocked }
  return { stakeId: stakeId as TxId, staked: locked, pending: due, ...facts }
}

/** A service of an agent as the chain has it. */
export interface ServiceView {
  readonly serviceId: string
  readonly name: string
  readonly description: string
  readonly requestFormat: string
  readonly capability: Capability
}

/** An agent of the registry; addresses are text. */
export interface AgentView {
  readonly agentId: string
  readonly name: string
  readonly endpoint: string
  readonly capabilities: readonly Capability[]
  readonly owner: string
  readonly payout: string
  readonly settlers: readonly string[]
  readonly services: readonly ServiceView[]
}

/** An agent of `/api/v1/agents/{id}`. */
export const readAgent: Reader<AgentView> = ({ agent }) => {
  const fields = fieldsOf(agent)
  const { capabilities, settlers } = fields
  const services = allOf(fields.services, readService)
  const texts = textsOf(fields, ['agentId', 'name', 'endpoint', 'owner', 'payout'])
  if (texts === undefined || services === undefined) return undefined
  if (!Array.isArray(capabilities) || !capabilities.every(isCapability)) return undefined
  if (!Array.isArray(settlers) || !settlers.every((settler) => typeof settler === 'string')) return undefined
  return { ...texts, capabilities, settlers, services }
}

const readService: Reader<ServiceView> = (service) => {
  const texts = textsOf(service, ['serviceId', 'name', 'description', 'requestFormat'])
  const { capability } = service
  return texts === undefined || !isCapability(capability) ? undefined : { ...texts, capability }
}

function isCapability(value: unknown): value is Capability {
  return CAPABILITIES.some((capability) => capability === value)
}

/** The fields named, if all of them are texts. */
function textsOf<K extends string>(
  fields: Readonly<Record<string, unknown>>,
  names: readonly K[],
): Readonly<Record<K, string>> | undefined {
  if (!names.every((name) => typeof fields[name] === 'string')) return undefined
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as Record<K, string>
}
