import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'vitest'
import { type CallView, post, type Reply, verdict } from './api.ts'
import { Caller, marketOpen, type Payment, runsIn } from './caller.ts'
import { type RunningDaemon, WITH_TEST_SERVICES, type Workshop } from './daemon.ts'
import { PRICE, TERMS } from './dollar.ts'
import { TestFacilitator } from './dollar-facilitator.ts'
import { until } from './processes.ts'
import { ROOT } from './source-tree.ts'
import { type Said, TestToken } from './stable-token.ts'

const FIXTURES = join(ROOT, 'test/fixtures/upgrade')
const PAYEE = new Caller('', 10)

type NativeCall = 'closed' | 'refunded' | 'unclaimed' | 'interrupted' | 'given-back' | 'unsettled'
type DollarCall = 'settled' | 'unpaid' | 'interrupted' | 'given-back' | 'settling'

/** What the older node was doing when it was killed, with the secrets that redeem its calls. */
interface Scene {
  /** When it was killed. The new daemon's clock starts here, so authorizations of that minute are still valid. */
  readonly atMs: number
  readonly keys: { readonly live: string; readonly revoked: string }
  readonly native: Readonly<Record<NativeCall, Omit<Payment, 'amount' | 'tx'>>>
  readonly dollars: Readonly<Record<DollarCall, { readonly address: string; readonly header: string }>>
}

/** A daemon of this release on the data folder of an older release that was killed in the middle of its work. */
export class OlderFolder {
  readonly daemon: RunningDaemon
  readonly #scene: Scene
  readonly #token: TestToken
  readonly #runsFile: string

  private constructor(
    daemon: RunningDaemon,
    scene: Scene,
    { token, runsFile }: { token: TestToken; runsFile: string },
  ) {
    this.daemon = daemon
    this.#scene = scene
    this.#token = token
    this.#runsFile = runsFile
  }

  /** Unpacks a folder of `test/fixtures/upgrade` and starts a daemon on it. */
  static async start(
    workshop: Workshop,
    name: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<OlderFolder> {
    const scene = JSON.parse(readFileSync(join(FIXTURES, `${name}.json`), 'utf8')) as Scene
    const folder = workshop.folder()
    execFileSync('tar', ['-xzf', join(FIXTURES, `${name}.tar.gz`), '--strip-components=1', '-C', folder])
    const token = new TestToken(TERMS, () => scene.atMs)
    for (const { address } of Object.values(scene.dollars)) token.mint(address, 10n * PRICE)
    // The older node had settled this call before it was killed, so its money has moved.
    const { authorization, signature } = authorizationOf(scene.dollars.settled.header)
    token.transfer(authorization, signature)
    const facilitator = await new TestFacilitator(token).open()
    const runsFile = workshop.path('runs')
    const env = {
      TEST_FAST_BLOCKS: '1',
      TEST_RUNS_FILE: runsFile,
      NODE_OPTIONS: `--import ${pathToFileURL(join(ROOT, 'test/support/started-at.ts'))}`,
      TEST_STARTED_AT_MS: String(scene.atMs),
      FARTHING_STABLE_ENABLED: 'true',
      FARTHING_STABLE_NETWORK: 'base-sepolia',
      FARTHING_STABLE_PAY_TO: TERMS.payTo,
      FARTHING_STABLE_FACILITATORS: facilitator.url,
      FARTHING_STABLE_RPC_URL: await token.listen(),
      ...more,
    }
    // An index has a newer format. The node refuses the folder and names this command, which rebuilds the index.
    const reindex = ['reindex', '--data-dir', folder]
    expect((await workshop.run(reindex, { entry: WITH_TEST_SERVICES, env })).code).toBe(0)
    const daemon = await workshop.start(folder, { env, flags: ['--market-payout', PAYEE.address] })
    workshop.atEnd(async () => {
      await facilitator.close()
      await token.close()
    })
    await marketOpen(daemon.url)
    return new OlderFolder(daemon, scene, { token, runsFile })
  }

  /** Expects each call paid in coins to end as it should: with its result or with a refund. */
  async expectNativeCallsEnd(): Promise<void> {
    const caller = new Caller(this.daemon.url, 1)
    const end = async (call: NativeCall): Promise<readonly unknown[]> => {
      const payment = this.#scene.native[call] as Payment
      const reply = await caller.settle(payment)
      const { status } = await caller.closed(payment.txId)
      return [verdict(reply), reply.body.result, reply.headers.get('idempotent-replay'), status]
    }
    expect(await end('closed')).toEqual(['200 paid', { echo: 'ok' }, 'true', 'completed'])
    expect(await end('refunded')).toEqual(['502 upstream_failed', undefined, 'true', 'refunded'])
    expect(await end('unsettled')).toEqual(['200 paid', { echo: 'ok:last' }, 'true', 'completed'])
    expect(await end('interrupted')).toEqual(['200 paid', { echo: 'slow:2800' }, 'true', 'completed'])
    expect(await end('given-back')).toEqual(['502 upstream_failed', undefined, 'true', 'refunded'])
    expect(await end('unclaimed')).toEqual(['200 paid', { echo: 'ok:later' }, null, 'completed'])
    const other = await caller.offer({ ...(this.#scene.native.closed as Payment), request: 'ok:other' })
    expect(verdict(other)).toBe('409 payment_already_redeemed')
  }

  /** Expects each call paid in dollars to end as it should. Each payer has paid once or not at all. */
  async expectDollarCallsEnd(): Promise<void> {
    await until('it sells for dollars', async () => {
      const path = '/api/x402/node-test-again?rail=stable'
      return (await post<CallView>(this.daemon.url, path, { request: 'ok' })).body.available
    })
    const end = async (call: DollarCall, serviceId: string, request: string): Promise<readonly unknown[]> => {
      const { address, header } = this.#scene.dollars[call]
      const reply = await this.#settled(`/api/x402/${serviceId}`, request, header)
      return [verdict(reply), reply.body.result, 10n * PRICE - this.#token.balance(address)]
    }
    expect(await end('settled', 'node-test-again', 'ok')).toEqual(['409 already_delivered', undefined, PRICE])
    expect(await end('unpaid', 'node-test-once', 'fail')).toEqual(['502 upstream_failed', undefined, 0n])
    expect(await end('settling', 'node-test-again', 'ok')).toEqual(['200 paid', { echo: 'ok' }, PRICE])
    expect(await end('interrupted', 'node-test-again', 'slow:2800')).toEqual(['200 paid', { echo: 'slow:2800' }, PRICE])
    expect(await end('given-back', 'node-test-once', 'slow:2800')).toEqual(['502 upstream_failed', undefined, 0n])
  }

  /** Expects that interrupted work ran again only if its service may run twice, and that ended calls did not run again. */
  expectRuns(): void {
    expect(Object.fromEntries(runsIn(this.#runsFile))).toEqual({
      'node-test-again slow:2800': 2,
      'node-test-again ok:later': 1,
    })
  }

  /** Expects the chat keys as they were: one live, one revoked. */
  async expectKeys(workshop: Workshop): Promise<void> {
    const { live, revoked } = this.#scene.keys
    // No model is configured, so a live key gets 503. A revoked key gets 401.
    expect([await this.#chat(live), await this.#chat(revoked)]).toEqual([503, 401])
    const place = ['--data-dir', this.daemon.dataDir, '--rpc-port', new URL(this.daemon.url).port]
    const { keys } = JSON.parse((await workshop.run(['keys', '--json', ...place])).stdout)
    expect(keys).toMatchObject([
      { id: revoked.slice(3, 11), label: 'lost phone', state: 'revoked', owner: 'operator' },
      { id: live.slice(3, 11), label: 'laptop of Ada', state: 'live', limits: { rpm: 30 } },
    ])
  }

  async #chat(secret: string): Promise<number> {
    const body = { model: 'model-1', messages: [{ role: 'user', content: 'Hello' }] }
    const authorization = `Bearer ${secret}`
    return (await post(this.daemon.url, '/api/v1/chat/completions', body, { authorization })).status
  }

  #settled(path: string, request: string, header: string): Promise<Reply<CallView>> {
    return until('the call is over', async () => {
      const reply = await post<CallView>(this.daemon.url, path, { request }, { 'payment-signature': header })
      return reply.status === 503 ? null : reply
    })
  }
}

function authorizationOf(header: string): { readonly authorization: Said; readonly signature: string } {
  return JSON.parse(Buffer.from(header, 'base64').toString('utf8')).payload
}
