import { Type } from 'typebox'
import { formatAmount } from '../../../consensus/primitives/amount.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { EVM_NETWORKS, type EvmNetworkName, type GasFacts } from '../../ports/evm.ts'
import { notConfigured, type Readiness } from '../../ports/readiness.ts'
import type { Source } from '../../ports/sourced.ts'
import { orNull, UNKNOWN } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { delivered, SOURCE, SOURCE_ENVELOPE, sourceEnvelope } from '../envelope.ts'
import { unknownIn } from '../figures.ts'
import { isBlank, refusal, unusable } from '../requests.ts'
import { defineService } from '../service.ts'

const ID = 'node-gas-price' as ServiceId
const FORMAT = { requestFormat: '[ethereum or base]; without a name the first that this node reads', example: 'base' }
const REQUEST_CHARS_MAX = 40
const TRANSFER_GAS = 21_000
const USD_DIGITS = 6
/** Maximum wait for the price of ether, which is only an extra: the gas price is what is sold. */
const PRICE_MS = 2_500

const NAMES: Readonly<Record<string, EvmNetworkName>> = {
  ethereum: 'ethereum',
  eth: 'ethereum',
  mainnet: 'ethereum',
  l1: 'ethereum',
  base: 'base',
  l2: 'base',
}
/** Costs of a transfer that are not part of its gas. */
const EXCLUDED: Readonly<Record<EvmNetworkName, readonly string[]>> = {
  ethereum: [],
  base: ['L1 data fee: what the network charges for its data on Ethereum'],
}

const GWEI = Type.Number({ minimum: 0 })
const USD_AMOUNT = orNull(Type.Number({ minimum: 0 }))

const RESULT = Type.Object({
  ...SOURCE_ENVELOPE,
  network: Type.Unsafe<EvmNetworkName>({ type: 'string', enum: [...EVM_NETWORKS] }),
  chainId: Type.Integer(),
  gasPriceGwei: GWEI,
  baseFeeGwei: orNull(GWEI),
  priorityFeeGwei: orNull(GWEI),
  transferGas: Type.Integer(),
  transferEth: Type.String({ pattern: '^(0|[1-9][0-9]*)(\\.[0-9]{1,18})?$' }),
  transferUsd: USD_AMOUNT,
  ethUsd: USD_AMOUNT,
  ethUsdSource: orNull(SOURCE),
  excludes: Type.Array(Type.String()),
  blockNumber: Type.Integer({ minimum: 0 }),
  unknown: UNKNOWN,
})

function parse(request: string): Result<EvmNetworkName | null> {
  const text = request.trim().toLowerCase()
  const network = Object.hasOwn(NAMES, text) ? NAMES[text] : undefined
  if (isBlank(text)) return ok(null)
  return network === undefined ? unusable(`networks are ${EVM_NETWORKS.join(' and ')}`, FORMAT) : ok(network)
}

function networkOf(named: EvmNetworkName | null, { outside }: ServiceContext): EvmNetworkName | undefined {
  return named ?? EVM_NETWORKS.find((network) => outside.evm.readiness(network).available)
}

function readinessOf(context: ServiceContext): Readiness {
  const each = EVM_NETWORKS.map((network) => context.outside.evm.readiness(network))
  const [best] = [
    ...each.filter((one) => one.available),
    ...each.filter((one) => !one.available && !one.requires.length),
  ]
  if (best !== undefined) return best
  return notConfigured('a node of ethereum or base', ...each.flatMap((one) => (one.available ? [] : one.requires)))
}

interface EtherPrice {
  readonly usd: number
  readonly source: Source
}

/** Null if the price is unknown: the result is useful without it. */
async function etherPrice({ outside }: ServiceContext, signal: AbortSignal): Promise<EtherPrice | null> {
  const isAsked = outside.prices.readiness().available
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PRICE_MS)])
  const told = isAsked ? await outside.prices.majors(limit) : null
  const known = told === null ? outside.prices.latest() : told.ok ? told.value : null
  const usd = known?.value.majors.ETH?.usd
  return known === null || usd === undefined ? null : { usd, source: known.source }
}

function fieldsOf(network: EvmNetworkName, { chainId, blockNumber, ...gas }: GasFacts, ether: EtherPrice | null) {
  const ethUsd = ether?.usd ?? null
  const transferEth = formatAmount(gas.gasPrice * BigInt(TRANSFER_GAS), 18)
  const found = {
    baseFeeGwei: gas.baseFee === null ? null : gwei(gas.baseFee),
    priorityFeeGwei: gas.priorityFee === null ? null : gwei(gas.priorityFee),
    transferUsd: ethUsd === null ? null : Number((Number(transferEth) * ethUsd).toPrecision(USD_DIGITS)),
    ethUsd,
    ethUsdSource: ether?.source ?? null,
  }
  const { baseFeeGwei, priorityFeeGwei, transferUsd, ethUsdSource } = found
  return {
    network,
    chainId,
    gasPriceGwei: gwei(gas.gasPrice),
    baseFeeGwei,
    priorityFeeGwei,
    transferGas: TRANSFER_GAS,
    transferEth,
    transferUsd,
    ethUsd,
    ethUsdSource,
    excludes: [...EXCLUDED[network]],
    blockNumber,
    unknown: unknownIn(found),
  }
}

function gwei(wei: bigint): number {
  return Number(formatAmount(wei, 9))
}

/** Gas price of an EVM network, with the cost of a plain transfer. */
export const gasPrice = defineService<EvmNetworkName | null, typeof RESULT>({
  serviceId: ID,
  name: 'EVM gas price',
  description:
    'Gas price, base fee and priority fee in gwei on Ethereum or Base at the newest block, with the cost of a transfer in ETH and, where a price is known, in USD. On Base the fee for data on Ethereum is not included.',
  brief: 'Gives the gas price on Ethereum or Base, with the cost of a transfer.',
  words: 'fee gwei',
  capability: 'market-data',
  priceUsdMicros: 2_000n,
  ...FORMAT,
  sample: {
    service: ID,
    asOf: '2026-11-20T12:00:00.000Z',
    source: { name: 'node.example.org', fetchedAt: '2026-11-20T12:00:00.000Z', stale: false },
    network: 'ethereum',
    chainId: 1,
    gasPriceGwei: 1.25,
    baseFeeGwei: 1.2,
    priorityFeeGwei: 0.05,
    transferGas: TRANSFER_GAS,
    transferEth: '0.00002625',
    transferUsd: 0.07875,
    ethUsd: 3000,
    ethUsdSource: {
      name: 'coingecko',
      url: 'https://www.coingecko.com',
      fetchedAt: '2026-11-20T11:59:50.000Z',
      stale: false,
      attribution: 'Data provided by CoinGecko',
    },
    excludes: [],
    blockNumber: 23_800_000,
    unknown: [],
  },
  timeoutMs: 6_000,
  resultBytesMax: 8_192,
  repeatable: true,
  requestCharsMax: REQUEST_CHARS_MAX,
  parse,
  check: (named, { outside }) => {
    const isElsewhere = EVM_NETWORKS.some((network) => outside.evm.readiness(network).available)
    const readiness = named === null || !isElsewhere ? null : outside.evm.readiness(named)
    return readiness === null || readiness.available ? null : refusal(readiness.reason, FORMAT)
  },
  ready: readinessOf,
  resultSchema: RESULT,
  execute: async (named, context, signal) => {
    const network = networkOf(named, context)
    if (network === undefined) throw new Error('no network can be read now')
    const [gas, ether] = await Promise.all([context.outside.evm.gas(network, signal), etherPrice(context, signal)])
    const { value, source } = delivered(gas)
    return { ...sourceEnvelope(ID, source, context), ...fieldsOf(network, value, ether) }
  },
})
