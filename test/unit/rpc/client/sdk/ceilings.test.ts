import { describe, expect, it } from 'vitest'
import { Ceilings, spentIn } from '../../../../../rpc/client/sdk/ceilings.ts'
import type { CeilingOptions, PaymentRecord } from '../../../../../rpc/client/sdk/shapes.ts'

const FACTS = { decimals: 8, ticker: 'FAR' }
const COIN = 100_000_000n

let nonces = 0n
function record(change: Partial<PaymentRecord> = {}): PaymentRecord {
  const names = {
    txId: 'a',
    secret: 'b',
    serviceId: 'node-x',
    request: '',
    quoteId: 'q',
    url: '',
    sender: 'me',
    tx: null,
  }
  const money = { amount: COIN, feeMax: 0n, usd: 1, nonce: nonces++, validUntil: 0 }
  return { ...names, ...money, state: 'submitted', atMs: 0, ...change }
}

function verdict(options: CeilingOptions, cost: { units?: bigint; usd?: number | null }, spent: PaymentRecord[] = []) {
  try {
    new Ceilings(options, FACTS).check({ units: COIN, usd: 0.01, ...cost }, spent)
    return 'paid'
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe('ceilings', () => {
  it('are on without being asked for: ten cents a call, five dollars a day, a hundred coins a call, a thousand a day', () => {
    expect(verdict({}, { usd: 0.1 })).toBe('paid')
    expect(verdict({}, { usd: 0.100001 })).toBe('over_call_limit')
    expect(verdict({}, { units: 100n * COIN })).toBe('paid')
    expect(verdict({}, { units: 100n * COIN + 1n })).toBe('over_call_limit')
    expect(verdict({}, { usd: 0.1 }, [record({ usd: 4.9, amount: COIN })])).toBe('paid')
    expect(verdict({}, { usd: 0.1 }, [record({ usd: 4.91, amount: COIN })])).toBe('over_day_limit')
    expect(verdict({}, { units: COIN }, [record({ usd: 0, amount: 999n * COIN })])).toBe('paid')
    expect(verdict({}, { units: COIN + 1n }, [record({ usd: 0, amount: 999n * COIN })])).toBe('over_day_limit')
  })

  it('an option that is undefined is the default and no hole', () => {
    expect(verdict({ maxPerCallUsd: undefined } as never, { usd: 0.2 })).toBe('over_call_limit')
  })

  it('a call without a dollar price is paid only if coins were bounded by hand', () => {
    expect(verdict({}, { usd: null })).toBe('price_unknown')
    expect(verdict({ maxPerCallCoins: '1' }, { usd: null })).toBe('paid')
    expect(verdict({ maxPerCallCoins: '0.99999999' }, { usd: null })).toBe('over_call_limit')
  })

  it('refuse invalid bounds', () => {
    for (const options of [
      { maxPerCallUsd: Number.NaN },
      { maxPerDayUsd: -1 },
      { maxFee: '1e3' },
      { maxPerCallCoins: '' },
    ])
      expect(verdict(options, {})).toBe('invalid_option')
  })

  it('tell dollars without the dust of floats, and never as what they bound', () => {
    const message = (usd: number, spent: PaymentRecord[] = []): string => {
      try {
        new Ceilings({ maxPerCallUsd: 0.0067, maxPerDayUsd: 0.008 }, FACTS).check({ units: COIN, usd }, spent)
        return 'paid'
      } catch (error) {
        return (error as Error).message
      }
    }
    expect(message(0.0067661875000000005)).toBe('not paid: it costs 0.006767 dollars, maxPerCallUsd is 0.0067')
    expect(message(0.00670000001)).toBe('not paid: it costs 0.006701 dollars, maxPerCallUsd is 0.0067')
    expect(message(0.006, [record({ usd: 0.0069871875 })])).toBe(
      'not paid: 0.006988 dollars were signed for or sent in 24 hours, it costs 0.006, maxPerDayUsd is 0.008',
    )
  })

  it('count fees, refusals and refunds, and of one nonce the dearest alone', () => {
    const spent = [
      record({ nonce: 1n, amount: 5n, feeMax: 2n, usd: 1 }),
      record({ nonce: 2n, amount: 10n, usd: 3, state: 'refused' }),
      record({ nonce: 2n, amount: 7n, usd: 4, state: 'submitted' }),
      record({ nonce: 2n, amount: 1n, usd: 1, sender: 'you', state: 'refunded' }),
    ]
    expect(spentIn(spent)).toEqual({ units: 18n, usd: 6 })
  })
})
