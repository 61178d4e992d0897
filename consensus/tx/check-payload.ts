import { decodeAccountKeys, encodeRawAccountKeys } from '../crypto/account-keys.ts'
import { checkExternalAddress } from '../external/address.ts'
import { externalTxIdBytes } from '../external/transaction-id.ts'
import { unreachable } from '../primitives/assert.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import type { Address, TokenSymbol } from '../primitives/ids.ts'
import type { Swap, TokenCreate } from './asset-payloads.ts'
import type { Attestation, BridgeDeposit, BridgeRelease, BridgeRotate, BridgeWithdraw } from './bridge-payloads.ts'
import { checkAmount } from './check-amount.ts'
import { checkTab, type TabBody } from './check-tabs.ts'
import { type AgentInvoke, type AgentReceipt, OUTCOME_FAILED, type ServicePublish } from './payloads.ts'
import type { TxRules } from './rules.ts'
import type { TxBody } from './transaction.ts'

/** Number of capabilities in the closed table. */
export const CAPABILITY_COUNT = 16
/** Highest price of a service: a million dollars, in millionths. */
export const PRICE_USD_MICROS_MAX = 1_000_000_000_000n
/** Most decimals of a token. */
export const TOKEN_DECIMALS_MAX = 18
const COMMITTEE_SCHEME = 3

/** Needs only the bytes and the rules. */
export function checkPayload(body: TxBody, rules: TxRules): Fault | null {
  switch (body.kind) {
    case 'agent_register':
    case 'agent_update':
      return checkName(body.payload.name) ?? checkDistinct('settlers', body.payload.settlers)
    case 'service_publish':
      return checkService(body.payload)
    case 'agent_invoke':
      return checkInvoke(body.payload, rules)
    case 'agent_receipt':
      return checkEntries(body.payload)
    case 'tab_open':
    case 'tab_fund':
    case 'tab_claim':
    case 'tab_close':
    case 'tab_terms':
      return checkTab(body, rules.tabs)
    case 'service_retire':
    case 'unstake':
    case 'claim':
    case 'token_flags':
    case 'token_issuer':
      return null
    default:
      return checkAssets(body, rules)
  }
}

type MarketKind = 'agent_register' | 'agent_update' | 'service_publish' | 'agent_invoke' | 'agent_receipt'
type FreeKind = 'service_retire' | 'unstake' | 'claim' | 'token_flags' | 'token_issuer'
type AssetBody = Exclude<TxBody, TabBody | { kind: MarketKind | FreeKind }>

function checkAssets(body: AssetBody, rules: TxRules): Fault | null {
  switch (body.kind) {
    case 'transfer':
    case 'token_mint':
    case 'token_burn':
    case 'token_transfer':
    case 'stable_deposit':
    case 'stable_mint':
    case 'stable_withdraw':
      return checkAmount('amount', body.payload.amount, 1n)
    case 'token_create':
      return checkToken(body.payload)
    case 'stable_redeem':
      return checkAmount('amount', body.payload.amount, 1n) ?? checkAmount('minPaid', body.payload.minPaid, 0n)
    case 'stake':
      return (
        checkBelow('tier', body.payload.tier, rules.stakeTiers) ??
        checkAmount('amount', body.payload.amount, rules.stakeAmountMin)
      )
    case 'pool_create':
    case 'liquidity_add':
    case 'liquidity_remove':
      return checkPool(body.payload, rules) ?? checkLiquidity(body)
    case 'swap':
      return checkSwap(body.payload, rules)
    default:
      return checkBridge(body, rules)
  }
}

type BridgeBody = Extract<AssetBody, { kind: `bridge_${string}` }>

function checkBridge(body: BridgeBody, rules: TxRules): Fault | null {
  switch (body.kind) {
    case 'bridge_deposit':
      return checkDeposit(body.payload, rules)
    case 'bridge_withdraw':
      return checkWithdraw(body.payload, rules)
    case 'bridge_release':
      return checkExternalTxId(body.payload) ?? checkAttestation(body.payload.attestation)
    case 'bridge_rotate':
      return checkRotation(body.payload, rules)
    case 'bridge_halt':
      return (
        checkBelow('network', body.payload.network, rules.bridgeFormats.length) ??
        checkAttestation(body.payload.attestation)
      )
    case 'bridge_sign':
    case 'bridge_cancel':
      return checkAttestation(body.payload.attestation)
    default:
      return unreachable(body)
  }
}

function checkBelow(field: string, value: number, bound: number): Fault | null {
  return value < bound ? null : fault('tx/field', { field, reason: `${value} is unknown` })
}

function checkName(name: string): Fault | null {
  if (name !== '' && !name.startsWith(' ') && !name.endsWith(' ')) return null
  return fault('tx/field', { field: 'name', reason: 'must not be empty or begin or end with a blank' })
}

function checkDistinct(field: string, values: readonly Address[]): Fault | null {
  if (new Set(values).size === values.length) return null
  return fault('tx/field', { field, reason: 'an address stands twice' })
}

function checkService({ name, capability, priceUsdMicros }: ServicePublish): Fault | null {
  const unknown = checkBelow('capability', capability, CAPABILITY_COUNT)
  if (unknown !== null) return unknown
  if (priceUsdMicros < 1n || priceUsdMicros > PRICE_USD_MICROS_MAX) {
    return fault('tx/field', { field: 'priceUsdMicros', reason: 'allowed is 1 to 10^12' })
  }
  return checkName(name)
}

function checkInvoke({ amount, units, term }: AgentInvoke, rules: TxRules): Fault | null {
  if (units !== 1) return fault('tx/field', { field: 'units', reason: 'must be 1' })
  if (!rules.invokeTerms.includes(term)) {
    return fault('tx/field', { field: 'term', reason: `must be one of ${rules.invokeTerms.join(', ')}` })
  }
  return checkAmount('amount', amount, rules.invokeAmountMin)
}

function checkEntries({ entries }: AgentReceipt): Fault | null {
  if (entries.length === 0) return fault('tx/field', { field: 'entries', reason: 'must not be empty' })
  const unknown = entries.find(({ outcome }) => outcome > OUTCOME_FAILED)
  return unknown === undefined ? null : fault('tx/field', { field: 'outcome', reason: `${unknown.outcome} is unknown` })
}

/** The checks of a token's launch that need no state. */
export function checkToken({ name, decimals, maxSupply }: Omit<TokenCreate, 'symbol' | 'freezable'>): Fault | null {
  return (
    checkName(name) ??
    checkBelow('decimals', decimals, TOKEN_DECIMALS_MAX + 1) ??
    checkAmount('maxSupply', maxSupply, 0n)
  )
}

interface PoolFields {
  readonly assetA: TokenSymbol
  readonly assetB: TokenSymbol
  readonly feeBps: number
}

function checkPool({ assetA, assetB, feeBps }: PoolFields, rules: TxRules): Fault | null {
  if (assetA === assetB) return fault('tx/field', { field: 'assetB', reason: 'must be another asset than assetA' })
  return checkFeeTier('feeBps', feeBps, rules)
}

function checkFeeTier(field: string, feeBps: number, { poolFeesBps }: TxRules): Fault | null {
  if (poolFeesBps.includes(feeBps)) return null
  return fault('tx/field', { field, reason: `must be one of ${poolFeesBps.join(', ')}` })
}

type LiquidityBody = Extract<AssetBody, { kind: 'pool_create' | 'liquidity_add' | 'liquidity_remove' }>

function checkLiquidity(body: LiquidityBody): Fault | null {
  if (body.kind === 'liquidity_remove') {
    const { shares, minA, minB } = body.payload
    return checkAmount('shares', shares, 1n) ?? checkAmount('minA', minA, 0n) ?? checkAmount('minB', minB, 0n)
  }
  const { amountA, amountB } = body.payload
  const amounts = checkAmount('amountA', amountA, 1n) ?? checkAmount('amountB', amountB, 1n)
  return amounts ?? (body.kind === 'liquidity_add' ? checkAmount('minShares', body.payload.minShares, 0n) : null)
}

function checkSwap({ assetIn, exactOut, amount, limit, hops }: Swap, rules: TxRules): Fault | null {
  if (hops.length === 0) return fault('tx/field', { field: 'hops', reason: 'must not be empty' })
  if (exactOut && hops.length > 1) {
    return fault('tx/field', { field: 'hops', reason: 'an exact output goes through one pool' })
  }
  for (const [i, { asset, feeBps }] of hops.entries()) {
    if (asset === (hops[i - 1]?.asset ?? assetIn)) {
      return fault('tx/field', { field: `hops[${i}].asset`, reason: 'must be another asset than goes in' })
    }
    const unknown = checkFeeTier(`hops[${i}].feeBps`, feeBps, rules)
    if (unknown !== null) return unknown
  }
  return checkAmount('amount', amount, 1n) ?? checkAmount('limit', limit, 0n)
}

function checkDeposit({ network, externalTxId, amount, attestation }: BridgeDeposit, rules: TxRules): Fault | null {
  const unknown = checkBelow('network', network, rules.bridgeFormats.length)
  if (unknown !== null) return unknown
  const bytes = externalTxIdBytes(rules.bridgeFormats[network] as TxRules['bridgeFormats'][number])
  if (externalTxId.length !== bytes) {
    return fault('tx/field', { field: 'externalTxId', reason: `must have ${bytes} bytes on this network` })
  }
  return checkAmount('amount', amount, 1n) ?? checkAttestation(attestation)
}

function checkWithdraw({ network, amount, recipient }: BridgeWithdraw, rules: TxRules): Fault | null {
  const unknown = checkBelow('network', network, rules.bridgeFormats.length)
  return unknown ?? checkAmount('amount', amount, 1n) ?? checkRecipient('recipient', network, recipient, rules)
}

function checkRecipient(field: string, network: number, address: string, { bridgeFormats }: TxRules): Fault | null {
  const reason = checkExternalAddress(bridgeFormats[network] as TxRules['bridgeFormats'][number], address)
  return reason === null ? null : fault('tx/field', { field, reason })
}

/** The id has one of two lengths. Which one depends on the withdrawal's network, known only from the state. */
function checkExternalTxId({ externalTxId }: Pick<BridgeRelease, 'externalTxId'>): Fault | null {
  if (externalTxId.length === 32 || externalTxId.length === 64) return null
  return fault('tx/field', { field: 'externalTxId', reason: 'must have 32 or 64 bytes' })
}

function checkAttestation({ signatures }: Attestation): Fault | null {
  if (signatures.length === 0) return fault('tx/field', { field: 'signatures', reason: 'must not be empty' })
  return checkAscending(
    'signatures',
    signatures.map(({ keyIndex }) => keyIndex),
  )
}

function checkAscending(field: string, numbers: readonly number[]): Fault | null {
  if (numbers.every((number, i) => i === 0 || number > (numbers[i - 1] as number))) return null
  return fault('tx/field', { field, reason: 'must be strictly ascending' })
}

function checkRotation({ threshold, keys, vaults, resume, attestation }: BridgeRotate, rules: TxRules): Fault | null {
  const policy = decodeAccountKeys(encodeRawAccountKeys({ scheme: COMMITTEE_SCHEME, threshold, keys }))
  if (!policy.ok) return fault('tx/field', { field: 'keys', reason: String(policy.fault.detail.reason) })
  const numbers = vaults.map(({ network }) => network)
  const badOrder = checkAscending('vaults', numbers) ?? checkAscending('resume', resume)
  if (badOrder !== null) return badOrder
  for (const network of [...numbers, ...resume]) {
    const unknown = checkBelow('network', network, rules.bridgeFormats.length)
    if (unknown !== null) return unknown
  }
  for (const { network, address } of vaults) {
    const bad = checkRecipient('vaults', network, address, rules)
    if (bad !== null) return bad
  }
  return checkAttestation(attestation)
}
