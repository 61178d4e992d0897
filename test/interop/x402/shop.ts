import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { ask, type CallView, type JsonBody, post, type Reply } from '../../support/api.ts'
import { marketOpen, runsIn } from '../../support/caller.ts'
import type { RunningDaemon, Workshop } from '../../support/daemon.ts'
import { until } from '../../support/processes.ts'
import type { Authorization, Signed } from '../evm/authorization.ts'
import { LocalChain } from '../evm/chain.ts'
import { type Keys, LocalFacilitator } from '../evm/facilitator.ts'
import { BASE_SEPOLIA, type TestNetwork } from '../evm/network.ts'
import { carried, dollarOffer, type Generation, paymentObject, signOffer } from './payments.ts'

/** Price of test services, in units of Base's token. */
export const PRICE = 2_000n
/** Units that every payer starts with. */
export const PURSE = 1_000_000n

/** A signed call, which can be sent any number of times. */
export interface Call {
  readonly serviceId: string
  readonly request: string
  readonly payer: PrivateKeyAccount
  readonly signed: Signed
  readonly headers: Readonly<Record<string, string>>
}

/** Parts of an order; absent ones get working values. */
export interface Order {
  readonly generation?: Generation
  readonly serviceId?: string
  readonly request?: string
  readonly payer?: PrivateKeyAccount
  readonly change?: Partial<Authorization>
}

export interface ShopOptions {
  readonly facilitators?: number
  readonly env?: Readonly<Record<string, string>>
  /** A custom network, written into the daemon's settings file. The default is the test network of Base. */
  readonly network?: TestNetwork
  /** Keys that facilitators require. The daemon gets them in a file. */
  readonly keys?: Keys
  /** Whether its facilitators take channels. */
  readonly takesChannels?: boolean
}

/** A call paid over the stablecoin rail, as in `/api/x402/requests`. */
export interface StableRequestView extends JsonBody {
  readonly txId: string | null
  readonly rail: string
  readonly caller: string
  readonly serviceId: string
  readonly status: string
}

/** Blocks that cost almost no work. */
const FAST = { TEST_FAST_BLOCKS: '1' }
const API_ATTEMPT_MS = 90_000
const REQUEST_DIGITS = 8

/** A real daemon that sells for dollars on a local chain, through facilitators with switchable troubles. */
export class Shop {
  readonly chain: LocalChain
  readonly facilitators: readonly LocalFacilitator[]
  readonly payTo: Hex
  readonly #workshop: Workshop
  readonly #folder: string
  readonly #runsFile: string
  readonly #env: Readonly<Record<string, string>>
  #daemon: RunningDaemon | null = null
  #requests = 0

  private constructor(parts: {
    chain: LocalChain
    facilitators: readonly LocalFacilitator[]
    workshop: Workshop
    env: Readonly<Record<string, string>>
  }) {
    this.chain = parts.chain
    this.facilitators = parts.facilitators
    this.payTo = this.chain.newKey().address
    this.#workshop = parts.workshop
    this.#folder = parts.workshop.folder()
    this.#runsFile = parts.workshop.path('runs')
    this.#env = parts.env
  }

  /** Starts chain, facilitators and daemon. {@link close} ends them. */
  static async open(
    workshop: Workshop,
    { facilitators = 1, env = {}, network = BASE_SEPOLIA, keys = {}, takesChannels = false }: ShopOptions = {},
  ): Promise<Shop> {
    const chain = await LocalChain.start(network)
    const started: LocalFacilitator[] = []
    for (let i = 0; i < facilitators; i++) started.push(await LocalFacilitator.start(chain, keys, takesChannels))
    const shop = new Shop({ chain, facilitators: started, workshop, env })
    await shop.#publish()
    shop.#configure(keys)
    await shop.start()
    return shop
  }

  get url(): string {
    return this.daemon.url
  }

  get daemon(): RunningDaemon {
    if (this.#daemon === null) throw new Error('the daemon was not started')
    return this.#daemon
  }

  /** The first facilitator in the daemon's order. */
  get facilitator(): LocalFacilitator {
    return this.facilitators[0] as LocalFacilitator
  }

  /** Starts or restarts the daemon on its folder and waits until it sells for dollars. It does not mine: no call needs a block. */
  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    const all = { ...FAST, TEST_RUNS_FILE: this.#runsFile, ...this.#env, ...env }
    this.#daemon = await this.#workshop.start(this.#folder, { flags: this.#flags(), env: all, mine: 0 })
    await this.selling()
  }

  /** Waits until calls can be paid in dollars. */
  async selling(): Promise<void> {
    await until('the stablecoin rail sells', async () => {
      const { body } = await this.quote('node-test-again', 'ok', '?rail=stable')
      return body.available
    })
  }

  async close(): Promise<void> {
    await this.#daemon?.kill()
    for (const facilitator of this.facilitators) await facilitator.close()
    await this.chain.close()
  }

  /** A request text that no other call of this shop has; the test services echo it. */
  newRequest(prefix = 'ok'): string {
    return `${prefix}:${String(++this.#requests).padStart(REQUEST_DIGITS, '0')}`
  }

  /** Asks for the price of a call. */
  quote(serviceId: string, request: string, query = ''): Promise<Reply<CallView>> {
    return post<CallView>(this.url, `/api/x402/${serviceId}${query}`, { request })
  }

  /** Signs a payment for a call. Sends nothing. */
  async order({ generation = 2, serviceId = 'node-test-again', ...order }: Order = {}): Promise<Call> {
    const request = order.request ?? this.newRequest()
    const payer = order.payer ?? (await this.chain.payer(PURSE))
    const offer = dollarOffer(await this.quote(serviceId, request, '?rail=stable'), generation)
    const signed = await signOffer(payer, offer, order.change)
    return { serviceId, request, payer, signed, headers: carried(generation, paymentObject(generation, offer, signed)) }
  }

  /** Sends a call with its payment; parts of different calls can be combined. */
  send(
    { serviceId, request, headers }: Pick<Call, 'serviceId' | 'request' | 'headers'>,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Reply<CallView>> {
    return post<CallView>(this.url, `/api/x402/${serviceId}`, { request }, { ...headers, ...more })
  }

  /** Repeats a call while the answer is 503. Each 503 must carry a valid retry-after and no result. */
  sendUntilKnown(call: Call, more: Readonly<Record<string, string>> = {}): Promise<Reply<CallView>> {
    return until(
      'the call is over',
      async () => {
        const reply = await this.send(call, more)
        if (reply.status !== 503) return reply
        expect(reply.headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/)
        expect(reply.body).not.toHaveProperty('result')
        return null
      },
      { ms: API_ATTEMPT_MS, everyMs: 200 },
    )
  }

  /** Repeats an answered call until the delivery is recorded. Until then the same answer comes again. */
  sendAfterDelivery(call: Call): Promise<Reply<CallView>> {
    return until('the delivery is written down', async () => {
      const reply = await this.send(call)
      if (reply.status !== 200) return reply
      expect(reply.headers.get('idempotent-replay')).toBe('true')
      return null
    })
  }

  async spent(payer: PrivateKeyAccount): Promise<bigint> {
    return PURSE - (await this.chain.balance(payer.address))
  }

  /** Units that the shop was paid. */
  income(): Promise<bigint> {
    return this.chain.balance(this.payTo)
  }

  /** How often the work of a call began. */
  runs({ serviceId, request }: Pick<Call, 'serviceId' | 'request'>): number {
    return runsIn(this.#runsFile).get(`${serviceId} ${request}`) ?? 0
  }

  /** A payer's calls, as the node lists them. */
  async listed({ address }: PrivateKeyAccount): Promise<readonly StableRequestView[]> {
    const { body } = await ask<{ readonly requests: readonly StableRequestView[] }>(
      this.url,
      '/api/x402/requests?limit=100',
    )
    return body.requests.filter(({ caller }) => caller.toLowerCase() === address.toLowerCase())
  }

  /** Publishes the services on the chain of the folder. */
  async #publish(): Promise<void> {
    const miner = await this.#workshop.start(this.#folder, { env: FAST })
    await marketOpen(miner.url)
    await miner.stop()
  }

  /** Writes the settings of an operator with a custom network or with facilitators that require keys. */
  #configure(keys: Keys): void {
    const { network } = this.chain
    const stable: Record<string, unknown> = {}
    if (network !== BASE_SEPOLIA) {
      const { word, chainId, token, domain, decimals } = network
      Object.assign(stable, { network: 'custom', 'network-word': word, 'chain-id': chainId, 'asset-contract': token })
      Object.assign(stable, { 'asset-name': domain.name, 'asset-version': domain.version, 'asset-decimals': decimals })
    }
    if (Object.keys(keys).length > 0) {
      const paths = Object.entries(keys).map(([path, key]) => [path.replace('/', ''), { authorization: key }])
      const file = join(this.#folder, 'facilitator-keys.json')
      writeFileSync(file, JSON.stringify({ [this.facilitator.url]: Object.fromEntries(paths) }))
      stable['facilitator-auth-file'] = file
    }
    if (Object.keys(stable).length > 0) writeFileSync(join(this.#folder, 'farthing.json'), JSON.stringify({ stable }))
  }

  #flags(): readonly string[] {
    const urls = this.facilitators.map(({ url }) => url).join(',')
    const known = this.chain.network === BASE_SEPOLIA ? ['--stable-network', 'base-sepolia'] : []
    return [
      ...['--stable-enabled', 'true', ...known, '--stable-pay-to', this.payTo],
      ...['--stable-facilitators', urls, '--stable-rpc-url', this.chain.rpcUrl],
    ]
  }
}
