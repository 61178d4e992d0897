import type { Chain } from '../../consensus/chain/chain.ts'
import { taggedHashHex } from '../../consensus/crypto/hash.ts'
import { signHybrid } from '../../consensus/crypto/hybrid.ts'
import { attestationMessage, signingContext } from '../../consensus/crypto/signing.ts'
import { ACCOUNTS } from '../../consensus/ledger/account.ts'
import type { Amount } from '../../consensus/primitives/amount.ts'
import type { Address, AgentId, Hash, ServiceId, TokenSymbol, TxId } from '../../consensus/primitives/ids.ts'
import { encodeText } from '../../consensus/primitives/text.ts'
import { type AttestedAction, attestationDigest } from '../../consensus/tx/attestations.ts'
import type { Attestation } from '../../consensus/tx/bridge-payloads.ts'
import type { TxKind } from '../../consensus/tx/kinds.ts'
import { signTransaction } from '../../consensus/tx/sign.ts'
import type { Transaction, TxBody } from '../../consensus/tx/transaction.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import type { WalletKey } from '../../src/crypto/wallet-key.ts'
import type { Action } from './fixture.ts'
import { ATTESTORS, ATTESTORS_WANTED, KNOWN } from './worst-world.ts'

/** An unsigned transaction for a block. */
export interface Draft {
  readonly from: WalletKey
  readonly action: Action
  readonly memo?: Uint8Array
}

/** A way to fill a block. */
export interface Shape {
  readonly kind: TxKind
  readonly what: string
  /** Blocks that must precede it. */
  readonly before?: readonly ((chain: Chain) => readonly Draft[])[]
  readonly fill: (chain: Chain) => readonly Draft[]
}

/** A distinct hash for a name and number. */
export function hashOf<Id extends string = Hash>(name: string, i: number): Id {
  return taggedHashHex('textDigest', encodeText(`${name} ${i}`)) as string as Id
}

export const units = (value: bigint): Amount => value as Amount
export const [FAR, FUSD, XUSD, SALT, WOOL] = ['FAR', 'FUSD', 'XUSD', 'SALT', 'WOOL'] as unknown as readonly [
  TokenSymbol,
  TokenSymbol,
  TokenSymbol,
  TokenSymbol,
  TokenSymbol,
]
/** Number of the network Base, whose vault holds the dollars. */
export const NETWORK = 1
export const RECIPIENT = '0x000000000000000000000000000000000000dEaD'
export const AGENTS = 70
export const agentOf = (i: number): AgentId => `agent-${String(i % AGENTS).padStart(26, '0')}` as AgentId
export const SERVICE = `service-${'s'.repeat(40)}` as ServiceId

/** Signs drafts with the next nonces of their senders. */
export async function signDrafts(chain: Chain, drafts: readonly Draft[]): Promise<readonly Transaction[]> {
  const used = new Map<Address, bigint>()
  const signed: Transaction[] = []
  for (const { from, action, memo = new Uint8Array(0) } of drafts) {
    const nonce = used.get(from.address) ?? chain.database.get(ACCOUNTS, from.address)?.nonce ?? 0n
    used.set(from.address, nonce + 1n)
    const envelope = { version: 1, chainId: 1, nonce, maxFeeRate: 1_000n, tip: 1n, validUntil: 0, memo }
    signed.push(await signTransaction({ ...envelope, sender: from.address, ...action } as TxBody, from, chain.network))
  }
  return signed
}

/** An attestation with just enough signatures; `spoiled` makes the last signature wrong. */
export function attested(chain: Chain, action: AttestedAction, spoiled = false): Attestation {
  const message = attestationMessage(chain.network, attestationDigest(action, 0))
  const wanted = action.action === 'halt' ? ATTESTORS.length - ATTESTORS_WANTED + 1 : ATTESTORS_WANTED
  const signatures = ATTESTORS.slice(0, wanted).map((member, keyIndex) => ({
    keyIndex,
    bytes: signHybrid(NATIVE_BACKEND, { ...member, message, context: signingContext('attestation') }),
  }))
  const last = signatures[wanted - 1]
  if (spoiled && last !== undefined)
    last.bytes[last.bytes.length - 100] = (last.bytes[last.bytes.length - 100] as number) ^ 1
  return { epoch: 0, signatures }
}

/** One draft per known account, from account `first` on. */
export function eachKnown(make: (i: number) => Action, first = 0, count = KNOWN.length - first): readonly Draft[] {
  return KNOWN.slice(first, first + count).map((from, i) => ({ from, action: make(first + i) }))
}

/** A payment for a call of an agent's service. */
export function invoke(i: number, term: number): Action {
  return {
    kind: 'agent_invoke',
    payload: {
      ...{ agentId: agentOf(i), serviceId: SERVICE, amount: units(100_000n), units: 1, term },
      ...{ requestCommitment: hashOf('request', i), redeemLock: '0'.repeat(64) as Hash },
    },
  }
}

/** Blocks that prepare the state for every kind. */
export const READY: readonly ((chain: Chain) => readonly Draft[])[] = [
  ...[0, 195].map(
    (first) => () =>
      eachKnown((i) => ({ kind: 'transfer', payload: { to: keyed(i), amount: units(1n), create: false } }), first, 195),
  ),
  () => eachKnown(registered, 0, AGENTS),
  () => eachKnown(published, 0, AGENTS),
  () => eachKnown(() => ({ kind: 'stake', payload: { tier: 3, amount: units(10n ** 9n) } }), 0, 370),
  () => eachKnown(withdrawn, 0, 300),
  (chain) =>
    withdrawalsOf(chain, 5)
      .slice(0, 36)
      .map((withdrawalId, i) => ({
        from: KNOWN[i] as WalletKey,
        action: bridgeStep(chain, 'sign', withdrawalId),
      })),
  ...[0, 1].map(() => () => eachKnown((i) => invoke(i, 9_600), 10, 375)),
]

function keyed(i: number): Address {
  return (KNOWN[i] as WalletKey).address
}

/** Registration with the largest record. */
export function registered(i: number): Action {
  return {
    kind: 'agent_register',
    payload: {
      ...{ agentId: agentOf(i), name: 'N'.repeat(64), endpoint: `https://${'e'.repeat(192)}`, capabilities: 1 },
      ...{ payout: keyed(i), settlers: KNOWN.slice(0, 8).map(({ address }) => address) },
    },
  }
}

/** Publication with the largest description. */
export function published(i: number, price = 10_000n): Action {
  return {
    kind: 'service_publish',
    payload: {
      ...{ agentId: agentOf(i), serviceId: SERVICE, capability: 1, priceUsdMicros: price, name: 'N'.repeat(64) },
      ...{ requestFormat: 'r'.repeat(240), description: 'd'.repeat(480) },
    },
  }
}

export function withdrawn(): Action {
  return { kind: 'bridge_withdraw', payload: { network: NETWORK, amount: units(5_000_000n), recipient: RECIPIENT } }
}

/** Ids of the transactions of the block made from {@link READY} at an index. */
export function withdrawalsOf(chain: Chain, place: number): readonly TxId[] {
  return chain.database.transactionIds(chain.database.idAt(place + 1) as never) as readonly TxId[]
}

/** The committee's signature or cancellation of a withdrawal. */
export function bridgeStep(chain: Chain, action: 'sign' | 'cancel', withdrawalId: TxId): Action {
  const attestation = attested(chain, { action, network: NETWORK, withdrawalId })
  return { kind: `bridge_${action}`, payload: { withdrawalId, attestation } }
}
