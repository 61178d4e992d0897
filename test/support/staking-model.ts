/** An exact rational number in lowest terms. */
export class Ratio {
  readonly top: bigint
  readonly bottom: bigint

  constructor(top: bigint, bottom = 1n) {
    const shared = gcd(top < 0n ? -top : top, bottom)
    this.top = top / shared
    this.bottom = bottom / shared
  }

  plus(other: Ratio): Ratio {
    return new Ratio(this.top * other.bottom + other.top * this.bottom, this.bottom * other.bottom)
  }

  minus(other: Ratio): Ratio {
    return new Ratio(this.top * other.bottom - other.top * this.bottom, this.bottom * other.bottom)
  }

  times(other: Ratio): Ratio {
    return new Ratio(this.top * other.top, this.bottom * other.bottom)
  }

  over(other: Ratio): Ratio {
    return new Ratio(this.top * other.bottom, this.bottom * other.top)
  }

  isBelow(other: Ratio): boolean {
    return this.top * other.bottom < other.top * this.bottom
  }

  /** Largest whole number that is not above this one. */
  floor(): bigint {
    const down = this.top / this.bottom
    return this.top < 0n && down * this.bottom !== this.top ? down - 1n : down
  }
}

function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b]
  while (y > 0n) [x, y] = [y, x % y]
  return x === 0n ? 1n : x
}

interface ModelStake {
  readonly amount: bigint
  readonly tier: number
  earned: Ratio
  paid: bigint
  live: boolean
}

/**
 * A simple model of staking: in every block every stake earns its share of a year's rate, in exact fractions. If the pool has less than all
 * stakes would earn, they share the pool in proportion. There is no index and no reserve.
 */
export class StakingModel {
  readonly stakes: ModelStake[] = []
  /** The pool: what no stake has earned yet. */
  free = new Ratio(0n)
  /** Most that all stakes were to earn in one block. */
  mostPerBlock = new Ratio(0n)
  /** Whether the pool was too small in some block. */
  wasShort = false
  readonly #yearlyBps: readonly bigint[]
  readonly #blocksPerYear: bigint

  constructor(yearlyBps: readonly bigint[], blocksPerYear: bigint) {
    this.#yearlyBps = yearlyBps
    this.#blocksPerYear = blocksPerYear
  }

  /** Pays the rewards of one block. */
  payBlock(): void {
    const live = this.stakes.filter((stake) => stake.live)
    const wants = live.map(
      ({ amount, tier }) => new Ratio(amount * (this.#yearlyBps[tier] as bigint), 10_000n * this.#blocksPerYear),
    )
    const wanted = wants.reduce((sum, want) => sum.plus(want), new Ratio(0n))
    if (this.mostPerBlock.isBelow(wanted)) this.mostPerBlock = wanted
    const short = this.free.isBelow(wanted)
    if (short) this.wasShort = true
    for (const [i, stake] of live.entries()) {
      const want = wants[i] as Ratio
      stake.earned = stake.earned.plus(short ? want.times(this.free).over(wanted) : want)
    }
    this.free = short ? new Ratio(0n) : this.free.minus(wanted)
  }

  stake(tier: number, amount: bigint): void {
    this.stakes.push({ amount, tier, earned: new Ratio(0n), paid: 0n, live: true })
  }

  /** Ends a stake. The fraction of a base unit that it can never claim goes back to the pool. */
  unstake(stake: number): void {
    const ended = this.stakes[stake] as ModelStake
    const whole = new Ratio(ended.earned.floor())
    this.free = this.free.plus(ended.earned.minus(whole))
    ended.earned = whole
    ended.live = false
  }

  /** What a stake has earned and not been paid. */
  due(stake: number): Ratio {
    const { earned, paid } = this.stakes[stake] as ModelStake
    return earned.minus(new Ratio(paid))
  }

  pay(stake: number, amount: bigint): void {
    const paid = this.stakes[stake] as ModelStake
    paid.paid += amount
  }

  inflow(amount: bigint): void {
    this.free = this.free.plus(new Ratio(amount))
  }
}
