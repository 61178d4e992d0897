import { oracleKind } from '../external-oracle.ts'
import { unsoundness } from './account-keys.ts'
import type { Attestation } from './bridge-schemas.ts'
import { unhex, ZERO32 } from './bytes.ts'
import type { ReferenceRules } from './params.ts'
import type { Payload, PayloadOf } from './payloads.ts'
import { isAcceptable, TAB_SCHEME } from './tab-keys.ts'
import type { ClaimEntry } from './tab-schemas.ts'

type TxRules = ReferenceRules['tx']

const AMOUNT_END = 2n ** 112n
const PRICE_MAX = 10n ** 12n
const CAPABILITIES = 16

const isAmount = (amount: bigint): boolean => amount >= 1n && amount < AMOUNT_END

/** The range of amounts that may be 0. */
const isLimit = (amount: bigint): boolean => amount < AMOUNT_END

const isName = (name: string): boolean => name !== '' && !name.startsWith(' ') && !name.endsWith(' ')

const distinct = (values: readonly string[]): boolean => new Set(values).size === values.length

const ascending = (values: readonly number[]): boolean =>
  values.every((value, i) => i === 0 || value > (values[i - 1] as number))

const isAttestation = ({ signatures }: Attestation): boolean =>
  signatures.length > 0 && ascending(signatures.map(({ keyIndex }) => keyIndex))

interface Pair {
  readonly assetA: string
  readonly assetB: string
  readonly feeBps: number
}

const isPair = ({ assetA, assetB, feeBps }: Pair, { poolFeesBps }: TxRules): boolean =>
  assetA !== assetB && poolFeesBps.includes(feeBps)

function isSwap({ assetIn, exactOut, amount, limit, hops }: PayloadOf<'swap'>, { poolFeesBps }: TxRules): boolean {
  const assets = [assetIn, ...hops.map(({ asset }) => asset)]
  return (
    isAmount(amount) &&
    isLimit(limit) &&
    hops.length >= 1 &&
    (!exactOut || hops.length === 1) &&
    hops.every(({ feeBps }) => poolFeesBps.includes(feeBps)) &&
    hops.every(({ asset }, i) => asset !== assets[i])
  )
}

function isExternalAddress(network: number, address: string, { bridgeFormats }: TxRules): boolean {
  const format = bridgeFormats[network]
  return format !== undefined && oracleKind(format, address) !== undefined
}

/** Length of a transaction id on the network, in bytes. */
export function externalTxIdBytes(network: number, { bridgeFormats }: TxRules): number {
  return bridgeFormats[network] === 'solana' ? 64 : 32
}

function isRotation(payload: PayloadOf<'bridge_rotate'>, rules: TxRules): boolean {
  const { threshold, keys, vaults, resume, attestation } = payload
  return (
    unsoundness({ scheme: 3, threshold, keys }) === undefined &&
    ascending(vaults.map(({ network }) => network)) &&
    vaults.every(({ network, address }) => isExternalAddress(network, address, rules)) &&
    ascending(resume) &&
    resume.every((network) => network < rules.bridgeFormats.length) &&
    isAttestation(attestation)
  )
}

type BridgePayload = Extract<Payload, { kind: `bridge_${string}` }>

function isBridgePayload(payload: BridgePayload, rules: TxRules): boolean {
  switch (payload.kind) {
    case 'bridge_deposit':
      return (
        payload.network < rules.bridgeFormats.length &&
        payload.externalTxId.length === externalTxIdBytes(payload.network, rules) &&
        isAmount(payload.amount) &&
        isAttestation(payload.attestation)
      )
    case 'bridge_withdraw':
      return isAmount(payload.amount) && isExternalAddress(payload.network, payload.recipient, rules)
    case 'bridge_sign':
    case 'bridge_cancel':
      return isAttestation(payload.attestation)
    case 'bridge_release':
      return [32, 64].includes(payload.externalTxId.length) && isAttestation(payload.attestation)
    case 'bridge_rotate':
      return isRotation(payload, rules)
    case 'bridge_halt':
      return payload.network < rules.bridgeFormats.length && isAttestation(payload.attestation)
  }
}

type MoneyPayload = Extract<
  Payload,
  { kind: `token_${string}` | `stable_${string}` | `liquidity_${string}` | 'pool_create' | 'swap' | 'stake' }
>

function isMoneyPayload(payload: MoneyPayload, rules: TxRules): boolean {
  switch (payload.kind) {
    case 'token_create':
      return isName(payload.name) && payload.decimals <= 18 && isLimit(payload.maxSupply)
    case 'token_mint':
    case 'token_burn':
    case 'token_transfer':
    case 'stable_deposit':
    case 'stable_mint':
    case 'stable_withdraw':
      return isAmount(payload.amount)
    case 'token_flags':
    case 'token_issuer':
      return true
    case 'stable_redeem':
      return isAmount(payload.amount) && isLimit(payload.minPaid)
    case 'pool_create':
      return isPair(payload, rules) && isAmount(payload.amountA) && isAmount(payload.amountB)
    case 'liquidity_add':
      return (
        isPair(payload, rules) && isAmount(payload.amountA) && isAmount(payload.amountB) && isLimit(payload.minShares)
      )
    case 'liquidity_remove':
      return isPair(payload, rules) && isAmount(payload.shares) && isLimit(payload.minA) && isLimit(payload.minB)
    case 'swap':
      return isSwap(payload, rules)
    case 'stake':
      return payload.tier < rules.stakeTiers && payload.amount >= rules.stakeAmountMin && isAmount(payload.amount)
  }
}

type MarketPayload = Extract<Payload, { kind: `agent_${string}` | `service_${string}` }>

function isMarketPayload(payload: MarketPayload, rules: TxRules): boolean {
  switch (payload.kind) {
    case 'agent_register':
    case 'agent_update':
      return isName(payload.name) && distinct(payload.settlers)
    case 'service_publish':
      return (
        isName(payload.name) &&
        payload.capability < CAPABILITIES &&
        payload.priceUsdMicros >= 1n &&
        payload.priceUsdMicros <= PRICE_MAX
      )
    case 'service_retire':
      return true
    case 'agent_invoke':
      return (
        payload.units === 1 &&
        rules.invokeTerms.includes(payload.term) &&
        payload.amount >= rules.invokeAmountMin &&
        payload.amount < AMOUNT_END
      )
    case 'agent_receipt':
      return payload.entries.length >= 1 && payload.entries.every(({ outcome }) => outcome <= 1)
  }
}

type TabPayload = Extract<Payload, { kind: `tab_${string}` }>

function isClaimEntry({ voucher, claimed, services }: ClaimEntry): boolean {
  return (
    voucher.every(({ ceiling }) => isLimit(ceiling)) &&
    isLimit(claimed) &&
    services.every(({ calls, amount }) => calls >= 1 && isLimit(amount)) &&
    distinct(services.map(({ serviceId }) => serviceId))
  )
}

function isTabPayload(payload: TabPayload, { tabs }: TxRules): boolean {
  if (tabs === undefined) return false
  switch (payload.kind) {
    case 'tab_open':
      return (
        payload.deposit >= tabs.depositMin &&
        isAmount(payload.deposit) &&
        tabs.terms.includes(payload.term) &&
        tabs.closeDelays.includes(payload.closeDelay) &&
        payload.scheme === TAB_SCHEME &&
        isAcceptable(unhex(payload.voucherKey))
      )
    case 'tab_fund':
      return isAmount(payload.amount)
    case 'tab_claim':
      return payload.entries.length >= 1 && payload.entries.every(isClaimEntry)
    case 'tab_close':
      return true
    case 'tab_terms':
      return (
        (payload.receiptKey === ZERO32 || isAcceptable(unhex(payload.receiptKey))) &&
        isLimit(payload.minDeposit) &&
        tabs.closeDelays.includes(payload.minCloseDelay)
      )
  }
}

const isTab = (payload: Payload): payload is TabPayload => payload.kind.startsWith('tab_')
const isMarket = (payload: Payload): payload is MarketPayload => /^(agent|service)_/.test(payload.kind)
const isBridge = (payload: Payload): payload is BridgePayload => payload.kind.startsWith('bridge_')

/** Ranges of transactions.md, section 3. */
export function inRange(payload: Payload, rules: TxRules): boolean {
  if (payload.kind === 'transfer') return isAmount(payload.amount)
  if (payload.kind === 'unstake' || payload.kind === 'claim') return true
  if (isTab(payload)) return isTabPayload(payload, rules)
  if (isMarket(payload)) return isMarketPayload(payload, rules)
  return isBridge(payload) ? isBridgePayload(payload, rules) : isMoneyPayload(payload, rules)
}
