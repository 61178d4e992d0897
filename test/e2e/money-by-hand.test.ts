import { spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEV_ADDRESSES } from '../../config/networks/dev-keys.ts'
import { DEVNET } from '../../config/networks/devnet.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import { ask } from '../support/api.ts'
import { marketOpen } from '../support/caller.ts'
import { SHIPPED, WITH_TEST_SERVICES, Workshop } from '../support/daemon.ts'
import { mineOnDemand } from '../support/mine-by-hand.ts'
import { type Finished, until } from '../support/processes.ts'

const workshop = new Workshop()
const CHEAP_BLOCKS = { entry: WITH_TEST_SERVICES, env: { TEST_FAST_BLOCKS: '1' } }
const COIN = 100_000_000n
let url: string
let endMining: () => Promise<void>

beforeAll(async () => {
  const daemon = await workshop.start(workshop.folder(), { mine: 0, ...CHEAP_BLOCKS })
  url = daemon.url
  endMining = mineOnDemand(url)
  await marketOpen(url)
})
afterAll(() => endMining())

/** A user at the command line with a funded development key. */
class Person {
  readonly address: string
  readonly flags: readonly string[]

  constructor(key: number) {
    this.address = formatAddress(DEVNET.addressPrefix, DEV_ADDRESSES[key - 1] as Address)
    this.flags = ['--rpc', url, '--data-dir', workshop.folder(), '--dev-key', String(key)]
  }

  run(...words: readonly string[]): Promise<Finished> {
    return workshop.run([...words, ...this.flags], CHEAP_BLOCKS)
  }

  async account(): Promise<{ readonly balance: bigint; readonly nonce: number }> {
    const { body } = await ask<{ balance: string; nonce: string }>(url, `/api/v1/accounts/${this.address}`)
    return { balance: BigInt(body.balance), nonce: Number(body.nonce) }
  }

  /** Runs a command on a new terminal and types `keys`. */
  onTerminal(
    keys: string,
    ...words: readonly string[]
  ): Promise<{ readonly code: number | null; readonly shown: string }> {
    const command = [process.execPath, WITH_TEST_SERVICES, ...words, ...this.flags].map((word) => `'${word}'`).join(' ')
    const child = spawn('script', ['-qec', command, '/dev/null'], { env: { ...process.env, ...CHEAP_BLOCKS.env } })
    let shown = ''
    child.stdout.on('data', (chunk) => {
      shown += String(chunk)
      if (/\[y\/N\]/.test(String(chunk))) child.stdin.write(keys)
    })
    return new Promise((resolve) => child.once('close', (code) => resolve({ code, shown })))
  }
}

/** Price impact, in per cent, of a swap of coins in the pool FAR-FUSD-30, computed from the API's reserves. */
async function swapOf(coins: bigint): Promise<{ readonly percent: number }> {
  const { body } = await ask<Record<string, unknown>>(url, '/api/v1/pools/FAR-FUSD-30')
  const text = JSON.stringify(body)
  const [x, y] = ['x', 'y'].map((side) =>
    BigInt(/"units":"(\d+)"/.exec(text.slice(text.indexOf(`"${side}":`)))?.[1] ?? '0'),
  )
  const [into, from] = [x as bigint, y as bigint]
  const paid = coins * COIN * 9_970n
  const out = (from * paid) / (into * 10_000n + paid)
  return { percent: 100 * (1 - Number(out) / Number(coins * COIN) / (Number(from) / Number(into))) }
}

const impactIn = (text: string): number => Number(/price impact ([0-9.]+) %/.exec(text)?.[1])

describe('a swap by hand', () => {
  it('says its impact', async () => {
    const { percent } = await swapOf(100n)
    const { code, stderr } = await new Person(4).run('swap', '100', 'FAR', 'FUSD')
    expect([code, stderr]).toEqual([0, expect.any(String)])
    expect(impactIn(stderr)).toBeGreaterThanOrEqual(percent)
    expect(impactIn(stderr)).toBeLessThan(percent + 0.011)
  })

  it('above 15 percent is not sent unless the person says that it may be', async () => {
    const trader = new Person(5)
    const before = await trader.account()
    const rehearsed = await trader.run('swap', '300000', 'FAR', 'FUSD', '--dry-run')
    expect(rehearsed).toMatchObject({ code: 0, stderr: expect.stringContaining('needs --accept-impact') })
    const refused = await trader.run('swap', '300000', 'FAR', 'FUSD')
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/this pays [0-9.]+ % less than the listed price.*nothing was sent/),
    })
    expect(await trader.account()).toEqual(before)
    expect((await trader.run('swap', '300000', 'FAR', 'FUSD', '--accept-impact')).code).toBe(0)
    expect((await trader.account()).nonce).toBe(before.nonce + 1)
  })

  it('through three pools of tokens with 18 decimals is one like any other', async () => {
    const trader = new Person(10)
    for (const symbol of ['AAA', 'BBB', 'CCC']) {
      expect((await trader.run('token', 'create', symbol, symbol, '--decimals', '18')).code).toBe(0)
      expect((await trader.run('token', 'mint', '2000000', symbol, trader.address)).code).toBe(0)
    }
    for (const [one, other] of [
      ['FAR', 'AAA'],
      ['AAA', 'BBB'],
      ['BBB', 'CCC'],
    ] as const) {
      const amount = one === 'FAR' ? '1000' : '1000000'
      expect((await trader.run('pool', 'create', amount, one, '1000000', other)).code).toBe(0)
    }
    const swapped = await trader.run('swap', '1', 'FAR', 'CCC')
    expect([swapped.code, swapped.stderr]).toEqual([
      0,
      expect.stringMatching(/over FAR-AAA-30.*BBB-CCC-30; price impact 1\.\d+ %/),
    ])
  })

  it('above 5 percent is asked about on a terminal', async () => {
    const trader = new Person(6)
    const before = await trader.account()
    const amount = '60000'
    const declined = await trader.onTerminal('n\n', 'swap', amount, 'FAR', 'FUSD')
    expect(declined.shown).toMatch(/price impact [0-9.]+ %[\s\S]*Go on\? \[y\/N\]/)
    expect(declined).toMatchObject({ code: 1, shown: expect.stringContaining('nothing was sent') })
    expect(await trader.account()).toEqual(before)
    expect(await trader.onTerminal('y\n', 'swap', amount, 'FAR', 'FUSD')).toMatchObject({ code: 0 })
    expect((await trader.account()).nonce).toBe(before.nonce + 1)
  })
})

describe('a command that would fail', () => {
  it('is not sent and costs nothing', async () => {
    const person = new Person(7)
    const before = await person.account()
    const small = await person.run('pool', 'create', '0.00000001', 'FAR', '0.000001', 'FUSD', '--fee-bps', '5')
    expect(small).toMatchObject({ code: 2, stderr: expect.stringContaining('too small for a pool') })
    const known = await person.run('pool', 'create', '100', 'FAR', '25', 'FUSD')
    const why = /would fail with pool\/exists: .*; it was not sent, so it costs nothing/
    expect(known).toMatchObject({ code: 1, stderr: expect.stringMatching(why) })
    expect(await person.account()).toEqual(before)
  })
})

describe('what a wallet shows', () => {
  it('has one line for a paid call, with its service, price, seller and end', async () => {
    const caller = new Person(8)
    expect((await caller.run('call', 'node-test-once', 'ok')).code).toBe(0)
    await caller.run('call', 'node-test-once', 'wrong')
    // The receipt of a failed call comes in a later block.
    const stdout = await until('the failed call is paid back', async () => {
      const history = await caller.run('wallet', 'history')
      return history.stdout.includes('paid back') && history.stdout
    })
    const calls = stdout.split('\n').filter((line) => line.includes('node-test-once'))
    expect(calls).toEqual([
      expect.stringMatching(/call of node-test-once for [0-9.]+ FAR to farthing-[0-9a-f]{12} +failed, paid back /),
      expect.stringMatching(/call of node-test-once for [0-9.]+ FAR to farthing-[0-9a-f]{12} +delivered /),
    ])
    expect(stdout).not.toMatch(/agent_invoke/)
  })

  it('has dollars for stakes', async () => {
    const staker = new Person(9)
    expect((await staker.run('stake', '5000', '--tier', '0')).code).toBe(0)
    const { body } = await ask<{
      readonly stakes: readonly { readonly valueUsd: number }[]
      readonly native: { readonly valueUsd: number; readonly units: string }
    }>(url, `/api/v1/accounts/${staker.address}/holdings`)
    const usdPerCoin = (body.native.valueUsd * Number(COIN)) / Number(body.native.units)
    expect(body.stakes[0]?.valueUsd).toBeCloseTo(5_000 * usdPerCoin, 2)
    expect((await staker.run('wallet', 'holdings')).stdout).toMatch(/^stake in tier 0 +5000 FAR .* [0-9.]+$/m)
  })
})

describe('a pipe that is closed', () => {
  it('ends a command without a word', async () => {
    const shell = `${process.execPath} ${SHIPPED} wallet history --rpc ${url} --dev-key 4 --data-dir ${workshop.folder()} | true; echo \${PIPESTATUS[0]}`
    const child = spawn('bash', ['-c', shell])
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (chunk) => (stdout += String(chunk)))
    child.stderr.on('data', (chunk) => (stderr += String(chunk)))
    await new Promise((resolve) => child.once('close', resolve))
    expect({ stdout, stderr }).toEqual({ stdout: '0\n', stderr: '' })
  })
})

describe('a call without a service', () => {
  it('shows how it is used', async () => {
    const { code, stderr } = await new Person(4).run('call')
    expect([code, stderr]).toEqual([2, expect.stringContaining('usage: farthing call <service> [request]')])
  })
})
