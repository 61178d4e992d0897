import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../../consensus/chain/ports.ts'
import type { RuleBook } from '../../consensus/chain/rule-book.ts'
import { createInlineVerifier } from '../../consensus/crypto/verifier.ts'
import { Mempool } from '../../mempool/mempool.ts'
import { DEFAULT_MEMPOOL_POLICY } from '../../mempool/policy.ts'
import type { TrustedProxies } from '../../rpc/edge/proxies.ts'
import type { NetworkApi } from '../../rpc/node/network.ts'
import type { NodeApi } from '../../rpc/node/node-api.ts'
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from '../../rpc/server/limits.ts'
import { createServer } from '../../rpc/server/server.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { LevelStore } from '../../src/storage/level-store.ts'
import { TestChain } from './chain.ts'
import { removeFolder, temporaryFolder } from './processes.ts'
import { testRemoteWork } from './remote-work.ts'

const SIZES = { cacheBytes: 1 << 20, writeBufferBytes: 1 << 20 }
const RATE = 1_000_000
const RATES = {
  ...{ read: RATE, list: RATE, transaction: RATE, simulate: RATE, quote: RATE, settle: RATE, tab: RATE },
  ...{ mining: RATE, health: RATE, events: RATE, mcp: RATE, chat: RATE, 'sign-in': RATE },
}

/** Limits that no honest test reaches. */
export const UNHURRIED: HttpLimits = { ...DEFAULT_HTTP_LIMITS, ratesPerMinute: RATES, delayMsMax: 100_000 }

export const OPERATOR_TOKEN = '5e'.repeat(32)

/** The API in this process: a real server over a chain in a real LevelDB. The test mines the blocks. */
export class ApiServer {
  readonly test: TestChain
  readonly url: string
  /** Exceptions that the node met while it answered: bugs. */
  readonly errors: unknown[]
  /** How many requests are over, with or without an answer. */
  readonly over: () => number
  readonly #app: FastifyInstance
  readonly #store: LevelStore
  readonly #folder: string

  private constructor(
    test: TestChain,
    app: FastifyInstance,
    place: { url: string; store: LevelStore; folder: string },
    { errors, over }: { readonly errors: unknown[]; readonly over: () => number },
  ) {
    this.over = over
    this.test = test
    this.url = place.url
    this.errors = errors
    this.#app = app
    this.#store = place.store
    this.#folder = place.folder
  }

  static async open(
    change: Partial<HttpLimits> = {},
    network: NetworkApi | null = null,
    ruleBook?: RuleBook,
    { trustProxy = false, ...more }: Partial<NodeApi> & { readonly trustProxy?: TrustedProxies } = {},
  ): Promise<ApiServer> {
    const folder = temporaryFolder()
    const store = await LevelStore.open(join(folder, 'chain'), SIZES, true)
    const test = await TestChain.open(ruleBook, store)
    const errors: unknown[] = []
    const limits = { ...UNHURRIED, ...change }
    const onError = (error: unknown): void => {
      errors.push(error)
    }
    let over = 0
    const onAnswer = (): void => {
      over += 1
    }
    const app = await createServer(
      { ...bareNodeOf(test), network, operatorToken: OPERATOR_TOKEN, ...more },
      { limits, trustProxy, onError, onAnswer },
    )
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    return new ApiServer(test, app, { url, store, folder }, { errors, over: () => over })
  }

  /** How many connections are open. */
  connections(): Promise<number> {
    return new Promise((resolve, reject) =>
      this.#app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
    )
  }

  async close(): Promise<void> {
    await this.#app.close()
    await this.#store.close()
    removeFolder(this.#folder)
  }
}

/** A node over the test's chain that neither sells nor mines. Its clock is the chain's by default. */
export function bareNodeOf(test: TestChain, clock: Clock = { now: () => test.nowMs }): NodeApi {
  const { chain } = test
  const verifier = createInlineVerifier(NATIVE_BACKEND)
  const mempool = new Mempool({ chain, verifier, policy: DEFAULT_MEMPOOL_POLICY })
  return {
    version: 'test',
    startedAtMs: 0,
    clock,
    chain,
    mempool,
    market: null,
    mining: () => ({ threads: 0, hashesPerSecond: 0, rewardTo: null }),
    remoteWork: testRemoteWork({ chain, mempool, clock }),
    peerCount: () => 0,
    notReadyBecause: () => [],
    metrics: async () => '',
    publicUrl: null,
  }
}
