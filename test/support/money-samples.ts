import { BRIDGE_NETWORKS } from '../../config/networks/bridge.ts'
import { DEVNET_LEDGERS } from '../../config/networks/devnet-ledgers.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import type { PayloadOf, TxKind } from '../../consensus/tx/kinds.ts'
import { symbol } from './tokens.ts'
import { filled, fillerSignature, type SAMPLE, units, unsigned } from './unsigned.ts'

/** A committee key of the right length that signs nothing. */
export const committeeKey = (fill: number) => ({ scheme: 2, bytes: new Uint8Array(1_984).fill(fill) })

/** An attestation with made-up signatures of `members` members. */
export const attestation = (members = 1) => ({
  epoch: 7,
  signatures: Array.from({ length: members }, (_, keyIndex) => fillerSignature(keyIndex)),
})

/** A canonical address of the network with this number. */
export function vaultOf(network: number): string {
  return DEVNET_LEDGERS.bridge.vaults[network]?.address as string
}

/** Number of a network by its key in paths. */
export const networkNumber = (key: string): number => BRIDGE_NETWORKS.findIndex((network) => network.key === key)

const [FAR, FUSD] = [symbol('FAR'), symbol('FUSD')]
const pair = { assetA: FAR, assetB: FUSD, feeBps: 30 }
const issue = { symbol: FUSD, to: filled(2), amount: units(5_000), create: false }
const part = { symbol: FUSD, amount: units(5_000) }

/** Kinds of the money ledgers: tokens, stable tokens, pools, stakes and the bridge. */
export type MoneyKind = Exclude<TxKind, keyof typeof SAMPLE>

/** A valid payload for each kind of the money ledgers. */
export const MONEY_SAMPLE: { readonly [K in MoneyKind]: PayloadOf<K> } = {
  token_create: { symbol: symbol('RENT'), name: 'Rent', decimals: 2, maxSupply: units(0), freezable: true },
  token_mint: issue,
  token_burn: part,
  token_transfer: issue,
  token_flags: { symbol: FUSD, frozen: true, hidden: false },
  token_issuer: { symbol: FUSD, issuer: filled(2) },
  stable_deposit: part,
  stable_mint: issue,
  stable_redeem: { ...part, minPaid: units(4_000) },
  stable_withdraw: part,
  pool_create: { ...pair, amountA: units(1_000_000), amountB: units(2_000_000) },
  liquidity_add: { ...pair, amountA: units(1_000), amountB: units(2_000), minShares: units(0) },
  liquidity_remove: { ...pair, shares: units(1_000), minA: units(0), minB: units(0) },
  swap: {
    ...{ assetIn: FAR, exactOut: false, amount: units(1_000), limit: units(1) },
    hops: [{ asset: FUSD, feeBps: 30 }],
  },
  stake: { tier: 0, amount: units(100_000_000) },
  unstake: { stakeId: filled<TxId>(9) },
  claim: { stakeId: filled<TxId>(9) },
  bridge_deposit: {
    ...{ network: 1, externalTxId: new Uint8Array(32).fill(8), outputIndex: 3, to: filled(2) },
    ...{ amount: units(5_000_000), create: false, attestation: attestation() },
  },
  bridge_withdraw: { network: 1, amount: units(5_000_000), recipient: vaultOf(1) },
  bridge_sign: { withdrawalId: filled<TxId>(9), attestation: attestation() },
  bridge_release: {
    ...{ withdrawalId: filled<TxId>(9), externalTxId: new Uint8Array(32).fill(8) },
    attestation: attestation(),
  },
  bridge_cancel: { withdrawalId: filled<TxId>(9), attestation: attestation() },
  bridge_rotate: {
    ...{ threshold: 2, keys: [committeeKey(1), committeeKey(2), committeeKey(3)] },
    ...{ vaults: [{ network: 1, address: vaultOf(1) }], resume: [0, 1], attestation: attestation(2) },
  },
  bridge_halt: { network: 1, attestation: attestation() },
}

/** Kinds of the money ledgers, in the order of their numbers. */
export const MONEY_KINDS = Object.keys(MONEY_SAMPLE) as readonly MoneyKind[]

/** An unsigned transaction with the sample payload of a kind, some fields replaced. */
export function moneyTx<K extends MoneyKind>(kind: K, change: Partial<PayloadOf<K>> = {}) {
  return unsigned(kind, { ...MONEY_SAMPLE[kind], ...change })
}
