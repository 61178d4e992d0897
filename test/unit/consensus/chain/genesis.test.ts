import { describe, expect, it } from 'vitest'
import { NETWORKS } from '../../../../config/networks/table.ts'
import { computeGenesis } from '../../../../consensus/chain/genesis.ts'
import { Balance } from '../../../../consensus/ledger/conservation.ts'
import { ZERO_HEX_32 } from '../../../../consensus/primitives/bytes.ts'
import { testParams } from '../../../support/network.ts'
import { naiveRoot } from '../../../support/state.ts'

describe.each(Object.values(NETWORKS))('the genesis of $name', (params) => {
  const { block, changes } = computeGenesis(params)

  it('has no parent, no miner, no work and the network’s message', () => {
    const { header, transactions } = block
    expect(header).toMatchObject({ height: 0, parent: ZERO_HEX_32, miner: ZERO_HEX_32, nonce: 0n, weightUsed: 0 })
    expect(header).toMatchObject({ timeMs: params.genesis.timeMs, baseFee: params.genesis.baseFee, version: 1 })
    expect(header.target).toBe(params.steps[0]!.rules.block.powLimit)
    expect(new TextDecoder().decode(header.extra).replace(/\0+$/, '')).toBe(params.genesis.message)
    expect(transactions).toEqual([])
  })

  it('roots exactly its allocations and the supply, and conserves', () => {
    const balance = new Balance()
    for (const { table, key, after } of changes) balance.count(table, key, table.codec.deserialize(after!), 1n)
    expect(balance.broken()).toEqual([])
    expect(changes.length).toBe(params.genesis.allocations.length + 1)
    expect(block.header.stateRoot).toBe(naiveRoot(changes.map(({ key, after }) => [key, after!] as const)))
  })
})

describe('genesis', () => {
  it('takes a message of 32 bytes and no more', () => {
    const params = testParams()
    const genesis = (message: string) => computeGenesis({ ...params, genesis: { ...params.genesis, message } })
    expect(genesis('é'.repeat(16)).block.header.extra[31]).not.toBe(0)
    expect(() => genesis('x'.repeat(33))).toThrow('at most 32 bytes')
  })

  it('differs between networks', () => {
    const ids = Object.values(NETWORKS).map((params) => computeGenesis(params).block.id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})
