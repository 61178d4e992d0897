import type { ReferenceRules } from './params.ts'

type BlockRules = ReferenceRules['block']

/** The header fields that decide the next target. */
export interface Step {
  readonly height: number
  readonly timeMs: number
}

export interface Anchor extends Step {
  readonly target: bigint
}

/** floor(a / b), also for negative a; b is positive. */
function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b
  return a % b < 0n ? quotient - 1n : quotient
}

/** The formula of blocks.md, section 3, before clamping. */
export function unclampedTarget(anchor: Anchor, parent: Step, rules: BlockRules): bigint {
  const drift = BigInt(parent.timeMs - anchor.timeMs) - BigInt(rules.spacingMs) * BigInt(parent.height - anchor.height)
  const e = floorDivide(drift * 65_536n, BigInt(rules.halfLifeMs))
  const s = floorDivide(e, 65_536n)
  const f = e - s * 65_536n
  const c = (195_766_423_245_049n * f + 971_821_376n * f ** 2n + 5_127n * f ** 3n + 2n ** 47n) / 2n ** 48n
  if (s > 512n) return 2n ** 512n
  if (s < -512n) return 0n
  const scaled = anchor.target * (65_536n + c)
  return s >= 16n ? scaled * 2n ** (s - 16n) : scaled / 2n ** (16n - s)
}

/** The value clamped to [1, powLimit]. */
export function clampedTarget(unclamped: bigint, rules: BlockRules): bigint {
  if (unclamped < 1n) return 1n
  return unclamped > rules.powLimit ? rules.powLimit : unclamped
}

/** The anchor for the children of `block`, from the anchor that held for `block` itself. */
function nextAnchor(anchor: Anchor, parent: Step, block: Step, rules: BlockRules): Anchor {
  const { height, timeMs } = block
  if (unclampedTarget(anchor, parent, rules) > rules.powLimit) return { height, timeMs, target: rules.powLimit }
  const gap = rules.anchorResetGapMs
  if (gap !== null && timeMs - parent.timeMs > gap) {
    const late = unclampedTarget(anchor, { timeMs: parent.timeMs + gap, height }, rules)
    return { height, timeMs, target: clampedTarget(late, rules) }
  }
  return anchor
}

/** The rules that the formula depends on, as text to compare. */
function formula({ spacingMs, halfLifeMs, powLimit }: BlockRules): string {
  return `${spacingMs} ${halfLifeMs} ${powLimit}`
}

/** Target of the block after `headers`, which are all headers of the branch from genesis on. */
export function targetAfter(headers: readonly Step[], rulesAt: (height: number) => BlockRules): bigint {
  const initial = rulesAt(1).initialTarget
  if (headers.length === 1) return initial
  let anchor: Anchor = { ...(headers[1] as Step), target: initial }
  for (let height = 2; ; height++) {
    const parent = headers[height - 1] as Step
    const before = rulesAt(height - 1)
    const rules = rulesAt(height)
    if (formula(rules) !== formula(before)) {
      const { height: at, timeMs } = parent
      anchor = { height: at, timeMs, target: clampedTarget(unclampedTarget(anchor, parent, before), before) }
    }
    const block = headers[height]
    if (block === undefined) return clampedTarget(unclampedTarget(anchor, parent, rules), rules)
    anchor = nextAnchor(anchor, parent, block, rules)
  }
}

/** Base fee of the block after one with this base fee and weight (blocks.md, section 4). */
export function baseFeeAfter(fee: bigint, used: bigint, rules: BlockRules): bigint {
  const half = BigInt(rules.weightMax) / 2n
  const weight = used > half * 2n ? half * 2n : used
  const step = (distance: bigint): bigint => (fee * distance) / half / rules.baseFeeChangeDivisor
  if (weight > half) {
    const rise = step(weight - half)
    const next = fee + (rise > 1n ? rise : 1n)
    return next > 2n ** 62n ? 2n ** 62n : next
  }
  const next = fee - step(half - weight)
  return next > rules.baseFeeMin ? next : rules.baseFeeMin
}

export function workOf(target: bigint): bigint {
  return 2n ** 256n / (target + 1n)
}
