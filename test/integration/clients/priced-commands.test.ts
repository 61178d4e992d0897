import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { exitCodeOf } from '../../../src/cli/exit-codes.ts'
import { type Json, LyingNode, OTHER, OWN } from '../../support/lying-node.ts'

/** Tests what commands print before they send a transaction, for people and as JSON. */
const node = new LyingNode()
beforeAll(() => node.open())
afterAll(() => node.close())

const units = (symbol: string, decimals: number, count: string) => ({ symbol, decimals, units: count, text: count })

/** Sets the node's prices of a base unit, in millionths of a dollar. `route` names the pools behind them. */
function prices(told: Readonly<Record<string, readonly [string, string]>>, route: readonly string[] = []): void {
  for (const [symbol, [numerator, denominator]] of Object.entries(told)) {
    const token = { symbol, decimals: symbol === 'FAR' ? 8 : 4, frozen: false, hidden: false }
    const price = { microsPerUnit: { numerator, denominator }, route }
    node.says(`/api/v1/tokens/${symbol}`, { token: { ...token, price } })
  }
}

beforeEach(() => {
  node.reset()
  node.simulates()
})

it.each([
  [['token', 'transfer', '5', 'SALT', OTHER], `send 5 SALT to ${OTHER}`],
  [['token', 'mint', '500', 'SALT', OTHER], `mint 500 SALT to ${OTHER}`],
  [['token', 'issuer', 'SALT', OTHER], `the issuer of SALT becomes ${OTHER}`],
  [['wallet', 'send', OTHER, '5'], `send 5 FAR to ${OTHER}`],
])('who gets it is named before it is sent: %o', async (words, line) => {
  expect((await node.run(...words, '--no-wait')).notes[0]).toBe(line)
  expect(node.sent).toHaveLength(1)
})

it('a payment of coins is tried with --dry-run, and sent without waiting', async () => {
  const tried = await node.run('wallet', 'send', OTHER, '5', '--dry-run')
  expect(tried.prints).toEqual([
    `dry run: send 5 FAR to ${OTHER}`,
    'comes to: fee 0.001 FAR',
    'nothing was signed or sent',
  ])
  expect(node.sent).toEqual([])
  const sent = await node.run('wallet', 'send', OTHER, '5', 'FAR')
  expect([sent.end, sent.prints]).toEqual([0, [node.sent[0]?.txId]])
  const token = await node.run('wallet', 'send', OTHER, '1', 'SALT')
  expect(token.end).toMatch(/^wallet send is for FAR alone; .* token transfer <amount> <symbol> <address>$/)
})

const POOL = ['pool', 'create', '100', 'FAR', '50', 'SALT', '--no-wait']

it('a pool far from the known price is not opened unless the command line says that it may be', async () => {
  // 1 FAR is 0.2 USD and 1 SALT is 0.5 USD, so a FAR is worth 0.4 SALT. The pool would open at 0.5.
  prices({ FAR: ['1', '500'], SALT: ['50', '1'] })
  const refused = await node.run(...POOL)
  expect(refused.end).toMatch(
    /^the price of the pool lies 25 % from the known one: nothing was sent; .* --accept-impact$/,
  )
  expect(refused.fault && exitCodeOf(refused.fault)).toBe(1)
  expect(node.sent).toEqual([])
  const says = /; at 1 FAR = 0\.5 SALT, 25 % above the known price of 0\.4 SALT$/
  const tried = await node.run(...POOL.slice(0, -1), '--dry-run', '--json')
  expect(JSON.parse(tried.prints[0] as string)).toMatchObject({ success: true, needs: '--accept-impact' })
  const accepted = await node.run(...POOL, '--accept-impact')
  expect(accepted.notes[0]).toMatch(says)
  expect(node.sent).toHaveLength(1)
})

it('the known price is the present one of the pools, not that of the last epoch', async () => {
  prices({ SALT: ['50', '1'] })
  prices({ FAR: ['1', '500'] }, ['FAR-FUSD-30'])
  const unit = { microsPerUnit: { numerator: '1', denominator: '1' }, basis: 'unit', route: [] }
  node.says('/api/v1/tokens/FUSD', {
    token: { symbol: 'FUSD', decimals: 6, frozen: false, hidden: false, price: unit },
  })
  // In its pool a FAR is now worth 0.25 USD, or 0.5 SALT.
  const pool = { id: 'ab'.repeat(32), name: 'FAR-FUSD-30', feeBps: 30, shares: '1000000' }
  const [x, y] = [units('FAR', 8, '4000000000'), units('FUSD', 6, '10000000')]
  node.says('/api/v1/pools/', { pool: { ...pool, x, y } })
  expect((await node.run(...POOL)).notes[0]).toMatch(/, at the known price of 0\.5 SALT$/)
})

it('a route to a token that is redeemable for dollars counts as a route to dollars', async () => {
  const token = (symbol: string, decimals: number, price: object) =>
    node.says(`/api/v1/tokens/${symbol}`, { token: { symbol, decimals, frozen: false, hidden: false, price } })
  const par = { microsPerUnit: { numerator: '1', denominator: '1' }, basis: 'par', route: [] }
  token('XUSD', 6, par)
  token('FAR', 8, { microsPerUnit: { numerator: '1', denominator: '400' }, basis: 'epoch', route: [] })
  token('SALT', 4, { microsPerUnit: { numerator: '50', denominator: '1' }, basis: 'pool', route: ['SALT-XUSD-30'] })
  const pool = { id: 'ab'.repeat(32), name: 'SALT-XUSD-30', feeBps: 30, shares: '1000000' }
  const [x, y] = [units('SALT', 4, '100000'), units('XUSD', 6, '2500000')]
  node.says('/api/v1/pools/', { pool: { ...pool, x, y } })
  // A FAR and a SALT are both 0.25 USD. The pool would open at half of that price.
  expect((await node.run(...POOL)).end).toMatch(/^the price of the pool lies 50 % from the known one/)
})

it('a pool is not compared with itself: the coin’s pool is compared with the mean of the epoch, a token’s only pool with nothing', async () => {
  const pool = { id: 'ab'.repeat(32), feeBps: 30, shares: '1000000' }
  const [x, y] = [units('FAR', 8, '4000000000'), units('FUSD', 6, '10000000')]
  node.says('/api/v1/pools/', { pool: { ...pool, name: 'FAR-FUSD-30', x, y } })
  const mean = { microsPerUnit: { numerator: '1', denominator: '500' }, basis: 'epoch', route: ['FAR-FUSD-30'] }
  node.says('/api/v1/tokens/FAR', { token: { symbol: 'FAR', decimals: 8, frozen: false, hidden: false, price: mean } })
  const unit = { microsPerUnit: { numerator: '1', denominator: '1' }, basis: 'unit', route: [] }
  node.says('/api/v1/tokens/FUSD', {
    token: { symbol: 'FUSD', decimals: 6, frozen: false, hidden: false, price: unit },
  })
  const add = await node.run('pool', 'add', 'FAR-FUSD-30', '4', 'FAR', '--no-wait')
  expect(add.end).toMatch(/^the price of the pool lies 25 % from the known one/)
  const salt = {
    microsPerUnit: { numerator: '50', denominator: '1' },
    basis: 'pool',
    route: ['FAR-SALT-30', 'FAR-FUSD-30'],
  }
  node.says('/api/v1/tokens/SALT', {
    token: { symbol: 'SALT', decimals: 4, frozen: false, hidden: false, price: salt },
  })
  node.says('/api/v1/pools/', { pool: { ...pool, name: 'FAR-SALT-30', x, y: units('SALT', 4, '100000') } })
  const own = await node.run('pool', 'add', 'FAR-SALT-30', '4', 'FAR', '--no-wait')
  expect([own.end, own.notes[0]]).toEqual([0, expect.not.stringContaining('known price')])
})

it('a pool near the known price is opened, and where a price is not known there is none to hold it against', async () => {
  prices({ FAR: ['1', '500'], SALT: ['41', '1'] })
  expect((await node.run(...POOL)).notes[0]).toMatch(/2\.5 % above the known price of 0\.487805 SALT$/)
  prices({ FAR: ['1', '500'], SALT: ['40', '1'] })
  expect((await node.run(...POOL)).notes[0]).toMatch(/; at 1 FAR = 0\.5 SALT, at the known price of 0\.5 SALT$/)
  prices({ FAR: ['1', '500'], SALT: ['0', '1'] })
  expect((await node.run(...POOL)).notes[0]).toMatch(/100 FAR and 50 SALT$/)
  expect(node.sent).toHaveLength(3)
})

it('a withdrawal beyond the vault says what the vault has and what is asked for', async () => {
  node.simulates({ success: false, code: 'bridge_float' })
  node.says('/api/v1/bridge/0', { network: { float: units('XUSD', 6, '3500000') } })
  const words = ['bridge', 'withdraw', '25', 'ethereum', '0x00000000219ab540356cBB839Cbe05303d7705Fa']
  expect((await node.run(...words)).end).toContain('holds too little: it holds 3.5 XUSD, and this takes 25 XUSD;')
  node.says('/api/v1/bridge/0', { network: {} })
  expect((await node.run(...words)).end).toContain('the vault of the network holds too little;')
})

it('holdings have a total, and assets without a price are named', async () => {
  const native = { ...units('FAR', 8, '5'), valueUsd: '1.25' }
  const lists = { tokens: [], positions: [], stakes: [] }
  const path = `/api/v1/accounts/${OWN}/holdings`
  node.says(path, { native, ...lists, totalUsd: '1.25', unpriced: [] })
  expect((await node.run('wallet', 'holdings', OWN)).prints.at(-1)).toMatch(/^total +1\.25$/)
  node.says(path, { native, ...lists, totalUsd: '1.25', unpriced: ['MOSS', 'TEA'] })
  expect((await node.run('wallet', 'holdings', OWN)).prints.at(-1)).toMatch(/^total +without MOSS, TEA, .* 1\.25$/)
})

it('a list of stakes is a list for programs too', async () => {
  const told = { address: OWN, height: 7, blockId: 'ab', stakes: [{ stakeId: 'x' }] }
  const more = {
    native: units('FAR', 8, '5'),
    tokens: [],
    truncated: { tokens: false, positions: false, stakes: false },
  }
  node.says(`/api/v1/accounts/${OWN}/holdings`, { ...told, ...more })
  const { prints } = await node.run('stake', 'list', OWN, '--json')
  expect(JSON.parse(prints[0] as string)).toEqual({ ...told, truncated: false })
})

it('pools are listed the deepest first, those of unknown worth last', async () => {
  const pools = [
    ['A', '9'],
    ['B', null],
    ['C', '1000'],
    ['D', '99.5'],
  ].map(([name, tvlUsd]) => ({ name, tvlUsd }))
  node.says('/api/v1/pools', { pools, nextCursor: null })
  const names = (await node.run('pool', 'list')).prints.slice(1).map((row) => row[0])
  expect(names).toEqual(['C', 'D', 'A', 'B'])
  const listed = JSON.parse((await node.run('pool', 'list', '--json')).prints[0] as string) as { pools: Json[] }
  expect(listed.pools.map(({ name }) => name)).toEqual(names)
})

it('lower-case symbols and pools are refused, and the right spelling is named', async () => {
  expect((await node.run('token', 'burn', '1', 'fusd')).end).toMatch(/^"fusd" is no symbol: .*; did you mean FUSD\?$/)
  expect((await node.run('token', 'burn', '1', 'f.d')).end).not.toContain('did you mean')
  expect((await node.run('pool', 'show', 'far-fusd-30')).end).toMatch(/; did you mean FAR-FUSD-30\?$/)
  expect((await node.run('pool', 'show', 'far')).end).not.toContain('did you mean')
})

it.each([
  ['-', '-'],
  [`@${import.meta.filename}`, import.meta.filename],
])('a file in the place of a request is not paid for as one: %s', async (request, file) => {
  const { end } = await node.run('call', 'node-swap-quote', request)
  expect(end).toBe(`"${request.slice(0, 60)}" would be the request itself: say --request-file ${file}`)
})

it.each([[['call', 'node-sentiment']], [['services', 'test', 'node-sentiment']]])(
  'a request that is the path of a file is refused before it is sent: %o',
  async (words) => {
    const path = import.meta.filename
    const { end, fault } = await node.run(...words, path)
    expect(end).toBe(
      `"${path.slice(0, 60)}" is a file here: say --request-file ${path} to send what is in it; its name alone is sent from standard input, by --request-file -`,
    )
    expect(fault && exitCodeOf(fault)).toBe(2)
    // A folder cannot be a request file, and a path that does not exist is a request.
    for (const text of [import.meta.dirname, `${path}.x`, 'a\0b'])
      expect((await node.run(...words, text)).end).not.toContain('--request-file')
  },
)

const WITHDRAWAL = 'ab'.repeat(32)

/** Sets the node's answer: a withdrawal of 25 XUSD with this status. */
function withdrawn(status: string): void {
  const { amount, fee, receives } = {
    ...{ amount: { ...units('XUSD', 6, '25000000'), text: '25' } },
    ...{ fee: { ...units('XUSD', 6, '25000'), text: '0.025' } },
    ...{ receives: { ...units('XUSD', 6, '24975000'), text: '24.975' } },
  }
  const network = { number: 2, key: 'arbitrum', name: 'Arbitrum' }
  const facts = { id: WITHDRAWAL, network, sender: OWN, recipient: '0x00', createdAt: 9, externalTxId: null }
  node.says('/api/v1/bridge/withdrawals/', { withdrawal: { ...facts, amount, fee, receives, status } })
}

it.each([
  ['pending', /^To be paid out +24\.975 XUSD$/, true],
  ['signing', /^To be paid out +24\.975 XUSD$/, true],
  ['released', /^Paid out +24\.975 XUSD$/, true],
  ['cancelled', /^Given back +25 XUSD$/, false],
])(
  'a withdrawal that is %s says what becomes of its tokens, and so does its transaction',
  async (status, line, hasFee) => {
    withdrawn(status)
    const shown = (await node.run('bridge', 'withdrawal', WITHDRAWAL)).prints
    expect(shown).toContainEqual(expect.stringMatching(line))
    expect(shown.some((one) => /^Fee +0\.025 XUSD$/.test(one))).toBe(hasFee)
    expect(shown.filter((one) => /paid out|given back/i.test(one))).toHaveLength(1)
    const transaction = { kind: 'bridge_withdraw', payload: { network: 2, amount: '25000000', recipient: '0x00' } }
    const receipt = { success: true, code: 0, outcome: null, fee: '100000', amounts: ['24975000'] }
    const mined = { status: 'mined', height: 9, confirmations: 1, receipt }
    node.says('/api/v1/tx/', { txId: WITHDRAWAL, ...mined, transaction: { txId: WITHDRAWAL, ...transaction } })
    const told = (await node.run('tx', WITHDRAWAL)).prints
    expect(told).toContainEqual(expect.stringMatching(line))
    expect(told.filter((one) => /paid out|given back/i.test(one))).toHaveLength(1)
  },
)

it.each([
  [
    { how: 'failed', height: 337, receiptTxId: 'e1'.repeat(32) },
    `failed, paid back at height 337 (${'e1'.repeat(32)})`,
  ],
  [{ how: 'delivered', height: 8, receiptTxId: 'e1'.repeat(32) }, `delivered at height 8 (${'e1'.repeat(32)})`],
  [{ how: 'expired', height: 99, receiptTxId: null }, 'expired, paid back at height 99'],
])('the payment of a call says how the call ended: %j', async (closure, end) => {
  const payload = { agentId: 'acme', serviceId: 'node-x', amount: '4800000' }
  const receipt = { success: true, code: 0, outcome: null, fee: '155529', amounts: [] }
  const paid = { txId: WITHDRAWAL, status: 'mined', height: 5, confirmations: 1, receipt }
  node.says('/api/v1/tx/', { ...paid, transaction: { kind: 'agent_invoke', payload }, closure })
  expect((await node.run('tx', WITHDRAWAL)).prints.map((line) => line.replace(/ {2,}/, '  '))).toContain(`Call  ${end}`)
})

it('a text that begins with @ and names no file is the request itself', async () => {
  expect((await node.run('call', 'node-swap-quote', '@name')).end).not.toContain('--request-file')
})
