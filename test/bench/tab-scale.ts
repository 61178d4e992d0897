import { LAUNCH_RULES, TAB_RULES } from '../../config/networks/rules.ts'
import { baseFeeAfter } from '../../consensus/block/base-fee.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { CLAIM_ENTRIES_MAX } from '../../consensus/tx/tab-payloads.ts'
import { declaredWrites, weightOf } from '../../consensus/tx/weight.ts'
import { ENTRY_RECEIPTS_MAX } from '../../marketplace/till/rails/tab/claim-entries.ts'
import { claimFee } from '../../marketplace/till/rails/tab/claim-fee.ts'
import {
  AGE_SOON_MS,
  type ClaimCandidate,
  type ClaimMoment,
  claimsDue,
} from '../../marketplace/till/rails/tab/claim-policy.ts'
import { FEE_ROOM } from '../../marketplace/till/settings.ts'
import { SAMPLE, unsigned } from '../support/unsigned.ts'

const { block, tx } = LAUNCH_RULES
const COIN = 100_000_000
const SECONDS_PER_BLOCK = block.spacingMs / 1_000
const SOON_BLOCKS = AGE_SOON_MS / block.spacingMs
/** The price of a call in base units: 0.6 cents on the devnet. */
const PRICE = 2_400_000
/** Bytes of a claim and of an entry, as `claim-fee.ts` takes them. */
const [CLAIM_BYTES, ENTRY_BYTES] = [2_580, 290]
/** Claims of one seller that may wait, and the blocks after which one that waits expires: as in `claimer.ts` and `sender.ts`. */
const [WAITING_MAX, VALID_BLOCKS, TIP] = [2, 30, 1]
const BLOCKS = 8_000
const MEASURED = 4_000
/** Receipts of one `agent_receipt` that is full. */
const RECEIPTS_MAX = 256

/** What a call on a tab takes at its seller, rounded: `npm run bench -- tabs`, its rows on disk, its requests and answers. */
const CALL = { cpuMs: 0.4, diskBytes: 1_000, wireBytes: 2_000 }

/** A whole network of tabs: how many are active, at how many sellers, and how many calls a second each makes. */
interface Load {
  readonly tabs: number
  readonly sellers: number
  readonly callsPerTab: number
  /** So many blocks are taken as one, with one in so many tabs and sellers: as much in a block, and few enough to simulate. */
  readonly step: number
}

/** Which tabs a seller claims now. */
type Policy = (candidates: readonly ClaimCandidate[], moment: ClaimMoment) => readonly { readonly tabId: TxId }[]

/** A claim that waits for its block: each tab with the height from which on its calls are in it. */
interface Claim {
  readonly seller: number
  readonly madeAt: number
  readonly rateMax: number
  readonly entries: number
  readonly tabs: readonly (readonly [tab: number, since: number])[]
}

const OPEN: ClaimCandidate['tab'] = { closesAt: 0, expiresAt: Number.MAX_SAFE_INTEGER, closeDelay: 400 }
const weightOfClaim = (entries: number): number => Number(claimFee(entries, 1n, tx, TAB_RULES))
const CLAIM_WRITES = Array.from({ length: CLAIM_ENTRIES_MAX + 1 }, (_, entries) =>
  declaredWrites(unsigned('tab_claim', SAMPLE.tab_claim(Array.from({ length: entries }, () => ({})))).body),
)

/**
 * Blocks that hold nothing but claims. In each block the sellers ask their policy which tabs to claim; the base fee follows by the rule of
 * consensus. A seller whose oldest unclaimed call is old looks more rarely: when that call is a tenth older.
 */
class Network {
  readonly #load: Load
  readonly #policy: Policy
  /** For each tab the height from which on its calls are in no claim, and whether a claim of it waits. */
  readonly #since: Int32Array
  readonly #isWaiting: Uint8Array
  /** Claims that wait, by seller. */
  readonly #waiting: Uint8Array
  readonly #looks = new Map<number, number[]>()
  #pool: readonly Claim[] = []
  #header: { readonly baseFee: bigint; readonly weightUsed: number }
  #height = 0
  readonly sum = { tabs: 0, claims: 0, calls: 0, age: 0, weight: 0, bytes: 0, baseFee: 0, fees: 0 }

  constructor(load: Load, policy: Policy) {
    this.#load = { ...load, tabs: load.tabs / load.step, sellers: load.sellers / load.step }
    this.#policy = policy
    // It begins where it may end: waits in which each tab is claimed once, alone, in full blocks, and a fee that lets them be claimed then.
    const wait = Math.max(SOON_BLOCKS, Math.ceil(load.tabs / (block.weightMax / weightOfClaim(1))))
    const worth = wait * SECONDS_PER_BLOCK * load.callsPerTab * PRICE
    this.#header = { baseFee: BigInt(Math.ceil(worth / 100 / weightOfClaim(1))), weightUsed: 0 }
    // Multiples of the golden ratio are nowhere close to each other.
    const begun = (tab: number): number => -Math.floor(((tab * 0.618034) % 1) * wait)
    this.#since = Int32Array.from({ length: this.#load.tabs }, (_, tab) => begun(tab))
    this.#isWaiting = new Uint8Array(this.#load.tabs)
    this.#waiting = new Uint8Array(this.#load.sellers)
    for (let seller = 0; seller < this.#load.sellers; seller++) this.#lookAt(1, seller)
  }

  run(blocks: number, measured: number): void {
    const { step } = this.#load
    for (this.#height = step; this.#height <= blocks; this.#height += step) {
      let { baseFee } = this.#header
      for (let i = 0; i < step; i++) baseFee = baseFeeAfter({ ...this.#header, baseFee }, block)
      const made: Claim[] = []
      for (const seller of this.#looks.get(this.#height) ?? []) made.push(...this.#look(seller, baseFee))
      this.#looks.delete(this.#height)
      const weightUsed = this.#mine(made, Number(baseFee), this.#height > blocks - measured)
      this.#header = { baseFee, weightUsed }
    }
  }

  /** At this height or soon after it. */
  #lookAt(wanted: number, seller: number): void {
    const height = Math.max(Math.ceil(wanted / this.#load.step), this.#height / this.#load.step + 1) * this.#load.step
    const sellers = this.#looks.get(height)
    if (sellers === undefined) this.#looks.set(height, [seller])
    else sellers.push(seller)
  }

  #callsSince(since: number): number {
    return (this.#height - since) * SECONDS_PER_BLOCK * this.#load.callsPerTab
  }

  #look(seller: number, baseFee: bigint): readonly Claim[] {
    const each = this.#load.tabs / this.#load.sellers
    const tabs = Array.from({ length: each }, (_, i) => seller * each + i)
    const rate = baseFee + BigInt(TIP)
    const claims: Claim[] = []
    if ((this.#waiting[seller] as number) < WAITING_MAX) {
      const free = tabs.filter((tab) => this.#isWaiting[tab] === 0)
      const moment = { height: this.#height, nowMs: this.#height * block.spacingMs, riskLimit: null }
      const fee = (entries: number): bigint => claimFee(entries, rate, tx, TAB_RULES)
      const due = this.#policy(
        free.map((tab) => this.#candidate(tab)),
        { ...moment, fee },
      )
      this.#make(
        claims,
        seller,
        due.map(({ tabId }) => Number(tabId)),
        Number(baseFee * FEE_ROOM) + TIP,
      )
    }
    const age = this.#height - tabs.reduce((least, tab) => Math.min(least, this.#since[tab] as number), this.#height)
    this.#lookAt(this.#height + (age < SOON_BLOCKS ? SOON_BLOCKS - age : age / 10), seller)
    return claims
  }

  #candidate(tab: number): ClaimCandidate {
    const since = this.#since[tab] as number
    const receipts = this.#callsSince(since)
    const unclaimed = BigInt(receipts * PRICE)
    const state = { tab: OPEN, refundAsked: false, openedFee: 0n, isBusy: false }
    return { tabId: String(tab) as TxId, unclaimed, receipts, oldestAtMs: since * block.spacingMs, ...state }
  }

  /** Claims of these tabs, full ones first, as many as may wait. */
  #make(claims: Claim[], seller: number, due: readonly number[], rateMax: number): void {
    let next = 0
    while (next < due.length && (this.#waiting[seller] as number) < WAITING_MAX) {
      const tabs: [number, number][] = []
      let entries = 0
      for (; next < due.length; next++) {
        const tab = due[next] as number
        const since = this.#since[tab] as number
        const own = Math.ceil(this.#callsSince(since) / ENTRY_RECEIPTS_MAX)
        if (entries + own > CLAIM_ENTRIES_MAX) break
        entries += own
        tabs.push([tab, since])
        this.#isWaiting[tab] = 1
        this.#since[tab] = this.#height
      }
      this.#waiting[seller] = (this.#waiting[seller] as number) + 1
      claims.push({ seller, madeAt: this.#height, rateMax, entries, tabs })
    }
  }

  /** Fills a block with claims, the first made first, and gives its weight. */
  #mine(made: readonly Claim[], baseFee: number, isMeasured: boolean): number {
    const waiting: Claim[] = []
    let [weight, writes] = [0, 0]
    const take = (claim: Claim): void => {
      const [own, ownWrites] = [weightOfClaim(claim.entries), CLAIM_WRITES[claim.entries] as number]
      const fits = weight + own <= block.weightMax && writes + ownWrites <= block.writesMax
      if (fits && claim.rateMax >= baseFee) {
        weight += own
        writes += ownWrites
        this.#end(claim)
        if (isMeasured) this.#count(claim, own, baseFee)
      } else if (this.#height - claim.madeAt < VALID_BLOCKS) waiting.push(claim)
      else {
        this.#end(claim)
        for (const [tab, since] of claim.tabs) this.#since[tab] = since
        this.#lookAt(this.#height + 1, claim.seller)
      }
    }
    for (const claim of this.#pool) take(claim)
    for (const claim of made) take(claim)
    this.#pool = waiting
    if (isMeasured) {
      this.sum.weight += weight
      this.sum.baseFee += baseFee
    }
    return weight
  }

  #end({ seller, tabs }: Claim): void {
    this.#waiting[seller] = (this.#waiting[seller] as number) - 1
    for (const [tab] of tabs) this.#isWaiting[tab] = 0
  }

  #count({ entries, tabs, madeAt }: Claim, weight: number, baseFee: number): void {
    const { sum } = this
    sum.claims += 1
    sum.tabs += tabs.length
    for (const [, since] of tabs) {
      sum.age += madeAt - since
      sum.calls += (madeAt - since) * SECONDS_PER_BLOCK * this.#load.callsPerTab
    }
    sum.bytes += CLAIM_BYTES + entries * ENTRY_BYTES
    sum.fees += weight * (baseFee + TIP)
  }
}

/** Sellers that claim each tab after ten minutes, as long as that brings more than its share of the fee. */
const impatient: Policy = (candidates, { nowMs, fee }) => {
  const ready = candidates.filter(({ oldestAtMs }) => nowMs - oldestAtMs >= AGE_SOON_MS)
  const batch = BigInt(Math.max(1, Math.min(ready.length, CLAIM_ENTRIES_MAX)))
  return ready.filter(({ unclaimed }) => unclaimed * batch > fee(Number(batch)))
}

const LOADS: readonly Load[] = [
  { tabs: 100, sellers: 10, callsPerTab: 1, step: 1 },
  { tabs: 1_000, sellers: 100, callsPerTab: 1, step: 1 },
  { tabs: 10_000, sellers: 100, callsPerTab: 1, step: 1 },
  { tabs: 10_000, sellers: 5_000, callsPerTab: 1, step: 1 },
  { tabs: 100_000, sellers: 1_000, callsPerTab: 1, step: 10 },
  { tabs: 100_000, sellers: 50_000, callsPerTab: 1, step: 10 },
  { tabs: 100_000, sellers: 1_000, callsPerTab: 10, step: 10 },
  { tabs: 1_000_000, sellers: 10_000, callsPerTab: 1, step: 20 },
  { tabs: 1_000_000, sellers: 500_000, callsPerTab: 1, step: 20 },
]

const figure = (value: number, digits = 0): string =>
  value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
const twoDigits = (value: number): string => value.toLocaleString('en', { maximumSignificantDigits: 2 })
const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** One line of the table of a simulation. */
function simulated(load: Load, policy: Policy): string {
  const network = new Network(load, policy)
  network.run(BLOCKS, MEASURED)
  const { sum } = network
  const seconds = (MEASURED * SECONDS_PER_BLOCK) / load.step
  const baseFee = (sum.baseFee * load.step) / MEASURED
  return line([
    ...[load.tabs * load.callsPerTab, load.tabs, load.sellers].map((value) => figure(value)),
    figure(sum.tabs / seconds, 1),
    figure(sum.tabs / sum.claims, 1),
    figure(sum.calls / sum.tabs),
    figure(((sum.age / sum.tabs) * SECONDS_PER_BLOCK) / 60),
    `${figure((100 * sum.weight * load.step) / (MEASURED * block.weightMax))} %`,
    figure(baseFee),
    `${twoDigits((100 * sum.fees) / (sum.calls * PRICE))} %`,
    twoDigits((OPENING.weight * baseFee) / COIN),
    figure((1_000 * sum.bytes) / sum.calls),
    twoDigits(((sum.bytes / seconds) * 86_400) / 1e9),
  ])
}

const HEADS = [
  'calls/s',
  'tabs',
  'sellers',
  'tabs claimed/s',
  'tabs a claim',
  'calls of a tab in a claim',
  'age in min',
]
const MORE = [
  'blocks full',
  'base fee',
  'fees of the revenue',
  'an opening, coins',
  'bytes per 1,000 calls',
  'GB a day',
]
const simulationHead = [line([...HEADS, ...MORE]), `|${'--:|'.repeat(HEADS.length + MORE.length)}`].join('\n')

interface Cost {
  readonly weight: number
  readonly writes: number
  readonly bytes: number
}

const costOf = (transaction: Parameters<typeof weightOf>[0]): Cost => ({
  weight: weightOf(transaction, { ...tx, tabs: TAB_RULES }),
  writes: declaredWrites(transaction.body),
  bytes: transaction.size,
})
const OPENING = costOf(unsigned('tab_open', SAMPLE.tab_open()))

function claimCost(entries: number): Cost {
  const share = (sum: number): number => sum / entries
  return {
    weight: share(weightOfClaim(entries)),
    writes: share(CLAIM_WRITES[entries] as number),
    bytes: share(CLAIM_BYTES) + ENTRY_BYTES,
  }
}

/** A single paid call, with its share of a full `agent_receipt`. */
function singleCost(): Cost {
  const invoke = costOf(unsigned('agent_invoke', SAMPLE.agent_invoke()))
  const receipts = costOf(
    unsigned('agent_receipt', SAMPLE.agent_receipt(Array.from({ length: RECEIPTS_MAX }, () => ({})))),
  )
  const sum = (of: keyof Cost): number => invoke[of] + receipts[of] / RECEIPTS_MAX
  return { weight: sum('weight'), writes: sum('writes'), bytes: sum('bytes') }
}

/** What the chain has room for. */
export function costTable(): string {
  const [alone, batched, single] = [claimCost(1), claimCost(CLAIM_ENTRIES_MAX), singleCost()]
  const costs = [alone, batched, OPENING, single]
  const inBlock = ({ weight, writes }: Cost): number => Math.min(block.weightMax / weight, block.writesMax / writes)
  const calm = (cost: Cost): number => inBlock({ ...cost, weight: 2 * cost.weight }) / SECONDS_PER_BLOCK
  const row = (name: string, of: (cost: Cost) => string): string => line([name, ...costs.map(of)])
  const calls = (each: number) => (cost: Cost) =>
    cost === OPENING ? '' : figure(Math.floor(calm(cost) * (cost === single ? 1 : each)))
  return [
    line([
      '',
      'claim of one tab',
      `each of ${CLAIM_ENTRIES_MAX} tabs in a claim`,
      'opening',
      'paid call without a tab',
    ]),
    '|---|--:|--:|--:|--:|',
    row('weight', ({ weight }) => figure(weight)),
    row('writes', ({ writes }) => twoDigits(writes)),
    row('bytes', ({ bytes }) => figure(bytes)),
    row('most in a block', (cost) => figure(Math.floor(inBlock(cost)))),
    row('most in a second', (cost) => figure(Math.floor(inBlock(cost) / SECONDS_PER_BLOCK))),
    row('in a second without a rising base fee (half of the weight)', (cost) => figure(Math.floor(calm(cost)))),
    row(`calls a second then, ${figure(AGE_SOON_MS / 1_000)} of each tab`, calls(AGE_SOON_MS / 1_000)),
    row(
      `calls a second then, ${figure(ENTRY_RECEIPTS_MAX)} of each tab, the most in an entry`,
      calls(ENTRY_RECEIPTS_MAX),
    ),
  ].join('\n')
}

/** Openings a second of so many tabs, each followed by another one at the end of its term. */
export function openingTable(): string {
  const seconds = TAB_RULES.terms.map((blocks) => blocks * SECONDS_PER_BLOCK)
  return [
    '| tabs | of an hour | of a day | of a week | of 30 days |',
    '|--:|--:|--:|--:|--:|',
    ...[100_000, 1_000_000].map((tabs) => line([figure(tabs), ...seconds.map((term) => twoDigits(tabs / term))])),
  ].join('\n')
}

/** What the sellers of so many calls a second need together. */
export function sellerTable(): string {
  const rows = [1_000, 10_000, 100_000, 1_000_000].map((calls) =>
    line([
      figure(calls),
      twoDigits((calls * CALL.cpuMs) / 1_000),
      twoDigits((calls * CALL.diskBytes * 86_400) / 1e12),
      twoDigits((calls * CALL.wireBytes) / 1e6),
    ]),
  )
  return [line(['calls/s', 'processors', 'disk, TB a day', 'network, MB/s']), '|--:|--:|--:|--:|', ...rows].join('\n')
}

/** The line of the smallest network. */
export const smallest = (): string => simulated(LOADS[0] as Load, claimsDue)

if (import.meta.main) {
  const print = (text: string): void => void process.stdout.write(`${text}\n`)
  print(`${costTable()}\n\n${openingTable()}\n\n${sellerTable()}`)
  const busy = LOADS.filter(({ tabs }) => tabs === 100_000)
  for (const [loads, policy] of [[LOADS, claimsDue] as const, [busy, impatient] as const]) {
    print(`\n${simulationHead}`)
    for (const load of loads) print(simulated(load, policy))
  }
}
