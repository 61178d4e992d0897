import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Json, LyingNode, OTHER, OWN } from '../../support/lying-node.ts'

const node = new LyingNode()
beforeAll(() => node.open())
afterAll(() => node.close())
beforeEach(() => node.reset())

const COINS = '500000000'

function event(kind: string | null, payload: Json | null, more: Json = {}): Json {
  const place = { height: 9, position: 0, time: '2026-05-01T12:00:00.000Z', event: 'transaction' }
  return { ...place, kind, payload, txId: 'ab'.repeat(32), sender: OWN, success: true, outcome: null, ...more }
}

/** What happened to a tab that `OWN` opened. */
const ofTab = (name: string): Json =>
  event('tab_open', { agentId: 'acme', deposit: '1' }, { event: name, amount: COINS })

/** Sets the pages that the node answers, in order. */
function tells(...pages: readonly (readonly Json[])[]): void {
  let told = 0
  node.answers(`/api/v1/accounts/${OWN}/history`, () => {
    const events = pages[told] ?? []
    told++
    return { status: 200, json: { events, nextCursor: told < pages.length ? `9-${told}` : null } }
  })
}

function receipt(amounts: readonly string[]): void {
  node.says('/api/v1/tx/', {
    status: 'mined',
    confirmations: 1,
    receipt: { code: 0, outcome: null, fee: '113256', amounts },
  })
}

const rows = async (...flags: readonly string[]) => (await node.run('wallet', 'history', OWN, ...flags)).prints.slice(1)

it.each([
  ['a payment', event('transfer', { to: OTHER, amount: COINS }), [], `sent 5 FAR to ${OTHER}`],
  [
    'coins that come',
    event('transfer', { to: OWN, amount: COINS }, { sender: OTHER }),
    [],
    `received 5 FAR from ${OTHER}`,
  ],
  ['a token', event('token_transfer', { symbol: 'SALT', to: OTHER, amount: '5' }), [], `sent 0.0005 SALT to ${OTHER}`],
  [
    'a swap',
    event('swap', {
      assetIn: 'FAR',
      exactOut: false,
      amount: COINS,
      limit: '1',
      hops: [{ asset: 'SALT', feeBps: 30 }],
    }),
    [COINS, '24900'],
    'swapped 5 FAR for 2.49 SALT',
  ],
  [
    'liquidity',
    event('liquidity_add', { assetA: 'FAR', assetB: 'SALT', feeBps: 30, amountA: COINS, amountB: '50000' }),
    ['400000000', '20000', '7'],
    'put 4 FAR and 2 SALT into FAR-SALT-30',
  ],
  ['a reward', event('claim', { stakeId: 'x' }), ['100'], 'claimed a reward of 0.000001 FAR'],
  ['a burn', event('token_burn', { symbol: 'SALT', amount: '5000' }), [], 'burned 0.5 SALT'],
  [
    'a sale',
    event(
      'agent_invoke',
      { serviceId: 'node-x', agentId: 'acme', amount: COINS },
      { sender: OTHER, event: 'delivered' },
    ),
    [],
    `sold a call of node-x for 5 FAR to ${OTHER}`,
  ],
  [
    'an opening of a tab',
    event('tab_open', { agentId: 'acme', deposit: COINS, term: 1_200 }),
    [],
    'opened a tab with acme, deposit 5 FAR',
  ],
  ['a top-up of a tab', event('tab_fund', { tabId: 'x', amount: COINS }), [], 'added 5 FAR to a tab'],
  [
    'a claim that it sent',
    event('tab_claim', { entries: [{}, {}] }),
    ['490000000', '10000000', '0'],
    'claimed 4.9 FAR from 2 tabs',
  ],
  ['a wish to close a tab', event('tab_close', { tabId: 'x' }), [], 'asked to close a tab'],
  [
    'a claim that it was paid by',
    event('tab_open', { agentId: 'acme', deposit: '1' }, { sender: OTHER, event: 'tab_claimed', amount: COINS }),
    [],
    `claimed 5 FAR from a tab of ${OTHER}`,
  ],
])('a history says who got how much of what: %s', async (_, happened, amounts, says) => {
  tells([happened])
  receipt(amounts)
  const [row] = await rows()
  expect(row).toContain(`  ${says}  `)
  expect(row?.includes('0.00113256 FAR')).toBe(happened.sender === OWN)
})

it('a cancelled withdrawal is shown as given back, to people and to programs', async () => {
  const withdrawal = event('bridge_withdraw', { network: 2, amount: '25000000', recipient: '0x00' })
  const xusd = (count: string) => ({ symbol: 'XUSD', decimals: 6, units: count, text: count })
  const place = { network: { number: 2, name: 'Arbitrum' }, recipient: '0x00', receives: xusd('24975000') }
  for (const [status, end] of [
    ['pending', 'success'],
    ['cancelled', 'cancelled, given back'],
  ] as const) {
    node.says('/api/v1/bridge/withdrawals/', { withdrawal: { ...place, status } })
    tells([withdrawal])
    receipt(['24975000'])
    expect((await rows())[0]).toMatch(
      new RegExp(` sent 25 XUSD over the bridge to 0x00 on Arbitrum +${end} +0\\.00113256 FAR `),
    )
    tells([withdrawal])
    const { prints } = await node.run('wallet', 'history', OWN, '--json')
    expect(JSON.parse(prints[0] as string)).toMatchObject({ events: [{ ...withdrawal, withdrawal: status }] })
  }
})

it('the JSON has the fee and the outcome, as the text does', async () => {
  const hops = [{ asset: 'SALT', feeBps: 30 }]
  const swap = event('swap', { assetIn: 'FAR', exactOut: false, amount: COINS, limit: '1', hops })
  const come = event('transfer', { to: OWN, amount: COINS }, { sender: OTHER })
  const reward = event(null, null, { event: 'reward', sender: null, txId: null })
  tells([swap, come, reward])
  receipt([COINS, '24900'])
  const { prints } = await node.run('wallet', 'history', OWN, '--json')
  expect(JSON.parse(prints[0] as string)).toEqual({
    events: [
      { ...swap, fee: '113256', amounts: [COINS, '24900'] },
      { ...come, fee: null, amounts: [COINS, '24900'] },
      { ...reward, fee: null, amounts: null },
    ],
    nextCursor: null,
  })
})

it('a failed transaction moved nothing, and its fee is shown if the node still has it', async () => {
  tells([event('transfer', { to: OTHER, amount: COINS }, { success: false, outcome: 'ledger/no-account' })])
  const [row] = await rows()
  expect(row).toMatch(/ transfer +ledger\/no-account +- /)
  tells([event(null, null, { event: 'reward', sender: null, txId: null })])
  expect((await rows())[0]).toMatch(/ mining reward +success +- +-$/)
})

it('as many lines are shown as were asked for; a call and its payment are one line', async () => {
  const call = { serviceId: 'node-x', agentId: 'acme', amount: '1' }
  const paid = (n: string) => event('agent_invoke', call, { txId: n.repeat(64) })
  const ended = (n: string) => event('agent_invoke', call, { txId: n.repeat(64), event: 'delivered' })
  tells([ended('1'), paid('1'), ended('2')], [paid('2'), ended('3')].slice(0, 1), [ended('3')], [paid('3')])
  const { prints, notes } = await node.run('wallet', 'history', OWN, '--limit', '3')
  expect(prints.slice(1).map((row) => row.trim().at(-1))).toEqual(['1', '2', '3'])
  expect(notes).toEqual(['there is more: --cursor 9-3'])
  tells([ended('1'), paid('1')])
  expect(await rows('--limit', '3')).toHaveLength(1)
})

it('shows claims from a tab and what came back to its payer, without the fee of the opening', async () => {
  tells([ofTab('tab_returned'), ofTab('tab_claimed')])
  receipt([])
  const [returned, claimed] = await rows()
  expect(returned).toContain('  got back 5 FAR from a tab with acme  ')
  expect(claimed).toContain('  acme claimed 5 FAR from a tab  ')
  for (const row of [returned, claimed]) expect(row).not.toContain('0.00113256')
})
