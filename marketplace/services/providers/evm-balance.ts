import { Type } from 'typebox'
import { formatAmount } from '../../../consensus/primitives/amount.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { DECIMAL_AMOUNT } from '../amounts.ts'
import { fromSource, SOURCE_ENVELOPE } from '../envelope.ts'
import { defineService } from '../service.ts'
import { readEvmAddress } from './evm-addresses.ts'

const ID = 'node-evm-balance' as ServiceId
const FORMAT = {
  requestFormat: '<0x and 40 hex digits>, an address on Base',
  example: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
}
const REQUEST_CHARS_MAX = 64
const ETHER_DECIMALS = 18
const ADDRESS = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' })

const RESULT = Type.Object({
  ...SOURCE_ENVELOPE,
  address: ADDRESS,
  network: Type.Literal('base'),
  chainId: Type.Integer(),
  native: Type.Object({ symbol: Type.Literal('ETH'), decimals: Type.Integer(), amount: DECIMAL_AMOUNT }),
  stable: Type.Object({
    symbol: Type.String(),
    contract: ADDRESS,
    decimals: Type.Integer(),
    amount: DECIMAL_AMOUNT,
  }),
  blockNumber: Type.Integer({ minimum: 0 }),
})

/** ETH and USDC balance of an address on Base. */
export const evmBalance = defineService<string, typeof RESULT>({
  serviceId: ID,
  name: 'EVM balance',
  description:
    'Balance of an address on Base in ETH and in USDC, both exact and both read at one block, which is named.',
  brief: 'Reads the ETH and USDC balance of an address on Base.',
  words: 'ethereum wallet usdc holdings funds',
  capability: 'portfolio',
  priceUsdMicros: 2_000n,
  ...FORMAT,
  sample: {
    service: ID,
    asOf: '2026-11-20T12:00:00.000Z',
    source: { name: 'node.example.org', fetchedAt: '2026-11-20T12:00:00.000Z', stale: false },
    address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    network: 'base',
    chainId: 8453,
    native: { symbol: 'ETH', decimals: 18, amount: '0.041' },
    stable: {
      symbol: 'USDC',
      contract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      decimals: 6,
      amount: '120.5',
    },
    blockNumber: 38_400_000,
  },
  timeoutMs: 6_000,
  resultBytesMax: 8_192,
  repeatable: true,
  requestCharsMax: REQUEST_CHARS_MAX,
  parse: (request) => readEvmAddress(request.trim(), FORMAT),
  ready: ({ outside }) => outside.evm.readiness('base'),
  resultSchema: RESULT,
  execute: async (address, context, signal) =>
    fromSource(ID, await context.outside.evm.balance(address, signal), context, (balance) => ({
      address,
      network: 'base' as const,
      chainId: balance.chainId,
      native: {
        symbol: 'ETH' as const,
        decimals: ETHER_DECIMALS,
        amount: formatAmount(balance.native, ETHER_DECIMALS),
      },
      stable: { ...balance.stable, amount: formatAmount(balance.stable.amount, balance.stable.decimals) },
      blockNumber: balance.blockNumber,
    })),
})
