import { BRIDGE_NETWORKS as NETWORKS } from '../../config/networks/bridge.ts'
import { EMPTY_LEDGERS } from '../../config/networks/ledgers.ts'
import type { GenesisParams, NetworkParams } from '../../consensus/chain/params.ts'
import { createRuleBook, type Protocol } from '../../consensus/chain/rule-book.ts'
import { hybridPublicKey, signHybrid } from '../../consensus/crypto/hybrid.ts'
import { attestationMessage, type SigningNetwork, signingContext } from '../../consensus/crypto/signing.ts'
import { tokenAsset } from '../../consensus/ledger/asset.ts'
import { membersWanted } from '../../consensus/ledger/attestation.ts'
import {
  BRIDGE_NETWORKS,
  COMMITTEE,
  type Committee,
  type NetworkRecord,
  WITHDRAWALS,
} from '../../consensus/ledger/bridge-records.ts'
import type { BridgeRules } from '../../consensus/ledger/rules.ts'
import { supplyOf } from '../../consensus/ledger/supply.ts'
import { balanceOf } from '../../consensus/ledger/token-balances.ts'
import { toHex } from '../../consensus/primitives/bytes.ts'
import type { Address, Hash, TokenSymbol, TxId } from '../../consensus/primitives/ids.ts'
import { type AttestedAction, attestationDigest, type Rotation } from '../../consensus/tx/attestations.ts'
import type { Attestation } from '../../consensus/tx/bridge-payloads.ts'
import type { PayloadOf } from '../../consensus/tx/kinds.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { FUNDS, type SentOutcome, TestLedger } from './ledger.ts'
import { testParams } from './network.ts'
import type { Member } from './policy-signer.ts'
import { filled, units } from './unsigned.ts'

/** Numbers of bridge networks: their indices in `NETWORKS`. */

export const [ETHEREUM, BASE, AVALANCHE, SOLANA, BITCOIN] = [0, 1, 6, 7, 8] as const
/** Asset ids of two wrapped tokens. */
export const DOLLAR = tokenAsset('XUSD' as TokenSymbol)
export const COIN = tokenAsset('XBTC' as TokenSymbol)

export const MINIMUM = 1_000n
export const MINT_CAP = 1_000_000n
/** Dollars in the vault on Base at the start, in base units. `filled(1)` and `filled(2)` hold the wrapped tokens for them. */
export const HELD = 600_000n
export const POCKETS = [400_000n, 200_000n] as const

export const TEST_BRIDGE: BridgeRules = {
  networks: NETWORKS.map((network) => ({ ...network, minimum: MINIMUM, dailyMintCap: MINT_CAP })),
  dayBlocks: 20,
  rotationDelay: 5,
}

/** For each format a canonical address that has no known owner. */
export const EXTERNAL = {
  evm: '0x000000000000000000000000000000000000dEaD',
  solana: '1nc1nerator11111111111111111111111111111111',
  bitcoin: '1BitcoinEaterAddressDontSendf59kuE',
  litecoin: 'LKDxGDJq5fF4FohAB8zJH24mDDNHDNtqsE',
} as const

/** Secrets of a committee's members, in the order of its keys. */
export function members(count: number, scheme: 1 | 2 = 2, first = 1): readonly Member[] {
  return Array.from({ length: count }, (_, i) => ({ scheme, seed: new Uint8Array(32).fill(first + i) }))
}

const keysOf = new Map<string, Committee['keys'][number]>()

export function keyOf({ scheme, seed }: Member): Committee['keys'][number] {
  const name = `${scheme}/${toHex(seed)}`
  const known = keysOf.get(name) ?? hybridPublicKey(NATIVE_BACKEND, scheme, seed)
  keysOf.set(name, known)
  return known
}

/** What a test may change in a ledger with a bridge. */
export interface BridgeSetup {
  readonly threshold?: number
  readonly members?: readonly Member[]
  readonly committee?: GenesisParams['ledgers']['bridge']['committee']
  readonly bridge?: Partial<BridgeRules>
  readonly ledgers?: Partial<GenesisParams['ledgers']>
  readonly message?: string
}

/** The genesis ledgers: a vault on every network but Avalanche, and dollars in the vault on Base. */
export function bridgeLedgers({ threshold = 2, ...setup }: BridgeSetup = {}): GenesisParams['ledgers'] {
  const keys = (setup.members ?? members(3)).map((member) => ({
    scheme: member.scheme,
    hex: toHex(keyOf(member).bytes),
  }))
  const balances = POCKETS.map((amount, i) => ({
    symbol: 'XUSD' as TokenSymbol,
    address: filled<Address>(i + 1),
    amount,
  }))
  const vaults = NETWORKS.map(({ format }, network) => ({ network, address: EXTERNAL[format] as string }))
  return {
    ...EMPTY_LEDGERS,
    balances,
    bridge: {
      committee: setup.committee === undefined ? { threshold, keys } : setup.committee,
      vaults: vaults.filter(({ network }) => network !== AVALANCHE),
      deposited: [{ network: BASE, amount: HELD }],
    },
    ...setup.ledgers,
  }
}

export function bridgeParams(setup: BridgeSetup = {}): NetworkParams {
  const params = testParams({ bridge: { ...TEST_BRIDGE, ...setup.bridge } })
  const allocations = Array.from({ length: 6 }, (_, i) => ({ address: filled<Address>(i + 1), amount: FUNDS }))
  const { message = params.genesis.message } = setup
  return { ...params, genesis: { ...params.genesis, message, allocations, ledgers: bridgeLedgers(setup) } }
}

/** How signatures may differ from valid ones: in signers, key indices, signed message or bytes. */
export interface Signing {
  readonly epoch?: number
  readonly signers?: readonly number[]
  readonly indices?: readonly number[]
  readonly members?: readonly Member[]
  readonly network?: SigningNetwork
  readonly edit?: (bytes: Uint8Array) => Uint8Array
}

/** Signatures of members over an action. */
export function signed(
  action: AttestedAction,
  {
    epoch,
    signers,
    indices = signers,
    members: all,
    network,
    edit = (bytes) => bytes,
  }: Required<Omit<Signing, 'edit'>> & Signing,
): Attestation {
  const message = attestationMessage(network, attestationDigest(action, epoch))
  const signatures = signers.map((signer, i) => {
    const member = all[signer] as Member
    const bytes = signHybrid(NATIVE_BACKEND, { ...member, message, context: signingContext('attestation') })
    return { keyIndex: indices[i] as number, bytes: edit(bytes) }
  })
  return { epoch, signatures }
}

/** A {@link TestLedger} with a bridge. By default `filled(1)` sends withdrawals and `filled(6)` everything else. */
export class BridgeLedger extends TestLedger {
  /** Secrets of the present committee. */
  members: readonly Member[]
  readonly sender: Address = filled<Address>(6)

  constructor(setup: BridgeSetup = {}, protocol: Protocol = PROTOCOL) {
    super(createRuleBook(bridgeParams(setup), protocol))
    this.members = setup.members ?? members(3)
  }

  get committee(): Committee {
    return this.get(COMMITTEE, undefined) as Committee
  }

  network(number: number): NetworkRecord {
    return this.get(BRIDGE_NETWORKS, number) as NetworkRecord
  }

  status(withdrawalId: TxId): number | undefined {
    return this.get(WITHDRAWALS, withdrawalId)?.status
  }

  holds(address: Address, asset: Hash = DOLLAR): bigint {
    return balanceOf(this.state, { address, asset })
  }

  supply(asset: Hash = DOLLAR): bigint {
    return supplyOf(this.state, asset)
  }

  /** An attestation. By default the first members of the committee sign, as many as must. */
  attest(action: AttestedAction, change: Signing = {}): Attestation {
    const { epoch } = this.committee
    const wanted = membersWanted(this.committee, action.action === 'halt')
    const signers = change.signers ?? Array.from({ length: wanted }, (_, i) => i)
    const { members, ruleBook } = this
    return signed(action, { epoch, members, network: ruleBook.network, indices: signers, ...change, signers })
  }

  deposit(change: Partial<PayloadOf<'bridge_deposit'>> = {}, signing: Signing = {}): SentOutcome {
    return this.send(this.sender, 'bridge_deposit', this.depositOf(change, signing))
  }

  depositOf(change: Partial<PayloadOf<'bridge_deposit'>> = {}, signing: Signing = {}): PayloadOf<'bridge_deposit'> {
    const payload = { ...DEPOSIT, ...change }
    return { ...payload, attestation: change.attestation ?? this.attest({ ...payload, action: 'deposit' }, signing) }
  }

  withdraw(change: Partial<PayloadOf<'bridge_withdraw'>> = {}, sender = filled<Address>(1)): SentOutcome {
    return this.send(sender, 'bridge_withdraw', { ...WITHDRAW, ...change })
  }

  sign(withdrawalId: TxId, signing: Signing = {}, network: number = BASE): SentOutcome {
    const attestation = this.attest({ action: 'sign', network, withdrawalId }, signing)
    return this.send(this.sender, 'bridge_sign', { withdrawalId, attestation })
  }

  cancel(withdrawalId: TxId, signing: Signing = {}, network: number = BASE): SentOutcome {
    const attestation = this.attest({ action: 'cancel', network, withdrawalId }, signing)
    return this.send(this.sender, 'bridge_cancel', { withdrawalId, attestation })
  }

  release(withdrawalId: TxId, signing: Signing = {}, network: number = BASE, externalTxId = PAID): SentOutcome {
    const attestation = this.attest({ action: 'release', network, withdrawalId, externalTxId }, signing)
    return this.send(this.sender, 'bridge_release', { withdrawalId, externalTxId, attestation })
  }

  halt(network: number, signing: Signing = {}): SentOutcome {
    const attestation = this.attest({ action: 'halt', network }, signing)
    return this.send(this.sender, 'bridge_halt', { network, attestation })
  }

  rotate(rotation: Rotation, signing: Signing = {}): SentOutcome {
    const attestation = this.attest({ action: 'rotate', ...rotation }, signing)
    return this.send(this.sender, 'bridge_rotate', { ...rotation, attestation })
  }

  /** Rotates to these members and advances until they are the committee. */
  rotateTo(next: readonly Member[], threshold: number, change: Partial<Rotation> = {}): SentOutcome {
    const outcome = this.rotate(rotationTo(next, threshold, change))
    this.advanceTo(this.height + TEST_BRIDGE.rotationDelay)
    if (outcome.code === 'success') this.members = next
    return outcome
  }
}

export function rotationTo(next: readonly Member[], threshold: number, change: Partial<Rotation> = {}): Rotation {
  return { threshold, keys: next.map(keyOf), vaults: [], resume: [], ...change }
}

/** A transaction id of another chain. The default of 32 bytes fits all bridge networks but Solana. */
export function externalId(fill: number, bytes = 32): Uint8Array {
  return new Uint8Array(bytes).fill(fill)
}

/** The external transaction that paid a withdrawal. */
export const PAID = externalId(0xee)

const DEPOSIT = {
  network: BASE,
  externalTxId: externalId(0xd0),
  outputIndex: 0,
  to: filled<Address>(3),
  amount: units(5_000),
  create: false,
}

const WITHDRAW = { network: BASE, amount: units(10_000), recipient: EXTERNAL.evm }
