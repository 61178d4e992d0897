import type { NetworkParams } from '../../consensus/chain/params.ts'
import { type AccountKeys, addressOfKeys, encodeAccountKeys } from '../../consensus/crypto/account-keys.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import type { HybridPublicKey } from '../../consensus/crypto/hybrid.ts'
import { KEY_SCHEMES } from '../../consensus/crypto/schemes.ts'
import type { MarketRules } from '../../consensus/ledger/rules.ts'
import { formatAmount } from '../../consensus/primitives/amount.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { Address, BlockId } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { PayloadOf, TxKind } from '../../consensus/tx/kinds.ts'
import type { TxRules } from '../../consensus/tx/rules.ts'
import { type AccountSigner, addressOfSigner, signTransaction } from '../../consensus/tx/sign.ts'
import {
  assembleTransaction,
  encodeBody,
  encodeWitness,
  type Transaction,
  TX_VERSION,
  type TxBody,
} from '../../consensus/tx/transaction.ts'
import { weightOf } from '../../consensus/tx/weight.ts'
import type { NodeClient } from './node-client.ts'

/**
 * Most that a transaction may cost in fees unless its sender allows more, in base units: a tenth of a coin, hundreds of
 * times the usual fee. The fee rates come from the node, and a node may lie or serve a congested chain.
 */
export const FEE_MAX_DEFAULT = 10_000_000n

/** What a client must know of its network; the parameters of a network are all of it and more. */
export interface ClientParams extends Pick<NetworkParams, 'name' | 'addressPrefix' | 'ticker' | 'decimals'> {
  readonly steps: readonly {
    readonly rules: {
      readonly tx: Pick<TxRules, 'weight' | 'invokeTerms'>
      readonly market: Pick<MarketRules, 'epochBlocks'>
    }
  }[]
}

/** What a transaction does. */
export interface Intent<K extends TxKind = TxKind> {
  readonly kind: K
  readonly payload: PayloadOf<K>
  /** Last height at which it may be mined; 0 or absent: any. */
  readonly validUntil?: number
  /** Genesis of the network that is meant: a signature for another one is never given. Absent: whatever the node says. */
  readonly genesis?: string
  /** Most base units of fee; absent: {@link FEE_MAX_DEFAULT}. */
  readonly feeMax?: bigint
}

/** A transaction that is not signed yet, and the network that its signature would be bound to. */
interface Draft {
  readonly body: TxBody
  readonly network: { readonly chainId: number; readonly genesis: BlockId }
}

/** Which nonce a transaction takes: behind those of its sender that wait, or behind those that are mined. */
type NonceBehind = 'waiting' | 'mined'

/** Writes a transaction with nonce and fees as the node suggests them. */
async function draftTransaction<K extends TxKind>(
  client: NodeClient,
  params: ClientParams,
  sender: Address,
  { kind, payload, validUntil = 0, genesis: meant, behind }: Intent<K> & { readonly behind: NonceBehind },
): Promise<Result<Draft>> {
  const account = await client.account(formatAddress(params.addressPrefix, sender))
  if (!account.ok) return account
  const fees = await client.fees()
  if (!fees.ok) return fees
  const status = await client.status()
  if (!status.ok) return status
  const { chainId, genesis } = status.value
  const nonce = behind === 'mined' ? account.value.nonce : account.value.pending.nextNonce
  if (meant !== undefined && meant !== genesis)
    return fail(fault('cli/refused', { message: `the node is on another network than ${params.name}` }))
  const common = { version: TX_VERSION, chainId, sender, nonce, validUntil, memo: new Uint8Array(0) }
  const body = { ...common, kind, payload, ...fees.value } as unknown as TxBody
  return ok({ body, network: { chainId, genesis: genesis as BlockId } })
}

/** Signs a transaction with nonce and fees as the node suggests them, if the fee stays within its bound. */
export async function prepareTransaction<K extends TxKind>(
  client: NodeClient,
  params: ClientParams,
  signer: AccountSigner,
  intent: Intent<K>,
): Promise<Result<Transaction>> {
  const draft = await draftTransaction(client, params, addressOfSigner(signer), { ...intent, behind: 'waiting' })
  if (!draft.ok) return draft
  const tx = await signTransaction(draft.value.body, signer, draft.value.network)
  return withinFee(params, tx, intent.feeMax)
}

/**
 * The transaction as it would be sent if it were the next of its sender, with signatures that have the right length and
 * sign nothing: it weighs and costs the same, and nobody can mine it.
 */
export async function rehearseTransaction<K extends TxKind>(
  client: NodeClient,
  params: ClientParams,
  keys: AccountKeys,
  intent: Intent<K>,
): Promise<Result<Transaction>> {
  const sender = addressOfKeys(encodeAccountKeys(keys))
  const draft = await draftTransaction(client, params, sender, { ...intent, behind: 'mined' })
  if (!draft.ok) return draft
  const blank = (key: HybridPublicKey): Uint8Array => new Uint8Array(KEY_SCHEMES[key.scheme].signatureBytes)
  const signatures = keys.keys.slice(0, keys.threshold).map((key, keyIndex) => ({ keyIndex, bytes: blank(key) }))
  const { body } = draft.value
  const witness = { keys: body.nonce === 0n ? encodeAccountKeys(keys) : new Uint8Array(0), signatures }
  const tx = assembleTransaction(encodeBody(body), encodeWitness(witness))
  return tx.ok ? withinFee(params, tx.value, intent.feeMax) : tx
}

/** The rules that a client goes by: those of the last step, which hold from then on. */
export function rulesOf({ steps }: Pick<ClientParams, 'steps'>): ClientParams['steps'][number]['rules'] {
  return (steps.at(-1) as ClientParams['steps'][number]).rules
}

/** What a transaction may cost in fees at most, in base units: bounds and ceilings count the same. */
export function feeOf(params: Pick<ClientParams, 'steps'>, tx: Transaction): bigint {
  return BigInt(weightOf(tx, rulesOf(params).tx)) * tx.body.maxFeeRate
}

/** The transaction, if what it may cost at most is no more than its sender allows. */
function withinFee(params: ClientParams, tx: Transaction, feeMax = FEE_MAX_DEFAULT): Result<Transaction> {
  const fee = feeOf(params, tx)
  if (fee <= feeMax) return ok(tx)
  const coins = (amount: bigint): string => `${formatAmount(amount, params.decimals)} ${params.ticker}`
  return fail(fault('cli/fee-too-high', { fee: coins(fee), limit: coins(feeMax) }))
}
