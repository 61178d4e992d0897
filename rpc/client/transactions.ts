import type { NetworkParams } from '../../consensus/chain/params.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { formatAmount } from '../../consensus/primitives/amount.ts'
import { isHex } from '../../consensus/primitives/bytes.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { BlockId } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { PayloadOf, TxKind } from '../../consensus/tx/kinds.ts'
import { type AccountSigner, addressOfSigner, signTransaction } from '../../consensus/tx/sign.ts'
import { type Transaction, TX_VERSION, type TxBody } from '../../consensus/tx/transaction.ts'
import { weightOf } from '../../consensus/tx/weight.ts'
import { fieldsOf, textOf } from './http.ts'
import type { NodeClient } from './node-client.ts'

/**
 * Most that a transaction may cost in fees unless its sender allows more, in base units: a tenth of a coin, hundreds of
 * times the usual fee. The fee rates come from the node, and a node may lie or serve a congested chain.
 */
export const FEE_MAX_DEFAULT = 10_000_000n

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

/** Signs a transaction with nonce and fees as the node suggests them, if the fee stays within its bound. */
export async function prepareTransaction<K extends TxKind>(
  client: NodeClient,
  params: NetworkParams,
  signer: AccountSigner,
  { kind, payload, validUntil = 0, feeMax = FEE_MAX_DEFAULT, genesis: meant }: Intent<K>,
): Promise<Result<Transaction>> {
  const sender = addressOfSigner(signer)
  const account = await client.account(formatAddress(params.addressPrefix, sender))
  if (!account.ok) return account
  const fees = await client.fees()
  if (!fees.ok) return fees
  const status = await client.status()
  if (!status.ok) return status
  const { chainId, genesis } = status.value
  const { maxFeeRate, tip } = fieldsOf(fees.value.suggested)
  const nonce = uintOf(fieldsOf(account.value.pending).nextNonce)
  const rates = { maxFeeRate: uintOf(maxFeeRate), tip: uintOf(tip) }
  if (nonce === null || rates.maxFeeRate === null || rates.tip === null) return unusable('nonce or fee rates')
  if (!Number.isSafeInteger(chainId) || !isHex(textOf(genesis, ''), 32)) return unusable('chain id or genesis')
  if (meant !== undefined && meant !== genesis)
    return fail(fault('cli/refused', { message: `the node is on another network than ${params.name}` }))
  const common = { version: TX_VERSION, chainId, sender, nonce, validUntil, memo: new Uint8Array(0) }
  const body = { ...common, kind, payload, ...rates } as unknown as TxBody
  const network = { chainId, genesis: genesis as BlockId }
  const tx = await signTransaction(body, signer, network)
  const { rules } = params.steps.at(-1) as (typeof params.steps)[number]
  const fee = BigInt(weightOf(tx, rules.tx)) * body.maxFeeRate
  if (fee <= feeMax) return ok(tx)
  const coins = (amount: bigint): string => `${formatAmount(amount, params.decimals)} ${params.ticker}`
  return fail(fault('cli/fee-too-high', { fee: coins(fee), limit: coins(feeMax) }))
}

/** An unsigned 64-bit integer of an answer, null for anything else. */
function uintOf(value: unknown): bigint | null {
  return typeof value === 'string' && /^(0|[1-9][0-9]{0,18})$/.test(value) ? BigInt(value) : null
}

function unusable(what: string): Result<never> {
  return fail(fault('cli/refused', { message: `its answer has no usable ${what}` }))
}

/** Signs and submits. */
export async function sendTransaction<K extends TxKind>(
  client: NodeClient,
  params: NetworkParams,
  signer: AccountSigner,
  intent: Intent<K>,
): Promise<Result<Transaction>> {
  const tx = await prepareTransaction(client, params, signer, intent)
  if (!tx.ok) return tx
  const submitted = await client.submit(tx.value)
  return submitted.ok ? tx : submitted
}
