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
import { type TabWeights, weightOf } from '../../consensus/tx/weight.ts'
import type { NodeClient } from './node-client.ts'

/**
 * Default maximum fee of a transaction in base units: a tenth of a coin, about fifty to a hundred times the usual fee. The fee rates come
 * from the node, which may lie or serve a congested chain.
 */
export const FEE_MAX_DEFAULT = 10_000_000n

/** The network parameters that a client needs. */
export interface ClientParams extends Pick<NetworkParams, 'name' | 'addressPrefix' | 'ticker' | 'decimals'> {
  readonly steps: readonly {
    readonly rules: {
      readonly tx: Pick<TxRules, 'weight' | 'invokeTerms'> & { readonly tabs?: TabWeights }
      readonly market: Pick<MarketRules, 'epochBlocks'>
    }
  }[]
}

/** What a transaction does. */
export interface Intent<K extends TxKind = TxKind> {
  readonly kind: K
  readonly payload: PayloadOf<K>
  /** Completes the payload once the nonce of the transaction is known. */
  readonly completed?: (payload: PayloadOf<K>, nonce: bigint) => Promise<PayloadOf<K>>
  /** Last height at which it may be mined. 0 or absent: any. */
  readonly validUntil?: number
  /** Genesis of the network to sign for. Absent: the node's network. */
  readonly genesis?: string
  /** Maximum fee in base units. Default: {@link FEE_MAX_DEFAULT}. */
  readonly feeMax?: bigint
}

interface Draft {
  readonly body: TxBody
  readonly network: { readonly chainId: number; readonly genesis: BlockId }
}

/** Which nonce a transaction takes: the next after the waiting ones of its sender, or after the mined ones. */
type NonceBehind = 'waiting' | 'mined'

async function draftTransaction<K extends TxKind>(
  client: NodeClient,
  params: ClientParams,
  sender: Address,
  { kind, payload, completed, validUntil = 0, genesis: meant, behind }: Intent<K> & { readonly behind: NonceBehind },
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
  const whole = completed === undefined ? payload : await completed(payload, nonce)
  const body = { ...common, kind, payload: whole, ...fees.value } as unknown as TxBody
  return ok({ body, network: { chainId, genesis: genesis as BlockId } })
}

/** Signs a transaction with the nonce and the fees that the node suggests. Faults: `cli/fee-too-high`, and those of the node. */
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
 * The sender's next transaction with blank signatures of the right length. It has the weight and the cost of the signed one,
 * and cannot be mined.
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

/** The rules that a client applies: those of the last upgrade step. */
export function rulesOf({ steps }: Pick<ClientParams, 'steps'>): ClientParams['steps'][number]['rules'] {
  return (steps.at(-1) as ClientParams['steps'][number]).rules
}

/** Maximum fee of a transaction in base units. */
export function feeOf(params: Pick<ClientParams, 'steps'>, tx: Transaction): bigint {
  return BigInt(weightOf(tx, rulesOf(params).tx)) * tx.body.maxFeeRate
}

function withinFee(params: ClientParams, tx: Transaction, feeMax = FEE_MAX_DEFAULT): Result<Transaction> {
  const fee = feeOf(params, tx)
  if (fee <= feeMax) return ok(tx)
  const coins = (amount: bigint): string => `${formatAmount(amount, params.decimals)} ${params.ticker}`
  return fail(fault('cli/fee-too-high', { fee: coins(fee), limit: coins(feeMax) }))
}
