import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEV_ADDRESSES, devSeed } from '../../config/networks/dev-keys.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { wordsOfSeed } from '../../consensus/crypto/words.ts'
import { ask } from '../support/api.ts'
import { type RunningDaemon, WITH_TEST_SERVICES, Workshop } from '../support/daemon.ts'
import { mineOnDemand } from '../support/mine-by-hand.ts'
import { type Finished, until } from '../support/processes.ts'

const workshop = new Workshop()
const FAST = { entry: WITH_TEST_SERVICES, env: { TEST_FAST_BLOCKS: '1' } }
const VAULT = '0x000000000000000000000000000000000000dEaD'
/** A recipient on Base. */
const RECIPIENT = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const PAYMENT = `0x${'1c'.repeat(32)}`
const RECEIVER = formatAddress('dfar', DEV_ADDRESSES[4] as (typeof DEV_ADDRESSES)[number])
let daemon: RunningDaemon
let endMining: () => Promise<void>

beforeAll(async () => {
  daemon = await workshop.start(workshop.folder(), { mine: 0, env: FAST.env })
  // A mining thread would starve beside the processes of these tests.
  endMining = mineOnDemand(daemon.url)
})
afterAll(() => endMining())

interface Signed {
  readonly epoch: number
  readonly keyIndex: number
  readonly signature: string
  readonly action: Readonly<Record<string, unknown>>
}

interface Network {
  readonly status: string
  readonly deposited: { readonly units: string }
  readonly released: { readonly units: string }
  readonly pending: { readonly units: string }
}

const run = (...args: readonly string[]): Promise<Finished> => workshop.run(args, FAST)
const sign = (member: number, ...words: readonly string[]): Promise<Finished> =>
  run('attestor', 'sign', ...words, '--dev-member', String(member), '--rpc', daemon.url)

/** Signs as members of the devnet's committee, each into a separate file. */
async function signedBy(members: readonly number[], ...words: readonly string[]): Promise<readonly string[]> {
  const files: string[] = []
  for (const member of members) {
    const file = workshop.path(`${member}.json`)
    const { code, stderr } = await sign(member, ...words, '--out', file)
    expect(code, stderr).toBe(0)
    files.push(file)
  }
  return files
}

function submit(files: readonly string[], ...flags: readonly string[]): Promise<Finished> {
  const payer = ['--rpc', daemon.url, '--data-dir', workshop.folder(), '--dev-key', '3']
  return run('attestor', 'submit', ...files, ...payer, ...flags)
}

async function attest(members: readonly number[], ...words: readonly string[]): Promise<void> {
  const { code, stderr } = await submit(await signedBy(members, ...words))
  expect(code, stderr).toBe(0)
}

async function base(): Promise<Network> {
  return (await ask<{ network: Network }>(daemon.url, '/api/v1/bridge/base')).body.network
}

async function withdraw(): Promise<string> {
  const payer = ['--rpc', daemon.url, '--data-dir', workshop.folder(), '--dev-key', '5']
  const { code, stdout, stderr } = await run('bridge', 'withdraw', '25', 'base', RECIPIENT, '--json', ...payer)
  expect(code, stderr).toBe(0)
  return (JSON.parse(stdout) as { txId: string }).txId
}

async function status(withdrawal: string): Promise<unknown> {
  const { body } = await ask<{ withdrawal: { status: string } }>(daemon.url, `/api/v1/bridge/withdrawals/${withdrawal}`)
  return body.withdrawal.status
}

const DEPOSIT = ['deposit', 'base', PAYMENT, '0', RECEIVER, '25.5'] as const

describe('farthing attestor', () => {
  it('mints a deposit that two of three members signed, once', async () => {
    const before = BigInt((await base()).deposited.units)
    const files = await signedBy([8, 10], ...DEPOSIT)
    const { code, stderr } = await submit(files)
    expect(code, stderr).toBe(0)
    expect(stderr).toContain(`mint 25.5 XUSD for ${RECEIVER}`)
    expect(BigInt((await base()).deposited.units) - before).toBe(25_500_000n)
    const again = await submit(files)
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('this deposit was minted before')])
  })

  it('shows what is about to be signed, to compare with the others, and signs what it showed', async () => {
    const shown = await sign(9, ...DEPOSIT, '--dry-run')
    expect([shown.code, shown.stdout]).toEqual([0, ''])
    expect(shown.stderr).toContain(`mint 25.5 XUSD for ${RECEIVER}`)
    expect(shown.stderr).toContain(`paid into the vault on Base by output 0 of ${PAYMENT}`)
    expect(shown.stderr).toContain('600 blocks deep')
    expect(shown.stderr).toContain('as key 1 in epoch 0 of the committee on devnet')
    const digest = /digest ([0-9a-f]{64})/.exec(shown.stderr)?.[1] as string
    const other = await sign(10, ...DEPOSIT)
    expect(other.stderr).toContain(`digest ${digest}`)
    const signed = JSON.parse(other.stdout) as Signed
    expect(signed).toMatchObject({ epoch: 0, keyIndex: 2, action: { action: 'deposit', network: 1, to: RECEIVER } })
    expect(signed.signature).toHaveLength(2 * 3_373)
    expect((await sign(10, ...DEPOSIT.slice(0, 5), '25.6')).stderr).not.toContain(digest)
  })

  it('pays a withdrawal out: signed, then released', async () => {
    const before = await base()
    const id = await withdraw()
    const shown = await sign(8, 'sign', id, '--dry-run')
    expect(shown.stderr).toContain(`24.975 XUSD to ${RECIPIENT} on Base`)
    await attest([9, 10], 'sign', id)
    expect(await status(id)).toBe('signing')
    const late = await sign(8, 'cancel', id)
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('the withdrawal is signing')])
    await attest([8, 9], 'release', id, PAYMENT)
    const after = await base()
    expect(await status(id)).toBe('released')
    expect(BigInt(after.released.units) - BigInt(before.released.units)).toBe(24_975_000n)
    expect(after.pending.units).toBe(before.pending.units)
  })

  it('gives a withdrawal back', async () => {
    const id = await withdraw()
    await attest([8, 9], 'cancel', id)
    expect(await status(id)).toBe('cancelled')
  })

  it('signs without a node where all is said', async () => {
    const words = ['attestor', 'sign', 'sign', 'ab'.repeat(32), '--dev-member', '8']
    const offline = ['--epoch', '3', '--key-index', '0', '--on', 'base', '--rpc', 'http://127.0.0.1:1']
    const { code, stdout, stderr } = await run(...words, ...offline)
    expect(code, stderr).toBe(0)
    expect(stderr).toContain('amount and recipient were not looked up')
    expect(JSON.parse(stdout)).toMatchObject({ epoch: 3, keyIndex: 0, action: { action: 'sign', network: 1 } })
    expect((await run(...words, ...offline.slice(0, 4), ...offline.slice(6))).stderr).toContain('no node answers')
  })

  it('signs with a wallet of a member', async () => {
    const [dataDir, words] = [workshop.folder(), workshop.path('words')]
    writeFileSync(words, wordsOfSeed(devSeed(9)))
    const wallet = ['--wallet', 'member', '--data-dir', dataDir]
    expect((await run('wallet', 'import', '--scheme', '2', '--words-file', words, ...wallet)).code).toBe(0)
    const { code, stdout, stderr } = await run('attestor', 'sign', 'halt', 'solana', ...wallet, '--rpc', daemon.url)
    expect(code, stderr).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ keyIndex: 1, action: { action: 'halt', network: 7 } })
  })

  it('halts a network', async () => {
    await attest([8, 9], 'halt', 'litecoin')
    const { body } = await ask<{ network: Network }>(daemon.url, '/api/v1/bridge/litecoin')
    expect(body.network.status).toBe('halted')
  })
})

describe('farthing attestor refuses', () => {
  const edited = (file: string, change: object): string => {
    const path = workshop.path('edited.json')
    writeFileSync(path, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), ...change }))
    return path
  }

  it('too few signatures, one member twice, signatures over different things, and forged ones', async () => {
    const other = ['deposit', 'base', PAYMENT, '7', RECEIVER, '30']
    const [first, second] = (await signedBy([8, 9], ...other)) as [string, string]
    const [different] = (await signedBy([10], ...DEPOSIT)) as [string]
    const refusals: readonly (readonly [readonly string[], string])[] = [
      [[first], 'it takes 2 signatures, here are 1'],
      [[first, first], 'the key 0 signed twice'],
      [[first, different], 'they are over different statements'],
      [[first, edited(second, { keyIndex: 2 })], 'the signature of key 2 does not verify'],
      [[first, edited(second, { keyIndex: 7 })], 'the committee has no key 7'],
      [
        [edited(first, { epoch: 1 }), edited(second, { epoch: 1 })],
        'the attestation is for committee epoch 1, now is 0',
      ],
      [[edited(first, { genesis: 'ab'.repeat(32) })], 'for another network than devnet'],
      [[edited(first, { action: { action: 'mint' } })], 'is no action of the bridge'],
      [[edited(first, { version: 2 })], 'version: is unknown'],
      [[workshop.path('nothing.json')], 'cannot be read'],
    ]
    for (const [files, says] of refusals) {
      const { code, stderr } = await submit(files)
      expect(code, stderr).not.toBe(0)
      expect(stderr).toContain(says)
    }
    expect((await submit([first, second], '--dry-run')).code).toBe(0)
  })

  it('to sign what no block could hold, and what it is no member for', async () => {
    const address = formatAddress('dfar', DEV_ADDRESSES[0] as (typeof DEV_ADDRESSES)[number])
    const refusals: readonly (readonly [readonly string[], string])[] = [
      [[], 'usage: farthing attestor sign deposit'],
      [['mint'], 'usage: farthing attestor sign deposit'],
      [['deposit', 'base', PAYMENT, '0', address], 'usage: farthing attestor sign deposit'],
      [['deposit', 'dogecoin', PAYMENT, '0', address, '5'], 'is no network of the bridge'],
      [['deposit', 'base', PAYMENT.slice(2), '0', address, '5'], 'is no transaction of Base'],
      [['deposit', 'base', PAYMENT, '-', address, '5'], 'is no number of an output'],
      [['deposit', 'base', PAYMENT, '4294967296', address, '5'], 'malformed payload of bridge_deposit'],
      [['deposit', 'base', PAYMENT, '0', VAULT, '5'], 'is not an address'],
      [['deposit', 'base', PAYMENT, '0', address, '0.0000001'], 'more than 6 decimals'],
      [['halt'], 'usage: farthing attestor sign deposit'],
      [['halt', 'tron'], 'is no network of the bridge'],
      [['rotate', workshop.path('none')], 'cannot be read'],
      [['sign'], 'usage: farthing attestor sign deposit'],
      [['sign', 'abc'], 'is no id of a withdrawal'],
      [['sign', 'ab'.repeat(32)], 'there is no withdrawal'],
      [['sign', 'ab'.repeat(32), PAYMENT], 'usage: farthing attestor sign deposit'],
      [['release', 'ab'.repeat(32)], 'usage: farthing attestor sign deposit'],
      [['release', 'ab'.repeat(32), 'x', '--on', 'base'], 'is no transaction of Base'],
    ]
    for (const [words, says] of refusals) {
      const { code, stdout, stderr } = await sign(8, ...words)
      expect([code === 0, stdout], words.join(' ')).toEqual([false, ''])
      expect(stderr).toContain(says)
    }
    expect((await sign(7, 'halt', 'base')).stderr).toContain('this wallet is no member of the committee')
    const elsewhere = await run('attestor', 'key', '--dev-member', '8', '--network', 'testnet')
    expect(elsewhere.stderr).toContain('for the devnet alone')
    const taken = workshop.path('taken.json')
    writeFileSync(taken, '')
    expect((await sign(8, 'halt', 'base', '--out', taken)).stderr).toContain('cannot be written: it exists')
  })
})

describe('a rotation', () => {
  it('is shown for what it is, and hands the bridge to other keys', async () => {
    const keys = await Promise.all([1, 2].map((member) => run('attestor', 'key', '--dev-member', String(member))))
    const file = workshop.path('rotation.json')
    const vaults = [{ network: 1, address: VAULT }]
    const rotation = { threshold: 2, keys: keys.map(({ stdout }) => JSON.parse(stdout) as object), vaults, resume: [9] }
    writeFileSync(file, JSON.stringify(rotation))
    const shown = await sign(8, 'rotate', file, '--dry-run')
    expect(shown.stderr).toContain('replace the committee by 2 of these 2 keys')
    expect(shown.stderr).toContain(/member (dfar1\w+)/.exec(keys[0]?.stderr ?? '')?.[1])
    expect(shown.stderr).toContain(`the vault on Base becomes ${VAULT}`)
    expect(shown.stderr).toContain('the bridge to Litecoin is resumed')
    await attest([9, 10], 'rotate', file)
    await until('the rotation takes effect', async () => {
      const { committee } = (await ask<{ committee: { epoch: number } }>(daemon.url, '/api/v1/bridge')).body
      return committee.epoch === 1 ? committee : undefined
    })
    expect((await ask<{ network: Network }>(daemon.url, '/api/v1/bridge/9')).body.network.status).toBe('open')
    expect((await sign(8, ...DEPOSIT)).stderr).toContain('this wallet is no member of the committee')
    await attest([1, 2], 'deposit', 'litecoin', 'ab'.repeat(32), '1', RECEIVER, '0.5')
  })
})
