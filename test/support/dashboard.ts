import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { verifyJob } from '../../consensus/crypto/verifier.ts'
import { signText } from '../../consensus/tx/sign.ts'
import { createDashboard, type ProviderStanding } from '../../rpc/chat/dashboard/desk.ts'
import type { ChatApi, NodeApi } from '../../rpc/node/node-api.ts'
import { DEFAULT_HTTP_LIMITS, type RateLimits } from '../../rpc/server/limits.ts'
import { createServer } from '../../rpc/server/server.ts'
import { type OpenChatKeys, openChatKeys } from '../../src/chat/stores/level-chat-keys.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import type { WalletKey } from '../../src/crypto/wallet-key.ts'
import { bareNodeOf } from './api-server.ts'
import { TestChain, wallet } from './chain.ts'
import { ManualTime } from './manual-time.ts'
import { removeFolder, temporaryFolder } from './processes.ts'

/** The operator's password. */
export const PASSWORD = 'correct horse battery staple'
/** The operator's token. */
export const TOKEN = '7a'.repeat(32)

export interface DashboardChoices {
  readonly wallets?: 'all' | readonly string[]
  readonly publicUrl?: string
  readonly loopback?: boolean
  readonly trustProxy?: boolean
  readonly providers?: () => readonly ProviderStanding[]
  readonly ratesPerMinute?: Partial<RateLimits>
}

/** The dashboard in this process: a real server over keys in a real LevelDB, with a clock that the test moves. */
export class DashboardServer {
  readonly url: string
  readonly test: TestChain
  readonly keys: OpenChatKeys
  readonly time: ManualTime
  /** Exceptions that the node met while it answered: bugs. */
  readonly errors: unknown[]
  /** The stored password and its stamp. A test that changes the password also sets another stamp. */
  secret: { stamp: string; password: string }
  readonly #app: FastifyInstance
  readonly #folder: string

  private constructor(parts: {
    readonly url: string
    readonly test: TestChain
    readonly keys: OpenChatKeys
    readonly time: ManualTime
    readonly errors: unknown[]
    readonly secret: { stamp: string; password: string }
    readonly app: FastifyInstance
    readonly folder: string
  }) {
    this.url = parts.url
    this.test = parts.test
    this.keys = parts.keys
    this.time = parts.time
    this.errors = parts.errors
    this.secret = parts.secret
    this.#app = parts.app
    this.#folder = parts.folder
  }

  static async open(choices: DashboardChoices = {}): Promise<DashboardServer> {
    const { wallets = 'all', publicUrl, loopback = true, trustProxy = false, providers = () => [] } = choices
    const ratesPerMinute = { ...DEFAULT_HTTP_LIMITS.ratesPerMinute, ...choices.ratesPerMinute }
    const folder = temporaryFolder()
    const time = new ManualTime()
    time.pass(1_700_000_000_000)
    const test = await TestChain.open()
    const bounds = { rpm: 60, tpd: 1_000_000, concurrent: 32, keys: 3 }
    const onFault = (): void => {}
    const keys = await openChatKeys({ folder: join(folder, 'chat-keys'), clock: time, timers: time, bounds, onFault })
    const secret = { stamp: 'first', password: PASSWORD }
    const operator = {
      stamp: async () => secret.stamp,
      matches: async (text: string) => ({ ok: true as const, value: text === secret.password }),
    }
    const dashboard = createDashboard({
      clock: time,
      wallets,
      operator,
      providers,
      verify: (job) => verifyJob(NATIVE_BACKEND, job),
    })
    const node: NodeApi = {
      ...bareNodeOf(test, time),
      publicUrl: publicUrl ?? null,
      operatorToken: TOKEN,
      pages: { loopback, allowedOrigins: [] },
      chat: { keys } as unknown as ChatApi,
      dashboard,
    }
    const errors: unknown[] = []
    const limits = { ...DEFAULT_HTTP_LIMITS, delayMsMax: 100_000, ratesPerMinute }
    const onError = (error: unknown): void => {
      errors.push(error)
    }
    const app = await createServer(node, { limits, trustProxy, onError, onAnswer: () => {} })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    return new DashboardServer({ url, test, keys, time, errors, secret, app, folder })
  }

  async close(): Promise<void> {
    await this.#app.close()
    await this.keys.close()
    removeFolder(this.#folder)
  }
}

/** A page as it came. */
export interface Shown {
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

/** A browser without scripts. It keeps the cookie and sends the CSRF token of the last page. */
export class PlainBrowser {
  cookie: string | null = null
  readonly #url: string
  #page = ''

  constructor(url: string) {
    this.#url = url
  }

  /** A hidden field of the last page. */
  hidden(name: string): string {
    return new RegExp(`name="${name}" value="([^"]*)"`).exec(this.#page)?.[1] ?? ''
  }

  /** The text that the page asks a wallet to sign. */
  get challenge(): string {
    return /sign-text "([^"]+)"/.exec(this.#page)?.[1] ?? ''
  }

  get(path = '/dashboard'): Promise<Shown> {
    return this.#ask(path, {})
  }

  /** Sends a form with the CSRF token of the last page. `headers` replace the origin headers that a browser sends. */
  send(
    path: string,
    fields: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Shown> {
    const own = { origin: this.#url, 'sec-fetch-site': 'same-origin' }
    const body = new URLSearchParams({ csrf: this.hidden('csrf'), ...fields }).toString()
    const sent = { 'content-type': 'application/x-www-form-urlencoded', ...(headers ?? own) }
    return this.#ask(path, { method: 'POST', headers: sent, body })
  }

  async signInByPassword(password = PASSWORD): Promise<Shown> {
    await this.get()
    return this.send('/dashboard/sign-in', { password })
  }

  /** Loads the sign-in page and signs its challenge with a wallet. */
  async signed(test: TestChain, signer: WalletKey | number = 1): Promise<string> {
    await this.get()
    return signedBy(test, this.challenge, typeof signer === 'number' ? wallet(signer) : signer)
  }

  async makeKey(fields: Readonly<Record<string, string>>): Promise<Shown> {
    await this.get()
    return this.send('/dashboard/keys', { turn: this.hidden('turn'), ...fields })
  }

  async #ask(path: string, init: { method?: string; headers?: Record<string, string>; body?: string }): Promise<Shown> {
    const cookie = this.cookie === null ? {} : { cookie: this.cookie }
    const response = await fetch(`${this.#url}${path}`, {
      redirect: 'manual',
      ...init,
      headers: { ...cookie, ...init.headers },
    })
    const set = response.headers.get('set-cookie')
    if (set !== null) this.cookie = set.split(';')[0] as string
    const text = await response.text()
    if (text !== '') this.#page = text
    return { status: response.status, text, headers: response.headers }
  }
}

/** A text signed by a wallet, as `farthing wallet sign-text` prints it. */
async function signedBy({ chain }: TestChain, text: string, signer: WalletKey): Promise<string> {
  const prefix = chain.ruleBook.params.addressPrefix
  return JSON.stringify(await signText(text, signer, { network: chain.network, prefix }))
}

/** The dashboards that a test opens, each with a browser. */
export class Dashboards {
  #servers: DashboardServer[] = []

  async open(choices = {}): Promise<{ readonly server: DashboardServer; readonly browser: PlainBrowser }> {
    const server = await DashboardServer.open(choices)
    this.#servers.push(server)
    return { server, browser: new PlainBrowser(server.url) }
  }

  /** Opens a dashboard and signs the operator in. */
  async signedIn(choices = {}): ReturnType<Dashboards['open']> {
    const all = await this.open(choices)
    const { status } = await all.browser.signInByPassword()
    if (status !== 303) throw new Error(`signing in was answered ${status}`)
    return all
  }

  /** Closes all dashboards and returns the errors that they met. */
  async close(): Promise<readonly unknown[]> {
    const servers = this.#servers
    this.#servers = []
    await Promise.all(servers.map((server) => server.close()))
    return servers.flatMap(({ errors }) => errors)
  }
}
