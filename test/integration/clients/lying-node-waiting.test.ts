import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEV_ADDRESSES } from '../../../config/networks/dev-keys.ts'
import { DEVNET } from '../../../config/networks/devnet.ts'
import { formatAddress } from '../../../consensus/crypto/address.ts'
import { HEIGHT, type Json, LyingNode, type Told } from '../../support/lying-node.ts'

const node = new LyingNode()
beforeAll(() => node.open())
afterAll(() => node.close())
beforeEach(() => node.reset())

/** Last height at which a transaction sent at {@link HEIGHT} can be mined, and the height at which the client gives it up. */
const LAST = HEIGHT + 200
const BURIED = LAST + 6

const RECEIPT = { success: true, code: 0, outcome: null, fee: '12', amounts: [] }
const mined = (change: Json = {}): Told => ({
  status: 200,
  json: { status: 'mined', confirmations: 1, height: HEIGHT + 1, receipt: { ...RECEIPT, ...change } },
})
const UNKNOWN: Told = { status: 200, json: { status: 'unknown', confirmations: 0 } }
const FAILED: Told = { status: 503, json: { error: 'busy', code: 'node_busy' } }

/** Sets the node's answers about the transaction, in order. The last one repeats. */
function knows(...told: readonly Told[]): void {
  let asked = 0
  node.answers('/api/v1/tx/', () => told[Math.min(asked++, told.length - 1)] as Told)
}

/** Moves the chain to a height when the transaction is submitted. */
function moves(height: number): void {
  const at = node.status
  node.answers('/api/v1/tx', () => {
    at.call(node, { height })
    return { status: 200, json: { status: 'mempool' } }
  })
}

const OWN = formatAddress(DEVNET.addressPrefix, DEV_ADDRESSES[0] as never)
const burn = (...flags: string[]) => node.run('token', 'burn', '1', 'SALT', ...flags)
const txId = (): string => node.sent[0]?.txId as string

describe('a transaction that has disappeared', () => {
  it('is called expired when blocks lie on the last one that could have it', async () => {
    moves(BURIED)
    expect((await burn()).fault).toEqual({
      code: 'cli/expired',
      detail: { txId: txId(), validUntil: LAST, height: BURIED },
    })
  })

  it.each<readonly [string, readonly Told[]]>([
    ['the node did not answer', [UNKNOWN, null, mined()]],
    ['the node was too busy to look', [UNKNOWN, FAILED, mined()]],
    ['it still waits, says the node', [UNKNOWN, { status: 200, json: { status: 'mempool' } }, mined()]],
    ['the node said something else', [UNKNOWN, { status: 200, json: {} }, mined()]],
  ])('is not called expired because %s', async (_, told) => {
    moves(BURIED)
    knows(...told)
    expect(await burn()).toMatchObject({ end: 0, fault: null })
  })

  it('is waited for while a block with it could still replace another', async () => {
    moves(BURIED - 1)
    knows(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, mined())
    expect(await burn()).toMatchObject({ end: 0 })
  })
})

it('makes the command say that it may be stopped, and how to look up the transaction', async () => {
  knows(UNKNOWN, mined())
  const { notes } = await burn()
  const [, hint = ''] =
    /; waiting for its block \(it goes on without this command: (.*)\)$/.exec(notes.at(-1) ?? '') ?? []
  expect(hint).toMatch(new RegExp(`^npx --no farthing tx ${txId()} --rpc ${node.url} --data-dir /`))
})

describe('a transaction that may have arrived', () => {
  it.each<readonly [string, Told]>([
    ['there was no answer', null],
    ['a gateway gave up', { status: 504, json: '<html>Gateway Time-out</html>' }],
    ['a gateway gave up in words of its own', { status: 504, json: { code: 'GATEWAY_TIMEOUT', error: 'no answer' } }],
    ['the node broke', { status: 500, json: { error: 'an error', code: 'internal_error' } }],
  ])('is waited for where %s', async (_, told) => {
    node.answers('/api/v1/tx', () => told)
    knows(UNKNOWN, mined())
    const { end, notes } = await burn()
    expect(end).toBe(0)
    expect(notes.join('\n')).toContain(`${txId()}: it may have arrived`)
    expect(node.sent).toHaveLength(1)
  })

  it('is named by a command that does not wait', async () => {
    node.answers('/api/v1/tx', () => null)
    const { fault } = await burn('--no-wait')
    expect(fault).toEqual({ code: 'cli/sent-blind', detail: { txId: txId(), validUntil: LAST, flags: '' } })
  })

  it('is refused if the node says so', async () => {
    for (const [status, code] of [
      [409, 'nonce_used'],
      [503, 'mempool_full'],
      [429, 'rate_limited'],
    ] as const) {
      node.says('/api/v1/tx', { error: 'no', code, requestId: 'req-1' }, status)
      expect((await burn()).fault).toEqual({ code: 'cli/refused', detail: { message: `no (${code})` } })
    }
  })

  it('is not called refused because the node refuses to look for it', { timeout: 20_000 }, async () => {
    knows({ status: 404, json: { error: 'no such path', code: 'not_found' } })
    const { fault, notes } = await burn()
    expect(fault).toEqual({ code: 'cli/not-mined-yet', detail: { txId: txId(), validUntil: LAST, flags: '' } })
    expect(notes.join('\n')).toContain('no such path')
  })
})

describe('a receipt', () => {
  it.each<readonly [string, Json]>([
    ['a fee that is none', { fee: 'x' }],
    ['a fee below nothing', { fee: '-1' }],
    ['no fee', { fee: undefined }],
    ['amounts that are none', { amounts: ['1', 'x'] }],
    ['amounts that are no list', { amounts: 5 }],
    ['a code that is none', { code: '0' }],
    ['no code', { code: undefined }],
  ])('with %s is no success and no exception', async (_, change) => {
    knows(mined(change))
    expect((await burn()).fault?.code).toBe('cli/refused')
    expect((await burn('--json')).fault?.code).toBe('cli/refused')
  })

  it('that says success with the code of a failure counts as a failure', async () => {
    knows(mined({ code: 6 }))
    expect((await burn()).fault?.code).toBe('cli/transaction-failed')
  })

  it('does not move the reader’s cursor', async () => {
    knows(mined({ success: false, code: 60_000, outcome: '\u001b[2J' }))
    expect((await burn()).end).not.toContain('\u001b')
  })
})

it.each([['x'], ['-1'], [''], [7], [null], ['1'.repeat(60)]])(
  'a balance that is none (%j) is no exception',
  async (balance) => {
    node.says('/api/v1/accounts', { exists: true, balance, nonce: '1', height: HEIGHT, pending: { nextNonce: '1' } })
    expect((await node.run('wallet', 'balance', OWN)).fault?.code).toBe('cli/refused')
    expect((await burn()).fault?.code).toBe('cli/refused')
  },
)

describe('a payment of coins', () => {
  const send = (...flags: string[]) =>
    node.run('wallet', 'send', formatAddress(DEVNET.addressPrefix, DEV_ADDRESSES[1] as never), '1', ...flags)

  it('that may have arrived is named, and not called unsent', async () => {
    node.answers('/api/v1/tx', () => null)
    expect((await send()).fault).toEqual({
      code: 'cli/sent-blind',
      detail: { txId: txId(), validUntil: LAST, flags: '' },
    })
  })

  it.each([['9'], [-1], [1.5], [null], [{}], [4_294_967_295]])(
    'is not signed at a height that is none: %j',
    async (height) => {
      const account = { exists: true, balance: '1', nonce: '1', height, pending: { nextNonce: '1' } }
      node.says('/api/v1/accounts', account)
      node.status({ height })
      expect((await send()).fault?.code).toBe('cli/refused')
      expect(node.sent).toEqual([])
    },
  )
})
