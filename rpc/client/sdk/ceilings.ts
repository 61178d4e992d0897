import { formatAmount, parseAmount } from '../../../consensus/primitives/amount.ts'
import { SpendLimitError } from './errors.ts'
import { CEILING_KINDS, checkKinds, invalid } from './options.ts'
import type { CeilingOptions, NetworkFacts, PaymentRecord } from './shapes.ts'

/** Cost of one payment. */
export interface Cost {
  /** Base units of amount and fee. */
  readonly units: bigint
  /** Null if no dollar price is known. */
  readonly usd: number | null
}

/** Span of the daily ceilings: the last 24 hours, not a calendar day. */
export const DAY_MS = 86_400_000

const DEFAULTS = {
  maxPerCallUsd: 0.1,
  maxPerDayUsd: 5,
  maxPerCallCoins: '100',
  maxPerDayCoins: '1000',
  maxPerTabUsd: 1,
  maxPerTabCoins: '100',
  maxFee: '0.1',
} as const

/** The ceilings of one client. */
export class Ceilings {
  readonly feeMax: bigint
  /** Whether the options bound the coins of a call. Only then is a call paid without a dollar price. */
  readonly pinsCoins: boolean
  /** Whether the options bound the coins of a tab. */
  readonly pinsTabs: boolean
  readonly #options: Required<CeilingOptions>
  readonly #perCall: bigint
  readonly #perDay: bigint
  readonly #perTab: bigint
  readonly #facts: Pick<NetworkFacts, 'decimals' | 'ticker'>

  constructor(options: CeilingOptions, facts: Pick<NetworkFacts, 'decimals' | 'ticker'>) {
    checkKinds('createClient', options, CEILING_KINDS)
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
    this.#options = { ...DEFAULTS, ...given }
    this.#facts = facts
    this.pinsCoins = options.maxPerCallCoins !== undefined
    this.pinsTabs = options.maxPerTabCoins !== undefined
    this.#perCall = this.#units('maxPerCallCoins')
    this.#perDay = this.#units('maxPerDayCoins')
    this.#perTab = this.#units('maxPerTabCoins')
    this.feeMax = this.#units('maxFee')
  }

  /** Most base units of one call. */
  get perCall(): bigint {
    return this.#perCall
  }

  /** `spent` holds the last 24 hours. Errors: `over_call_limit`, `over_day_limit`, `price_unknown`. */
  check(cost: Cost, spent: readonly PaymentRecord[]): void {
    this.checkCall(cost)
    this.#checkDay(cost, spent)
  }

  /** For a call on a tab: what the tab locks was counted for the day before. Errors: `over_call_limit`, `price_unknown`. */
  checkCall(cost: Cost): void {
    const { maxPerCallUsd, maxPerCallCoins } = this.#options
    if (cost.usd === null && !this.pinsCoins)
      throw limit('price_unknown', 'no node says what it costs in dollars; set maxPerCallCoins to pay by coins alone')
    const usd = cost.usd ?? 0
    if (usd > maxPerCallUsd)
      throw limit('over_call_limit', `it costs ${dollars(usd)} dollars, maxPerCallUsd is ${maxPerCallUsd}`)
    if (cost.units > this.#perCall)
      throw limit('over_call_limit', `it costs ${this.#coins(cost.units)}, maxPerCallCoins is ${maxPerCallCoins}`)
  }

  /**
   * For what locks coins in a tab. `cost` is added now, `locked` is what the tab then holds in all. Errors: `over_tab_limit`,
   * `over_day_limit`, `price_unknown`.
   */
  checkTab(cost: Cost, locked: Cost, spent: readonly PaymentRecord[]): void {
    const { maxPerTabUsd, maxPerTabCoins } = this.#options
    if (locked.usd === null && !this.pinsTabs)
      throw limit('price_unknown', 'no node says what it costs in dollars; set maxPerTabCoins to lock by coins alone')
    if ((locked.usd ?? 0) > maxPerTabUsd)
      throw limit('over_tab_limit', `it locks ${dollars(locked.usd ?? 0)} dollars, maxPerTabUsd is ${maxPerTabUsd}`)
    if (locked.units > this.#perTab)
      throw limit('over_tab_limit', `it locks ${this.#coins(locked.units)}, maxPerTabCoins is ${maxPerTabCoins}`)
    this.#checkDay(cost, spent)
  }

  #checkDay(cost: Cost, spent: readonly PaymentRecord[]): void {
    const { maxPerDayUsd, maxPerDayCoins } = this.#options
    const usd = cost.usd ?? 0
    const day = spentIn(spent)
    if (day.usd + usd > maxPerDayUsd)
      throw limit(
        'over_day_limit',
        `${dollars(day.usd)} dollars were signed for or sent in 24 hours, it costs ${dollars(usd)}, maxPerDayUsd is ${maxPerDayUsd}`,
      )
    if (day.units + cost.units > this.#perDay)
      throw limit(
        'over_day_limit',
        `${this.#coins(day.units)} were signed for or sent in 24 hours, it costs ${this.#coins(cost.units)}, maxPerDayCoins is ${maxPerDayCoins}`,
      )
  }

  #coins(units: bigint): string {
    return `${formatAmount(units, this.#facts.decimals)} ${this.#facts.ticker}`
  }

  #units(name: 'maxPerCallCoins' | 'maxPerDayCoins' | 'maxPerTabCoins' | 'maxFee'): bigint {
    const parsed = parseAmount(this.#options[name], this.#facts.decimals)
    if (!parsed.ok) throw invalid(`createClient: ${name} must be coins as decimal text`)
    return parsed.value
  }
}

/**
 * Upper bound of what payments cost. Payments that a node calls refused or refunded count too, since the node may lie. Of
 * payments with one nonce at most one can be mined, so only the dearest counts.
 */
export function spentIn(records: readonly PaymentRecord[]): { readonly units: bigint; readonly usd: number } {
  const dearest = new Map<string, { units: bigint; usd: number }>()
  for (const { sender, nonce, amount, feeMax, usd } of records) {
    const key = `${sender} ${nonce}`
    const known = dearest.get(key) ?? { units: 0n, usd: 0 }
    const units = amount + feeMax
    dearest.set(key, { units: units > known.units ? units : known.units, usd: Math.max(usd, known.usd) })
  }
  const sum = { units: 0n, usd: 0 }
  for (const { units, usd } of dearest.values()) {
    sum.units += units
    sum.usd += usd
  }
  return sum
}

/** Dollars to show, rounded up to a millionth. Errors of floating point are removed first. */
function dollars(usd: number): number {
  return Math.ceil(Number((usd * 1e6).toPrecision(12))) / 1e6
}

function limit(code: string, message: string): SpendLimitError {
  return new SpendLimitError(`not paid: ${message}`, { code })
}
