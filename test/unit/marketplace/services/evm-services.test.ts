import { beforeAll, describe, expect, it } from 'vitest'
import { fault } from '../../../../consensus/primitives/fault.ts'
import { fail, ok } from '../../../../consensus/primitives/result.ts'
import type { CryptoPrices } from '../../../../marketplace/ports/crypto-prices.ts'
import type { EvmReader } from '../../../../marketplace/ports/evm.ts'
import { notConfigured, notNow } from '../../../../marketplace/ports/readiness.ts'
import type { ServiceContext } from '../../../../marketplace/services/context.ts'
import { ensResolve } from '../../../../marketplace/services/providers/ens-resolve.ts'
import { evmBalance } from '../../../../marketplace/services/providers/evm-balance.ts'
import { gasPrice } from '../../../../marketplace/services/providers/gas-price.ts'
import { RpcEvmReader } from '../../../../src/adapters/evm/evm-reader.ts'
import { systemTimers } from '../../../../src/daemon/runtime.ts'
import { outsideOf } from '../../../support/outside.ts'
import { emptyServiceChain } from '../../../support/service-chain.ts'
import { ask, resultOf } from '../../../support/service-results.ts'
import { evmNode, type FakeEvm, RESOLVER } from '../../../support/upstreams/evm-node.ts'
import { describeService } from '../../../support/upstreams/provider-suite.ts'

const NOW_MS = 1_795_000_000_000
const ADA = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const L1: FakeEvm = {
  chainId: 1,
  timestamp: NOW_MS / 1_000,
  names: { 'ada.eth': { address: ADA } },
  reverse: { [ADA.toLowerCase()]: 'ada.eth' },
}
const L2: FakeEvm = {
  chainId: 8453,
  timestamp: NOW_MS / 1_000,
  balances: { [ADA.toLowerCase()]: 1n },
  token: { contract: USDC, balances: { [ADA.toLowerCase()]: 120_500_000n } },
}
const SOURCE = { name: 'node.example.org', fetchedAt: '2026-11-20T12:00:00.000Z', stale: false }
const PRICE_SOURCE = { name: 'coingecko', fetchedAt: '2026-11-20T11:58:00.000Z', stale: true, attribution: 'CoinGecko' }

/** A reader with constant answers: the same for every name, and the same for every address. */
const READER: EvmReader = {
  readiness: () => ({ available: true, engine: 'node.example.org' }),
  gas: async (network) => {
    const chainId = network === 'base' ? 8453 : 1
    const gas = { chainId, gasPrice: 1_250_000_000n, baseFee: null, priorityFee: 50_000_000n, blockNumber: 7 }
    return ok({ value: gas, source: SOURCE })
  },
  balance: async () => fail(fault('provider/unreachable', { provider: 'node.example.org', reason: 'ECONNRESET' })),
  ensReadiness: () => ({ available: true, engine: 'node.example.org' }),
  ensName: (name) => (name.includes('\u0430') ? null : name.toLowerCase()),
  ens: async (query) => {
    const known = 'address' in query || query.name === 'ada.eth'
    const facts = { name: 'ada.eth', address: known ? ADA : null, avatar: null, resolver: null, forwardVerified: known }
    return ok({ value: facts, source: SOURCE })
  },
}

function pricesOf(usd: number | null): CryptoPrices {
  const price = { usd: usd ?? 0, change24hPct: null, asOf: '2026-11-20T12:00:00.000Z' }
  const majors = { BTC: price, ETH: price, SOL: price, BNB: price, LTC: price }
  const value = { majors, globalMarketCapUsd: null, sources: ['coingecko'], disagreementPct: null }
  const away = fail(fault('provider/none', { what: 'prices', reason: 'none' }))
  return {
    readiness: () => ({ available: true, engine: 'coingecko' }),
    majors: async () => (usd === null ? away : ok({ value, source: PRICE_SOURCE })),
    latest: () => (usd === null ? null : { value, source: PRICE_SOURCE }),
  } as CryptoPrices
}

let bare: ServiceContext
beforeAll(async () => {
  bare = (await emptyServiceChain()).context
})

function contextOf(evm: Partial<EvmReader> = {}, prices?: CryptoPrices): ServiceContext {
  return { ...bare, outside: outsideOf({ evm: { ...READER, ...evm }, ...(prices !== undefined && { prices }) }) }
}

describe('node-gas-price', () => {
  const of = (request: string, context: ServiceContext) => resultOf<object>('node-gas-price', request, context)

  it('tells gwei, and what a transfer costs in ether and dollars', async () => {
    expect(await of('ethereum', contextOf({}, pricesOf(3_000)))).toEqual({
      service: 'node-gas-price',
      asOf: expect.any(String),
      source: SOURCE,
      network: 'ethereum',
      chainId: 1,
      gasPriceGwei: 1.25,
      baseFeeGwei: null,
      priorityFeeGwei: 0.05,
      transferGas: 21_000,
      transferEth: '0.00002625',
      transferUsd: 0.07875,
      ethUsd: 3_000,
      ethUsdSource: PRICE_SOURCE,
      excludes: [],
      blockNumber: 7,
      unknown: ['baseFeeGwei'],
    })
  })

  it('reports the rest if the price of ether is unknown', async () => {
    const names = ['baseFeeGwei', 'transferUsd', 'ethUsd', 'ethUsdSource']
    const unknown = { transferUsd: null, ethUsd: null, ethUsdSource: null, unknown: names }
    expect(await of('ethereum', contextOf())).toMatchObject(unknown)
    expect(await of('ethereum', contextOf({}, pricesOf(null)))).toMatchObject(unknown)
  })

  it('reports the earlier price, marked as such, if no provider can be asked', async () => {
    const away = { ...pricesOf(3_000), readiness: () => notNow('all providers are down') }
    expect(await of('ethereum', contextOf({}, away))).toMatchObject({ ethUsd: 3_000, ethUsdSource: PRICE_SOURCE })
  })

  it('does not wait for a price that does not come', async () => {
    const never: CryptoPrices = {
      ...pricesOf(3_000),
      majors: (signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve(fail(fault('provider/timeout', { provider: 'coingecko' }))))
        }),
    }
    expect(await of('ethereum', contextOf({}, never))).toMatchObject({ gasPriceGwei: 1.25, transferUsd: null })
  })

  it.each([
    ['', 'ethereum'],
    [' ETH ', 'ethereum'],
    ['mainnet', 'ethereum'],
    ['Base', 'base'],
    ['l2', 'base'],
  ])('reads %j as %s', async (request, network) => {
    expect(await of(request, contextOf())).toMatchObject({ network })
  })

  it('says of the second network what it leaves out, and takes the first that can be read', async () => {
    const base = contextOf({
      readiness: (network) => (network === 'base' ? READER.readiness(network) : notNow('all nodes are down')),
    })
    expect(await of('', base)).toMatchObject({ network: 'base', excludes: [expect.stringContaining('L1 data fee')] })
    expect(await ask('node-gas-price', 'eth', base)).toMatchObject({ refused: 'all nodes are down' })
  })

  it('refuses networks that it does not know before they are paid', async () => {
    for (const request of ['polygon', 'constructor', 'eth base', '8453'])
      expect(await ask('node-gas-price', request, contextOf())).toMatchObject({
        refused: 'networks are ethereum and base',
      })
  })

  it('is unavailable where no network can be read', async () => {
    const none = contextOf({ readiness: (network) => notConfigured(`a node of ${network}`, `providers.${network}`) })
    for (const request of ['', 'base'])
      expect(await ask('node-gas-price', request, none)).toMatchObject({
        unavailable: 'a node of ethereum or base is not configured',
      })
    expect(gasPrice.ready(none)).toMatchObject({ requires: ['providers.ethereum', 'providers.base'] })
    const down = contextOf({
      readiness: (network) => (network === 'base' ? notNow('all down') : none.outside.evm.readiness(network)),
    })
    expect(gasPrice.ready(down)).toMatchObject({ available: false, reason: 'all down' })
  })
})

describe('node-evm-balance', () => {
  it.each([
    ['', 'not 0x'],
    ['ada.eth', 'not 0x'],
    [ADA.slice(0, -1), 'not 0x'],
    [`${ADA}0`, 'not 0x'],
    [ADA.slice(2), 'not 0x'],
    [ADA.replace('dA6', 'da6'), 'checksum'],
  ])('refuses %j before it is paid', async (request, reason) => {
    expect(await ask('node-evm-balance', request, contextOf())).toMatchObject({
      refused: expect.stringContaining(reason),
    })
  })

  it('reads an address without case, and tells it as EIP-55 spells it', () => {
    for (const text of [ADA, ADA.toLowerCase(), `0x${ADA.slice(2).toUpperCase()}`])
      expect(evmBalance.parse(text)).toEqual({ ok: true, value: ADA })
  })
})

describe('node-ens-resolve', () => {
  const of = (request: string) => resultOf<object>('node-ens-resolve', request, contextOf())

  it('tells the address of a name', async () => {
    expect(await of(' Ada.ETH ')).toEqual({
      service: 'node-ens-resolve',
      asOf: expect.any(String),
      source: SOURCE,
      input: 'Ada.ETH',
      direction: 'forward',
      resolved: true,
      name: 'ada.eth',
      address: ADA,
      avatar: null,
      resolver: null,
      forwardVerified: true,
      unknown: ['avatar', 'resolver'],
    })
    expect(await of('nobody.eth')).toMatchObject({ resolved: false, address: null, forwardVerified: false })
  })

  it('tells the name of an address', async () => {
    expect(await of(ADA.toLowerCase())).toMatchObject({ direction: 'reverse', resolved: true, name: 'ada.eth' })
  })

  it.each([
    ['', 'ends with .eth'],
    ['eth', 'ends with .eth'],
    ['example.com', 'ends with .eth'],
    ['a..eth', 'an empty part'],
    ['.eth', 'an empty part'],
    ['a b.eth', 'a space'],
    ['[0123].eth', 'a bracket'],
    ['\u0430da.eth', 'ENSIP-15'],
    ['0x1234', 'not 0x'],
    [ADA.replace('dA6', 'da6'), 'checksum'],
  ])('refuses %j before it is paid', async (request, reason) => {
    const refused = await ask('node-ens-resolve', request, contextOf())
    expect(refused).toMatchObject({ refused: expect.stringContaining(reason) })
  })

  it('is unavailable, not wrong, while names cannot be looked up', async () => {
    const context = contextOf({ ensReadiness: () => notNow('the library is not loaded'), ensName: () => null })
    expect(await ask('node-ens-resolve', 'ada.eth', context)).toMatchObject({
      unavailable: 'the library is not loaded',
    })
  })
})

async function openReader(config: { readonly ethereum?: readonly string[]; readonly base?: readonly string[] }) {
  const clock = { now: () => NOW_MS }
  const reader = RpcEvmReader.open({ config: { ethereum: [], base: [], ...config }, clock, timers: systemTimers })
  if (!reader.ok) throw new Error(reader.fault.code)
  await reader.value.start()
  return { context: { ...bare, outside: outsideOf({ evm: reader.value }) }, stop: () => reader.value.stop() }
}

describeService({
  service: gasPrice,
  request: '',
  handler: evmNode(L1),
  open: (url) => openReader({ ethereum: [url] }),
  verify: (result) =>
    expect(result).toMatchObject({ network: 'ethereum', chainId: 1, gasPriceGwei: 1.25, baseFeeGwei: 1.2 }),
  hitsMax: 8,
})

describeService({
  service: evmBalance,
  request: ADA,
  handler: evmNode(L2),
  open: (url) => openReader({ base: [url] }),
  verify: (result) =>
    expect(result).toMatchObject({
      address: ADA,
      native: { symbol: 'ETH', amount: '0.000000000000000001' },
      stable: { symbol: 'USDC', contract: USDC, amount: '120.5' },
      blockNumber: 23_800_000,
    }),
  hitsMax: 8,
})

describeService({
  service: ensResolve,
  request: ADA,
  handler: evmNode(L1),
  open: (url) => openReader({ ethereum: [url] }),
  verify: (result) => expect(result).toMatchObject({ name: 'ada.eth', resolver: RESOLVER, forwardVerified: true }),
  hitsMax: 10,
})
