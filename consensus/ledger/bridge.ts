import { encodeAccountKeys } from '../crypto/account-keys.ts'
import { checkExternalAddress } from '../external/address.ts'
import { amount } from '../primitives/amount.ts'
import { assert } from '../primitives/assert.ts'
import { fromHex } from '../primitives/bytes.ts'
import type { Hash } from '../primitives/ids.ts'
import type { Overlay, ValueChange } from '../state/overlay.ts'
import { anyTable } from '../state/table.ts'
import { tokenAsset } from './asset.ts'
import { activateRotation, committeeHandlers } from './bridge-committee.ts'
import { bridgeDeposit } from './bridge-deposits.ts'
import {
  BRIDGE_NETWORKS,
  COMMITTEE,
  DEPOSITS,
  floatOf,
  type NetworkRecord,
  networkRules,
  setVault,
  WITHDRAWALS,
} from './bridge-records.ts'
import { withdrawalHandlers } from './bridge-withdrawals.ts'
import type { LedgerModule, LedgerRules } from './module.ts'
import type { BridgeRules, GenesisLedgers } from './rules.ts'
import { assetOfSupplyKey, SUPPLY, type Supply, supplyOf } from './supply.ts'

function bridgeGenesis(overlay: Overlay, { bridge }: LedgerRules, { bridge: ledger, tokens }: GenesisLedgers): void {
  const { committee, vaults, deposited } = ledger
  if (committee !== null) openCommittee(overlay, committee)
  for (const { network, address } of vaults) {
    const reason = checkExternalAddress(networkRules(bridge, network).format, address)
    assert(reason === null, `a vault is no address of its network: ${reason}`)
    setVault(overlay, bridge, network, address)
  }
  for (const { network, amount: held } of deposited) {
    const record = overlay.get(BRIDGE_NETWORKS, network)
    assert(record !== undefined, 'what is deposited lies in a vault')
    overlay.put(BRIDGE_NETWORKS, network, { ...record, deposited: amount(record.deposited + held) })
  }
  assertBacked(overlay, bridge, tokens)
}

function openCommittee(
  overlay: Overlay,
  { threshold, keys: named }: NonNullable<GenesisLedgers['bridge']['committee']>,
): void {
  const keys = named.map(({ scheme, hex }) => ({ scheme, bytes: fromHex(hex) }))
  // Asserts that the keys are sound: a committee that cannot sign would close the bridge for ever.
  encodeAccountKeys({ scheme: 3, threshold, keys })
  overlay.put(COMMITTEE, undefined, { epoch: 0, threshold, keys, rotation: [] })
}

/**
 * Asserts that the vaults hold exactly the wrapped tokens of genesis. {@link custodyInvariant} compares only changes,
 * so a gap at genesis would stay for ever.
 */
function assertBacked(overlay: Overlay, { networks }: BridgeRules, tokens: GenesisLedgers['tokens']): void {
  // Tokens without a network count too: a later step may add the network.
  const wrapped = tokens.filter(({ kind }) => kind === 'bridged')
  const held = new Map<Hash, bigint>(wrapped.map(({ symbol }) => [tokenAsset(symbol), 0n]))
  for (const [number, { asset }] of networks.entries()) {
    const record = overlay.get(BRIDGE_NETWORKS, number)
    const id = tokenAsset(asset)
    held.set(id, (held.get(id) ?? 0n) + (record === undefined ? 0n : floatOf(record)))
  }
  for (const [asset, float] of held) {
    assert(supplyOf(overlay, asset) === float, 'vaults hold what is wrapped from the start')
  }
}

/** For each wrapped token, the float of the vaults must change by exactly as much as the supply. */
function custodyInvariant(changes: readonly ValueChange[], { bridge }: Pick<LedgerRules, 'bridge'>): string | null {
  const gaps = new Map<Hash, bigint>()
  const count = (asset: Hash, value: bigint) => gaps.set(asset, (gaps.get(asset) ?? 0n) + value)
  for (const { table, key, before, after } of changes) {
    if (table.name === BRIDGE_NETWORKS.name) {
      const { asset } = after as NetworkRecord
      count(asset, custodyOf(after) - custodyOf(before))
    } else if (table.name === SUPPLY.name) {
      count(assetOfSupplyKey(key), existing(before) - existing(after))
    }
  }
  const broken = [...gaps].filter(([, gap]) => gap !== 0n)
  if (broken.length === 0) return null
  const wrapped = new Set(bridge.networks.map(({ asset }) => tokenAsset(asset)))
  return broken.some(([asset]) => wrapped.has(asset)) ? 'custody' : null
}

function custodyOf(value: unknown): bigint {
  if (value === undefined) return 0n
  const { deposited, released, fees, pending } = value as NetworkRecord
  return deposited - released - fees - pending
}

function existing(value: unknown): bigint {
  const supply = value as Supply | undefined
  return supply === undefined ? 0n : supply.minted - supply.burned
}

/** Its `genesis` must run after that of every ledger that mints. */
export const bridgeModule = {
  name: 'bridge',
  tables: [anyTable(COMMITTEE), anyTable(BRIDGE_NETWORKS), anyTable(DEPOSITS), anyTable(WITHDRAWALS)],
  handlers: { bridge_deposit: bridgeDeposit, ...withdrawalHandlers, ...committeeHandlers },
  beginBlock: activateRotation,
  genesis: bridgeGenesis,
  invariant: custodyInvariant,
} satisfies LedgerModule
