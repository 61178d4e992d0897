import { ceilOf } from './arithmetic.ts'
import { depositId, needAttestation, type Statement } from './attestation.ts'
import type { Attestation, COMMITTEE, NETWORK, WITHDRAWAL } from './bridge-schemas.ts'
import { type Ledger, networkId } from './ledger.ts'
import { need } from './outcome.ts'
import type { ReferenceRules } from './params.ts'
import type { Fields } from './payloads.ts'
import { assetIn, type Place } from './place.ts'
import { externalTxIdBytes } from './ranges.ts'
import type { Value } from './ssz.ts'
import { SUPPLY_MAX } from './token-kinds.ts'

type Committee = Value<typeof COMMITTEE>
type Network = Value<typeof NETWORK>
type Withdrawal = Value<typeof WITHDRAWAL>

export const STATUS = { pending: 0, signing: 1, released: 2, cancelled: 3 } as const

type Terms = ReferenceRules['bridge']['networks'][number]

/** The record of a bridge network that just got its first vault. */
export function openedNetwork(asset: string, vault: string): Network {
  const amounts = { deposited: 0n, released: 0n, fees: 0n, pending: 0n, mintedToday: 0n }
  return { version: 1, asset, vault, halted: false, ...amounts, mintDay: 0, deposits: 0, withdrawals: 0 }
}

/** What a network has left for new withdrawals. */
export const floatOf = ({ deposited, released, fees, pending }: Network): bigint =>
  deposited - released - fees - pending

/** The network with its terms, and the committee. Fails unless the network is open. */
function openIn({ ledger, rules }: Place, number: number) {
  const network = ledger.networks.get(networkId(number))
  const committee = ledger.committee.get('')
  need(network !== undefined && committee !== undefined, 'bridgeClosed')
  return { network, committee, terms: rules.bridge.networks[number] as Terms }
}

function attested(place: Place, committee: Committee, statement: Statement, attestation: Attestation): void {
  const { genesisId, rules } = place
  needAttestation(committee, statement, attestation, { genesisId, chainId: rules.tx.chainId })
}

function needMintable(ledger: Ledger, asset: string, amount: bigint): void {
  need(ledger.supply.of(asset).minted + amount <= SUPPLY_MAX, 'maxSupply')
}

export function bridgeDeposit(place: Place, payload: Fields<'bridge_deposit'>): void {
  const { ledger, rules, height } = place
  const { network: number, to, amount, create, attestation } = payload
  const { network, committee, terms } = openIn(place, number)
  need(!network.halted, 'halted')
  need(amount >= terms.minimum, 'belowMinimum')
  const id = depositId(payload)
  need(ledger.deposits.get(id) === undefined, 'depositKnown')
  const mintDay = Math.floor(height / rules.bridge.dayBlocks)
  const mintedToday = (network.mintDay === mintDay ? network.mintedToday : 0n) + amount
  need(mintedToday <= terms.dailyMintCap, 'mintCap')
  const asset = assetIn(place, terms.asset)
  needMintable(ledger, asset, amount)
  attested(place, committee, { ...payload, action: 'deposit' }, attestation)
  ledger.mint(amount, asset)
  ledger.give(to, asset, amount, create)
  const deposited = network.deposited + amount
  const deposits = network.deposits + 1
  ledger.networks.set(networkId(number), { ...network, deposited, deposits, mintDay, mintedToday })
  ledger.deposits.set(id, { network: number, to, amount, height })
}

export function bridgeWithdraw(place: Place, payload: Fields<'bridge_withdraw'>): bigint[] {
  const { ledger, sender, txid, height } = place
  const { network: number, amount, recipient } = payload
  const { network, terms } = openIn(place, number)
  need(!network.halted, 'halted')
  need(amount >= terms.minimum, 'belowMinimum')
  need(floatOf(network) >= amount, 'float')
  const asset = assetIn(place, terms.asset)
  ledger.take(sender, asset, amount)
  ledger.burn(amount, asset)
  const fee = ceilOf(amount * terms.feeBps, 10_000n)
  const status = { status: STATUS.pending, createdAt: height, externalTxId: new Uint8Array(0) }
  ledger.withdrawals.set(txid, { network: number, sender, amount, fee, recipient, ...status })
  const pending = network.pending + amount
  ledger.networks.set(networkId(number), { ...network, pending, withdrawals: network.withdrawals + 1 })
  return [amount - fee]
}

/** The withdrawal with this id. Fails unless it exists and has this status. */
function withdrawalIn({ ledger }: Place, id: string, status: number): Withdrawal {
  const withdrawal = ledger.withdrawals.get(id)
  need(withdrawal !== undefined, 'withdrawalUnknown')
  need(withdrawal.status === status, 'withdrawalState')
  return withdrawal
}

export function bridgeSign(place: Place, { withdrawalId, attestation }: Fields<'bridge_sign'>): void {
  const withdrawal = withdrawalIn(place, withdrawalId, STATUS.pending)
  const { network, committee } = openIn(place, withdrawal.network)
  need(!network.halted, 'halted')
  attested(place, committee, { action: 'sign', network: withdrawal.network, withdrawalId }, attestation)
  place.ledger.withdrawals.set(withdrawalId, { ...withdrawal, status: STATUS.signing })
}

export function bridgeRelease(place: Place, payload: Fields<'bridge_release'>): void {
  const { ledger, rules } = place
  const { withdrawalId, externalTxId, attestation } = payload
  const withdrawal = withdrawalIn(place, withdrawalId, STATUS.signing)
  const { amount, fee, network: number } = withdrawal
  const { network, committee } = openIn(place, number)
  need(externalTxId.length === externalTxIdBytes(number, rules.tx), 'attestation')
  attested(place, committee, { action: 'release', network: number, withdrawalId, externalTxId }, attestation)
  ledger.withdrawals.set(withdrawalId, { ...withdrawal, status: STATUS.released, externalTxId })
  const pending = network.pending - amount
  const released = network.released + amount - fee
  ledger.networks.set(networkId(number), { ...network, pending, released, fees: network.fees + fee })
}

export function bridgeCancel(place: Place, { withdrawalId, attestation }: Fields<'bridge_cancel'>): void {
  const { ledger } = place
  const withdrawal = withdrawalIn(place, withdrawalId, STATUS.pending)
  const { amount, network: number } = withdrawal
  const { network, committee } = openIn(place, number)
  needMintable(ledger, network.asset, amount)
  attested(place, committee, { action: 'cancel', network: number, withdrawalId }, attestation)
  ledger.withdrawals.set(withdrawalId, { ...withdrawal, status: STATUS.cancelled })
  ledger.networks.set(networkId(number), { ...network, pending: network.pending - amount })
  ledger.mint(amount, network.asset)
  ledger.give(withdrawal.sender, network.asset, amount)
}

export function bridgeRotate(place: Place, payload: Fields<'bridge_rotate'>): void {
  const { ledger, height, rules } = place
  const { threshold, keys, vaults, resume, attestation } = payload
  const committee = ledger.committee.get('')
  need(committee !== undefined, 'bridgeClosed')
  need(committee.rotation.length === 0, 'rotationPending')
  attested(place, committee, { ...payload, action: 'rotate' }, attestation)
  const effectiveAt = height + rules.bridge.rotationDelay
  ledger.committee.set('', { ...committee, rotation: [{ effectiveAt, threshold, keys, vaults, resume }] })
}

export function bridgeHalt(place: Place, { network: number, attestation }: Fields<'bridge_halt'>): void {
  const { network, committee } = openIn(place, number)
  need(!network.halted, 'halted')
  attested(place, committee, { action: 'halt', network: number }, attestation)
  place.ledger.networks.set(networkId(number), { ...network, halted: true })
}

/** At the start of a block, lets a due rotation take effect. */
export function activateRotation(ledger: Ledger, height: number, assetOfNetwork: (number: number) => string): void {
  const committee = ledger.committee.get('')
  const [rotation] = committee?.rotation ?? []
  if (committee === undefined || rotation === undefined || rotation.effectiveAt !== height) return
  const { threshold, keys, vaults, resume } = rotation
  ledger.committee.set('', { epoch: committee.epoch + 1, threshold, keys, rotation: [] })
  for (const { network, address } of vaults) {
    const record = ledger.networks.get(networkId(network)) ?? openedNetwork(assetOfNetwork(network), address)
    ledger.networks.set(networkId(network), { ...record, vault: address })
  }
  for (const network of resume) {
    const record = ledger.networks.get(networkId(network))
    if (record !== undefined) ledger.networks.set(networkId(network), { ...record, halted: false })
  }
}
