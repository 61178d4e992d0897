import type { Clock } from '../../../consensus/chain/ports.ts'
import { objectOf } from '../../../consensus/primitives/fields.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { EvmBalance, GasFacts } from '../../../marketplace/ports/evm.ts'
import type { Provider } from '../providers/provider.ts'
import { countOf, type JsonRpcNode, quantityOf } from './json-rpc-node.ts'

/** A token whose balance is reported. */
export interface StableToken {
  readonly symbol: string
  readonly contract: string
  readonly decimals: number
}

/** A supported network. */
export interface EvmNetwork {
  readonly chainId: number
  /** Null if no token balance is reported on this network. */
  readonly stable: StableToken | null
}

/** A query to a node. */
export type EvmQuery = { readonly ask: 'gas' } | { readonly ask: 'balance'; readonly address: string }

/** The answer to a query. */
export type EvmFacts =
  | { readonly is: 'gas'; readonly gas: GasFacts }
  | { readonly is: 'balance'; readonly balance: EvmBalance }

/** The used fields of a block. */
export interface BlockFacts {
  readonly number: number
  readonly baseFee: bigint | null
}

/**
 * A node whose newest block is older has lost its network. Clocks may differ, so the block may also be this far in the
 * future.
 */
const BEHIND_SECONDS_MAX = 600
/** `balanceOf(address)` of ERC-20. */
const BALANCE_OF = '0x70a08231'
/** Highest credible gas price, in wei: ten million gwei. */
const GAS_PRICE_MAX = 10n ** 16n

/** An Ethereum node as a provider of gas prices and balances (https://ethereum.org/developers/docs/apis/json-rpc/). */
export function evmFacts(node: JsonRpcNode, network: EvmNetwork, clock: Clock): Provider<EvmQuery, EvmFacts> {
  return {
    name: node.name,
    check: async (signal) => {
      const proven = await node.proveChain(signal, true)
      return proven.ok ? newestBlock(node, clock, signal) : proven
    },
    ask: async (query, signal) => {
      const proven = await node.proveChain(signal)
      if (!proven.ok) return proven
      return query.ask === 'gas'
        ? gas(node, network, clock, signal)
        : balance(node, network, clock, query.address, signal)
    },
  }
}

async function gas(
  node: JsonRpcNode,
  { chainId }: EvmNetwork,
  clock: Clock,
  signal: AbortSignal,
): Promise<Result<EvmFacts>> {
  const [block, price, tip] = await Promise.all([
    newestBlock(node, clock, signal),
    node.call('eth_gasPrice', [], signal),
    node.ask('eth_maxPriorityFeePerGas', [], signal),
  ])
  if (!block.ok) return block
  if (!price.ok) return price
  const gasPrice = believed(price.value)
  if (gasPrice === null) return fail(node.unusable('its gas price is none'))
  // Nodes without EIP-1559 do not have this method.
  const priorityFee = tip.ok && tip.value.is === 'result' ? believed(tip.value.result) : null
  const { number: blockNumber, baseFee } = block.value
  return ok({ is: 'gas', gas: { chainId, gasPrice, baseFee, priorityFee, blockNumber } })
}

/** Reads both balances at one block, so that they belong to the same moment. */
async function balance(
  node: JsonRpcNode,
  { chainId, stable }: EvmNetwork,
  clock: Clock,
  address: string,
  signal: AbortSignal,
): Promise<Result<EvmFacts>> {
  if (stable === null) return fail(node.unusable('no token balance is reported for this network'))
  const block = await newestBlock(node, clock, signal)
  if (!block.ok) return block
  const at = `0x${block.value.number.toString(16)}`
  const data = `${BALANCE_OF}${address.slice(2).toLowerCase().padStart(64, '0')}`
  const [native, token] = await Promise.all([
    node.call('eth_getBalance', [address, at], signal),
    node.call('eth_call', [{ to: stable.contract, data }, at], signal),
  ])
  if (!native.ok) return native
  if (!token.ok) return token
  const wei = quantityOf(native.value)
  const amount = wordOf(token.value)
  if (wei === null || amount === null) return fail(node.unusable('its balance is none'))
  return ok({
    is: 'balance',
    balance: { chainId, native: wei, stable: { ...stable, amount }, blockNumber: block.value.number },
  })
}

/** Fault `provider/answer` if the newest block is too old or in the future. */
export async function newestBlock(node: JsonRpcNode, clock: Clock, signal: AbortSignal): Promise<Result<BlockFacts>> {
  const told = await node.call('eth_getBlockByNumber', ['latest', false], signal)
  if (!told.ok) return told
  const fields = objectOf(told.value)
  const [number, timestamp] = [countOf(fields?.number), countOf(fields?.timestamp)]
  if (number === null || timestamp === null) return fail(node.unusable('its newest block has no valid number or time'))
  const behindSeconds = Math.floor(clock.now() / 1_000) - timestamp
  return Math.abs(behindSeconds) > BEHIND_SECONDS_MAX
    ? fail(node.unusable(`its newest block is ${behindSeconds} seconds old`))
    : ok({ number, baseFee: believed(fields?.baseFeePerGas) })
}

function believed(value: unknown): bigint | null {
  const price = quantityOf(value)
  return price !== null && price <= GAS_PRICE_MAX ? price : null
}

/** A call to an address without a contract returns no bytes, which is null here. */
function wordOf(value: unknown): bigint | null {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value) ? BigInt(value) : null
}
