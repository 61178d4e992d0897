import { beforeAll, describe, expect, it } from 'vitest'
import { DEVNET } from '../../config/networks/devnet.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { walletKey } from '../../src/crypto/wallet-key.ts'
import { ask, verdict } from '../support/api.ts'
import { Caller, marketOpen, runsIn } from '../support/caller.ts'
import { type RunningDaemon, Workshop } from '../support/daemon.ts'
import { mineBlocks, mineWhile } from '../support/mine-by-hand.ts'
import { until } from '../support/processes.ts'

const workshop = new Workshop()
const TERM = 100
const MATURITY = 100
/** A new account: the first reward opens it. */
const MINER = formatAddress(DEVNET.addressPrefix, walletKey(new Uint8Array(32).fill(77)).address)
const FLAGS = ['--mine-address', MINER, '--market-settle-wait-ms', '0'] as const

/** A receipt in a block, as the API shows it. */
interface ReceiptView {
  readonly type: string
  readonly txId?: string
  readonly caller?: string
  readonly amount?: string
  readonly miner?: string
  readonly height?: number
  readonly reward?: string
}

const heightOf = async (url: string): Promise<number> =>
  (await ask<{ height: number }>(url, '/api/v1/status')).body.height
const reached = (url: string, height: number): Promise<boolean> =>
  until(`height ${height}`, async () => (await heightOf(url)) >= height, { everyMs: 5 })

async function receiptsAt(url: string, height: number): Promise<readonly ReceiptView[]> {
  return (await ask<{ receipts: readonly ReceiptView[] }>(url, `/api/v1/blocks/${height}`)).body.receipts
}

/** A data folder, its runs file and its environment. */
interface Place {
  readonly folder: string
  readonly runsFile: string
  readonly env: Readonly<Record<string, string>>
}

function place(): Place {
  const runsFile = workshop.path('runs')
  return { folder: workshop.folder(), runsFile, env: { TEST_FAST_BLOCKS: '1', TEST_RUNS_FILE: runsFile } }
}

async function open({ folder, env }: Place, options: { mine?: number; env?: Record<string, string> } = {}) {
  const daemon = await workshop.start(folder, { mine: 1, flags: FLAGS, ...options, env: { ...env, ...options.env } })
  if (options.mine !== 0) await marketOpen(daemon.url)
  return daemon
}

/** A node that does not mine: a term of cheap blocks would end within a second, before a slow test looks. */
async function openStill(at: Place, env: Record<string, string> = {}): Promise<RunningDaemon> {
  const daemon = await open(at, { mine: 0, env })
  await mineWhile(daemon.url, marketOpen(daemon.url))
  return daemon
}

/** Mines exactly up to a height. */
async function mineTo(url: string, height: number): Promise<void> {
  await mineBlocks(url, height - (await heightOf(url)))
}

/** Pays a call for the shortest term on a node that does not mine. */
async function payShort(daemon: RunningDaemon, request: string, serviceId = 'node-test-once') {
  const caller = new Caller(daemon.url, 1)
  const payment = await mineWhile(daemon.url, caller.payMined({ serviceId, request, term: TERM }))
  return { caller, payment }
}

describe('an unsettled escrow', () => {
  let daemon: RunningDaemon
  const at = place()
  beforeAll(async () => {
    daemon = await openStill(at)
  })

  it('goes back to its caller in exactly the block of its deadline, by consensus alone', async () => {
    const caller = new Caller(daemon.url, 1)
    const before = await caller.balance()
    const { payment } = await payShort(daemon, 'ok:forgotten')
    const { height, receipt } = await caller.transaction(payment.txId)
    const deadline = height + TERM
    expect(await caller.request(payment.txId)).toMatchObject({ status: 'paid' })
    await mineTo(daemon.url, deadline + 5)
    const refunds: number[] = []
    for (let at = height; at <= deadline + 5; at++) {
      const receipts = await receiptsAt(daemon.url, at)
      if (receipts.some(({ type, txId }) => type === 'refund' && txId === payment.txId)) refunds.push(at)
    }
    expect(refunds).toEqual([deadline])
    const receipts = await receiptsAt(daemon.url, deadline)
    const refund = receipts.find(({ type }) => type === 'refund')
    expect(refund).toEqual({ type: 'refund', txId: payment.txId, caller: caller.address, amount: '800000' })
    const order = ['reward', 'refund', 'transaction', 'close']
    const places = receipts.map(({ type }) => order.indexOf(type))
    expect(places).toEqual([...places].sort())
    expect(await caller.balance()).toBe(before - BigInt(receipt.fee))
    expect(runsIn(at.runsFile).size).toBe(0)
  })

  it('is known as refunded afterwards to all who ask for the call', async () => {
    const { caller, payment } = await payShort(daemon, 'ok:asked-later')
    const { height } = await caller.transaction(payment.txId)
    await mineTo(daemon.url, height + TERM)
    const { status, body } = await ask(daemon.url, `/api/x402/requests/${payment.txId}`)
    expect({ status, body }).toMatchObject({ status: 200, body: { txId: payment.txId, status: 'refunded' } })
  })
})

describe('a settle that comes too late', () => {
  it('is refused as expired while the escrow is open and as closed after, and runs nothing', async () => {
    const at = place()
    const still = await openStill(at)
    const { payment } = await payShort(still, 'ok:late')
    const { height } = await new Caller(still.url, 1).transaction(payment.txId)
    // This height lies between the last moment for work and the deadline.
    await mineTo(still.url, height + 65)
    await still.kill()
    const idle = await open(at, { mine: 0 })
    const caller = new Caller(idle.url, 1)
    expect(await heightOf(idle.url)).toBe(height + 65)
    const expired = await caller.offer(payment)
    expect(verdict(expired)).toBe('402 payment_expired')
    expect(expired.body.details).toMatchObject({ deadline: height + TERM })
    expect(expired.body.error).toContain('returns to the caller by itself')
    expect(expired.body.accepts).toHaveLength(1)
    expect((await caller.request(payment.txId)).status).toBe('paid')
    await idle.stop()
    const again = await open(at)
    caller.url = again.url
    await reached(again.url, height + TERM)
    expect(verdict(await caller.offer(payment))).toBe('402 payment_closed')
    expect(runsIn(at.runsFile).size).toBe(0)
    await again.stop()
  })

  it.each([
    ['after:claimed', 'node-test-once'],
    ['after:executing', 'node-test-again'],
  ])('of a claim (%s of %s) whose operator slept past the deadline does no work', async (point, serviceId) => {
    const at = place()
    const dying = await openStill(at, { TEST_CRASH_AT: point })
    const { caller, payment } = await payShort(dying, 'ok:slept', serviceId)
    const { height } = await caller.transaction(payment.txId)
    await expect(caller.offer(payment)).rejects.toThrow('fetch failed')
    await dying.program.exit
    // The chain goes on without this operator, as it does with other miners.
    const flags = ['--market-enabled', 'false', '--mine-address', MINER]
    const chainOnly = await workshop.start(at.folder, { env: at.env, flags })
    await reached(chainOnly.url, height + TERM)
    const refunds = (await receiptsAt(chainOnly.url, height + TERM)).filter(({ type }) => type === 'refund')
    expect(refunds).toMatchObject([{ txId: payment.txId }])
    await chainOnly.stop()
    const again = await open(at)
    caller.url = again.url
    const reply = await caller.offer(payment)
    expect(reply.body.result).toBeUndefined()
    expect(reply.status).not.toBe(200)
    expect((await caller.request(payment.txId)).status).toBe('refunded')
    expect(runsIn(at.runsFile).size).toBe(0)
    await again.stop()
  })
})

describe('a miner’s reward', () => {
  it('is paid in the block a hundred later, once, and the account holds the sum of what is due', async () => {
    const at = place()
    const mining = await open(at)
    await reached(mining.url, MATURITY - 20)
    const young = await ask<{ exists: boolean }>(mining.url, `/api/v1/accounts/${MINER}`)
    if ((await heightOf(mining.url)) <= MATURITY) expect(young.body.exists).toBe(false)
    await reached(mining.url, MATURITY + 60)
    await mining.stop()
    const idle = await open(at, { mine: 0 })
    const head = await heightOf(idle.url)
    const rewards = new Map<number, string>()
    let due = 0n
    for (let height = 1; height <= head; height++) {
      const receipts = await receiptsAt(idle.url, height)
      const matured = receipts.filter(({ type }) => type === 'reward')
      expect(receipts.at(-1)?.type).toBe('close')
      expect(receipts.at(-1)?.miner).toBe(MINER)
      rewards.set(height, receipts.at(-1)?.reward ?? '')
      const earlier = height - MATURITY
      const expected = { type: 'reward', height: earlier, miner: MINER, amount: rewards.get(earlier) }
      expect(matured).toEqual(earlier < 1 ? [] : [expected])
      due += BigInt(rewards.get(earlier) ?? 0)
    }
    expect(await new Caller(idle.url, walletKey(new Uint8Array(32).fill(77))).balance()).toBe(due)
    expect(due).toBeGreaterThan(0n)
    await idle.stop()
  })
})
