import { HASHES_PER_BLOCK } from './cheap-network.ts'
import { Dice } from './dice.ts'
import type { Weather } from './endpoint.ts'
import { LIES, type Lie } from './liar.ts'
import type { Skew } from './virtual-clock.ts'

/** The role of a node in a simulation. */
export interface NodePlan {
  readonly name: string
  readonly skew: Skew
  readonly hashesPerSecond: number
  readonly outboundWanted: number
  /** What the node lies about; `poison` publishes junk blocks. Absent for honest nodes. */
  readonly lie?: Lie | 'poison'
  /** Withholds its blocks while it leads, but tells no lies. */
  readonly selfish?: true
}

/** A disturbance of the network with an end. */
export type Incident =
  | {
      readonly kind: 'split'
      readonly atMs: number
      readonly forMs: number
      readonly groupOf: Readonly<Record<string, number>>
    }
  | {
      readonly kind: 'crash'
      readonly atMs: number
      readonly forMs: number
      readonly node: string
      readonly mempoolKept: boolean
    }

/** Everything that decides a simulation. It follows from the seed. */
export interface Plan {
  readonly seed: number
  readonly nodes: readonly NodePlan[]
  readonly weather: Weather
  readonly incidents: readonly Incident[]
  readonly transactionsPerSecond: number
  /** Height that the best chain must reach before the network gets calm. */
  readonly blocks: number
}

export interface PlanSize {
  readonly nodes: number
  readonly blocks: number
}

const SPACING_S = 3
const SKEW_MS_MAX = 10_000
/** Earliest incident, ms: nodes need some seconds to connect. */
const FIRST_INCIDENT_MS = 20_000

export function planOf(seed: number, { nodes: count, blocks }: PlanSize = { nodes: 20, blocks: 200 }): Plan {
  const dice = new Dice(seed)
  const nodes = nodesOf(dice, count)
  const weather: Weather = {
    latencyMs: [10, dice.between(60, 300)],
    jitterMs: dice.between(0, 40),
    bytesPerMs: dice.between(100, 5_000),
    requestLoss: dice.pick([0, 0.002, 0.01]),
    gossipLoss: dice.pick([0, 0.02, 0.08]),
  }
  const incidents = incidentsOf(dice, nodes, blocks * SPACING_S * 1_000)
  return { seed, nodes, weather, incidents, transactionsPerSecond: dice.between(0.5, 1.5), blocks }
}

function nodesOf(dice: Dice, count: number): readonly NodePlan[] {
  const liars = new Map(
    dice
      .shuffled(Array.from({ length: count - 1 }, (_, i) => i + 1))
      .slice(0, dice.below(4))
      .map((i) => [i, dice.pick(LIES)]),
  )
  const selfish = dice.chance(0.4) ? 1 + dice.below(count - 1) : undefined
  const shares = Array.from({ length: count }, (_, i) => (i > 0 && dice.chance(0.6) ? 0 : dice.between(0.2, 1)))
  const total = Number(HASHES_PER_BLOCK) / SPACING_S
  const sum = shares.reduce((all, share) => all + share, 0)
  return shares.map((share, i) => {
    const lie = liars.get(i)
    const isSelfish = i === selfish && lie === undefined
    const hashesPerSecond = isSelfish ? total * dice.between(0.1, 0.3) : lie === undefined ? (share / sum) * total : 0
    return {
      name: `n${i}`,
      skew: {
        offsetMs: Math.round(dice.between(-SKEW_MS_MAX, SKEW_MS_MAX)),
        driftPpm: Math.round(dice.between(-100, 100)),
      },
      hashesPerSecond,
      outboundWanted: 3 + dice.below(3),
      ...(lie === undefined ? {} : { lie }),
      ...(isSelfish ? { selfish: true as const } : {}),
    }
  })
}

function incidentsOf(dice: Dice, nodes: readonly NodePlan[], lengthMs: number): readonly Incident[] {
  const incidents: Incident[] = []
  let atMs = FIRST_INCIDENT_MS
  for (let splits = dice.below(3); splits > 0; splits--) {
    atMs += dice.between(0, lengthMs / 4)
    const forMs = dice.between(15_000, 150_000)
    const groups = 2 + dice.below(2)
    incidents.push({
      kind: 'split',
      atMs,
      forMs,
      groupOf: Object.fromEntries(nodes.map(({ name }) => [name, dice.below(groups)])),
    })
    atMs += forMs + 20_000
  }
  for (const { name } of dice.shuffled(nodes).slice(0, dice.below(7))) {
    const crashMs = dice.between(FIRST_INCIDENT_MS, lengthMs * 0.9)
    incidents.push({
      kind: 'crash',
      atMs: crashMs,
      forMs: dice.between(1_000, 90_000),
      node: name,
      mempoolKept: dice.chance(0.5),
    })
  }
  return incidents
}
