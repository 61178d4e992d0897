import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEV_ADDRESSES } from '../../config/networks/dev-keys.ts'
import { DEVNET } from '../../config/networks/devnet.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import { ask } from '../support/api.ts'
import { marketOpen } from '../support/caller.ts'
import { WITH_TEST_SERVICES, Workshop } from '../support/daemon.ts'
import { mineOnDemand } from '../support/mine-by-hand.ts'
import { type Finished, until } from '../support/processes.ts'

const workshop = new Workshop()
let url: string

// A mining thread has low priority and would starve beside the processes of these tests.
const CHEAP_BLOCKS = { entry: WITH_TEST_SERVICES, env: { TEST_FAST_BLOCKS: '1' } }
let endMining: () => Promise<void>

beforeAll(async () => {
  const daemon = await workshop.start(workshop.folder(), { mine: 0, env: CHEAP_BLOCKS.env })
  url = daemon.url
  endMining = mineOnDemand(url)
  await marketOpen(url)
})
afterAll(() => endMining())

/** Output of a writing command with --json. */
interface Outcome {
  readonly txId: string
  readonly success: boolean
  readonly outcome: string | null
  readonly fee: string
  readonly amounts: readonly string[]
}

/** Output of a writing command with --json and --dry-run. */
interface Rehearsal extends Omit<Outcome, 'outcome'> {
  readonly dryRun: true
  readonly code: string | null
  readonly payload: Readonly<Record<string, unknown>>
  readonly changes: readonly {
    readonly what: string
    readonly of: Readonly<Record<string, string>>
    readonly before: Readonly<Record<string, unknown>> | null
    readonly after: Readonly<Record<string, unknown>> | null
  }[]
}

interface Units {
  readonly symbol: string
  readonly units: string
}

interface Holdings {
  readonly native: Units
  readonly tokens: readonly Units[]
  readonly positions: readonly { readonly pool: string; readonly shares: string }[]
  readonly stakes: readonly { readonly stakeId: string; readonly pending: Units; readonly staked: Units }[]
}

/** A user with a development key and a data folder. */
class Person {
  readonly address: string
  readonly #flags: readonly string[]

  constructor(key: number) {
    this.address = formatAddress(DEVNET.addressPrefix, DEV_ADDRESSES[key - 1] as Address)
    this.#flags = ['--rpc', url, '--data-dir', workshop.folder(), '--dev-key', String(key)]
  }

  run(...words: readonly string[]): Promise<Finished> {
    return workshop.run([...words, ...this.#flags], CHEAP_BLOCKS)
  }

  /** Runs a command that must succeed. Returns its JSON output. */
  async json<T>(...words: readonly string[]): Promise<T> {
    const { code, stdout, stderr } = await this.run(...words, '--json')
    expect(code, `${words.join(' ')}: ${stderr}`).toBe(0)
    return JSON.parse(stdout) as T
  }

  holdings(): Promise<Holdings> {
    return this.json<Holdings>('wallet', 'holdings')
  }

  /** Units of a token that the user holds. */
  async held(symbol: string): Promise<bigint> {
    return BigInt((await this.holdings()).tokens.find((token) => token.symbol === symbol)?.units ?? '0')
  }

  /** Runs a command with --dry-run and then in earnest: both must show the same amounts. */
  async does(...words: readonly string[]): Promise<Outcome & { readonly payload: Rehearsal['payload'] }> {
    const shown = await this.json<Rehearsal>(...words, '--dry-run')
    expect(shown).toMatchObject({ dryRun: true, success: true, code: null })
    const done = await this.json<Outcome>(...words)
    expect(done).toMatchObject({ success: true, outcome: null, fee: shown.fee, amounts: shown.amounts })
    const { native, tokens } = await this.holdings()
    for (const { what, of, after } of shown.changes) {
      if (of.address !== this.address) continue
      if (what === 'accounts') expect(native.units).toBe(after?.balance)
      const units = tokens.find(({ symbol }) => symbol === of.symbol)?.units
      if (what === 'token-balances') expect(units).toBe(after?.amount)
    }
    return { ...done, payload: shown.payload }
  }

  /** Expects a refusal in the last line of standard error. */
  async isRefused(words: readonly string[], line: RegExp, expected = 1): Promise<void> {
    const { code, stderr } = await this.run(...words)
    expect(stderr.trim().split('\n').at(-1)).toMatch(line)
    expect(stderr.trim().split('\n').at(-1)).toMatch(/^farthing: /)
    expect(code).toBe(expected)
  }
}

const stranger = (byte: string): string => formatAddress(DEVNET.addressPrefix, byte.repeat(32) as Address)

describe.concurrent('farthing', () => {
  it('token: a token is made, issued, sent, burned, hidden and handed over', async () => {
    const issuer = new Person(4)
    const before = BigInt((await issuer.holdings()).native.units)
    const made = await issuer.does('token', 'create', 'TEA', 'Tea leaves', '--decimals', '2', '--max-supply', '1000')
    const after = BigInt((await issuer.holdings()).native.units)
    expect(before - after).toBe(1_000_000_000n + BigInt(made.fee))
    const minted = await issuer.does('token', 'mint', '900.5', 'TEA', issuer.address)
    expect(minted.payload).toMatchObject({ amount: '90050', create: false })
    const sent = await issuer.does('token', 'transfer', '0.25', 'TEA', stranger('a1'))
    expect(sent.payload).toMatchObject({ amount: '25', create: true })
    await issuer.does('token', 'burn', '0.25', 'TEA')
    expect(await issuer.held('TEA')).toBe(90_000n)
    await issuer.isRefused(
      ['token', 'mint', '100', 'TEA', issuer.address, '--dry-run'],
      /fail with token\/max-supply: /,
    )
    await issuer.does('token', 'flags', 'TEA', '--hidden', 'true')
    const listed = await issuer.run('token', 'list')
    expect(listed.stdout).toMatch(/^SALT +Salt +plain +/m)
    expect(listed.stdout).not.toMatch(/^TEA /m)
    await issuer.isRefused(
      ['token', 'flags', 'TEA', '--frozen', 'true'],
      /would fail with token\/not-freezable: .*; it was not sent/,
    )
    const holders = await issuer.run('token', 'holders', 'TEA')
    expect(holders.stdout).toContain(`${issuer.address}  900 `)
    expect(holders.stdout).toContain(stranger('a1'))
    await issuer.does('token', 'issuer', 'TEA', '--renounce')
    expect((await issuer.run('token', 'show', 'TEA')).stdout).toMatch(/^Issuer +none: no more can be minted$/m)
    const shown = await issuer.run('token', 'show', 'TEA', '--json')
    expect(JSON.parse(shown.stdout)).toMatchObject({ token: { symbol: 'TEA', issuer: null, supply: '90025' } })
    await issuer.isRefused(
      ['token', 'mint', '1', 'TEA', issuer.address],
      /this would fail with token\/not-issuer: only the issuer/,
    )
  })

  it('pool: a pool is opened, filled and emptied', async () => {
    const owner = new Person(5)
    // The routes of the other tests do not use this pool.
    const name = 'SALT-XUSD-5'
    const made = await owner.does('pool', 'create', '100', 'SALT', '10', 'XUSD', '--fee', '0.05', '--accept-impact')
    expect(made.amounts).toEqual(['1000000', '10000000', '3161277'])
    await owner.isRefused(
      ['pool', 'add', name, '50', 'SALT'],
      /the price of the pool lies \d+(?:\.\d+)? % from the known one/,
      1,
    )
    const added = await owner.does('pool', 'add', name, '50', 'SALT', '--accept-impact')
    expect(added.payload).toMatchObject({ amountA: '500000', amountB: '5025000', minShares: '1573233' })
    expect(added.amounts).toEqual(['500000', '4999999', '1581138'])
    const shares = async () => (await owner.holdings()).positions.find(({ pool }) => pool === name)?.shares
    expect(await shares()).toBe('4742415')
    await owner.does('pool', 'remove', name, '--shares', '2415')
    await owner.does('pool', 'remove', name, '--percent', '50')
    expect(await shares()).toBe('2370000')
    await owner.does('pool', 'remove', name, '--all')
    expect(await shares()).toBeUndefined()
    await owner.isRefused(
      ['pool', 'remove', name, '--all'],
      /nothing was sent: the wallet holds no shares of SALT-XUSD-5/,
      1,
    )
    await owner.isRefused(
      ['pool', 'create', '1', 'SALT', '1', 'XUSD', '--fee-bps', '5', '--accept-impact'],
      /this would fail with pool\/exists: /,
    )
    await owner.isRefused(['pool', 'add', name, '1.00001', 'SALT'], /"1\.00001" has more than 4 decimals/, 2)
    const listed = await owner.run('pool', 'list', 'SALT')
    expect(listed.stdout).toMatch(/^SALT-XUSD-5 /m)
    expect((await owner.run('pool', 'show', name)).stdout).toMatch(/^Fee +0\.05 %$/m)
    const turned = (await owner.run('pool', 'show', 'XUSD-SALT-5')).stdout
    expect(turned).toMatch(/^Pool +XUSD-SALT-5$/m)
    expect(turned).toMatch(/^Holds +[0-9.]+ XUSD and [0-9.]+ SALT$/m)
    const shown = JSON.parse((await owner.run('pool', 'show', name, '--json')).stdout) as object
    expect(shown).toMatchObject({ pool: { name, shares: '1000' } })
  })

  it('swap: over the best route, over a named one, for an exact output', async () => {
    const trader = new Person(6)
    const best = await trader.does('swap', '10', 'FAR', 'WOOL')
    expect(best.payload).toMatchObject({ assetIn: 'FAR', exactOut: false, amount: '1000000000' })
    expect(best.amounts).toHaveLength((best.payload.hops as readonly unknown[]).length + 1)
    const limit = BigInt(best.payload.limit as string)
    const out = BigInt(best.amounts.at(-1) as string)
    expect(limit).toBe((out * 995_000n + 999_999n) / 1_000_000n)
    const named = await trader.does(
      'swap',
      '2',
      'WOOL',
      'FAR',
      '--route',
      'WOOL-SALT-100,FAR-SALT-30',
      '--slippage',
      '0',
    )
    expect(named.payload.hops).toEqual([
      { asset: 'SALT', feeBps: 100 },
      { asset: 'FAR', feeBps: 30 },
    ])
    expect(named.payload.limit).toBe(named.amounts.at(-1))
    const exact = await trader.does('swap', '5', 'FAR', 'SALT', '--exact-out')
    expect(exact.amounts[1]).toBe('50000')
    const paid = BigInt(exact.amounts[0] as string)
    expect(exact.payload).toMatchObject({ exactOut: true, limit: ((paid * 1_005_000n) / 1_000_000n).toString() })
    const told = await trader.run('swap', '1', 'SALT', 'WOOL', '--route', 'SALT-WOOL-100')
    expect(told.stdout).toMatch(/^done at height \d+: paid 1 SALT, received 2\.9\d+ WOOL, fee 0\.00\d+ FAR\n$/)
    const candles = await trader.run('pool', 'candles', 'SALT-WOOL-100')
    expect(candles.stdout.trim().split('\n').length).toBeGreaterThan(1)
    const tried = await trader.run('swap', '20000', 'SALT', 'WOOL', '--dry-run')
    expect(tried.stderr).toMatch(
      /would fail with ledger\/insufficient-balance: the wallet holds too little: it holds [0-9.]+ SALT, and this takes 20000 SALT/,
    )
    expect(tried.code).toBe(1)
    await trader.isRefused(['swap', '1', 'FAR', 'WOOL', '--route', 'FAR-SALT-30'], /leads to SALT, not to WOOL/, 2)
    await trader.isRefused(['swap', '1', 'FAR', 'SALT', '--limit', '9999'], /the quote is .* worse than --limit/, 1)
    await trader.isRefused(['swap', '1', 'FAR', 'XLTC'], /the node refused: .*route/)
    await trader.isRefused(['swap', '1', 'FAR', 'NONE'], /the node refused: .*NONE/)
  })

  it('stake: coins are locked, earn, and come back', async () => {
    const staker = new Person(7)
    await staker.isRefused(
      ['stake', 'claim', 'ab'.repeat(32)],
      /this would fail with stake\/unknown: the wallet has no such stake/,
    )
    const nothing = await staker.run('stake', 'claim', '--all')
    expect(nothing).toMatchObject({ code: 0, stdout: '' })
    expect(nothing.stderr).toBe('no stake has earned anything that is not claimed\n')
    // The shortest lock may end before the next command reads it.
    const long = await staker.does('stake', '50000', '--tier', '1')
    await staker.isRefused(['stake', 'unstake', long.txId, '--dry-run'], /would fail with stake\/locked: /)
    const { txId } = await staker.does('stake', '100000', '--tier', '0')
    expect((await staker.run('stake', 'tiers')).stdout).toMatch(/^0 +10 blocks +1 /m)
    const stake = (await staker.holdings()).stakes.find(({ stakeId }) => stakeId === txId)
    expect(stake).toMatchObject({ staked: { units: '10000000000000' } })
    const listed = await staker.run('stake', 'list')
    expect(listed.stdout).toMatch(new RegExp(`^${long.txId}  1 +50000 FAR +0\\.\\d+ FAR +until height \\d+$`, 'm'))
    expect(listed.stdout).toMatch(new RegExp(`^${txId}  0 +100000 FAR +0\\.\\d+ FAR +(until height \\d+|over)$`, 'm'))
    const claimed = (await staker.run('stake', 'claim', '--all', '--accept-loss', '--json')).stdout.trim().split('\n')
    expect(claimed).toHaveLength(2)
    for (const line of claimed) expect(BigInt((JSON.parse(line) as Outcome).amounts[0] as string)).toBeGreaterThan(0n)
    await lockOver(staker, txId)
    const back = await staker.json<Outcome>('stake', 'unstake', txId)
    expect(back.amounts).toEqual(['10000000000000'])
    await staker.json<Outcome>('stake', 'claim', txId, '--accept-loss')
    expect((await staker.holdings()).stakes.map(({ stakeId }) => stakeId)).toEqual([long.txId])
  })

  it('stable: reserves are filled, tokens issued and redeemed', async () => {
    const [issuer, holder] = [new Person(2), new Person(8)]
    await holder.isRefused(['stable', 'mint', '1', 'FUSD', holder.address], /this would fail with token\/not-issuer: /)
    await holder.isRefused(['stable', 'deposit', '1', 'SALT'], /SALT is no stable token; there are: FUSD/, 1)
    await holder.does('stable', 'deposit', '120', 'FUSD')
    await issuer.isRefused(
      ['stable', 'mint', '120.000001', 'FUSD', holder.address, '--dry-run'],
      /stable\/under-backed: /,
    )
    await issuer.does('stable', 'mint', '100', 'FUSD', holder.address)
    await issuer.does('stable', 'withdraw', '20', 'FUSD')
    const before = await holder.held('XUSD')
    const redeemed = await holder.does('stable', 'redeem', '100', 'FUSD')
    expect(redeemed.payload).toMatchObject({ minPaid: '99500000' })
    expect((await holder.held('XUSD')) - before).toBe(100_000_000n)
    expect((await holder.run('stable', 'list')).stdout).toMatch(/^\d+ FUSD +\d+ XUSD +0 XUSD +100 % +open$/m)
  })

  it('agent: an agent and its service are registered, changed and retired', async () => {
    const owner = new Person(9)
    const fields = ['--name', 'My agent', '--endpoint', 'https://agent.example', '--capabilities', 'search,pricing']
    await owner.does('agent', 'register', 'my-agent', ...fields)
    await owner.isRefused(
      ['agent', 'publish', 'my-agent', 'my-search', '--price', '1'],
      /with --price, --capability and/,
      2,
    )
    const service = ['--price', '0.01', '--capability', 'search', '--name', 'Search']
    await owner.does('agent', 'publish', 'my-agent', 'my-search', ...service)
    const changed = await owner.does('agent', 'publish', 'my-agent', 'my-search', '--price', '0.02')
    expect(changed.payload).toMatchObject({ name: 'Search', capability: 15, priceUsdMicros: '20000' })
    const address = ['--endpoint', 'https://new.example']
    await owner.isRefused(['agent', 'update', 'my-agent', ...address], /if they are right, add --settlers ""/, 2)
    const moved = await owner.does('agent', 'update', 'my-agent', ...address, '--settlers', '')
    expect(moved.payload).toMatchObject({ name: 'My agent', owner: owner.address, payout: owner.address })
    await owner.does('agent', 'retire', 'my-agent', 'my-search')
    await owner.isRefused(
      ['agent', 'retire', 'my-agent', 'my-search'],
      /this would fail with ledger\/service-retired: /,
    )
    expect((await owner.run('agent', 'list')).stdout).toMatch(/^my-agent +My agent +1 +0 +https:\/\/new\.example$/m)
    expect((await owner.run('agent', 'show', 'my-agent')).stdout).toMatch(/^my-search +retired +0 /m)
    const shown = JSON.parse((await owner.run('agent', 'show', 'my-agent', '--json')).stdout) as Record<string, object>
    expect(shown.agent).toMatchObject({ services: [{ serviceId: 'my-search', retired: true }] })
  })

  it('bridge: a withdrawal is asked for and shown', async () => {
    const leaving = new Person(10)
    const recipient = '0x00000000219ab540356cBB839Cbe05303d7705Fa'
    await leaving.isRefused(['bridge', 'withdraw', '25', 'base', `${recipient}0`], /is no address of Base: /, 2)
    await leaving.isRefused(['bridge', 'withdraw', '4.9', 'base', recipient], /least withdrawal to Base is 5 XUSD/, 2)
    await leaving.isRefused(
      ['bridge', 'withdraw', '25', 'moon', recipient],
      /"moon" is no network .* ethereum, base, /,
      2,
    )
    const { txId, amounts } = await leaving.does('bridge', 'withdraw', '25', 'base', recipient)
    expect(amounts).toEqual(['24975000'])
    expect((await leaving.run('bridge', 'withdrawal', txId)).stdout).toMatch(/^To be paid out +24\.975 XUSD$/m)
    const shown = JSON.parse((await leaving.run('bridge', 'withdrawal', txId, '--json')).stdout) as object
    expect(shown).toMatchObject({ withdrawal: { recipient, status: 'pending', receives: { units: '24975000' } } })
    expect((await leaving.run('bridge', 'status', 'base')).stdout).toMatch(
      /^base +open +\d+ XUSD +25 XUSD +0\.1 % +5 XUSD$/m,
    )
    expect((await leaving.run('bridge', 'deposits')).stdout).toMatch(/^bitcoin +1BitcoinEater\w+ +6 +0 /m)
    await leaving.isRefused(
      ['bridge', 'withdraw', '25', 'solana', '1nc1nerator11111111111111111111111111111111'],
      /bridge\/float: /,
    )
  })

  it('what is not mined yet can be left to itself, and the history shows it later', async () => {
    const sender = new Person(3)
    const sent = await sender.run('token', 'transfer', '1', 'SALT', stranger('a2'), '--no-wait')
    expect(sent.code, sent.stderr).toBe(0)
    expect(sent.stdout).toMatch(/^[0-9a-f]{64}\n$/)
    expect(sent.stderr).toContain(`${stranger('a2')} has no account yet: this opens it`)
    await until('the history shows it', async () =>
      (await sender.run('wallet', 'history')).stdout.includes(sent.stdout.trim()),
    )
  })
})

describe.concurrent('nothing is sent', () => {
  const REFUSALS: readonly (readonly [string, readonly string[], RegExp, number])[] = [
    ['with more decimals than the token has', ['token', 'burn', '1.00001', 'SALT'], /has more than 4 decimals/, 2],
    ['of nothing', ['token', 'burn', '0', 'SALT'], /an amount of SALT is more than 0/, 2],
    ['where a symbol is none', ['token', 'burn', '1', 'salt'], /"salt" is no symbol: /, 2],
    ['where the native coin is no token', ['token', 'burn', '1', 'FAR'], /FAR is the native coin, not a token/, 2],
    ['above the fee that was allowed', ['token', 'burn', '1', 'SALT', '--max-fee', '0.000001'], /see --max-fee/, 1],
    ['in a tier that there is not', ['stake', '5', '--tier', '4'], /there is no tier 4; there are 0 to 3/, 2],
    ['on another network', ['token', 'burn', '1', 'SALT', '--network', 'testnet'], /set to testnet|no wallet named/, 1],
  ]

  it.each(REFUSALS)('%s', async (_, words, line, expected) => {
    const person = new Person(1)
    await person.isRefused(words, line, expected)
    const { body } = await ask<{ nonce: string }>(url, `/api/v1/accounts/${person.address}`)
    expect(body.nonce).toBe('0')
  })

  it('by a dry run', async () => {
    const person = new Person(1)
    const { code, stdout } = await person.run('token', 'transfer', '3', 'SALT', stranger('a3'), '--dry-run')
    expect(code).toBe(0)
    expect(stdout).toContain('\n  you: -3 SALT\n')
    expect(stdout).toContain(`\n  ${stranger('a3')}: +3 SALT\n`)
    expect(stdout).toMatch(/^ {2}you: -0\.\d+ FAR$/m)
    expect(stdout).toMatch(/\nnothing was signed or sent\n$/)
    const { body } = await ask<{ nonce: string; exists: boolean }>(url, `/api/v1/accounts/${stranger('a3')}`)
    expect(body.exists).toBe(false)
  })
})

/** Waits until the lock of a stake is over, for 200 seconds at most. */
function lockOver(staker: Person, stakeId: string): Promise<true> {
  const rehearse = async () => (await staker.run('stake', 'unstake', stakeId, '--dry-run')).code === 0
  return until('the lock is over', rehearse, { ms: 200_000, everyMs: 2_000 })
}
