import { askNode, type Transport } from '../http.ts'

/** How long a price of the coin is believed. */
const KEEP_MS = 30_000
/** A capability that few services have, and a word that none has: the answer is small and still names the price. */
const PATH = '/services.json?capability=oracle&q=-'

/** Dollars for a coin as nodes tell them: the dearest of those asked counts. */
export class CoinPrice {
  readonly #transport: Transport
  readonly #known = new Map<string, { readonly usd: number; readonly atMs: number }>()

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** The dearest price that these nodes name; null where none does. */
  async dearest(urls: readonly string[]): Promise<number | null> {
    const prices = await Promise.all(urls.map((url) => this.#ask(url)))
    const told = prices.filter((usd) => usd !== null)
    return told.length === 0 ? null : Math.max(...told)
  }

  async #ask(url: string): Promise<number | null> {
    const known = this.#known.get(url)
    if (known !== undefined && Date.now() - known.atMs < KEEP_MS) return known.usd
    const answer = await askNode(url, PATH, {}, this.#transport)
    const told = answer.ok ? answer.value.body.nativeUsd : null
    const usd = typeof told === 'number' && Number.isFinite(told) && told > 0 ? told : null
    // That a node names none is not kept: it may the next moment.
    if (usd !== null) this.#known.set(url, { usd, atMs: Date.now() })
    return usd
  }
}
