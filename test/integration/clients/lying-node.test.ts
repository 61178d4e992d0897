import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEV_ADDRESSES } from '../../../config/networks/dev-keys.ts'
import type { Address } from '../../../consensus/primitives/ids.ts'
import { type Json, LyingNode, OTHER, OWN } from '../../support/lying-node.ts'

const node = new LyingNode()
beforeAll(() => node.open())
afterAll(() => node.close())
beforeEach(() => node.reset())

const RECIPIENT = '0x00000000219ab540356cBB839Cbe05303d7705Fa'
const ID = 'ab'.repeat(32)

const units = (symbol: string, decimals: number, amount: bigint): Json => ({
  ...{ symbol, decimals, units: amount.toString() },
})
const token = (symbol: string, decimals: number): void =>
  node.says(`/api/v1/tokens/${symbol}`, { token: { symbol, decimals, frozen: false, hidden: false } })
const pool = (asked: string, answer: Json): void => node.says(`/api/v1/pools/${asked}`, { pool: { id: ID, ...answer } })

/** The payload of the only transaction that the node got. */
function signed(): Json {
  expect(node.sent).toHaveLength(1)
  return node.sent[0]?.body.payload as never
}

describe('a node that lies about decimals', () => {
  it('does not make a withdrawal from the bridge a hundred times as large', async () => {
    token('XUSD', 8)
    const { end } = await node.run('bridge', 'withdraw', '25', 'base', RECIPIENT, '--no-wait')
    if (end === 0) expect(signed()).toMatchObject({ amount: 25_000_000n })
    else expect(node.sent).toEqual([])
  })

  it('does not make a transfer of a token of the network ten thousand times as large', async () => {
    token('SALT', 8)
    const { end } = await node.run('token', 'transfer', '5', 'SALT', OTHER, '--no-wait')
    if (end === 0) expect(signed()).toMatchObject({ amount: 50_000n })
    else expect(node.sent).toEqual([])
  })

  it('does not make a deposit into a pool larger', async () => {
    pool('FAR-SALT-30', {
      ...{ name: 'FAR-SALT-30', feeBps: 30, shares: '1000000' },
      ...{ x: units('FAR', 10, 10n ** 12n), y: units('SALT', 4, 10n ** 8n) },
    })
    await node.run('pool', 'add', 'FAR-SALT-30', '10', 'FAR', '--no-wait')
    expect(node.sent).toEqual([])
  })

  it('does not make a gift to a reserve larger', async () => {
    token('FUSD', 6)
    const supply = units('FUSD', 6, 10n ** 12n)
    node.says('/api/v1/stables', { stables: [{ symbol: 'FUSD', supply, reserve: units('XUSD', 10, 10n ** 12n) }] })
    await node.run('stable', 'deposit', '100', 'FUSD', '--no-wait')
    // The right decimals of another token would give a wrong amount too.
    node.says('/api/v1/stables', { stables: [{ symbol: 'FUSD', supply, reserve: units('XBTC', 8, 10n ** 12n) }] })
    await node.run('stable', 'deposit', '100', 'FUSD', '--no-wait')
    expect(node.sent).toEqual([])
  })

  it('gets amounts of a token that only it knows in base units', async () => {
    token('TEA', 8)
    const { notes } = await node.run('token', 'transfer', '5', 'TEA', OTHER, '--no-wait')
    expect(signed()).toMatchObject({ amount: 500_000_000n })
    expect(notes.join('\n')).toContain('8 decimals')
  })
})

describe('a node that answers about another pool', () => {
  const far = units('FAR', 8, 10n ** 12n)
  const wool = units('WOOL', 4, 10n ** 8n)

  it('gets no deposit into that pool', async () => {
    for (const other of [
      { name: 'FAR-SALT-30', feeBps: 30, x: far, y: wool },
      { name: 'FAR-SALT-30', feeBps: 100, x: far, y: units('SALT', 4, 10n ** 8n) },
    ]) {
      pool('FAR-SALT-30', { ...other, shares: '1000000' })
      await node.run('pool', 'add', 'FAR-SALT-30', '10', 'FAR', '--no-wait')
      await node.run('swap', '1', 'FAR', String(other.y.symbol), '--route', 'FAR-SALT-30', '--no-wait')
    }
    pool(ID, { name: 'FAR-WOOL-30', feeBps: 30, x: far, y: wool, shares: '1000000' })
    await node.run('pool', 'add', ID, '10', 'FAR', '--no-wait')
    expect(node.sent).toEqual([])
  })

  it('gets a deposit into the pool that was asked for, with its assets in either order', async () => {
    pool('WOOL-FAR-30', { name: 'x', feeBps: 30, x: far, y: wool, shares: '1000000' })
    const { notes } = await node.run('pool', 'add', 'WOOL-FAR-30', '10', 'FAR', '--no-wait')
    expect(signed()).toMatchObject({ assetA: 'FAR', assetB: 'WOOL', feeBps: 30 })
    expect(notes.join('\n')).toContain('to FAR-WOOL-30 for')
  })
})

describe('a node that lies about an agent', () => {
  const record = {
    ...{ agentId: 'my-agent', name: 'My agent', endpoint: 'https://agent.example', capabilities: ['search'] },
    ...{ owner: OWN, payout: OWN, settlers: [], services: [] },
  }
  const ENDPOINT = ['--endpoint', 'https://agent.example']
  const NO_SETTLERS = ['--settlers', '']
  const update = (agent: Json, ...flags: string[]) => {
    node.says('/api/v1/agents/my-agent', { agent: { ...record, ...agent } })
    return node.run('agent', 'update', 'my-agent', '--name', 'New', '--no-wait', ...flags)
  }

  it('does not become its owner', async () => {
    await update({ owner: OTHER }, ...ENDPOINT, ...NO_SETTLERS)
    expect(signed()).toMatchObject({ owner: DEV_ADDRESSES[0] as Address })
  })

  it('does not get the payment for it', async () => {
    const { end } = await update({ payout: OTHER }, ...ENDPOINT, ...NO_SETTLERS)
    expect(node.sent).toEqual([])
    expect(end).toContain(`--payout ${OTHER}`)
    await update({ payout: OTHER }, '--payout', OTHER, ...ENDPOINT, ...NO_SETTLERS)
    expect(signed()).toMatchObject({ payout: DEV_ADDRESSES[1] as Address })
  })

  it.each([
    ['adds a settler', { settlers: [OTHER] }, ENDPOINT, `--settlers "${OTHER}"`],
    ['leaves the settlers out', {}, ENDPOINT, '--settlers ""'],
    ['sends callers elsewhere', { endpoint: 'https://x/;reboot' }, NO_SETTLERS, '--endpoint <address>'],
  ])('and %s gets no signature', async (_, told, flags, asked) => {
    const { end } = await update(told, ...flags)
    expect(node.sent).toEqual([])
    expect(end).toMatch(new RegExp(`if they are right, add ${asked}$`))
  })

  it('is answered with a summary of everything that is signed', async () => {
    const { notes } = await update({}, '--settlers', OTHER, ...ENDPOINT)
    expect(signed()).toMatchObject({ settlers: [DEV_ADDRESSES[1] as Address] })
    for (const text of ['New', OWN, OTHER, 'https://agent.example']) expect(notes.join('\n')).toContain(text)
  })
})

describe('a node that quotes a bad price', () => {
  const quotes = (amountIn: Json, amountOut: Json, pools: string): void =>
    node.says('/api/v1/quote', { amountIn, amountOut, route: [{ pool: pools, feeBps: 30, out: amountOut }] })
  /** A pool so deep that its price does not move. `price` is in units of FAR for one of SALT. */
  const deepPool = (price: bigint): void =>
    pool('FAR-SALT-30', {
      ...{ name: 'FAR-SALT-30', feeBps: 30, shares: '1000000' },
      ...{ x: units('FAR', 8, 10n ** 9n * price), y: units('SALT', 4, 10n ** 9n) },
    })

  it('gets no signature for less than the caller’s minimum', async () => {
    deepPool(10n ** 6n)
    quotes(units('FAR', 8, 10n ** 9n), units('SALT', 4, 1_000n), 'FAR-SALT-30')
    expect((await node.run('swap', '10', 'FAR', 'SALT', '--limit', '1', '--no-wait')).end).toContain('0.1 SALT')
    expect(node.sent).toEqual([])
    await node.run('swap', '10', 'FAR', 'SALT', '--limit', '0.1', '--no-wait')
    expect(signed()).toMatchObject({ amount: 10n ** 9n, limit: 1_000n })
  })

  it('gets no signature for more than the caller’s maximum', async () => {
    deepPool(10n ** 8n)
    quotes(units('FAR', 8, 10n ** 12n), units('SALT', 4, 10_000n), 'FAR-SALT-30')
    const swap = ['swap', '1', 'FAR', 'SALT', '--exact-out', '--no-wait', '--limit']
    expect((await node.run(...swap, '9999')).end).toContain('10000 FAR')
    expect(node.sent).toEqual([])
    await node.run(...swap, '10000')
    expect(signed()).toMatchObject({ amount: 10_000n, limit: 10n ** 12n })
  })

  it.each([
    ['more is got', [], [units('FAR', 8, 10n ** 8n), units('SALT', 4, 10n ** 7n)]],
    ['more is given', ['--exact-out'], [units('FAR', 8, 10n ** 11n), units('SALT', 4, 10n ** 7n)]],
  ])('as that of an amount that was not asked for gets no signature: %s', async (_, flags, [amountIn, amountOut]) => {
    deepPool(10n ** 4n)
    quotes(amountIn as Json, { ...(amountOut as Json) }, 'FAR-SALT-30')
    const asked = flags.length === 0 ? '10' : '1'
    const { end } = await node.run('swap', asked, 'FAR', 'SALT', '--no-wait', ...flags)
    expect(end).toContain('its quote is for another swap')
    expect(node.sent).toEqual([])
  })

  it('does not move the reader’s cursor, and the way is told as it is signed', async () => {
    deepPool(10n ** 6n)
    quotes(units('FAR', 8, 10n ** 9n), units('SALT', 4, 1_000n), '\u001b[2J FAR-FUSD-5')
    const { notes } = await node.run('swap', '10', 'FAR', 'SALT', '--no-wait')
    expect(signed()).toMatchObject({ hops: [{ asset: 'SALT', feeBps: 30 }] })
    expect(notes.join('\n')).toContain('over FAR-SALT-30')
    expect(notes.join('\n')).not.toContain('\u001b')
  })
})

it('a node that claims an empty reserve does not make a wallet burn tokens for nothing', async () => {
  const [supply, reserve] = [units('FUSD', 6, 10n ** 12n), units('XUSD', 6, 0n)]
  node.says('/api/v1/stables', { stables: [{ symbol: 'FUSD', supply, reserve }] })
  expect((await node.run('stable', 'redeem', '1', 'FUSD', '--no-wait')).end).toContain('would pay nothing')
  expect(node.sent).toEqual([])
})

describe('a node that answers garbage', () => {
  it.each([['9'], [Number.NaN], [-1], [1.5], [null], [{}], [4_294_967_295], [2 ** 53]])(
    'as its height (%j) gets no signature, and causes no exception',
    async (height) => {
      node.status({ height })
      const { fault } = await node.run('token', 'burn', '1', 'SALT', '--no-wait')
      expect(fault?.code).toBe('cli/refused')
      expect(node.sent).toEqual([])
    },
  )
})
