import type { ChainReader } from '../../consensus/chain/reader.ts'
import type { MarketApi, NodeApi } from '../node/node-api.ts'

interface Kept<T> {
  readonly stamp: string
  readonly values: Map<string, T>
}

/**
 * Keeps what is a function of the head and of how the market stands, so that crawlers cost little. A key names what of it: with
 * the base address among it, which strangers choose freely, so only so many are kept, the newest.
 */
export class PerHead<T> {
  readonly #keysMax: number
  readonly #kept = new WeakMap<ChainReader, Kept<T>>()

  constructor(keysMax: number) {
    this.#keysMax = keysMax
  }

  /** What was made for this key at this head, or is made now. */
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

/** Everything that documents depend on, in short. */
function stampOf({ head, moving }: ChainReader, market: MarketApi | null): string {
  const { shop, stable } = market ?? {}
  const rail = stable ? `${stable.closedBecause} ${stable.verified.detail} ${stable.facilitators.map(health)}` : ''
  return `${head.id} ${moving} ${shop?.closedBecause} ${shop && readyServices(shop)} ${rail}`
}

/** Which services could be delivered, as providers come and go between two heads. */
function readyServices({ offers, context }: MarketApi['shop']): string {
  return offers.map(({ definition }) => (definition.ready(context).available ? '1' : '0')).join('')
}

function health({ healthy, detail }: { readonly healthy: boolean; readonly detail: string }): string {
  return `${healthy} ${detail}`
}
