import { writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { DEV_ADDRESSES } from '../../config/networks/dev-keys.ts'
import { DEVNET } from '../../config/networks/devnet.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import { ask } from '../support/api.ts'
import { WITH_TEST_SERVICES, Workshop } from '../support/daemon.ts'
import { mineOnDemand } from '../support/mine-by-hand.ts'
import { type Finished, until } from '../support/processes.ts'

const workshop = new Workshop()
const FAST = { entry: WITH_TEST_SERVICES, env: { TEST_FAST_BLOCKS: '1' } }
/** Most time between two blocks. */
const BLOCK_MS = 200
const ACCOUNT_ON_BASE = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const PAID_IN = `0x${'1c'.repeat(32)}`
const PAID_OUT = `0x${'2d'.repeat(32)}`

/** Output of a writing command with --json. */
interface Outcome {
  readonly txId: string
  readonly success: boolean
  readonly amounts: readonly string[]
}

/** A running node and commands against it. */
class Scene {
  readonly url: string

  constructor(url: string) {
    this.url = url
  }

  async run(...words: readonly string[]): Promise<Finished> {
    const finished = await workshop.run([...words, '--rpc', this.url, '--data-dir', workshop.folder()], FAST)
    expect(finished.code, `${words.join(' ')}: ${finished.stderr}`).toBe(0)
    return finished
  }

  /** Runs a writing command with a development key. Returns its outcome. */
  async write(key: number, ...words: readonly string[]): Promise<Outcome> {
    const { stdout } = await this.run(...words, '--dev-key', String(key), '--json')
    const outcome = JSON.parse(stdout) as Outcome
    expect(outcome.success).toBe(true)
    return outcome
  }

  /** Two members of the committee sign, a third party pays for the transaction. */
  async attest(...words: readonly string[]): Promise<void> {
    const files: string[] = []
    for (const member of [8, 10]) {
      const file = workshop.path(`${member}.json`)
      await this.run('attestor', 'sign', ...words, '--dev-member', String(member), '--out', file)
      files.push(file)
    }
    await this.run('attestor', 'submit', ...files, '--dev-key', '3')
  }

  async read<T>(path: string): Promise<T> {
    const { status, body } = await ask<T>(this.url, path)
    expect(status, path).toBe(200)
    return body
  }

  async height(): Promise<number> {
    return (await this.read<{ height: number }>('/api/v1/status')).height
  }
}

const addressOf = (key: number): string => formatAddress(DEVNET.addressPrefix, DEV_ADDRESSES[key - 1] as Address)

interface Token {
  readonly supply: string
  readonly minted: string
}

const token = async (scene: Scene, symbol: string): Promise<Token> =>
  (await scene.read<{ token: Token }>(`/api/v1/tokens/${symbol}`)).token

async function held(scene: Scene, key: number, symbol: string): Promise<bigint> {
  const { tokens } = await scene.read<{ tokens: readonly { symbol: string; units: string }[] }>(
    `/api/v1/accounts/${addressOf(key)}/holdings`,
  )
  return BigInt(tokens.find((each) => each.symbol === symbol)?.units ?? '0')
}

/** A new token is minted, gets a pool, and is bought over a route of three pools. */
async function tradesATokenOfItsOwn(scene: Scene): Promise<void> {
  await scene.write(4, 'token', 'create', 'BARLEY', 'Barley', '--decimals', '3', '--max-supply', '1000000')
  await scene.write(4, 'token', 'mint', '50000', 'BARLEY', addressOf(4))
  await scene.write(4, 'pool', 'create', '20000', 'BARLEY', '5000', 'SALT', '--fee-bps', '30')
  const swapped = await scene.write(
    5,
    ...['swap', '100', 'FUSD', 'BARLEY', '--route', 'FAR-FUSD-30,FAR-SALT-30,BARLEY-SALT-30', '--slippage', '5'],
  )
  expect(swapped.amounts).toHaveLength(4)
  expect(await held(scene, 5, 'BARLEY')).toBe(BigInt(swapped.amounts[3] as string))
  const { swaps } = await scene.read<{ swaps: readonly { txId: string }[] }>('/api/v1/swaps?limit=3')
  expect(swaps.map(({ txId }) => txId)).toEqual([swapped.txId, swapped.txId, swapped.txId])
}

/** Coins are locked, earn rewards, which are claimed, and come back. */
async function stakesAndClaims(scene: Scene): Promise<void> {
  const { txId } = await scene.write(6, 'stake', '5000', '--tier', '0')
  const unlocked = (await scene.height()) + 11
  await until('the lock is over', async () => (await scene.height()) > unlocked)
  const claimed = await scene.write(6, 'stake', 'claim', txId, '--accept-loss')
  expect(BigInt(claimed.amounts[0] as string)).toBeGreaterThan(0n)
  const back = await scene.write(6, 'stake', 'unstake', txId)
  expect(back.amounts).toEqual(['500000000000'])
}

/** Dollars become stable tokens and dollars again. */
async function mintsAndRedeems(scene: Scene): Promise<void> {
  const before = BigInt((await token(scene, 'FUSD')).supply)
  await scene.write(2, 'stable', 'deposit', '1000', 'FUSD')
  await scene.write(2, 'stable', 'mint', '1000', 'FUSD', addressOf(7))
  expect(BigInt((await token(scene, 'FUSD')).supply) - before).toBe(1_000_000_000n)
  const redeemed = await scene.write(7, 'stable', 'redeem', '400', 'FUSD')
  expect(redeemed.amounts).toEqual(['400000000'])
}

/** Money comes in by two attestors, goes out by a release, and returns by a cancellation. */
async function crossesTheBridge(scene: Scene): Promise<void> {
  const before = await held(scene, 9, 'XUSD')
  await scene.attest('deposit', 'base', PAID_IN, '0', addressOf(9), '250')
  expect((await held(scene, 9, 'XUSD')) - before).toBe(250_000_000n)
  const leaving = await scene.write(9, 'bridge', 'withdraw', '100', 'base', ACCOUNT_ON_BASE)
  await scene.attest('sign', leaving.txId)
  await scene.attest('release', leaving.txId, PAID_OUT)
  const staying = await scene.write(9, 'bridge', 'withdraw', '50', 'base', ACCOUNT_ON_BASE)
  await scene.attest('cancel', staying.txId)
  expect((await held(scene, 9, 'XUSD')) - before).toBe(150_000_000n)
}

/** The committee halts a network, and the next committee opens the network again. */
async function haltsAndRotates(scene: Scene): Promise<void> {
  const base = async () => (await scene.read<{ network: { status: string } }>('/api/v1/bridge/base')).network.status
  const epoch = async () => (await scene.read<{ committee: { epoch: number } }>('/api/v1/bridge')).committee.epoch
  await scene.attest('halt', 'base')
  expect(await base()).toBe('halted')
  const keys: unknown[] = []
  for (const member of [1, 2, 7]) {
    const { stdout } = await workshop.run(['attestor', 'key', '--dev-member', String(member)], FAST)
    keys.push(JSON.parse(stdout))
  }
  const rotation = workshop.path('rotation.json')
  writeFileSync(rotation, JSON.stringify({ threshold: 2, keys, vaults: [], resume: [1] }))
  await scene.attest('rotate', rotation)
  await until('the rotation is in force', async () => (await epoch()) === 1)
  expect(await base()).toBe('open')
}

it('a token, a pool, a stake, a stable dollar and the bridge from the command line, and the books agree', async () => {
  const folder = workshop.folder()
  const daemon = await workshop.start(folder, { mine: 0, env: FAST.env })
  // Blocks are mined on demand: at a hundred blocks a second, signatures on a busy machine would come too late.
  const endMining = mineOnDemand(daemon.url, BLOCK_MS)
  const scene = new Scene(daemon.url)
  await tradesATokenOfItsOwn(scene)
  await stakesAndClaims(scene)
  await mintsAndRedeems(scene)
  await crossesTheBridge(scene)
  await haltsAndRotates(scene)
  await endMining()
  await daemon.stop()
  const audit = await workshop.run(['audit', '--network', 'devnet', '--data-dir', folder], FAST)
  expect(audit.code, audit.stderr).toBe(0)
})
