import { describe, expect, test } from 'vitest'
import { type ClientOptions, createClient, fileJournal, storageJournal } from '../../../../../rpc/client/client.ts'
import { generateWallet, keyfileOf, walletFromKeyfile, walletFromWords } from '../../../../../rpc/client/wallet.ts'
import { nativeAsset, nativeScheme } from '../../../../../rpc/client/x402.ts'

const NODE = { baseUrl: 'http://127.0.0.1:1' }

function refusalOf(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    const { code, message } = error as { readonly code: string; readonly message: string }
    return { code, message }
  }
  return null
}

describe('options of the SDK', () => {
  test('a misspelt ceiling is refused, and the one that was meant is named', () => {
    const options = { ...NODE, maxPerCalUsd: 0.01 } as ClientOptions
    expect(refusalOf(() => createClient(options))).toEqual({
      code: 'invalid_option',
      message: 'createClient: there is no option maxPerCalUsd; did you mean maxPerCallUsd?',
    })
  })

  test('so is a bound of the allow-list that is misspelt, or no list', () => {
    const misspelt = { ...NODE, allow: { agent: ['farthing-1'] } } as ClientOptions
    const text = { ...NODE, allow: { agents: 'farthing-1' } } as unknown as ClientOptions
    expect(refusalOf(() => createClient(misspelt))).toEqual({
      code: 'invalid_option',
      message: 'allow: there is no option agent; did you mean agents?',
    })
    expect(refusalOf(() => createClient(text))).toMatchObject({ message: 'allow: agents must be a list' })
  })

  test('and options of its methods', async () => {
    const client = createClient(NODE)
    expect(refusalOf(() => client.wrapFetch(fetch, { carier: 'body' } as object))).toMatchObject({
      message: 'wrapFetch: there is no option carier; did you mean carrier?',
    })
    expect(refusalOf(() => client.events({ type: ['block'] } as object))).toMatchObject({
      message: 'events: there is no option type; did you mean types?',
    })
    await expect(client.services({ query: 'price' } as object)).rejects.toMatchObject({
      message: 'services: there is no option query; there are capability, q',
    })
  })

  test.each([
    ['no options', undefined],
    ['no address', {}],
    ['an address that is no text', { baseUrl: 8420 }],
    ['an unknown network', { ...NODE, network: 'devnt' }],
    ['facts of a network that are not all of them', { ...NODE, network: { name: 'devnet' } }],
    ['a name that every object has', { ...NODE, network: 'constructor' }],
    ['a wallet that cannot sign', { ...NODE, wallet: 'agent.json' }],
    ['a wallet that is still on its way', { ...NODE, wallet: Promise.resolve() }],
    ['onPay that is no function', { ...NODE, onPay: true }],
    ['a journal that is the name of one', { ...NODE, journal: 'journal' }],
    ['an allow-list that is none', { ...NODE, allow: ['acme'] }],
    ['a switch that is a text', { ...NODE, dryRun: 'true' }],
    ['a wait that is none', { ...NODE, settleMs: Number.NaN }],
    ['dollars that are null', { ...NODE, maxPerCallUsd: null }],
    ['dollars that are a text', { ...NODE, maxPerDayUsd: '1' }],
    ['coins that are null', { ...NODE, maxPerCallCoins: null }],
    ['coins that are a number', { ...NODE, maxFee: 1 }],
  ])('%s: refused when the client is made', (_what, options) => {
    expect(refusalOf(() => createClient(options as ClientOptions))).toMatchObject({ code: 'invalid_option' })
  })

  test('an unknown network is answered with the one that was meant', () => {
    expect(refusalOf(() => createClient({ ...NODE, network: 'devnt' as 'devnet' }))).toEqual({
      code: 'invalid_option',
      message: 'there is no network devnt; did you mean devnet?',
    })
  })

  test('what a method does not take is refused: a ceiling of one call would bound nothing', async () => {
    const client = createClient({ ...NODE, settleMs: 0 }) as unknown as Record<string, (...given: unknown[]) => unknown>
    const ceiling = { maxPerCallUsd: 0.0001 }
    const [quote, payment] = [{ quoteId: 'q' }, { txId: 't' }]
    const calls: readonly (readonly [string, ...unknown[]])[] = [
      ['call', 'node-x', 'a text', ceiling],
      ['call', 'node-x', ceiling],
      ['call'],
      ['quote', 'node-x', '', ceiling],
      ['pay', quote, ceiling],
      ['pay'],
      ['settle', quote, payment, ceiling],
      ['settle', quote],
      ['resume'],
      ['resume', payment, ceiling],
      ['unfinished', { hours: 1 }],
      ['receipt'],
      ['verifyReceipt'],
      ['services', null],
      ['payAndWait', quote, ceiling],
    ]
    for (const [name, ...given] of calls)
      await expect((client[name] as typeof fetch).apply(client, given as never), name).rejects.toMatchObject({
        code: 'invalid_option',
      })
    const atOnce: readonly (readonly [string, ...unknown[]])[] = [
      ['events', { types: 'block' }],
      ['events', { signal: true }],
      ['wrapFetch', 'fetch'],
      ['wrapFetch', fetch, { carrier: 'headers' }],
      ['wrapFetch', fetch, { payment: 'a' }],
      ['mcp'],
      ['mcp', { callTool: fetch }, ceiling],
    ]
    for (const [name, ...given] of atOnce)
      expect(
        refusalOf(() => client[name]?.(...given)),
        name,
      ).toMatchObject({ code: 'invalid_option' })
  })

  test('the functions beside the client refuse what they cannot use', async () => {
    const make = [
      () => fileJournal(undefined as never),
      () => storageJournal(undefined as never),
      () => nativeAsset(undefined as never),
      () => nativeAsset('1', 'devnt' as 'devnet'),
      () => nativeScheme(undefined as never),
      () => nativeScheme(createClient(NODE), { maxPerCallUsd: 0.0001 } as never),
      () => walletFromWords(undefined as never),
      () => generateWallet().wallet.address('devnt' as 'devnet'),
    ]
    for (const each of make) expect(refusalOf(each), String(each)).toMatchObject({ code: 'invalid_option' })
    const refused = { code: 'invalid_option' }
    await expect((walletFromKeyfile as (path: string) => Promise<unknown>)('agent.json')).rejects.toMatchObject(refused)
    await expect(walletFromKeyfile('agent.json', { password: 'a' } as never)).rejects.toMatchObject(refused)
    await expect(keyfileOf('words', undefined as never)).rejects.toMatchObject(refused)
  })

  test('every documented option is taken', () => {
    const all: Required<Omit<ClientOptions, 'wallet' | 'journal'>> = {
      ...NODE,
      ...{ network: 'devnet', allow: { agents: ['farthing-1'], payTo: [], services: [] }, secondNode: NODE.baseUrl },
      ...{ fetch, signal: new AbortController().signal, dryRun: true, onPay: () => true, settleMs: 1, verify: true },
      ...{ tabs: { maxDeposit: '1', callsAhead: 5 }, maxPerTabUsd: 1, maxPerTabCoins: '1' },
      ...{ maxPerCallUsd: 1, maxPerDayUsd: 1, maxPerCallCoins: '1', maxPerDayCoins: '1', maxFee: '1' },
    }
    expect(createClient(all).network.name).toBe('devnet')
  })
})
