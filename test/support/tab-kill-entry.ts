import { flushCompileCache } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { decodeBlock } from '../../consensus/block/block.ts'
import { Chain } from '../../consensus/chain/chain.ts'
import { ChainDatabase } from '../../consensus/chain/database.ts'
import { UNPACED } from '../../consensus/chain/ports.ts'
import { createInlineVerifier } from '../../consensus/crypto/verifier.ts'
import { fromHex, toHex } from '../../consensus/primitives/bytes.ts'
import { encodeTransaction } from '../../consensus/tx/transaction.ts'
import { ValueAtRisk } from '../../marketplace/till/rails/native/payment.ts'
import { chainPrice } from '../../marketplace/till/rails/native/price.ts'
import { Sender } from '../../marketplace/till/rails/native/sender.ts'
import { Claimer } from '../../marketplace/till/rails/tab/claimer.ts'
import { TabRail } from '../../marketplace/till/rails/tab/tab-rail.ts'
import type { TabStore } from '../../marketplace/till/rails/tab/tab-store.ts'
import { DEFAULT_MARKET_SETTINGS } from '../../marketplace/till/settings.ts'
import { type Offer, Shop, type TransactionSink } from '../../marketplace/till/shop.ts'
import { Takeover } from '../../marketplace/till/takeover.ts'
import { Workshop } from '../../marketplace/till/workshop.ts'
import { Mempool } from '../../mempool/mempool.ts'
import { DEFAULT_MEMPOOL_POLICY } from '../../mempool/policy.ts'
import { TabCounter } from '../../rpc/market/tab-counter.ts'
import type { NodeApi } from '../../rpc/node/node-api.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { nativePowHasher } from '../../src/crypto/native-pow.ts'
import { halfVerdicts, isTabSignature } from '../../src/crypto/signature-facts.ts'
import { systemClock, systemTimers } from '../../src/daemon/runtime.ts'
import { LevelStore } from '../../src/storage/level-store.ts'
import { LevelTabStore } from '../../src/storage/level-tabs.ts'
import { outsideOf } from './outside.ts'
import { openDoor } from './tab-kill-door.ts'
import { killRuleBook, operatorWith, RECEIPT_SIGNER, type SellerOrder } from './tab-kill-order.ts'
import { TEST_SERVICES } from './test-services.ts'
import { units } from './unsigned.ts'

/**
 * A seller of calls on tabs in a process of its own: till, rail, claimer, HTTP server, chain and stores are the real ones. It kills itself
 * with SIGKILL when it comes to a step for the n-th time. Blocks come from the network and transactions go there, by HTTP.
 */
const { folder, network, settler, shared, death } = JSON.parse(process.argv[2] ?? '{}') as SellerOrder

const SIZES = { cacheBytes: 1 << 20, writeBufferBytes: 1 << 20 }
/** Base units that may be unclaimed on a tab: so little that claims are made after some calls. */
const RISK_LIMIT = units(5_000_000)

let left = death?.count ?? 0
function step(name: string): void {
  if (name !== death?.step) return
  left -= 1
  if (left === 0) process.kill(process.pid, 'SIGKILL')
}

/** The store, with a step before each of its calls, while its write is under way, and after it. */
function watched(store: TabStore): TabStore {
  const call = (name: string, work: () => unknown): unknown => {
    step(`before ${name}`)
    const result = work()
    if (!(result instanceof Promise)) return result
    setImmediate(() => step(`during ${name}`))
    return result.then((value: unknown) => {
      step(`after ${name}`)
      return value
    })
  }
  return new Proxy(store, {
    get: (target, name) => {
      const member = Reflect.get(target, name, target) as unknown
      if (typeof member !== 'function') return member
      return (...values: unknown[]) => call(String(name), () => Reflect.apply(member, target, values))
    },
  })
}

function sinkOver(mempool: Mempool): TransactionSink {
  return {
    submit: async (tx) => {
      step('before send')
      const taken = await mempool.submit(tx)
      step('during send')
      if (taken.ok) await fetch(`${network}/network/tx`, { method: 'POST', body: toHex(encodeTransaction(tx)) })
      step('after send')
      return taken
    },
    get: (txId) => mempool.get(txId),
    ofAccount: (address) => mempool.ofAccount(address),
    nextNonce: (address) => mempool.nextNonce(address),
  }
}

/** Takes the blocks that the network has and this chain has not. With the URL of this seller it waits for the next one. */
async function follow(chain: Chain, url: string | null): Promise<void> {
  const { height } = chain.head.header
  const query = url === null ? '' : `&by=${url}`
  const answer = await fetch(`${network}/network/blocks?after=${height}${query}`)
  for (const hex of (await answer.json()) as readonly string[]) {
    const block = decodeBlock(fromHex(hex))
    if (!block.ok) throw new Error(block.fault.code)
    const hasClaim = block.value.transactions.some(({ body }) => body.kind === 'tab_claim')
    if (hasClaim) step('before claim mined')
    const imported = chain.import(block.value)
    if (hasClaim) setImmediate(() => step('during claim mined'))
    const outcome = await imported
    if (!outcome.ok) throw new Error(outcome.fault.code)
    if (hasClaim) step('after claim mined')
  }
}

async function openStore(): Promise<TabStore> {
  if (shared === null) return LevelTabStore.open(join(folder, 'tabs'))
  const [{ PostgresClaims }, { postgresPlace }] = await Promise.all([
    import('../../src/storage/postgres-claims.ts'),
    import('../../src/storage/postgres-place.ts'),
  ])
  const place = postgresPlace(shared.url)
  if (!place.ok) throw new Error(place.fault.code)
  const { home, leaseMs } = shared
  const claims = await PostgresClaims.open({ place: place.value, network: 'test', home, leaseMs, timers: systemTimers })
  return claims.tabs()
}

function shopOver(chain: Chain, mempool: Mempool): Shop {
  const offers = TEST_SERVICES.map(
    (definition): Offer => ({
      priceUsdMicros: definition.priceUsdMicros,
      definition: {
        ...definition,
        execute: async (...call) => {
          step('before work')
          const result = await definition.execute(...call)
          step('after work')
          return result
        },
      },
    }),
  )
  return new Shop(operatorWith(settler), offers, {
    ...{ chain, clock: systemClock, peerCount: () => 0, mempool: mempool as never },
    ...{ halfVerdicts, isTabSignature, powHasher: nativePowHasher, shelf: null, outside: outsideOf() },
    signatureFacts: () => {
      throw new Error('no service of these tests asks')
    },
  })
}

const fatal = (error: unknown): void => {
  console.error(error)
  process.exit(1)
}

async function openChain(): Promise<Chain> {
  const ruleBook = killRuleBook()
  const { genesis } = ruleBook
  const store = await LevelStore.open(join(folder, 'chain'), SIZES, true)
  const database = await ChainDatabase.open(store, ruleBook, genesis, 'memory')
  if ('code' in database) throw new Error(database.code)
  return new Chain({
    ...{ ruleBook, database, network: { chainId: 1, genesis: genesis.block.id }, powHasher: nativePowHasher },
    ...{ verifier: createInlineVerifier(NATIVE_BACKEND), pacer: UNPACED, reorganisationDepthMax: 1_200 },
    // Blocks of the tests have times of their own.
    clock: { now: () => Number.MAX_SAFE_INTEGER },
  })
}

async function run(): Promise<void> {
  const chain = await openChain()
  await follow(chain, null)
  const mempool = new Mempool({ chain, verifier: createInlineVerifier(NATIVE_BACKEND), policy: DEFAULT_MEMPOOL_POLICY })
  const sink = sinkOver(mempool)
  const store = watched(await openStore())
  const shop = shopOver(chain, mempool)
  const sender = new Sender(chain, sink, shop.operator.settler)
  const price = chainPrice(chain)
  const settings = { ...DEFAULT_MARKET_SETTINGS, settleWaitMs: 2_000 }
  const workshop = new Workshop(chain, systemClock)
  const rail = new TabRail({
    ...{ chain, shop, store, sink, price, settings, workshop, signer: RECEIPT_SIGNER, backend: NATIVE_BACKEND },
    ...{
      clock: systemClock,
      timers: systemTimers,
      pacer: UNPACED,
      atRisk: new ValueAtRisk(chain, price),
      onError: fatal,
    },
  })
  const takeover = store.shared === undefined ? null : new Takeover(store.shared, systemTimers)
  shop.closeWhile(() => takeover?.heldBecause ?? null)
  takeover?.join(rail.till)
  const claimer = new Claimer({
    ...{ chain, shop, store, sender, sink, clock: systemClock, riskLimit: () => RISK_LIMIT },
    onFault: (cause) => console.error(JSON.stringify(cause)),
    isHeld: () => takeover !== null && takeover.heldBecause !== null,
  })
  const tabs = new TabCounter({ rail, chain, shop, store, backend: NATIVE_BACKEND })
  const market = { shop, price, store, settler: null, sender, till: null, settings, workshop, stable: null, tabs }
  const node = { clock: systemClock, chain, mempool, market, publicUrl: null } as unknown as NodeApi
  await rail.till.resume()
  takeover?.start()
  claimer.check()
  const door = await openDoor(node, (when) => step(`${when} answer`))
  const url = `http://127.0.0.1:${(door.address() as AddressInfo).port}`
  process.stdout.write(`ready at ${url}\n`)
  if (process.env.TEST_FLUSH !== undefined) flushCompileCache()
  for (;;) await follow(chain, url)
}

run().catch(fatal)
