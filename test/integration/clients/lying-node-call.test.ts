import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { COIN } from '../../../config/networks/rules.ts'
import { HEIGHT, type Json, LyingNode, type Told } from '../../support/lying-node.ts'

const node = new LyingNode()
beforeAll(() => node.open())
afterAll(() => node.close())
beforeEach(() => node.reset())

const REDEEMED: Told = { status: 409, json: { error: 'no', code: 'payment_already_redeemed' } }

/** Makes the node quote so many base units for its own agent. By default it refuses the payment for good. */
function quotes(amount: bigint, offer: Json = {}, facts: Json = {}, paid: Told = REDEEMED): void {
  const extra = { agentId: 'acme', serviceId: 'node-x', term: 100, validUntil: HEIGHT + 30, confirmations: 1, ...facts }
  const accepts = [{ scheme: 'native-x402', maxAmountRequired: amount.toString(), ...offer, extra }]
  node.answers('/api/x402', () =>
    node.sent.length === 0 ? { status: 402, json: { available: true, requestValid: true, accepts } } : paid,
  )
}

const amounts = () => node.sent.map(({ body }) => (body.payload as { readonly amount?: bigint }).amount)

it('a call of more than a hundred coins is paid only with an explicit maximum', async () => {
  quotes(100n * COIN + 1n)
  const limit = '100 FAR'
  expect((await node.run('call', 'node-x', 'a text')).fault).toEqual({
    code: 'cli/price-too-high',
    detail: { price: '100.00000001 FAR', limit },
  })
  expect(amounts()).toEqual([])
  await node.run('call', 'node-x', 'a text', '--max-price', '100.00000001')
  expect(amounts()).toEqual([100n * COIN + 1n])
})

it('a call of a hundred coins is paid', async () => {
  quotes(100n * COIN)
  await node.run('call', 'node-x', 'a text')
  expect(amounts()).toEqual([100n * COIN])
})

it('the hint for resuming an interrupted call names the output file and format', async () => {
  quotes(COIN)
  const { notes } = await node.run('call', 'node-x', 'a text', '--save', '/tmp/no such file of mine.pdf', '--json')
  const [hint = ''] = notes.flatMap((line) => /\(if interrupted: (.*)\)$/.exec(line)?.[1] ?? [])
  expect(hint.replace(/--data-dir \S+/, '')).toBe(
    `npx --no farthing call --tx ${node.sent[0]?.txId} --save '/tmp/no such file of mine.pdf' --json --rpc ${node.url} `,
  )
  expect(notes.at(-1)).toContain(`--save '/tmp/no such file of mine.pdf' --json`)
})

it('a failed call says what is refunded and how to check it', async () => {
  const error = 'node-x failed: it broke. The payment goes back to its payer on chain'
  const refund = { amount: 1, status: 'pending' }
  quotes(COIN, {}, {}, { status: 502, json: { error: `${error}: see refund.`, code: 'upstream_failed', refund } })
  const { end, notes } = await node.run('call', 'node-x', 'a text')
  expect(end).toBe(3)
  expect(notes.slice(-2)).toEqual([
    `${error}.`,
    expect.stringContaining(`1 FAR goes back to you (pending); see: npx --no farthing tx ${node.sent[0]?.txId} --rpc`),
  ])
})

it.each([
  [{}, { decimals: 18 }, 'the offer counts FAR with other decimals than 8'],
  [{ asset: 'USDC' }, {}, 'the offer names another asset than FAR'],
  [{}, { assetId: 'ab'.repeat(32) }, 'the offer names another asset than FAR'],
])('an offer of something else than the coin is not paid: %o %o', async (offer, facts, message) => {
  quotes(COIN, offer, facts)
  expect((await node.run('call', 'node-x', 'a text')).fault).toEqual({ code: 'cli/refused', detail: { message } })
  expect(amounts()).toEqual([])
})

it.each([
  [{}, undefined],
  [{ example: '', requestFormat: '' }, undefined],
  [{ example: '', requestFormat: 'a city' }, 'node-x takes: a city'],
  [{ example: 'Berlin', requestFormat: '' }, 'node-x takes: for example: Berlin'],
  [{ example: 'Berlin', requestFormat: 'a city' }, 'node-x takes: a city; for example: Berlin'],
])('a hint on a request says what the seller says of it, and nothing where that is nothing: %o', async (hint, line) => {
  const extra = { agentId: 'acme', serviceId: 'node-x', term: 100, validUntil: HEIGHT + 30, confirmations: 1 }
  const accepts = [{ scheme: 'native-x402', maxAmountRequired: '1', extra }]
  const requestError = { reason: 'no such city', ...hint }
  node.says('/api/x402', { available: true, requestValid: false, requestError, accepts }, 402)
  const { notes, end } = await node.run('call', 'node-x', 'a text')
  expect(end).toContain('no such city')
  expect(notes.slice(1)).toEqual(line === undefined ? [] : [line])
})
