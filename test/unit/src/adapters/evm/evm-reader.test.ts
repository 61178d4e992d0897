import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { faultMessage } from '../../../../../consensus/primitives/fault.ts'
import { RpcEvmReader } from '../../../../../src/adapters/evm/evm-reader.ts'
import { systemTimers } from '../../../../../src/daemon/runtime.ts'
import { evmNode, type FakeEvm, RESOLVER } from '../../../../support/upstreams/evm-node.ts'
import { describeProvider } from '../../../../support/upstreams/provider-suite.ts'
import { Upstream } from '../../../../support/upstreams/upstream.ts'

const NOW_MS = 1_795_000_000_000
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const ADA = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
const BOB = '0x52908400098527886E0F7030069857D2E4169EE7'
const SECRET = 'k3y0f7h30p3r470r'

const L1: FakeEvm = {
  chainId: 1,
  timestamp: NOW_MS / 1_000 - 12,
  names: {
    'ada.eth': { address: ADA, avatar: 'eip155:1/erc721:0xb47e3cd837dDF8e4c57F05d70Ab865de6e193BBB/2430' },
    'bare.eth': {},
    'away.eth': { offChain: true },
    'long.eth': { address: BOB, avatar: `data:image/png;base64,${'A'.repeat(3_000)}` },
    'xn--nxasmq6b.eth': { address: BOB },
  },
  reverse: { [ADA.toLowerCase()]: 'ada.eth', [BOB.toLowerCase()]: 'ada.eth' },
}
const L2: FakeEvm = {
  chainId: 8453,
  timestamp: NOW_MS / 1_000 - 2,
  blockNumber: 38_400_000n,
  gasPrice: 1_200_000n,
  balances: { [ADA.toLowerCase()]: 41_000_000_000_000_001n },
  token: { contract: USDC, balances: { [ADA.toLowerCase()]: 120_500_000n } },
}

let nowMs = NOW_MS
const opened: { stop(): void | Promise<void> }[] = []
beforeEach(() => {
  nowMs = NOW_MS
})
afterEach(async () => {
  for (const one of opened.splice(0)) await one.stop()
})

async function upstreamOf(evm: FakeEvm): Promise<Upstream> {
  const upstream = await Upstream.open(evmNode(evm))
  opened.push({ stop: () => upstream.close() })
  return upstream
}

function readerOf(config: { readonly ethereum?: readonly string[]; readonly base?: readonly string[] }): RpcEvmReader {
  const clock = { now: () => nowMs }
  const reader = RpcEvmReader.open({ config: { ethereum: [], base: [], ...config }, clock, timers: systemTimers })
  if (!reader.ok) throw new Error(faultMessage(reader.fault))
  opened.push(reader.value)
  return reader.value
}

/** A value as a log would print it. */
function shown(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one))
}

const soon = (): AbortSignal => AbortSignal.timeout(10_000)

describe('facts of a network', () => {
  it('are gas prices at the newest block, asked for once in six seconds', async () => {
    const upstream = await upstreamOf(L1)
    const reader = readerOf({ ethereum: [upstream.url] })
    await reader.start()
    expect(reader.readiness('ethereum')).toMatchObject({ available: true })
    const before = upstream.count()
    const told = await reader.gas('ethereum', soon())
    expect(told).toEqual({
      ok: true,
      value: {
        value: {
          chainId: 1,
          gasPrice: 1_250_000_000n,
          baseFee: 1_200_000_000n,
          priorityFee: 50_000_000n,
          blockNumber: 23_800_000,
        },
        source: { name: new URL(upstream.url).host, fetchedAt: '2026-11-18T11:06:40.000Z', stale: false },
      },
    })
    nowMs += 5_999
    await reader.gas('ethereum', soon())
    expect(upstream.count() - before).toBe(3)
    nowMs += 1
    await reader.gas('ethereum', soon())
    expect(upstream.count() - before).toBe(6)
  })

  it('lack what a node of an older market does not know', async () => {
    const upstream = await upstreamOf({ ...L1, baseFee: null, priorityFee: null })
    const told = await readerOf({ ethereum: [upstream.url] }).gas('ethereum', soon())
    expect(told).toMatchObject({ ok: true, value: { value: { baseFee: null, priorityFee: null } } })
  })

  it('are balances of coin and token at one block', async () => {
    const upstream = await upstreamOf(L2)
    const told = await readerOf({ base: [upstream.url] }).balance(ADA, soon())
    expect(told).toMatchObject({
      ok: true,
      value: {
        value: {
          chainId: 8453,
          native: 41_000_000_000_000_001n,
          stable: { symbol: 'USDC', contract: USDC, decimals: 6, amount: 120_500_000n },
          blockNumber: 38_400_000,
        },
      },
    })
    const blocks = upstream.requests.flatMap(({ body }) => {
      const { method, params } = JSON.parse(body) as { readonly method: string; readonly params: readonly unknown[] }
      return method === 'eth_getBalance' || method === 'eth_call' ? [params[1]] : []
    })
    expect(blocks).toEqual(['0x249f000', '0x249f000'])
  })

  it.each<[string, Partial<FakeEvm>, RegExp]>([
    ['of another network', { chainId: 1 }, /its chain id is 1, expected 8453/],
    ['whose chain id is none', { instead: { eth_chainId: { result: 'base' } } }, /its chain id is not a number/],
    ['that stands still', { timestamp: NOW_MS / 1_000 - 601 }, /its newest block is 601 seconds old/],
    ['that lives in the future', { timestamp: NOW_MS / 1_000 + 601 }, /its newest block is -601 seconds old/],
    [
      'without blocks',
      { instead: { eth_getBlockByNumber: { result: null } } },
      /its newest block has no valid number or time/,
    ],
    ['without the token', { token: { contract: ADA, balances: {} } }, /its balance is none/],
    ['that answers garbage', { instead: { eth_call: { result: '0xzz' } } }, /its balance is none/],
    ['that answers too much', { instead: { eth_call: { result: `0x${'0'.repeat(128)}` } } }, /its balance is none/],
    ['that answers a number', { instead: { eth_getBalance: { result: 41 } } }, /its balance is none/],
    ['that answers nothing', { instead: { eth_getBalance: {} } }, /it has no result/],
    [
      'that refuses',
      { instead: { eth_getBalance: { error: { code: -32000, message: SECRET } } } },
      /error -32000 of JSON-RPC/,
    ],
    [
      'that is asked too often',
      { instead: { eth_getBalance: { error: { code: -32005, message: SECRET } } } },
      /refuses to answer/,
    ],
    ['whose error is none', { instead: { eth_getBalance: { error: 'no' } } }, /it has no result/],
    [
      'that answers another question',
      { instead: { eth_getBalance: { id: 99, result: '0x1' } } },
      /no answer to the question/,
    ],
  ])('are not told by a node %s, and the next one is asked', async (_, odd, trouble) => {
    const ill = await upstreamOf({ ...L2, ...odd })
    const well = await upstreamOf(L2)
    const alone = readerOf({ base: [`${ill.url}/v3/${SECRET}`] })
    const told = await alone.balance(ADA, soon())
    expect(told.ok ? 'told' : faultMessage(told.fault)).toMatch(trouble)
    const both = await readerOf({ base: [ill.url, well.url] }).balance(ADA, soon())
    expect(both).toMatchObject({ ok: true, value: { source: { name: new URL(well.url).host } } })
    expect(shown([told, alone.facts, alone.readiness('base')])).not.toContain(SECRET)
  })

  it('are asked of a node that was ill only after it proved its network again', async () => {
    const upstream = await upstreamOf(L2)
    const reader = readerOf({ base: [upstream.url] })
    await reader.balance(ADA, soon())
    upstream.profile = '500'
    nowMs += 10_000
    await reader.balance(BOB, soon())
    upstream.profile = 'ok'
    const before = upstream.count()
    await reader.balance(BOB, soon())
    expect(JSON.parse(upstream.requests[before]?.body ?? '{}')).toMatchObject({ method: 'eth_chainId' })
  })
})

describe('names', () => {
  async function lookUp(query: { readonly name: string } | { readonly address: string }, evm: FakeEvm = L1) {
    const upstream = await upstreamOf(evm)
    const told = await readerOf({ ethereum: [upstream.url] }).ens(query, soon())
    return told.ok ? told.value.value : told.fault
  }

  it('lead to an address, with the records that they have', async () => {
    expect(await lookUp({ name: 'ada.eth' })).toEqual({
      name: 'ada.eth',
      address: ADA,
      avatar: 'eip155:1/erc721:0xb47e3cd837dDF8e4c57F05d70Ab865de6e193BBB/2430',
      resolver: RESOLVER,
      forwardVerified: true,
    })
    expect(await lookUp({ name: 'long.eth' })).toMatchObject({ address: BOB, avatar: null })
  })

  it('lead nowhere, which is an answer', async () => {
    const nowhere = { address: null, avatar: null, forwardVerified: false }
    expect(await lookUp({ name: 'bare.eth' })).toEqual({ ...nowhere, name: 'bare.eth', resolver: RESOLVER })
    expect(await lookUp({ name: 'absent.eth' })).toEqual({ ...nowhere, name: 'absent.eth', resolver: null })
  })

  it('are those of an address only where they lead back to it', async () => {
    expect(await lookUp({ address: ADA })).toMatchObject({ name: 'ada.eth', address: ADA, forwardVerified: true })
    const noName = { name: null, avatar: null, resolver: null, forwardVerified: false }
    expect(await lookUp({ address: BOB })).toEqual({ ...noName, address: BOB })
    expect(await lookUp({ address: RESOLVER })).toEqual({ ...noName, address: RESOLVER })
    const odd = { ...L1, reverse: { [ADA.toLowerCase()]: 'Ada.eth' }, names: { 'Ada.eth': { address: ADA } } }
    expect(await lookUp({ address: ADA }, odd)).toMatchObject({ name: null, forwardVerified: false })
  })

  it('that are answered off chain are a failure, for which no other node is asked', async () => {
    const [first, second] = [await upstreamOf(L1), await upstreamOf(L1)]
    const told = await readerOf({ ethereum: [first.url, second.url] }).ens({ name: 'away.eth' }, soon())
    expect(told).toMatchObject({ ok: false, fault: { code: 'provider/not-found' } })
    expect(second.count()).toBe(0)
  })

  it.each<[string, object]>([
    ['a revert without a reason', { error: { code: 3, message: 'execution reverted' } }],
    ['an unknown revert', { error: { code: 3, message: SECRET, data: '0xdeadbeef' } }],
    ['a gateway that failed', { error: { code: 3, message: 'x', data: '0x01800152' } }],
    ['an error', { error: { code: -32000, message: SECRET } }],
    ['no bytes', { result: '0x' }],
    ['garbage', { result: '0x1234' }],
    ['no hex', { result: 'ada' }],
    ['no text', { result: 7 }],
    ['bytes of something else', { result: `0x${'11'.repeat(96)}` }],
  ])('are not made of %s', async (_, instead) => {
    const told = await lookUp({ name: 'ada.eth' }, { ...L1, instead: { eth_call: instead } })
    expect(told).toMatchObject({ code: expect.stringMatching(/^provider\/(answer|not-found)$/) })
    expect(shown(told)).not.toContain(SECRET)
  })

  it('are written as ENSIP-15 wants them, once the library for them is there', async () => {
    const upstream = await upstreamOf(L1)
    const reader = readerOf({ ethereum: [upstream.url] })
    expect(reader.ensReadiness()).toMatchObject({ available: false, reason: expect.stringContaining('not loaded') })
    await reader.start()
    expect(reader.ensReadiness()).toMatchObject({ available: true })
    expect(reader.ensName('VitalIk.eth')).toBe('vitalik.eth')
    expect(reader.ensName('👩‍❤️‍👨.eth')).toBe('👩‍❤‍👨.eth')
    expect(reader.ensName('vit\u0430lik.eth')).toBeNull()
    expect(reader.ensName('a..eth')).toBeNull()
    expect(reader.ensName('under_score.eth')).toBeNull()
  })
})

describe('addresses of nodes', () => {
  it('are secrets: answers, troubles and checks name hosts alone', async () => {
    const upstream = await upstreamOf(L2)
    const { host, port } = new URL(upstream.url)
    const url = `http://user:${SECRET}@127.0.0.1:${port}/v3/${SECRET}?key=${SECRET}`
    const reader = readerOf({
      base: [url, `${url}2`, 'http://nd-1.example.invalid:1/', `https://${SECRET}aa.example.invalid`],
    })
    await reader.start()
    const told = await reader.balance(ADA, soon())
    expect(told).toMatchObject({ ok: true, value: { source: { name: host } } })
    upstream.profile = '500'
    const failed = await reader.balance(BOB, soon())
    const checks = await reader.checkAll()
    expect(checks.map(({ name }) => name)).toEqual([
      host,
      `${host} #2`,
      'nd-1.example.invalid:1',
      '***.example.invalid',
    ])
    expect(shown([told, failed, checks, reader.facts, reader.readiness('base')])).not.toContain(SECRET)
    const [first] = upstream.requests
    expect(first?.path).toBe(`/v3/${SECRET}`)
    expect(first?.headers.authorization).toBe(`Basic ${Buffer.from(`user:${SECRET}`).toString('base64')}`)
  })

  it('that are invalid are a fault of the setting, which does not show them', () => {
    for (const text of [`http://${SECRET}:99999`, `http://%zz@${SECRET}`, `https://a b${SECRET}`]) {
      const config = { ethereum: [], base: [text] }
      const reader = RpcEvmReader.open({ config, clock: { now: () => nowMs }, timers: systemTimers })
      expect(reader).toMatchObject({ ok: false, fault: { code: 'config/value', detail: { key: 'providers.base' } } })
      expect(shown(reader)).not.toContain(SECRET)
    }
  })

  it('are not needed: without them nothing can be asked, and the settings are named', async () => {
    const reader = readerOf({})
    await reader.start()
    expect(reader.readiness('base')).toMatchObject({ available: false, requires: ['providers.base'] })
    expect(reader.ensReadiness()).toMatchObject({ available: false, requires: ['providers.ethereum'] })
    expect(await reader.gas('ethereum', soon())).toMatchObject({ ok: false, fault: { code: 'provider/none' } })
  })
})

describeProvider({
  name: 'a node of the layer-2 network',
  handler: evmNode(L2),
  open: (url) => {
    const reader = readerOf({ base: [url] })
    return {
      ask: async (signal) => {
        const told = await reader.balance(ADA, signal)
        return told.ok ? { ok: true, value: told.value.value.native } : told
      },
    }
  },
  answer: 41_000_000_000_000_001n,
  hitsMax: 4,
})

describeProvider({
  name: 'a node that is asked for a name',
  handler: evmNode(L1),
  open: (url) => {
    const reader = readerOf({ ethereum: [url] })
    return {
      ask: async (signal) => {
        const told = await reader.ens({ name: 'ada.eth' }, signal)
        return told.ok ? { ok: true, value: told.value.value.address } : told
      },
    }
  },
  answer: ADA,
  hitsMax: 4,
})
