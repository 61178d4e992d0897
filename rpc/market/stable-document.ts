import type { DollarRail } from '../../marketplace/till/rails/dollar/dollar-rail.ts'
import { STABLE_SCHEME } from '../cashier/options.ts'

/** The stablecoin rail as the protocol document has it: all its fields, whether it is on or off. */
export interface StableRailDocument {
  readonly mode: 'disabled' | 'live' | 'unavailable'
  readonly facilitatorUrl: string
  readonly network: string
  readonly chainId: number
  readonly asset: string
  readonly assetContract: string
  readonly payTo: string
  readonly scheme: string
  readonly authVerified: boolean
  readonly authDetail: string
  readonly note: string
}

const OFF: StableRailDocument = {
  mode: 'disabled',
  facilitatorUrl: '',
  network: 'base',
  chainId: 8453,
  asset: 'USDC',
  assetContract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  payTo: '',
  scheme: STABLE_SCHEME,
  authVerified: false,
  authDetail: 'The stablecoin rail is not configured on this node.',
  note: 'Use the native rail.',
}

/** `evmStableRail`: what is said to be verified was really asked of a facilitator. */
export function stableRailDocument(rail: DollarRail | null): StableRailDocument {
  if (rail === null) return OFF
  const { terms, verified, closedBecause, facilitators } = rail
  const used = facilitators.find(({ healthy }) => healthy) ?? facilitators[0]
  return {
    mode: closedBecause === null ? 'live' : 'unavailable',
    facilitatorUrl: used?.url ?? '',
    network: terms.network.word,
    chainId: terms.network.chainId,
    asset: terms.asset.symbol,
    assetContract: terms.asset.contract,
    payTo: terms.payTo,
    scheme: STABLE_SCHEME,
    authVerified: verified.ok,
    authDetail: verified.detail,
    note: closedBecause ?? 'Verified before the work and settled after it: a service that fails charges nothing.',
  }
}

/** Facilitators of the stablecoin rail, in the order in which they are asked; one entry of what is missing where it is off. */
export function stableFacilitators(rail: DollarRail | null): readonly object[] {
  const document = stableRailDocument(rail)
  const { scheme, network, asset, assetContract, payTo } = document
  const common = { mode: 'external-stable', default: false, scheme, network, asset, assetContract, payTo }
  if (rail === null) return [{ ...common, url: '', verification: 'none: disabled', note: document.authDetail }]
  return rail.facilitators.map(({ url, healthy, detail }) => ({
    ...common,
    url,
    verification: healthy ? 'Asked by this node: it takes the scheme on this network.' : 'none: it cannot be used now',
    note: detail,
  }))
}
