import { describe, expect, it } from 'vitest'
import { DEVNET_LEDGERS } from '../../../../config/networks/devnet-ledgers.ts'
import { createRuleBook } from '../../../../consensus/chain/rule-book.ts'
import type { TokenSymbol } from '../../../../consensus/primitives/ids.ts'
import { PROTOCOL } from '../../../../src/protocol.ts'
import { TestChain } from '../../../support/chain.ts'
import { testParams } from '../../../support/network.ts'
import { type ServiceChain, serviceChain } from '../../../support/service-chain.ts'
import { attested } from '../../../support/service-chain-script.ts'
import { resultOf } from '../../../support/service-results.ts'
import { steadyWallet } from '../../../support/steady-keys.ts'
import { units } from '../../../support/unsigned.ts'

interface Health {
  readonly stables: readonly {
    readonly health: string | null
    readonly backingPct: number | null
    readonly pegPriceUsd: number | null
    readonly pegDeviationPct: number | null
    readonly redeemable: { readonly amount: string }
    readonly reasons: readonly { readonly code: string; readonly level: string }[]
  }[]
}

interface Audit {
  readonly collateral: { readonly backingPct: number | null }
  readonly riskFlags: readonly { readonly code: string; readonly points: number; readonly evidence: string }[]
  readonly score: number
  readonly scoring: { readonly weights: readonly { readonly code: string; readonly points: number }[] }
}

const DOLLAR = 1_000_000n
const [FUSD, XUSD] = ['FUSD', 'XUSD'] as unknown as readonly [TokenSymbol, TokenSymbol]
const BASE = 1

async function healthOf({ context }: ServiceChain): Promise<Health['stables'][number]> {
  const { stables } = await resultOf<Health>('node-stable-health', 'FUSD', context)
  return stables[0] as Health['stables'][number]
}

/** The chain with a pool in which one FUSD costs `micros` millionths of an XUSD. */
async function pegged(micros: bigint): Promise<ServiceChain> {
  const chain = await serviceChain()
  const [amountA, amountB] = [units(1_000n * DOLLAR), units(1_000n * micros)]
  const pool = { assetA: FUSD, assetB: XUSD, feeBps: 5, amountA, amountB }
  await chain.test.mine([await chain.test.tx(steadyWallet(6), 'pool_create', pool)])
  return chain
}

describe('the health of a stable token', () => {
  it.each([
    [1_000_000n, 'ok', 0, []],
    [1_009_999n, 'ok', 0.9999, []],
    [990_000n, 'warn', -1, ['peg-off']],
    [1_049_999n, 'warn', 4.9999, ['peg-off']],
    [950_000n, 'critical', -5, ['peg-off']],
  ] as const)('with a peg at %i millionths is %s', async (micros, health, pegDeviationPct, codes) => {
    const found = await healthOf(await pegged(micros))
    expect(found).toMatchObject({ health, pegDeviationPct, pegPriceUsd: Number(micros) / 1e6 })
    expect(found.reasons.map(({ code }) => code)).toEqual(codes)
  })

  it('says nothing of a peg without trades', async () => {
    const found = await healthOf(await serviceChain())
    expect(found).toMatchObject({ health: 'ok', pegPriceUsd: null, pegDeviationPct: null })
    expect(found.reasons).toMatchObject([{ code: 'peg-unknown', level: 'info' }])
  })

  it('is critical where the reserve does not cover the supply', async () => {
    const params = testParams()
    const missing = 50_000n * DOLLAR
    const ledgers = {
      ...DEVNET_LEDGERS,
      stables: DEVNET_LEDGERS.stables.map((stable) => ({ ...stable, reserve: stable.reserve - missing })),
      bridge: {
        ...DEVNET_LEDGERS.bridge,
        deposited: DEVNET_LEDGERS.bridge.deposited.map((one) => ({ ...one, amount: one.amount - missing })),
      },
    }
    const genesis = { ...params.genesis, ledgers }
    const test = await TestChain.open(createRuleBook({ ...params, genesis }, PROTOCOL))
    const { context } = await serviceChain()
    const chain = { test, context: { ...context, chain: test.chain } } as ServiceChain
    expect(await healthOf(chain)).toMatchObject({
      health: 'critical',
      backingPct: 75,
      redeemable: { amount: '150000' },
      reasons: [{ code: 'under-backed' }, { code: 'peg-unknown' }],
    })
    const audit = await resultOf<Audit>('node-token-audit', 'FUSD', chain.context)
    expect(audit.collateral.backingPct).toBe(75)
    expect(audit.riskFlags[0]).toMatchObject({
      code: 'under-backed',
      evidence: '150000 stand behind a supply of 200000',
    })
  })
})

describe('a network of the bridge that is halted', () => {
  it('is said to be so in its status, by the dollar that it carries and by both audits', async () => {
    const chain = await serviceChain()
    const attestation = attested(chain, { action: 'halt', network: BASE })
    await chain.test.mine([await chain.test.tx(steadyWallet(10), 'bridge_halt', { network: BASE, attestation })])
    const { networks } = await resultOf<{ networks: readonly object[] }>('node-bridge-status', 'base', chain.context)
    expect(networks).toMatchObject([{ id: 'base', status: 'halted', float: { amount: '300550' } }])
    expect(await healthOf(chain)).toMatchObject({ health: 'warn' })
    for (const symbol of ['FUSD', 'XUSD']) {
      const { riskFlags } = await resultOf<Audit>('node-token-audit', symbol, chain.context)
      expect(riskFlags).toContainEqual(expect.objectContaining({ code: 'bridge-halted', evidence: 'halted: Base' }))
    }
  })
})

describe('the score of an audit', () => {
  it('is 100 less the published weights of what was found', async () => {
    const { context } = await serviceChain()
    for (const symbol of ['FUSD', 'XUSD', 'SALT', 'WOOL', 'GLASS', 'MOSS', 'FAR', 'XBTC']) {
      const { score, riskFlags, scoring } = await resultOf<Audit>('node-token-audit', symbol, context)
      const weights = new Map(scoring.weights.map(({ code, points }) => [code, points]))
      const lost = riskFlags.reduce((sum, { code }) => sum + (weights.get(code) ?? Number.NaN), 0)
      expect(score).toBe(Math.max(0, 100 - lost))
    }
  })
})
