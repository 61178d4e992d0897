import { describe, expect, test } from 'vitest'
import { type ClientOptions, createClient } from '../../../../../rpc/client/client.ts'

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

  test('every documented option is taken', () => {
    const all: Required<Omit<ClientOptions, 'wallet' | 'journal'>> = {
      ...NODE,
      ...{ network: 'devnet', allow: { agents: ['farthing-1'], payTo: [], services: [] }, secondNode: NODE.baseUrl },
      ...{ fetch, signal: new AbortController().signal, dryRun: true, onPay: () => true, settleMs: 1, verify: true },
      ...{ maxPerCallUsd: 1, maxPerDayUsd: 1, maxPerCallCoins: '1', maxPerDayCoins: '1', maxFee: '1' },
    }
    expect(createClient(all).network.name).toBe('devnet')
  })
})
