import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sealHeader } from '../../../consensus/block/header.ts'
import { formatAddress } from '../../../consensus/crypto/address.ts'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import { wallet } from '../../support/chain.ts'
import { type Json, LyingNode } from '../../support/lying-node.ts'

/** Tests how commands show a node's documents to people. With `--json` the document is printed as it came. */
const node = new LyingNode()
beforeAll(() => node.open())
afterAll(() => node.close())
beforeEach(() => node.reset())

const ID = 'ab'.repeat(32)
const ADDRESS = formatAddress('dfar', wallet(1).address)
const [ALICE, BOB] = ['dfar1alice', 'dfar1bob']
const coins = (symbol: string, text: string): Json => ({ symbol, decimals: 8, units: '1', text })

const HEADER = sealHeader({
  ...{ version: 1, height: 6, parent: ID, timeMs: Date.UTC(2026, 10, 26, 12, 10, 25, 433), target: 1n },
  ...{ transactionsRoot: ID, witnessRoot: ID, receiptsRoot: ID, stateRoot: ID, historyRoot: ID, miner: ID },
  ...{ baseFee: 32n, weightUsed: 0, extra: new Uint8Array(32), nonce: 0n },
} as never)

const RECEIPT = { type: 'transaction', txId: ID, code: 0, fee: '158103', amounts: [], success: true, outcome: null }

const mined = (kind: string, payload: Json, receipt: Json = {}): Json => ({
  ...{ txId: ID, status: 'mined', height: 6, confirmations: 8, proof: { header: toHex(HEADER.bytes) } },
  transaction: { sender: ALICE, kind, payload, memo: '', validUntil: 205 },
  receipt: { ...RECEIPT, ...receipt },
})

async function shown(document: Json, ...words: readonly string[]): Promise<readonly string[]> {
  node.says('/api/v1/', document)
  const raw = await node.run(...words, '--json')
  expect(raw.prints).toEqual([JSON.stringify(document, null, 2)])
  return (await node.run(...words)).prints
}

describe('farthing tx', () => {
  const tx = (document: Json): Promise<readonly string[]> => {
    node.says('/api/v1/tx/', document)
    return shown(document, 'tx', ID)
  }

  it('shows what was moved, what it cost and when', async () => {
    expect(await tx(mined('transfer', { to: BOB, amount: '150000000', create: false }))).toEqual([
      `Transaction  ${ID}`,
      'State        mined at height 6, 8 confirmations',
      'Time         2026-11-26 12:10:25 UTC',
      'Kind         transfer',
      'Outcome      success',
      `From         ${ALICE}`,
      `To           ${BOB}`,
      'Amount       1.5 FAR',
      'Fee          0.00158103 FAR',
    ])
  })

  it('shows token amounts with their decimals, and asks the node for unknown ones', async () => {
    node.says('/api/v1/tokens/TEA', { token: { symbol: 'TEA', decimals: 2, frozen: false, hidden: false } })
    expect(await tx(mined('token_mint', { symbol: 'TEA', to: BOB, amount: '1250' }))).toContain('Amount       12.5 TEA')
    node.says('/api/v1/tokens/TEA', { error: 'busy' }, 503)
    const blind = await tx(mined('token_mint', { symbol: 'TEA', to: BOB, amount: '1250' }))
    expect(blind).toContain('Amount       1250 base units of TEA')
  })

  it('shows a swap as it was asked for and its outcome', async () => {
    const hops = [{ asset: 'SALT', feeBps: 30 }]
    const swap = { assetIn: 'FAR', exactOut: false, amount: '1000000000', limit: '49588', hops }
    const lines = await tx(mined('swap', swap, { amounts: ['1000000000', '49837'] }))
    expect(lines.slice(6, 11)).toEqual([
      'Way          FAR -> SALT (0.3 %)',
      'Of           10 FAR',
      'At least     4.9588 SALT',
      'Paid         10 FAR',
      'Received     4.9837 SALT',
    ])
  })

  it('names the bridge, its token and the reserve of a stable token', async () => {
    const left = await tx(mined('bridge_withdraw', { network: 1, amount: '25000000', recipient: '0xab' }))
    expect(left.slice(6, 9)).toEqual(['To           0xab', 'Network      Base', 'Amount       25 XUSD'])
    const redeemed = await tx(mined('stable_redeem', { symbol: 'FUSD', amount: '1000000', minPaid: '995000' }))
    expect(redeemed.slice(6, 8)).toEqual(['Burned       1 FUSD', 'At least     0.995 XUSD'])
  })

  it('says why one failed, in words', async () => {
    const lines = await tx(mined('token_burn', { symbol: 'SALT', amount: '1' }, { code: 21, success: false }))
    expect(lines[4]).toMatch(/^Outcome {6}[a-z]+\/[a-z-]+: [a-z ]+$/)
  })

  it('says of a waiting transaction until when it can be mined, and of an unknown one that it is unknown', async () => {
    const { transaction } = mined('transfer', { to: BOB, amount: '1' })
    expect((await tx({ txId: ID, status: 'mempool', confirmations: 0, transaction })).slice(-1)).toEqual([
      'Valid until  height 205',
    ])
    expect(await tx({ txId: ID, status: 'unknown', executedFrom: 0 })).toEqual([
      `Transaction  ${ID}`,
      'State        unknown: neither waiting nor in a block',
    ])
  })
})

describe('farthing block', () => {
  it('shows the block, its reward and its transactions', async () => {
    const block = {
      ...{ height: 7, id: ID, time: '2026-11-26T12:10:36.441Z', parent: ID, miner: BOB, size: 5736 },
      ...{ canonical: true, confirmations: 7, transactions: [{ txId: ID, kind: 'transfer', sender: ALICE }] },
      receipts: [RECEIPT, { type: 'close', reward: '960883274', burned: '300928' }],
    }
    expect(await shown(block, 'block', '7')).toEqual([
      'Height  7',
      `Block   ${ID}`,
      'Time    2026-11-26 12:10:36 UTC',
      'State   on the best chain, 7 confirmations',
      `Parent  ${ID}`,
      `Miner   ${BOB}`,
      'Reward  9.60883274 FAR',
      'Burned  0.00300928 FAR in fees',
      'Size    5736 bytes, 1 transaction',
      '',
      'KIND      OUTCOME  FEE             FROM        TRANSACTION',
      `transfer  success  0.00158103 FAR  ${ALICE}  ${ID}`,
    ])
  })

  it('shows the first of many transactions, and no outcome of one that was not executed', async () => {
    const transactions = Array.from({ length: 25 }, () => ({ txId: ID, kind: 'transfer', sender: ALICE }))
    const lines = await shown({ height: 7, transactions, receipts: null, canonical: false }, 'block', '7')
    expect(lines).toHaveLength(3 + 2 + 20 + 1)
    expect(lines.at(-1)).toBe('and 5 more: --json shows all')
    expect(lines.at(-2)).toBe(`transfer  -        -    ${ALICE}  ${ID}`)
  })
})

describe('farthing token show, pool show and agent show', () => {
  const TOKEN = {
    ...{ symbol: 'TEA', name: 'Tea leaves', decimals: 2, kind: 'plain', issuer: ALICE, frozen: false },
    ...{ freezable: true, hidden: false, createdAt: 41, burned: '0', supply: '1250', maxSupply: '100000000' },
    ...{ headroom: '99998750', holders: 1, price: { usd: '0.5', route: ['FAR-TEA-30', 'FAR-FUSD-30'] } },
  }

  it('show a token with its maximum, its price and its pools', async () => {
    const pools = [{ name: 'FAR-TEA-30', reserve: coins('TEA', '12') }]
    expect(await shown({ token: TOKEN, backing: null, pools }, 'token', 'show', 'TEA')).toEqual([
      'Token     TEA (Tea leaves), plain, 2 decimals',
      'Supply    12.5 TEA',
      'Maximum   1000000 TEA, 999987.5 TEA to go',
      'Holders   1',
      `Issuer    ${ALICE}`,
      'Freezing  its issuer may freeze it',
      'Since     height 41',
      'Price     1 TEA = 0.5 USD, by FAR-TEA-30 and FAR-FUSD-30',
      '',
      'POOL        HOLDS',
      'FAR-TEA-30  12 TEA',
    ])
  })

  it('explain a token that has no issuer, and a stable token', async () => {
    const [reserve, redeemable] = [coins('XUSD', '200000'), coins('XUSD', '150000')]
    const token = { ...TOKEN, issuer: null, maxSupply: null, price: null, burned: '100', frozen: true, hidden: true }
    const backing = { reserve, redeemable, backingBps: '9950' }
    const lines = await shown({ token, backing, pools: [] }, 'token', 'show', 'TEA')
    expect(lines.slice(2)).toEqual([
      'Maximum   none',
      'Burned    1 TEA',
      'Holders   1',
      'Issuer    none: no more can be minted',
      'Freezing  frozen now',
      'Since     height 41',
      'Price     unknown',
      'Backing   200000 XUSD, 99.5 % of the supply; 150000 XUSD redeemable',
      'Hidden    yes: lists leave it out',
    ])
  })

  it.each(['stable', 'bridged'])(
    'say nothing of the issuer of a %s token, which the ledger mints by its rules',
    async (kind) => {
      const lines = await shown(
        { token: { ...TOKEN, kind, issuer: null }, backing: null, pools: [] },
        'token',
        'show',
        'TEA',
      )
      expect(lines[0]).toBe(`Token     TEA (Tea leaves), ${kind}, 2 decimals`)
      expect(lines.filter((line) => line.startsWith('Issuer'))).toEqual([])
    },
  )

  it('show that a price comes from a thin market, and that a token without an issuer has no issuer powers', async () => {
    const price = { ...TOKEN.price, confidence: 'low', depthUsd: '24.7' }
    const lines = await shown(
      { token: { ...TOKEN, issuer: null, price }, backing: null, pools: [] },
      'token',
      'show',
      'TEA',
    )
    expect(lines).toContain('Maximum   1000000 TEA')
    expect(lines).toContain('Freezing  impossible: it has no issuer')
    expect(lines.at(-1)).toBe(
      'Price     1 TEA = 0.5 USD, by FAR-TEA-30 and FAR-FUSD-30; a thin market, which could pay $24.7 in all',
    )
  })

  it('show that a price of a deep market is unsettled', async () => {
    const price = { ...TOKEN.price, confidence: 'low', depthUsd: '100094.8' }
    const lines = await shown({ token: { ...TOKEN, price }, backing: null, pools: [] }, 'token', 'show', 'TEA')
    expect(lines.at(-1)).toMatch(/FAR-FUSD-30; price moved far and back, nothing is sold by it now$/)
  })

  it('show a pool with its price both ways and its fee as a percentage', async () => {
    const pool = {
      ...{ id: ID, name: 'FAR-FUSD-30', feeBps: 30, x: coins('FAR', '400000'), y: coins('FUSD', '100000') },
      ...{ shares: '2000000', lockedShares: '1000', priceYPerX: '0.25', priceXPerY: '4', createdAt: 0, tvlUsd: null },
      day: { trades: 2, volumeUsd: '10', feesUsd: '0.03', aprPct: '0.1' },
    }
    expect(await shown({ pool }, 'pool', 'show', 'FAR-FUSD-30')).toEqual([
      'Pool      FAR-FUSD-30',
      `Id        ${ID}`,
      'Holds     400000 FAR and 100000 FUSD',
      'Price     1 FAR = 0.25 FUSD',
      '          1 FUSD = 4 FAR',
      'Fee       0.3 %',
      'Worth     unknown',
      'Shares    2000000, 1000 of them locked for ever',
      'Last day  2 trades, volume 10 USD, fees 0.03 USD',
      'Yield     0.1 % a year by the fees of the last day',
      'Since     height 0',
    ])
  })

  it('show an agent with the outcomes of its calls and its services', async () => {
    const agent = {
      ...{ agentId: 'acme', name: 'Acme', endpoint: '', owner: ALICE, payout: BOB, settlers: [ALICE], registeredAt: 1 },
      ...{ capabilities: ['search', 'oracle'], provenCalls: 2, provenVolume: coins('FAR', '0.032') },
      ...{ distinctPayers: 1, record: { delivered: 2, failed: 1, expired: 0, successPct: '66.667', p50Ms: 16 } },
      services: [
        { serviceId: 'find', name: 'Find', priceUsd: '0.004', provenCalls: 2, retired: false },
        { serviceId: 'old', name: 'Old', priceUsd: '0.004', provenCalls: 0, retired: true },
      ],
    }
    expect(await shown({ agent }, 'agent', 'show', 'acme')).toEqual([
      ...['Agent    acme', 'Name     Acme', `Owner    ${ALICE}`, `Payout   ${BOB}`, 'Good at  search, oracle'],
      'Since    height 1',
      'Calls    2 paid and delivered, 0.032 FAR from 1 payer',
      'Ended    2 delivered (66.667 %), 1 failed, 0 expired; half of them within 16 ms',
      '',
      ...['SERVICE  USD      CALLS  NAME', 'find     0.004    2      Find', 'old      retired  0      Old'],
    ])
  })
})

describe('farthing wallet holdings', () => {
  it('marks a value that rests on a thin market', async () => {
    const held = (symbol: string, confidence: string): Json => ({
      ...{ ...coins(symbol, '5'), valueUsd: '1.25', price: { confidence } },
    })
    const lists = { positions: [], stakes: [], totalUsd: '2.5' }
    const document = { native: held('FAR', 'normal'), tokens: [held('SCAM', 'low')], ...lists }
    node.says('/api/v1/accounts/', document)
    expect((await node.run('wallet', 'holdings', ADDRESS)).prints.slice(1).map((line) => line.split(/ {2,}/))).toEqual([
      ['FAR', '5', '1.25'],
      ['SCAM', '5', '1.25 (thin market)'],
      ['total', 'thin markets count up to what they could pay', '2.5'],
    ])
  })
})
