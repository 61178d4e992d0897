/** A binary heap; the item at its top comes before all others. */
export class Heap<T> {
  #items: T[] = []
  readonly #before: (a: T, b: T) => boolean

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before
  }

  get size(): number {
    return this.#items.length
  }

  peek(): T | undefined {
    return this.#items[0]
  }

  push(item: T): void {
    this.#items.push(item)
    for (let at = this.#items.length - 1; at > 0; ) {
      const parent = (at - 1) >> 1
      if (!this.#leads(at, parent)) return
      this.#swap(at, parent)
      at = parent
    }
  }

  pop(): T | undefined {
    const top = this.#items[0]
    const last = this.#items.pop()
    if (top === undefined || last === undefined) return undefined
    if (this.#items.length > 0) {
      this.#items[0] = last
      this.#sink()
    }
    return top
  }

  clear(): void {
    this.#items = []
  }

  #sink(): void {
    for (let at = 0; ; ) {
      const left = 2 * at + 1
      let best = this.#leads(left, at) ? left : at
      if (this.#leads(left + 1, best)) best = left + 1
      if (best === at) return
      this.#swap(at, best)
      at = best
    }
  }

  #leads(a: number, b: number): boolean {
    const left = this.#items[a]
    const right = this.#items[b]
    return left !== undefined && right !== undefined && this.#before(left, right)
  }

  #swap(a: number, b: number): void {
    const kept = this.#items[a] as T
    this.#items[a] = this.#items[b] as T
    this.#items[b] = kept
  }
}
