import type { ChainReader } from '../../consensus/chain/reader.ts'
import type { MarketApi, NodeApi } from '../node/node-api.ts'

interface Kept<T> {
  readonly stamp: string
  readonly values: Map<string, T>
}

/**
 * Keeps values that depend only on the head and the state of the market, so that crawlers cost little. Keys may contain
 * the base URL, which callers choose freely, so only the newest keys are kept.
 */
export class PerHead<T> {
  readonly #keysMax: number
  readonly #kept = new WeakMap<ChainReader, Kept<T>>()

  constructor(keysMax: number) {
    this.#keysMax = keysMax
  }

  get({ chain, market }: Pick<NodeApi, 'chain' | 'market'>, key: string, make: () => T): T {
    const stamp = stampOf(chain, market)
    let kept = this.#kept.get(chain)
    if (kept?.stamp !== stamp) {
      kept = { stamp, values: new Map() }
      this.#kept.set(chain, kept)
    }
    const { values } = kept
    const known = values.get(key)
    if (known !== undefined) return known
    const value = make()
    if (values.size >= this.#keysMax) values.delete(values.keys().next().value as string)
    values.set(key, value)
    return value
  }
}

/** A short text that changes whenever the kept values may change. */
function stampOf({ head, moving }: ChainReader, market: MarketApi | null): string {
  const { shop, stable } = market ?? {}
  const rail = stable ? `${stable.closedBecause} ${stable.verified.detail} ${stable.facilitators.map(health)}` : ''
  return `${head.id} ${moving} ${shop?.closedBecause} ${shop && readyServices(shop)} ${rail}`
}

/** Providers can come and go between two heads. */
function readyServices({ offers, context }: MarketApi['shop']): string {
  return offers.map(({ definition }) => (definition.ready(context).available ? '1' : '0')).join('')
}

function health({ healthy, detail }: { readonly healthy: boolean; readonly detail: string }): string {
  return `${healthy} ${detail}`
}
