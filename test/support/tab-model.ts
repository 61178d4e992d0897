/** A tab as the model knows it. */
export interface ModelTab {
  deposit: bigint
  claimed: bigint
  receipts: number
  /** Height at whose start it ends, and whether its payer has asked for that. */
  due: number
  closing: boolean
  /** Highest ceiling that the payer has signed. */
  signed: bigint
  readonly expiresAt: number
  readonly closeDelay: number
  readonly payer: string
}

/** A claim of one tab, told as little as the model needs. */
export interface ModelClaim {
  readonly id: string
  readonly claimed: bigint
  readonly calls: number
  readonly ceiling: bigint
  readonly close: boolean
}

/**
 * The books of tabs in a few lines, without lists of what is due, records or signatures: where the coins of every deposit
 * are, and when each tab ends. Every claim burns a hundredth or 20,000 a call, whatever is more.
 */
export class TabModel {
  readonly open = new Map<string, ModelTab>()
  /** How often each tab has ended, and where its coins went. */
  readonly ended = new Map<string, { times: number; paid: bigint; burned: bigint; returned: bigint; deposit: bigint }>()
  readonly #spent = new Map<string, { paid: bigint; burned: bigint }>()

  /** The tabs that end at this height. */
  begin(height: number): readonly string[] {
    const due = [...this.open].filter(([, tab]) => tab.due === height).map(([id]) => id)
    for (const id of due) this.#end(id)
    return due.sort()
  }

  /** Code of a claim. A good one moves the coins. */
  claim({ id, claimed, calls, ceiling, close }: ModelClaim): number {
    const tab = this.open.get(id)
    if (tab === undefined) return 35
    const difference = claimed - tab.claimed
    if (difference < 0n || (difference === 0n && calls === 0 && !close)) return 37
    if (claimed > ceiling) return 38
    if (claimed > tab.deposit) return 39
    // Only a call can cost something.
    if (difference > 0n && calls === 0) return 40
    const counted = difference / 100_000n < BigInt(calls) ? difference / 100_000n : BigInt(calls)
    const share = (difference + 99n) / 100n
    const burned = share > counted * 20_000n ? share : counted * 20_000n
    const before = this.#spent.get(id) ?? { paid: 0n, burned: 0n }
    this.#spent.set(id, { paid: before.paid + difference - burned, burned: before.burned + burned })
    tab.claimed = claimed
    tab.receipts += calls
    if (close) this.#end(id)
    return 0
  }

  close(id: string, height: number): void {
    const tab = this.open.get(id) as ModelTab
    tab.due = Math.min(tab.expiresAt, height + tab.closeDelay)
    tab.closing = true
  }

  #end(id: string): void {
    const { deposit, claimed } = this.open.get(id) as ModelTab
    const spent = this.#spent.get(id) ?? { paid: 0n, burned: 0n }
    const times = (this.ended.get(id)?.times ?? 0) + 1
    this.ended.set(id, { ...spent, times, returned: deposit - claimed, deposit })
    this.open.delete(id)
    this.#spent.delete(id)
  }
}
