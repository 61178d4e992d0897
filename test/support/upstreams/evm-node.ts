import {
  type Abi,
  decodeFunctionData,
  encodeErrorResult,
  encodeFunctionResult,
  getAddress,
  type Hex,
  hexToBytes,
  namehash,
  parseAbi,
  toHex,
} from 'viem'
import type { UpstreamHandler } from './upstream.ts'

/** Records of an ENS name. A name without an entry has no resolver. */
export interface FakeEnsName {
  readonly address?: string
  readonly avatar?: string
  /** The resolver asks for a gateway (EIP-3668) instead of answering. */
  readonly offChain?: true
}

/** Contents and behaviour of a fake EVM node. */
export interface FakeEvm {
  readonly chainId: number
  readonly blockNumber?: bigint
  /** Seconds since 1970. */
  readonly timestamp?: number
  readonly gasPrice?: bigint
  readonly baseFee?: bigint | null
  /** Null if the node does not know the method. */
  readonly priorityFee?: bigint | null
  readonly balances?: Readonly<Record<string, bigint>>
  /** A token and its balances by address. */
  readonly token?: { readonly contract: string; readonly balances: Readonly<Record<string, bigint>> }
  readonly names?: Readonly<Record<string, FakeEnsName>>
  /** Primary names by address. */
  readonly reverse?: Readonly<Record<string, string>>
  /** Answers by method that replace the right ones. */
  readonly instead?: Readonly<Record<string, object>>
}

interface Question {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** Resolver of every known name. */
export const RESOLVER = '0x231b0Ee14048e9dCcD1d247744d114a4EB5E8E63'
const UNIVERSAL_RESOLVER = '0xeeeeeeee14d718c2b47d9923deab1335e144eeee'
const ZERO = '0x0000000000000000000000000000000000000000'

/** The universal resolver (https://docs.ens.domains/resolvers/universal), and two kinds of records. */
const UNIVERSAL = parseAbi([
  'function resolveWithGateways(bytes name, bytes data, string[] gateways) view returns (bytes result, address resolver)',
  'function reverseWithGateways(bytes lookupAddress, uint256 coinType, string[] gateways) view returns (string primary, address resolver, address reverseResolver)',
  'function findResolver(bytes name) view returns (address resolver, bytes32 node, uint256 offset)',
  'error ResolverNotFound(bytes name)',
  'error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData)',
])
const RECORDS = parseAbi([
  'function addr(bytes32 node) view returns (address)',
  'function text(bytes32 node, string key) view returns (string)',
])
const ERC20 = parseAbi(['function balanceOf(address account) view returns (uint256)'])

class Reverted extends Error {
  readonly data: Hex

  constructor(data: Hex) {
    super('execution reverted')
    this.data = data
  }
}

/** A node's JSON-RPC over HTTP (https://ethereum.org/developers/docs/apis/json-rpc/), with the errors of geth. */
export function evmNode(evm: FakeEvm): UpstreamHandler {
  return ({ body }) => {
    const question = JSON.parse(body) as Question
    const { id, method } = question
    const instead = evm.instead?.[method]
    if (instead !== undefined) return { body: { jsonrpc: '2.0', id, ...instead } }
    try {
      return { body: { jsonrpc: '2.0', id, result: answerTo(evm, question) } }
    } catch (error) {
      const data = error instanceof Reverted ? { code: 3, message: error.message, data: error.data } : null
      return { body: { jsonrpc: '2.0', id, error: data ?? { code: -32601, message: `no method ${method}` } } }
    }
  }
}

function answerTo(evm: FakeEvm, { method, params }: Question): unknown {
  const { blockNumber = 23_800_000n, timestamp = 0, gasPrice = 1_250_000_000n, baseFee = 1_200_000_000n } = evm
  const at = toHex(blockNumber)
  if (method === 'eth_chainId') return toHex(evm.chainId)
  if (method === 'eth_getBlockByNumber')
    return {
      number: at,
      timestamp: toHex(timestamp),
      ...(baseFee !== null && { baseFeePerGas: toHex(baseFee) }),
      transactions: [],
    }
  if (method === 'eth_gasPrice') return toHex(gasPrice)
  if (method === 'eth_maxPriorityFeePerGas' && evm.priorityFee !== null) return toHex(evm.priorityFee ?? 50_000_000n)
  if (method === 'eth_getBalance' && params[1] === at) return toHex(evm.balances?.[lower(params[0])] ?? 0n)
  if (method === 'eth_call')
    return call(evm, params[0] as { readonly to: string; readonly data: Hex }, params[1] === at)
  throw new Error(method)
}

function call(evm: FakeEvm, { to, data }: { readonly to: string; readonly data: Hex }, isAtBlock: boolean): Hex {
  if (lower(to) === UNIVERSAL_RESOLVER) return universal(evm, data)
  // A call to an account without code returns no bytes.
  if (evm.token === undefined || lower(to) !== lower(evm.token.contract) || !isAtBlock) return '0x'
  const { args } = decodeFunctionData({ abi: ERC20, data })
  return encode(ERC20, 'balanceOf', evm.token.balances[lower(args[0])] ?? 0n)
}

function universal(evm: FakeEvm, data: Hex): Hex {
  const { functionName, args } = decodeFunctionData({ abi: UNIVERSAL, data })
  if (functionName === 'reverseWithGateways') {
    const name = evm.reverse?.[lower(args[0])]
    return encode(UNIVERSAL, functionName, [name ?? '', RESOLVER, RESOLVER])
  }
  const name = nameIn(args[0])
  const record = evm.names?.[name]
  if (functionName === 'findResolver')
    return encode(UNIVERSAL, functionName, [record === undefined ? ZERO : RESOLVER, namehash(name), 0n])
  if (record === undefined)
    throw new Reverted(encodeErrorResult({ abi: UNIVERSAL, errorName: 'ResolverNotFound', args: [args[0]] }))
  if (record.offChain) {
    const lookup = [
      UNIVERSAL_RESOLVER,
      ['https://gateway.example/{sender}/{data}'],
      '0x01',
      '0x00000000',
      '0x',
    ] as const
    throw new Reverted(encodeErrorResult({ abi: UNIVERSAL, errorName: 'OffchainLookup', args: lookup }))
  }
  return encode(UNIVERSAL, functionName, [recordOf(record, name, args[1]), RESOLVER])
}

function recordOf(record: FakeEnsName, name: string, data: Hex): Hex {
  const { functionName, args } = decodeFunctionData({ abi: RECORDS, data })
  if (args[0] !== namehash(name)) throw new Error('the hash is that of another name')
  if (functionName === 'addr') return encode(RECORDS, 'addr', getAddress(record.address ?? ZERO))
  return encode(RECORDS, 'text', args[1] === 'avatar' ? (record.avatar ?? '') : '')
}

/** The text of a DNS-encoded name, which is a list of labels, each after its length. */
function nameIn(packet: Hex): string {
  const bytes = hexToBytes(packet)
  const labels: string[] = []
  for (let at = 0; (bytes[at] ?? 0) > 0; at += 1 + (bytes[at] as number))
    labels.push(new TextDecoder().decode(bytes.slice(at + 1, at + 1 + (bytes[at] as number))))
  return labels.join('.')
}

function encode(abi: Abi, functionName: string, result: unknown): Hex {
  return encodeFunctionResult({ abi, functionName, result } as Parameters<typeof encodeFunctionResult>[0])
}

function lower(value: unknown): string {
  return String(value).toLowerCase()
}
