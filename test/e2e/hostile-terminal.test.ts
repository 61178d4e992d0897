import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { COIN } from '../../config/networks/rules.ts'
import { SHIPPED, Workshop } from '../support/daemon.ts'
import { HEIGHT, type Json, LyingNode, type Told } from '../support/lying-node.ts'

/** The shipped command line against a node whose answers attack the terminal. */
const [node, workshop] = [new LyingNode(), new Workshop()]
beforeAll(() => node.open())
afterAll(() => node.close())
beforeEach(() => node.reset())

/** Escape sequences of C0 and C1 controls, bidirectional overrides, invisible characters, line breaks, a lone surrogate, tags. */
const ATTACK = [
  ...['\u001b[31mred\u001b]0;title\u0007', '\u009b2J', '\u009d0;title\u009c', '\u0085', '\u007f', '\b\r\t'],
  ...['\u202efdp.exe\u202c', '\u2066\u2069', '\u200e\u200f\u061c', '\u200b\u200c\u200d\u2060\ufeff', '\u00ad'],
  ...['\u2028\u2029', '\nfarthing: verified', '\ud800', '\u3164\u115f\u034f\ufe0f', '\u{e0041}\u{e007f}', '\u{1d173}'],
].join('x')

/** Characters that must never reach the terminal. Line breaks are checked apart, since the program writes them too. */
const SEEN = new RegExp(
  [
    ...['[\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u180e\\u200b-\\u200f'],
    ...['\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ud800-\\udfff\\ufe00-\\ufe0f\\ufeff\\ufff9-\\ufffb'],
    ...['\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]'],
  ].join(''),
  'u',
)

const LEVELS = 100_000

interface Shown {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

async function shows(...args: readonly string[]): Promise<Shown> {
  const flags = ['--rpc', node.url, '--data-dir', workshop.folder()]
  const { code, stdout, stderr } = await workshop.run([...args, ...flags], { entry: SHIPPED })
  expect(`${stdout}${stderr}`).not.toMatch(SEEN)
  expect(`${stdout}${stderr}`.split('\n').filter((line) => line.startsWith('farthing: verified'))).toEqual([])
  return { code, stdout, stderr }
}

const FACTS = { agentId: 'acme', serviceId: 'node-x', term: 100, validUntil: HEIGHT + 30, confirmations: 1 }

/** Makes the node answer with a quote of hostile texts until a payment is sent, then with `answer`. Returns the quote. */
function sells(answer: NonNullable<Told>, quote: Json = {}): Json {
  const extra = { ...FACTS, [ATTACK]: ATTACK }
  const accepts = [{ scheme: 'native-x402', payTo: ATTACK, maxAmountRequired: (COIN / 100n).toString(), extra }]
  const body = { available: true, requestValid: true, error: ATTACK, accepts, ...quote }
  node.answers('/api/x402', () => (node.sent.length === 0 ? { status: 402, json: body } : answer))
  return body
}

describe('a node that speaks to the terminal', () => {
  it('in a quote: shown in lines, and as JSON of the same value', async () => {
    const body = sells({ status: 200, json: {} })
    expect((await shows('call', 'node-x', 'a', '--no-pay')).stdout.trim().split('\n')).toHaveLength(6)
    const { code, stdout } = await shows('call', 'node-x', 'a', '--no-pay', '--json')
    expect([code, JSON.parse(stdout)]).toEqual([0, body])
  })

  it('in a result and its receipt, for people and for programs', async () => {
    const json = { paid: true, result: { [ATTACK]: [ATTACK] }, receipt: { txId: ATTACK, [ATTACK]: ATTACK } }
    const quote = sells({ status: 200, json })
    const shown = await shows('call', 'node-x', 'a')
    // A text with a line break is shown indented below its name. The name is cut, which the last line says.
    const [name, ...texts] = shown.stdout.trimEnd().split('\n')
    const told = texts.pop()
    expect([shown.code, name?.slice(0, 1), texts.map((line) => line.slice(0, 2))]).toEqual([4, '?', ['  ', '  ']])
    expect(told).toBe('not all of the result is shown: --json has the whole')
    node.sent.length = 0
    const { stdout } = await shows('call', 'node-x', 'a', '--json')
    expect(stdout.trim().split('\n')).toHaveLength(1)
    expect(JSON.parse(stdout)).toMatchObject({ result: json.result, receipt: json.receipt, quote })
  })

  it('in a refund', async () => {
    const refund = { status: ATTACK, amount: 1, asset: ATTACK, to: ATTACK, reason: ATTACK }
    sells({ status: 502, json: { error: ATTACK, code: ATTACK, refund } })
    const { code, stdout } = await shows('call', 'node-x', 'a', '--json')
    expect([code, JSON.parse(stdout)]).toEqual([3, { error: ATTACK, code: ATTACK, refund }])
  })

  it.each([
    ['a refusal', 409, { error: ATTACK, code: ATTACK, details: { suggestions: [ATTACK] } }],
    ['no JSON', 404, ATTACK],
  ])('in %s', async (_name, status, json) => {
    node.says('/api/x402', json, status)
    const { code, stdout, stderr } = await shows('call', 'node-x', 'a')
    expect([code, stdout, stderr.trim().split('\n').length]).toEqual([1, '', 1])
  })

  it('in why a request is unusable and a service unavailable', async () => {
    const requestError = { reason: ATTACK, requestFormat: ATTACK, example: ATTACK }
    sells({ status: 200, json: {} }, { requestValid: false, requestError })
    expect(await shows('call', 'node-x', 'a')).toMatchObject({ code: 1, stdout: '' })
    sells({ status: 200, json: {} }, { available: false, unavailableReason: ATTACK })
    expect(await shows('call', 'node-x', 'a')).toMatchObject({ code: 1, stdout: '' })
  })

  it('in the name of its network', async () => {
    node.status({ networkName: ATTACK, genesis: ATTACK })
    for (const command of [
      ['call', 'node-x'],
      ['swap', '1', 'FAR', 'WOOL'],
    ])
      expect((await shows(...command)).code).toBe(1)
  })

  it('in documents and tables', async () => {
    const units = { text: ATTACK, symbol: ATTACK, units: '1', decimals: 8 }
    const row = { symbol: ATTACK, name: ATTACK, agentId: ATTACK, endpoint: ATTACK, kind: ATTACK, supplyText: ATTACK }
    const document = { [ATTACK]: ATTACK, tokens: [row], agents: [row], nextCursor: ATTACK, units, block: row }
    node.says('/api/v1/tokens', document)
    node.says('/api/v1/agents', document)
    node.says('/api/v1/blocks', document)
    node.says('/api/v1/tx/', { status: 'mined', ...document })
    const documents = [
      ['block', 'latest'],
      ['tx', 'ab'.repeat(32)],
      ['token', 'list'],
      ['agent', 'list'],
      ['agent', 'show', 'acme'],
    ]
    for (const command of documents) {
      expect(JSON.parse((await shows(...command, '--json')).stdout)).toMatchObject(document)
      await shows(...command)
    }
    for (const name of ['token', 'agent']) {
      const { stdout, stderr } = await shows(name, 'list')
      expect(stdout.trim().split('\n')).toHaveLength(2)
      expect(stderr.trim().split('\n')).toHaveLength(1)
    }
  })

  it('in answers of a hundred thousand levels: one line says what is wrong with them', async () => {
    const deep = { status: 200, json: {}, text: `{"result":${'{"a":['.repeat(LEVELS)}${']}'.repeat(LEVELS)}}` }
    sells(deep)
    for (const path of ['/api/v1/blocks', '/api/v1/tokens']) node.answers(path, () => deep)
    for (const command of [
      ['call', 'node-x', 'a'],
      ['block', 'latest'],
      ['token', 'list', '--json'],
    ]) {
      const { code, stdout, stderr } = await shows(...command)
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr.trim().split('\n').at(-1)).toContain('too many levels (too_deep)')
      expect(stderr).not.toContain('    at ')
    }
  })

  it('in the lists of its operator: keys, peers, a new key', async () => {
    const key = { id: ATTACK, label: ATTACK, owner: ATTACK, createdAt: ATTACK, lastUsedAt: ATTACK, expiresAt: ATTACK }
    const limits = { limits: { rpm: 1, tpd: 1 }, usage: {}, revoked: false }
    node.says('/', { keys: [{ ...key, ...limits }], nextCursor: null, peers: [key], secret: ATTACK, key, bans: [key] })
    for (const command of [['keys'], ['keys', '--json'], ['keys', 'create', 'a'], ['peers'], ['peers', '--json']])
      await shows(...command)
  })
})
