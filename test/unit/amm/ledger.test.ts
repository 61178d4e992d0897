import { describe, expect, it } from 'vitest'
import { ammModule } from '../../../amm/ledger.ts'
import { POOL_SHARES, POOLS, type Pool, poolIdOf } from '../../../amm/pool.ts'
import { taggedHash } from '../../../consensus/crypto/hash.ts'
import { conserves } from '../../../consensus/ledger/conservation.ts'
import { concat, fromHex, toHex } from '../../../consensus/primitives/bytes.ts'
import type { Hash } from '../../../consensus/primitives/ids.ts'
import { Overlay } from '../../../consensus/state/overlay.ts'
import { anyTable, NATIVE_ASSET } from '../../../consensus/state/table.ts'
import {
  ALICE,
  FAR,
  FUSD,
  type GenesisPool,
  OWNER,
  PoolLedger,
  poolOf,
  poolRuleBook,
  SALT,
  WOOL,
} from '../../support/pools.ts'
import { units } from '../../support/unsigned.ts'

const RULES = poolRuleBook()
const POOL = new PoolLedger(RULES).pool(FAR, FUSD)
const POOL_ID = poolOf(FAR, FUSD)

/** Name of the invariant that a change of the pool breaks; Alice gets `given` shares more. */
function broken(change: Partial<Pool>, given = 0n): string | null {
  const changes = [
    { table: anyTable(POOLS), key: POOLS.key(POOL_ID), before: POOL, after: { ...POOL, ...change } },
    {
      ...{ table: anyTable(POOL_SHARES), key: POOL_SHARES.key({ address: ALICE, poolId: POOL_ID }) },
      ...{ before: { shares: units(500n) }, after: { shares: units(500n + given) } },
    },
  ]
  return ammModule.invariant(changes)
}

describe('the id of a pool', () => {
  it('is H(pool-id, x || y || fee), whichever asset is named first', () => {
    const [x, y] = ['11'.repeat(32), '22'.repeat(32)] as [Hash, Hash]
    const expected = toHex(taggedHash('poolId', concat(fromHex(x), fromHex(y), Uint8Array.of(44, 1))))
    expect([poolIdOf(x, y, 300), poolIdOf(y, x, 300)]).toEqual([expected, expected])
    expect(poolIdOf(x, y, 30)).not.toBe(expected)
  })

  it('has the native coin as X', () => {
    expect(POOL.assetX).toBe(NATIVE_ASSET)
    const swapped: GenesisPool = {
      assetA: FUSD,
      assetB: FAR,
      feeBps: 30,
      amountA: 2_000n,
      amountB: 3_000n,
      owner: OWNER,
    }
    expect(new PoolLedger(poolRuleBook([swapped])).pool(FAR, FUSD)).toMatchObject({
      ...{ assetX: NATIVE_ASSET, reserveX: 3_000n, reserveY: 2_000n },
    })
  })
})

describe('the invariants', () => {
  it('hold while a share keeps its worth', () => {
    expect(broken({})).toBeNull()
    expect(broken({ reserveX: units(POOL.reserveX + 1n) })).toBeNull()
    expect(broken({ reserveX: units(2n * POOL.reserveX), reserveY: units((POOL.reserveY + 1n) / 2n) })).toBeNull()
  })

  it('say that the product fell', () => {
    expect(broken({ reserveX: units(POOL.reserveX - 1n) })).toBe('pool-product')
    expect(broken({ shares: units(POOL.shares + 1n) }, 1n)).toBe('pool-product')
  })

  it('say that the shares differ from those held', () => {
    const shares = units(POOL.shares - 1n)
    expect(broken({ shares }, -1n)).toBeNull()
    expect(broken({ shares })).toBe('pool-shares')
    expect(broken({}, 1n)).toBe('pool-shares')
  })

  it('do not let a pool go, nor begin with more shares than its root', () => {
    const at = { table: anyTable(POOLS), key: POOLS.key(POOL_ID) }
    expect(ammModule.invariant([{ ...at, before: POOL, after: undefined }])).toBe('pool-product')
    const held = { table: anyTable(POOL_SHARES), key: POOL_SHARES.key({ address: ALICE, poolId: POOL_ID }) }
    const after = { ...POOL, reserveX: units(2_000), reserveY: units(2_000), shares: units(2_000) }
    const shares = { ...held, before: undefined, after: { shares: units(1_000) } }
    expect(ammModule.invariant([{ ...at, before: undefined, after }, shares])).toBeNull()
    const more = { ...after, shares: units(2_001) }
    expect(ammModule.invariant([{ ...at, before: undefined, after: more }, shares])).toBe('pool-product')
    expect(ammModule.invariant([{ ...at, before: undefined, after }])).toBe('pool-shares')
  })

  it('leave the changes of other ledgers alone', () => {
    expect(ammModule.invariant([])).toBeNull()
  })
})

it('conservation counts reserves, and shares like an asset of their own', () => {
  const ledger = new PoolLedger(RULES)
  const overlay = new Overlay(ledger.state)
  overlay.put(POOLS, POOL_ID, { ...POOL, reserveY: units(POOL.reserveY - 1n) })
  expect(conserves(overlay.changesSince(0))).toBe(false)
  overlay.put(POOLS, POOL_ID, { ...POOL, shares: units(POOL.shares + 1n) })
  expect(conserves(overlay.changesSince(0))).toBe(false)
  overlay.put(POOL_SHARES, { address: ALICE, poolId: POOL_ID }, { shares: units(1) })
  expect(conserves(overlay.changesSince(0))).toBe(true)
})

describe('a genesis pool', () => {
  const one: GenesisPool = { assetA: SALT, assetB: WOOL, feeBps: 30, amountA: 5_000n, amountB: 5_000n, owner: OWNER }

  it('is minted: what it holds belongs to no other account', () => {
    const ledger = new PoolLedger(poolRuleBook([one]))
    expect(ledger.reserves(SALT, WOOL)).toEqual([5_000n, 5_000n])
    expect(ledger.shares(OWNER, SALT, WOOL)).toBe(4_000n)
    expect(ledger.broken()).toEqual([])
  })

  const refused: readonly (readonly [string, readonly GenesisPool[], string])[] = [
    ['has a fee that pools can have', [{ ...one, feeBps: 31 }], 'one that could be created'],
    ['has two assets', [{ ...one, assetB: SALT }], 'one that could be created'],
    ['is named once', [one, { ...one, assetA: WOOL, assetB: SALT }], 'named once'],
    ['has more than the locked shares', [{ ...one, amountA: 200n }], 'worth more than its locked shares'],
  ]
  for (const [rule, pools, says] of refused) {
    it(rule, () => expect(() => poolRuleBook(pools)).toThrow(says))
  }
})
