import { setImmediate } from 'node:timers/promises'
import type { HeadChange } from '../../../consensus/chain/events.ts'
import { UNPACED } from '../../../consensus/chain/ports.ts'
import type { Fault } from '../../../consensus/primitives/fault.ts'
import type { AgentId, BlockId, TxId } from '../../../consensus/primitives/ids.ts'
import type { PayloadOf, TxKind } from '../../../consensus/tx/kinds.ts'
import { capabilityNumber, capabilitySet } from '../../../marketplace/ledger/capabilities.ts'
import { ValueAtRisk } from '../../../marketplace/till/rails/native/payment.ts'
import { chainPrice } from '../../../marketplace/till/rails/native/price.ts'
import { Sender } from '../../../marketplace/till/rails/native/sender.ts'
import { Claimer } from '../../../marketplace/till/rails/tab/claimer.ts'
import { TabRail } from '../../../marketplace/till/rails/tab/tab-rail.ts'
import type { TabStore } from '../../../marketplace/till/rails/tab/tab-store.ts'
import { DEFAULT_MARKET_SETTINGS } from '../../../marketplace/till/settings.ts'
import { Shop } from '../../../marketplace/till/shop.ts'
import { Workshop } from '../../../marketplace/till/workshop.ts'
import { NATIVE_BACKEND } from '../../../src/crypto/native-backend.ts'
import { halfVerdicts, isTabSignature } from '../../../src/crypto/signature-facts.ts'
import type { SellerKey } from '../../../src/crypto/wallet-key.ts'
import { mempoolFacts } from '../../../src/market/open-market.ts'
import { LevelTabStore } from '../../../src/storage/level-tabs.ts'
import { outsideOf } from '../outside.ts'
import { TEST_SERVICES } from '../test-services.ts'
import { agentId, units } from '../unsigned.ts'
import { cheapPow } from './cheap-network.ts'
import type { SimNode } from './sim-node.ts'
import { SIM_CLOSE_DELAYS } from './tab-rules.ts'

/** What a call costs, in millionths of a dollar: two of them are as much as is risked on a deposit of less than six confirmations. */
const PRICE_USD_MICROS = 40_000n
const DEFINITION = TEST_SERVICES[0] as (typeof TEST_SERVICES)[number]

/** Counts the calls of stores that are under way, so that the virtual time can wait for them. */
export class StoreWatch {
  #running = 0

  watched<S extends object>(store: S): S {
    const ended = (): void => {
      this.#running -= 1
    }
    return new Proxy(store, {
      get: (target, name) => {
        const member = Reflect.get(target, name, target) as unknown
        if (typeof member !== 'function') return member
        return (...values: unknown[]) => {
          const result = Reflect.apply(member, target, values) as unknown
          if (!(result instanceof Promise)) return result
          this.#running += 1
          void result.then(ended, ended)
          return result
        }
      },
    })
  }

  async settled(): Promise<void> {
    while (this.#running > 0) await setImmediate()
  }
}

/** Where money came to a tab, in a block that a reorganisation took. */
export interface Unwound {
  readonly blockId: BlockId
  /** Confirmations that the block had. */
  readonly depth: number
  readonly tabId: TxId
  readonly kind: 'tab_open' | 'tab_fund'
}

/** A seller with the real tab rail and claimer on a simulated node. */
export class TabStall {
  readonly node: SimNode
  readonly owner: SellerKey
  readonly agentId: AgentId
  readonly serviceId = DEFINITION.serviceId
  readonly store: TabStore
  readonly rail: TabRail
  readonly claimer: Claimer
  readonly price: ReturnType<typeof chainPrice>
  readonly faults: Fault[] = []
  /** Openings and top-ups of blocks that reorganisations took from this seller's chain, the latest last. */
  readonly unwound: Unwound[] = []
  /** How many transactions of each kind reorganisations took, and the deepest one. */
  readonly undone = new Map<TxKind, number>()
  deepest = 0
  readonly #level: LevelTabStore

  private constructor(parts: StallParts, level: LevelTabStore) {
    const { node, owner, name, watch, complain } = parts
    const { chain, mempool, time } = node.life
    this.node = node
    this.owner = owner
    this.agentId = agentId(name)
    this.#level = level
    this.store = watch.watched(level as TabStore)
    const { address } = owner
    const operator = { agentId: this.agentId, name, endpoint: '', url: null, owner: address, payout: address }
    const offer = { definition: DEFINITION, priceUsdMicros: PRICE_USD_MICROS }
    const shop = new Shop({ ...operator, settler: owner }, [offer], {
      ...{
        chain,
        mempool: mempoolFacts(mempool),
        clock: time,
        peerCount: () => 0,
        halfVerdicts,
        isTabSignature,
        powHasher: cheapPow,
      },
      signatureFacts: () => {
        throw new Error('no service of the simulation asks')
      },
      ...{ shelf: null, outside: outsideOf({}) },
    })
    this.price = chainPrice(chain)
    this.rail = new TabRail({
      ...{ chain, store: this.store, shop, sink: mempool, price: this.price, clock: time, timers: time },
      ...{ settings: DEFAULT_MARKET_SETTINGS, workshop: new Workshop(chain, time), signer: owner.receipts },
      ...{ backend: NATIVE_BACKEND, pacer: UNPACED, atRisk: new ValueAtRisk(chain, this.price) },
      onError: (error) => complain(`${name}: ${String(error)}`),
    })
    const sender = new Sender(chain, mempool, owner)
    this.claimer = new Claimer({
      ...{ chain, shop, sender, store: this.store, sink: mempool, clock: time },
      onFault: (cause) => this.faults.push(cause),
    })
    chain.onHeadChange((change) => this.#watch(change))
  }

  static async open(parts: StallParts): Promise<TabStall> {
    const stall = new TabStall(parts, await LevelTabStore.open(parts.folder))
    await stall.rail.till.resume()
    return stall
  }

  /** What this seller puts on chain before its first tab, in the order of its nonces. */
  get publication(): readonly Publication[] {
    const { agentId: id, owner, serviceId } = this
    const { name, requestFormat, description, capability } = DEFINITION
    const capabilities = capabilitySet([capability])
    const { address } = owner
    const agent = { agentId: id, name: id, endpoint: '', capabilities, payout: address, settlers: [address] }
    const texts = { name, requestFormat, description, capability: capabilityNumber(capability) }
    const service = { agentId: id, serviceId, priceUsdMicros: PRICE_USD_MICROS, ...texts }
    const minCloseDelay = SIM_CLOSE_DELAYS[0]
    const terms = { agentId: id, receiptKey: owner.receipts.key, minDeposit: units(10_000_000), minCloseDelay }
    return [
      { kind: 'agent_register', payload: agent },
      { kind: 'service_publish', payload: service },
      { kind: 'tab_terms', payload: terms },
    ]
  }

  async close(): Promise<void> {
    await this.claimer.stop()
    this.rail.till.abandon()
    await this.#level.close()
  }

  #watch({ disconnected }: HeadChange): void {
    this.deepest = Math.max(this.deepest, disconnected.length)
    for (const [i, { id }] of disconnected.entries())
      for (const { txId, body } of this.node.life.chain.database.transactions(id) ?? []) {
        const { kind, payload } = body
        this.undone.set(kind, (this.undone.get(kind) ?? 0) + 1)
        const place = { blockId: id, depth: i + 1 }
        if (kind === 'tab_open') this.unwound.push({ ...place, tabId: txId, kind })
        if (kind === 'tab_fund') this.unwound.push({ ...place, tabId: payload.tabId, kind })
      }
  }
}

interface StallParts {
  readonly node: SimNode
  readonly owner: SellerKey
  readonly name: string
  readonly folder: string
  readonly watch: StoreWatch
  readonly complain: (what: string) => void
}

type Publication = {
  [K in 'agent_register' | 'service_publish' | 'tab_terms']: { readonly kind: K; readonly payload: PayloadOf<K> }
}['agent_register' | 'service_publish' | 'tab_terms']
