import { LAUNCH_RULES, TAB_RULES } from '../../config/networks/rules.ts'
import { baseFeeAfter } from '../../consensus/block/base-fee.ts'
import { claimFee } from '../../marketplace/till/rails/tab/claim-fee.ts'

/** A whole network of tabs: how many are active, at how many sellers, and how many calls a second each makes. */
interface Load {
  readonly tabs: number
  readonly sellers: number
  readonly callsPerTab: number
}

const SECONDS_PER_BLOCK = LAUNCH_RULES.block.spacingMs / 1_000
/** A seller claims a tab at this age of its first unclaimed call. */
const AGE_BLOCKS = 600 / SECONDS_PER_BLOCK
/** Then if it is worth so many times its share of the fee, and late in any case. */
const WORTH = 100
const LATE_BLOCKS = (6 * 3_600) / SECONDS_PER_BLOCK
/** The price of a call in base units: 0.6 cents on the devnet. */
const PRICE = 2_400_000
const ENTRIES_MAX = 64
/** Bytes of a claim and of an entry; writes of both. As in `claim-fee.ts`, which estimates from above. */
const [CLAIM_BYTES, ENTRY_BYTES, CLAIM_WRITES, ENTRY_WRITES] = [2_580, 290, 3, 5]
const BLOCKS = 20_000
const MEASURED = 2_000

const { block, tx } = LAUNCH_RULES
const weightOf = (entries: number): number => Number(claimFee(entries, 1n, tx, TAB_RULES))

/**
 * Blocks that hold nothing but claims. Each block the sellers claim the tabs that are old enough and worth their fee, the oldest first, as
 * many as a block takes; the base fee follows by the rule of consensus.
 */
function simulate({ tabs, sellers, callsPerTab }: Load) {
  /** Tabs by the blocks since their last claim. They begin spread out. */
  let ages = Array.from({ length: AGE_BLOCKS }, () => tabs / AGE_BLOCKS)
  let header = { baseFee: block.baseFeeMin, weightUsed: 0 }
  const sum = { claimed: 0, age: 0, weight: 0, bytes: 0, fee: 0, fees: 0 }
  for (let height = 0; height < BLOCKS; height++) {
    ages = [0, ...ages]
    const baseFee = baseFeeAfter(header as never, block)
    // Blocks of calls that are worth one share of the fee.
    const share = (weightOf(ENTRIES_MAX) / ENTRIES_MAX) * Number(baseFee)
    const least = share / (callsPerTab * SECONDS_PER_BLOCK * PRICE)
    const from = Math.ceil(Math.min(Math.max(AGE_BLOCKS, least * WORTH), Math.max(LATE_BLOCKS, least)))
    const due = ages.slice(from).reduce((all, count) => all + count, 0)
    const entries = Math.min(ENTRIES_MAX, Math.max(1, due / sellers))
    const weight = weightOf(Math.round(entries)) / Math.round(entries)
    const writes = (CLAIM_WRITES + ENTRY_WRITES * entries) / entries
    const taken = Math.min(due, block.weightMax / weight, block.writesMax / writes)
    let left = taken
    for (let age = ages.length - 1; age >= from && left > 0; age--) {
      const part = Math.min(left, ages[age] as number)
      ages[age] = (ages[age] as number) - part
      if (height >= BLOCKS - MEASURED) sum.age += part * age
      left -= part
    }
    ages[0] = (ages[0] as number) + taken
    while (ages.length > 1 && (ages.at(-1) as number) < 1e-9) ages.pop()
    header = { baseFee, weightUsed: Math.round(taken * weight) }
    if (height < BLOCKS - MEASURED) continue
    sum.claimed += taken
    sum.weight += taken * weight
    sum.bytes += taken * (CLAIM_BYTES / entries + ENTRY_BYTES)
    sum.fee += Number(baseFee)
    sum.fees += taken * weight * Number(baseFee)
  }
  const calls = tabs * callsPerTab
  const seconds = MEASURED * SECONDS_PER_BLOCK
  return {
    calls,
    claims: sum.claimed / seconds,
    callsPerClaim: (calls * seconds) / sum.claimed,
    minutes: ((sum.age / sum.claimed) * SECONDS_PER_BLOCK) / 60,
    fullPct: (100 * sum.weight) / (MEASURED * block.weightMax),
    baseFee: sum.fee / MEASURED,
    feePct: (100 * sum.fees) / (calls * seconds * PRICE),
    bytesPer1000: (1_000 * sum.bytes) / (calls * seconds),
    gigabytesPerDay: ((sum.bytes / seconds) * 86_400) / 1e9,
  }
}

const LOADS: readonly Load[] = [
  { tabs: 100, sellers: 10, callsPerTab: 1 },
  { tabs: 1_000, sellers: 100, callsPerTab: 1 },
  { tabs: 10_000, sellers: 100, callsPerTab: 1 },
  { tabs: 10_000, sellers: 5_000, callsPerTab: 1 },
  { tabs: 100_000, sellers: 1_000, callsPerTab: 1 },
  { tabs: 100_000, sellers: 50_000, callsPerTab: 1 },
  { tabs: 100_000, sellers: 1_000, callsPerTab: 10 },
  { tabs: 1_000_000, sellers: 10_000, callsPerTab: 1 },
  { tabs: 1_000_000, sellers: 500_000, callsPerTab: 1 },
]

process.stdout.write(
  '| calls/s | tabs | sellers | claims/s | calls a claim | age in min | blocks full | base fee | fees of the revenue | bytes per 1,000 calls | GB a day |\n',
)
process.stdout.write(`|${'--:|'.repeat(11)}\n`)
for (const load of LOADS) {
  const found = simulate(load)
  const cells = [
    found.calls,
    load.tabs,
    load.sellers,
    found.claims.toFixed(1),
    found.callsPerClaim.toFixed(0),
    found.minutes.toFixed(0),
    `${found.fullPct.toFixed(0)} %`,
    found.baseFee.toFixed(0),
    `${found.feePct.toPrecision(2)} %`,
    found.bytesPer1000.toFixed(0),
    found.gigabytesPerDay.toPrecision(2),
  ]
  process.stdout.write(`| ${cells.join(' | ')} |\n`)
}
