import { askNode, type Transport } from '../http.ts'

const KEEP_MS = 30_000
/** A search that matches no service, so that the answer is short. It names the price all the same. */
const PATH = '/services.json?capability=oracle&q=-'

/** Dollars for one coin, by the word of nodes. */
export class CoinPrice {
  readonly #transport: Transport
  readonly #known = new Map<string, { readonly usd: number; readonly atMs: number }>()

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Null if none of the nodes names a price. */
  async dearest(urls: readonly string[]): Promise<number | null> {
    const prices = await Promise.all(urls.map((url) => this.#ask(url)))
    const told = prices.filter((usd) => usd !== null)
    return told.length === 0 ? null : Math.max(...told)
  }

  async #ask(url: string): Promise<number | null> {
    const known = this.#known.get(url)
    if (known !== undefined && Math.abs(Date.now() - known.atMs) < KEEP_MS) return known.usd
    const answer = await askNode(url, PATH, {}, this.#transport)
    const told = answer.ok ? answer.value.body.nativeUsd : null
    const usd = typeof told === 'number' && Number.isFinite(told) && told > 0 ? told : null
    // A missing price is not kept, since the node may have one the next moment.
    if (usd !== null) this.#known.set(url, { usd, atMs: Date.now() })
    return usd
  }
}
