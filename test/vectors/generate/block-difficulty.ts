import { workTarget } from './block-wire.ts'
import type { VectorSet } from './tx-wire.ts'

/** A case of the base fee. This file is written from docs/spec/blocks.md alone. */

export interface BaseFeeCase {
  readonly baseFee: string
  readonly weightUsed: number
  readonly child: string
}

/** The base fee of the next block: blocks.md, section 4. */
function childFee(fee: bigint, weight: number): bigint {
  const half = 1_000_000n
  const used = BigInt(weight)
  if (used > half) {
    const step = (fee * (used - half)) / half / 32n
    const child = fee + (step === 0n ? 1n : step)
    return child > 2n ** 62n ? 2n ** 62n : child
  }
  const child = fee - (fee * (half - used)) / half / 32n
  return child < 32n ? 32n : child
}

export function blockBaseFee(): VectorSet<BaseFeeCase> {
  const fees = [32n, 33n, 63n, 64n, 65n, 1_000n, 1_023n, 123_456_789n, 2n ** 57n, 2n ** 62n - 1n, 2n ** 62n]
  const weights = [
    0, 1, 31_250, 31_251, 500_000, 968_750, 999_999, 1_000_000, 1_000_001, 1_031_250, 1_500_000, 2_000_000,
  ]
  return {
    about: 'Base fee of a child by its parent’s base fee and weight, at a weight limit of 2,000,000.',
    spec: 'blocks.md, section 4',
    cases: fees.flatMap((fee) =>
      weights.map((weightUsed) => ({ baseFee: `${fee}`, weightUsed, child: `${childFee(fee, weightUsed)}` })),
    ),
  }
}

interface AnchorPoint {
  readonly height: number
  readonly timeMs: number
  readonly target: bigint
}

const LAUNCH_PACE = { spacingMs: 3_000, halfLifeMs: 300_000 }

/**
 * The target before clamping, by blocks.md, section 3: with Euclidean division, and powers of two by multiplication and
 * division.
 */
function unclamped(anchor: AnchorPoint, height: number, timeMs: number, pace = LAUNCH_PACE): bigint {
  const spacing = BigInt(pace.spacingMs)
  const behind = BigInt(timeMs) - BigInt(anchor.timeMs) - spacing * (BigInt(height) - BigInt(anchor.height))
  const e = floorDiv(behind * 65_536n, BigInt(pace.halfLifeMs))
  const s = floorDiv(e, 65_536n)
  const f = e - s * 65_536n
  if (s > 512n) return 2n ** 512n
  if (s < -512n) return 0n
  const c = (195_766_423_245_049n * f + 971_821_376n * f * f + 5_127n * f * f * f + 2n ** 47n) / 2n ** 48n
  const product = anchor.target * (65_536n + c)
  return s >= 16n ? product * 2n ** (s - 16n) : product / 2n ** (16n - s)
}

function floorDiv(a: bigint, b: bigint): bigint {
  const rest = ((a % b) + b) % b
  return (a - rest) / b
}

function clamped(target: bigint, limit: bigint): bigint {
  return target < 1n ? 1n : target > limit ? limit : target
}

export interface AsertCase {
  readonly name: string
  readonly anchor: { readonly height: number; readonly timeMs: number; readonly target: string }
  readonly parent: { readonly height: number; readonly timeMs: number }
  readonly unclamped: string
  readonly targetMainnet: string
  readonly targetDevnet: string
}

const LIMITS = { mainnet: workTarget(2n ** 14n), devnet: workTarget(1_000n) }
const START = 1_793_491_200_000

function asertCase(name: string, target: bigint, blocks: number, elapsedMs: number): AsertCase {
  const anchor = { height: 1, timeMs: START, target }
  const parent = { height: 1 + blocks, timeMs: START + elapsedMs }
  const raw = unclamped(anchor, parent.height, parent.timeMs)
  return {
    ...{ name, anchor: { ...anchor, target: `${target}` }, parent, unclamped: `${raw}` },
    targetMainnet: `${clamped(raw, LIMITS.mainnet)}`,
    targetDevnet: `${clamped(raw, LIMITS.devnet)}`,
  }
}

export function blockAsert(): VectorSet<AsertCase> {
  const targets = { easy: workTarget(2n ** 14n), middle: workTarget(2n ** 24n), hard: 1_000_003n }
  const gaps = [
    ...[0, 1, 2, 4, 5, -1, -2, -4, -5, 3_000, -3_000, 149_999, 150_000, -150_000, 299_999, 300_000, 300_001],
    ...[-300_000, -300_001, 600_000, -600_000, 1_000_000, -1_000_000, 28_800_000, -28_800_000, 86_400_000],
    ...[153_600_000, 153_900_000, 153_900_001, 154_200_000, -153_600_000, -153_600_001, -153_900_000],
    ...[-154_200_000, 1_000_000_000_000, -1_000_000_000_000],
  ]
  const onTime = 3_000
  return {
    about:
      'Target of a block by its branch’s anchor and its parent; spacing 3,000 ms, half-life 300,000 ms. Clamped to the ' +
      'limits of mainnet (2^14 hashes) and devnet (1,000 hashes).',
    spec: 'blocks.md, section 3',
    cases: Object.entries(targets).flatMap(([name, target]) => [
      ...gaps.map((gap) =>
        asertCase(`${name} target, ${gap} ms behind after 1,000 blocks`, target, 1_000, 1_000 * onTime + gap),
      ),
      asertCase(`${name} target, the anchor itself`, target, 0, 0),
      asertCase(`${name} target, four billion blocks at once`, target, 4_294_967_000, 1),
      asertCase(`${name} target, one block after the longest time`, target, 1, Number.MAX_SAFE_INTEGER - START),
    ]),
  }
}

export interface AnchorCase {
  readonly name: string
  readonly anchorResetGapMs: number | null
  readonly powLimit: string
  readonly initialTarget: string
  readonly anchor: AsertCase['anchor'] | null
  readonly parent: { readonly height: number; readonly timeMs: number }
  readonly block: { readonly height: number; readonly timeMs: number; readonly target: string }
  readonly next: AsertCase['anchor']
}

function anchorCase(
  name: string,
  gapMs: number | null,
  {
    anchor,
    behindMs,
    afterMs,
  }: { readonly anchor: bigint | null; readonly behindMs: number; readonly afterMs: number },
): AnchorCase {
  const limit = gapMs === null ? LIMITS.mainnet : LIMITS.devnet
  const held = anchor === null ? null : { height: 1, timeMs: START, target: anchor }
  const parent = held === null ? { height: 0, timeMs: START } : { height: 11, timeMs: START + 30_000 + behindMs }
  const initial = workTarget(gapMs === null ? 2n ** 14n : 12_000n)
  const raw = held === null ? initial : unclamped(held, parent.height, parent.timeMs)
  const target = clamped(raw, limit)
  const block = { height: parent.height + 1, timeMs: parent.timeMs + afterMs }
  let next: AnchorPoint = held ?? { ...block, target }
  if (held !== null && raw > limit) next = { ...block, target: limit }
  else if (held !== null && gapMs !== null && afterMs > gapMs) {
    next = { ...block, target: clamped(unclamped(held, block.height, parent.timeMs + gapMs), limit) }
  }
  const shown = (point: AnchorPoint) => ({ ...point, target: `${point.target}` })
  return {
    ...{
      name,
      anchorResetGapMs: gapMs,
      powLimit: `${limit}`,
      initialTarget: `${initial}`,
      anchor: held && shown(held),
      parent,
    },
    ...{ block: { ...block, target: `${target}` }, next: shown(next) },
  }
}

export function blockAnchor(): VectorSet<AnchorCase> {
  const [limit, hard] = [LIMITS.mainnet, workTarget(2n ** 24n)]
  const sleepy = workTarget(12_000n)
  return {
    about: 'The anchor for the children of a block.',
    spec: 'blocks.md, section 3, rules 1 to 4',
    cases: [
      anchorCase('block 1 is the first anchor', null, { anchor: null, behindMs: 0, afterMs: 3_000 }),
      anchorCase('block 1 is the first anchor, however late', 120_000, { anchor: null, behindMs: 0, afterMs: 1e9 }),
      anchorCase('a block in time keeps its anchor', null, { anchor: hard, behindMs: 0, afterMs: 3_000 }),
      anchorCase('a block exactly at the limit keeps its anchor', null, { anchor: limit, behindMs: 0, afterMs: 3_000 }),
      anchorCase('a block below the limit keeps its anchor', null, { anchor: limit, behindMs: -1, afterMs: 3_000 }),
      // A single millisecond is below the resolution of the approximation; five move the target.
      anchorCase('a block above the limit becomes the anchor', null, { anchor: limit, behindMs: 5, afterMs: 3_000 }),
      anchorCase('a block far above the limit does too', null, { anchor: hard, behindMs: 86_400_000, afterMs: 1 }),
      anchorCase('a late block keeps its anchor without a gap', null, {
        anchor: hard,
        behindMs: 0,
        afterMs: 86_400_000,
      }),
      anchorCase('a block at the gap keeps its anchor', 120_000, { anchor: sleepy, behindMs: 0, afterMs: 120_000 }),
      anchorCase('a block past the gap becomes the anchor', 120_000, { anchor: sleepy, behindMs: 0, afterMs: 120_001 }),
      anchorCase('eight hours are one gap', 120_000, { anchor: sleepy, behindMs: 0, afterMs: 28_800_000 }),
      anchorCase('eight hours before a hard target', 120_000, { anchor: hard, behindMs: -7_000, afterMs: 28_800_000 }),
      anchorCase('above the limit the gap does not count', 120_000, {
        ...{ anchor: LIMITS.devnet, behindMs: 60_000, afterMs: 28_800_000 },
      }),
      anchorCase('a gap that leads above the limit is clamped', 120_000, {
        ...{ anchor: LIMITS.devnet, behindMs: -100_000, afterMs: 120_001 },
      }),
    ],
  }
}

export interface StepCase {
  readonly name: string
  readonly anchor: AsertCase['anchor']
  readonly parent: { readonly height: number; readonly timeMs: number }
  readonly ended: { readonly spacingMs: number; readonly halfLifeMs: number; readonly powLimit: string }
  readonly rules: StepCase['ended']
  /** The anchor for the first block of the step. */
  readonly found: AsertCase['anchor']
  /** The target of the first block of the step. */
  readonly target: string
}

export function blockStep(): VectorSet<StepCase> {
  const blocks = 500_000
  const limit = { powLimit: LIMITS.mainnet }
  const launch = { ...LAUNCH_PACE, ...limit }
  const changes = {
    'twice the spacing': { ...launch, spacingMs: 6_000 },
    'half the spacing': { ...launch, spacingMs: 1_500 },
    'a longer half-life': { ...launch, halfLifeMs: 3_600_000 },
    'an easier limit': { ...launch, powLimit: LIMITS.devnet },
    'everything at once': { spacingMs: 60_000, halfLifeMs: 86_400_000, powLimit: LIMITS.devnet },
    'nothing of it': launch,
  }
  const text = (pace: typeof launch) => ({ ...pace, powLimit: `${pace.powLimit}` })
  const cases = Object.entries(changes).flatMap(([name, rules]) =>
    [0, 7_000, -600_000, 86_400_000].map((behindMs): StepCase => {
      const anchor = { height: 1, timeMs: START, target: workTarget(2n ** 24n) }
      const parent = { height: 1 + blocks, timeMs: START + 3_000 * blocks + behindMs }
      const asked = clamped(unclamped(anchor, parent.height, parent.timeMs), launch.powLimit)
      const found = name === 'nothing of it' ? anchor : { ...parent, target: asked }
      const target = clamped(unclamped(found, parent.height, parent.timeMs, rules), rules.powLimit)
      return {
        ...{ name: `${name}, ${behindMs} ms behind`, anchor: { ...anchor, target: `${anchor.target}` }, parent },
        ...{
          ended: text(launch),
          rules: text(rules),
          found: { ...found, target: `${found.target}` },
          target: `${target}`,
        },
      }
    }),
  )
  return { about: 'The anchor and the target of the first block of a rule step.', spec: 'blocks.md, section 3', cases }
}
