import { describe, expect, it } from 'vitest'
import { NETWORKS } from '../../../../config/networks/table.ts'
import { computeGenesis } from '../../../../consensus/chain/genesis.ts'
import { Balance } from '../../../../consensus/ledger/conservation.ts'
import { ZERO_HEX_32 } from '../../../../consensus/primitives/bytes.ts'
import { PROTOCOL } from '../../../../src/protocol.ts'
import { testParams } from '../../../support/network.ts'
import { naiveRoot } from '../../../support/state.ts'

describe.each(Object.values(NETWORKS))('the genesis of $name', (params) => {
  const { block, changes } = computeGenesis(params, PROTOCOL.modules)

  it('has no parent, no miner, no work and the network’s message', () => {
    const { header, transactions } = block
    expect(header).toMatchObject({ height: 0, parent: ZERO_HEX_32, miner: ZERO_HEX_32, nonce: 0n, weightUsed: 0 })
    expect(header).toMatchObject({ timeMs: params.genesis.timeMs, baseFee: params.genesis.baseFee, version: 1 })
    expect(header.target).toBe(params.steps[0]!.rules.block.powLimit)
    expect(new TextDecoder().decode(header.extra).replace(/\0+$/, '')).toBe(params.genesis.message)
    expect(transactions).toEqual([])
  })

  it('roots its records, and conserves', () => {
    const balance = new Balance()
    for (const { table, key, after } of changes) balance.count(table, key, table.codec.deserialize(after!), 1n)
    expect(balance.broken()).toEqual([])
    expect(block.header.stateRoot).toBe(naiveRoot(changes.map(({ key, after }) => [key, after!] as const)))
  })

  it('holds exactly what its parameters name', () => {
    const { allocations, ledgers } = params.genesis
    const { tokens, balances, stables, pools, bridge } = ledgers
    const holders = [...allocations, ...balances].map(({ address }) => address)
    const counted = new Map<string, number>()
    for (const { table } of changes) counted.set(table.name, (counted.get(table.name) ?? 0) + 1)
    const expected = {
      ...{ accounts: new Set([...holders, ...pools.map(({ owner }) => owner)]).size, supply: tokens.length + 1 },
      ...{ tokens: tokens.length, symbols: tokens.length + 1, 'token-balances': balances.length },
      ...{ 'stable-reserves': stables.length, pools: pools.length, 'pool-shares': pools.length },
      ...{ 'price-entries': Math.min(pools.length, 1), committee: bridge.committee === null ? 0 : 1 },
      'bridge-networks': bridge.vaults.length,
    }
    expect(Object.fromEntries(counted)).toEqual(
      Object.fromEntries(Object.entries(expected).filter(([, count]) => count > 0)),
    )
  })
})

describe('genesis', () => {
  it('takes a message of 32 bytes and no more', () => {
    const params = testParams()
    const genesis = (message: string) =>
      computeGenesis({ ...params, genesis: { ...params.genesis, message } }, PROTOCOL.modules)
    expect(genesis('é'.repeat(16)).block.header.extra[31]).not.toBe(0)
    expect(() => genesis('x'.repeat(33))).toThrow('at most 32 bytes')
  })

  it('differs between networks', () => {
    const ids = Object.values(NETWORKS).map((params) => computeGenesis(params, PROTOCOL.modules).block.id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})
