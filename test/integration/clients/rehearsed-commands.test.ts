import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { poolIdOf } from '../../../amm/pool.ts'
import { tokenAsset } from '../../../consensus/ledger/asset.ts'
import type { TokenSymbol } from '../../../consensus/primitives/ids.ts'
import { NATIVE_ASSET } from '../../../consensus/state/table.ts'
import { exitCodeOf } from '../../../src/cli/exit-codes.ts'
import { type Json, LyingNode, OTHER, OWN } from '../../support/lying-node.ts'

const node = new LyingNode()
beforeAll(() => node.open())
afterAll(() => node.close())

const STAKE = 'ab'.repeat(32)
const POOL = 'FAR-SALT-30'
const POOL_ID = poolIdOf(NATIVE_ASSET, tokenAsset('SALT' as TokenSymbol), 30)
const far = (units: string) => ({ symbol: 'FAR', decimals: 8, units, text: '1' })
const salt = (units: string) => ({ symbol: 'SALT', decimals: 4, units, text: '1' })

function holds(tokens: readonly Json[] = []): void {
  const lists = { positions: [], stakes: [], truncated: { tokens: false, positions: false, stakes: false } }
  node.says(`/api/v1/accounts/${OWN}/holdings`, { native: far('1000'), tokens, ...lists })
}

beforeEach(() => {
  node.reset()
  holds()
  const pool = { id: 'cd'.repeat(32), name: POOL, feeBps: 30, x: far('200000000000'), y: salt('10000000') }
  node.says('/api/v1/pools/', { pool: { ...pool, shares: '1000000' } })
})

it('a claim of less than its fee is not sent unless the command line allows it', async () => {
  node.simulates({ amounts: ['99999'] })
  const { end, fault } = await node.run('stake', 'claim', STAKE, '--no-wait')
  expect(end).toMatch(/^this is worth 0\.00099999 FAR and its fee is 0\.001 FAR: nothing was sent; .* --accept-loss$/)
  expect(fault && exitCodeOf(fault)).toBe(1)
  expect(node.sent).toEqual([])
  expect((await node.run('stake', 'claim', STAKE, '--dry-run')).notes).toContain('this needs --accept-loss to be sent')
  expect((await node.run('stake', 'claim', STAKE, '--no-wait', '--accept-loss')).end).toBe(0)
  expect(node.sent).toHaveLength(1)
  node.simulates({ amounts: ['100000'] })
  expect((await node.run('stake', 'claim', STAKE, '--no-wait')).end).toBe(0)
  expect(node.sent).toHaveLength(2)
})

it.each([
  [
    ['swap', '1', 'FAR', 'SALT', '--route', POOL],
    ['99999', '5000'],
    ['100000', '5000'],
  ],
  [
    ['swap', '1', 'SALT', 'FAR', '--route', POOL],
    ['10000', '99999'],
    ['10000', '100000'],
  ],
  [
    ['pool', 'remove', POOL, '--shares', '10'],
    ['49999', '3'],
    ['50000', '3'],
  ],
  [
    ['pool', 'add', POOL, '2', 'FAR'],
    ['49999', '3', '1'],
    ['50000', '3', '1'],
  ],
])('%o is not sent where its coins are worth less than its fee', async (words, less, enough) => {
  const lists = { stakes: [], truncated: { tokens: false, positions: false, stakes: false } }
  const positions = [{ poolId: POOL_ID, pool: POOL, shares: '1000', x: far('100'), y: salt('5') }]
  node.says(`/api/v1/accounts/${OWN}/holdings`, { native: far('1000'), tokens: [], positions, ...lists })
  node.simulates({ amounts: less })
  const refused = await node.run(...words, '--no-wait')
  expect(refused.end).toMatch(/^this is worth 0\.0009999\d FAR and its fee is 0\.001 FAR: .* --accept-loss$/)
  expect(node.sent).toEqual([])
  expect((await node.run(...words, '--no-wait', '--accept-loss')).end).toBe(0)
  node.simulates({ amounts: enough })
  expect((await node.run(...words, '--no-wait')).end).toBe(0)
  expect(node.sent).toHaveLength(2)
})

it('a swap that is refused for its price impact names its pools', async () => {
  node.simulates()
  const { notes, end } = await node.run('swap', '1000', 'FAR', 'SALT', '--route', POOL, '--no-wait')
  expect(notes).toEqual([
    expect.stringMatching(/^swap 1000 FAR for at least .* over FAR-SALT-30; price impact 33\.47 %$/),
  ])
  expect(end).toMatch(/^this pays 33\.47 % less than the listed prices of its pools: nothing was sent/)
})

/** Sets the node's best route: over FAR-SALT-5, for these amounts. */
function findsBest(given: Json, got: Json): void {
  node.says('/api/v1/quote', {
    amountIn: given,
    amountOut: got,
    route: [{ pool: 'FAR-SALT-5', feeBps: 5, out: got }],
  })
}

it('a named route is compared with the best one, within the bounds of the impact', async () => {
  node.simulates()
  const swap = ['swap', '1', 'FAR', 'SALT', '--route', POOL, '--no-wait']
  // Over POOL, a FAR gives 0.4982 SALT.
  findsBest(far('100000000'), salt('6700'))
  const beside = '; the best way, FAR-SALT-5 would pay 0.67 SALT: this is 25.65 % worse'
  const refused = await node.run(...swap)
  expect(refused.end).toBe(
    'this pays 25.65 % less than the best route: nothing was sent; leave --route out, or say --accept-impact',
  )
  expect(refused.notes.at(-1)).toBe(
    `swap 1 FAR for at least 0.4958 SALT over FAR-SALT-30; price impact 0.36 %${beside}`,
  )
  expect(node.sent).toEqual([])
  const tried = await node.run(...swap.slice(0, -1), '--dry-run', '--json')
  expect(JSON.parse(tried.prints[0] as string)).toMatchObject({
    ...{ priceImpactPct: '0.36', belowBestPct: '25.65' },
    needs: '--accept-impact',
  })
  const accepted = await node.run(...swap, '--accept-impact')
  expect([accepted.end, accepted.notes[0]]).toEqual([0, expect.stringContaining(beside)])
  findsBest(far('100000000'), salt('5300'))
  const near = await node.run(...swap)
  expect([near.end, near.notes[0]]).toEqual([0, expect.stringMatching(/would pay 0\.53 SALT: this is 6 % worse$/)])
  findsBest(far('100000000'), salt('4982'))
  expect((await node.run(...swap)).notes[0]).toMatch(/price impact 0\.36 %$/)
  expect(node.sent).toHaveLength(3)
})

it('a named pool for an exact output is compared with the best one', async () => {
  node.simulates()
  const swap = ['swap', '1', 'SALT', 'FAR', '--exact-out', '--route', POOL, '--no-wait']
  findsBest(salt('4000'), far('100000000'))
  expect((await node.run(...swap)).end).toMatch(/^this pays 20\.\d\d % less than the best route: nothing was sent/)
  expect(node.sent).toEqual([])
  findsBest(salt('4900'), far('100000000'))
  const near = await node.run(...swap)
  expect(near.end).toBe(0)
  expect(near.notes[0]).toMatch(/; the best way, SALT-FAR-5 would take 0\.49 SALT: this is 2\.\d\d % worse$/)
})

it('a dry run says who gives and gets how much, and what is burned', async () => {
  const of = (address: string) => ({ address, symbol: 'SALT' })
  node.simulates({
    changes: [
      {
        what: 'accounts',
        of: { address: OWN },
        before: { balance: '900', nonce: '1' },
        after: { balance: '100', nonce: '2' },
      },
      { what: 'token-balances', of: of(OWN), before: { amount: '70000' }, after: { amount: '40000' } },
      { what: 'token-balances', of: of(OTHER), before: null, after: { amount: '25000' } },
      {
        what: 'supply',
        of: { symbol: 'SALT' },
        before: { burned: '0', minted: '9' },
        after: { burned: '5000', minted: '9' },
      },
      {
        what: 'pools',
        of: { pool: POOL },
        before: { assetX: 'FAR', reserveX: '9' },
        after: { assetX: 'FAR', reserveX: '10' },
      },
      { what: 'pool-shares', of: { address: OWN, pool: POOL }, before: { shares: '7' }, after: null },
      { what: 'agents', of: { id: 'x' }, before: null, after: { name: 'x' } },
    ],
  })
  const { prints, end } = await node.run('token', 'burn', '0.5', 'SALT', '--dry-run')
  expect(end).toBe(0)
  expect(prints.slice(2)).toEqual([
    '  you: -0.000008 FAR',
    '  you: -3 SALT',
    `  ${OTHER}: +2.5 SALT`,
    '  burned: 0.5 SALT',
    `  pool ${POOL}: +0.00000001 FAR`,
    `  you, shares of ${POOL}: -7`,
    '  also written: agents',
    'nothing was signed or sent',
  ])
  node.simulates()
  const made = await node.run('token', 'create', 'TEA', 'Tea', '--dry-run')
  expect(made.prints).toContain('  burned: 10 FAR')
})

it('a wallet with too little is told which asset and how much it lacks', async () => {
  node.simulates({ success: false, code: 'insufficient_balance' })
  holds([salt('10000')])
  const burn = await node.run('token', 'burn', '2', 'SALT')
  expect(burn.end).toContain('the wallet holds too little: it holds 1 SALT, and this takes 2 SALT;')
  const stake = await node.run('stake', '1000', '--tier', '0', '--dry-run')
  expect(stake.end).toContain('too little: it holds 0.00001 FAR, and this takes 1000.001 FAR;')
  expect((await node.run('token', 'burn', '2', 'WOOL')).end).toContain('too little: it holds no WOOL;')
  expect(node.sent).toEqual([])
})

it('the part of a deposit that a pool will not take is shown before sending', async () => {
  node.simulates()
  const add = await node.run('pool', 'add', POOL, '10', 'FAR', '1', 'SALT', '--no-wait')
  expect(add.notes[0]).toMatch(
    /^add about 2 FAR and 1 SALT to .*; at the price of the pool 8 FAR of what you offer stays/,
  )
  const fitting = await node.run('pool', 'add', POOL, '2', 'FAR', '1', 'SALT', '--no-wait')
  expect(fitting.notes[0]).not.toContain('stays')
})

it.each([
  [['--limit', '0.3'], 3000n, /for at least 0\.3 SALT by --limit over/],
  [['--limit', '0.3', '--slippage', '0.5'], 4958n, /0\.4958 SALT by --slippage, which is tighter than --limit over/],
  [['--limit', '0.497', '--slippage', '0.5'], 4970n, /0\.497 SALT by --limit, which is tighter than --slippage over/],
  [[], 4958n, /for at least 0\.4958 SALT over/],
])('the least of a swap is the one that was asked for: %o', async (flags, limit, line) => {
  node.simulates()
  const { notes, end } = await node.run('swap', '1', 'FAR', 'SALT', '--route', POOL, '--no-wait', ...flags)
  expect(end).toBe(0)
  expect(notes[0]).toMatch(line)
  expect(node.sent[0]?.body.payload).toMatchObject({ limit })
})

it('the maximum input of an exact output is the one that was asked for', async () => {
  node.simulates()
  const swap = ['swap', '1', 'SALT', 'FAR', '--exact-out', '--route', POOL, '--no-wait', '--limit', '9']
  expect((await node.run(...swap)).notes[0]).toMatch(/^swap at most 9 SALT by --limit for 1 FAR/)
  expect((await node.run(...swap, '--slippage', '1')).notes[0]).toMatch(/at most 0\.50\d* SALT by --slippage/)
  expect(node.sent[0]?.body.payload).toMatchObject({ limit: 90_000n })
})

it('the JSON of a dry-run swap has its impact, and what sending it needs', async () => {
  node.simulates()
  const swap = async (...words: readonly string[]) => {
    const { prints } = await node.run('swap', ...words, 'FAR', 'SALT', '--route', POOL, '--dry-run', '--json')
    return JSON.parse(prints[0] as string) as Json
  }
  expect(await swap('1000')).toMatchObject({ wouldMine: true, priceImpactPct: '33.47', needs: '--accept-impact' })
  const small = await swap('1')
  expect(small).toMatchObject({ priceImpactPct: '0.36' })
  expect(small).not.toHaveProperty('needs')
})

it.each([
  [['pool', 'add', POOL, '0.00000001', 'FAR'], /^nothing was sent: these amounts are too small/],
  [['pool', 'remove', POOL, '--all'], /^nothing was sent: the wallet holds no shares of FAR-SALT-30$/],
  [
    ['swap', '1', 'FAR', 'SALT', '--route', POOL, '--limit', '9'],
    /^nothing was sent: the quote is .* worse than --limit$/,
  ],
])('what the chain does not allow now is no fault of the command line: %o', async (words, line) => {
  const { end, fault } = await node.run(...words)
  expect(end).toMatch(line)
  expect(fault && exitCodeOf(fault)).toBe(1)
})
