import type { Header } from './header.ts'
import type { BlockRules } from './rules.ts'

/**
 * ASERT in absolute form: target(child) = anchor target x 2^((t - T x n) / half-life). t and n are the parent's time
 * and height counted from the anchor, T is the spacing. Integer arithmetic in milliseconds, with the cubic
 * approximation of 2^x of aserti3-2d (Bitcoin Cash upgrade specification of 2020-11-15).
 */
export interface Anchor {
  readonly height: number
  readonly timeMs: number
  readonly target: bigint
}

type Point = Pick<Header, 'height' | 'timeMs'>

/** More doublings than a target has bits. */
const SHIFT_MAX = 512n
const RADIX = 65536n

/** Target before clamping: may be 0 or far above the limit. */
export function unclampedTarget(anchor: Anchor, point: Point, rules: BlockRules): bigint {
  const behindMs = BigInt(point.timeMs - anchor.timeMs) - BigInt(rules.spacingMs) * BigInt(point.height - anchor.height)
  const exponent = floorDivide(behindMs * RADIX, BigInt(rules.halfLifeMs))
  const shift = exponent >> 16n
  if (shift > SHIFT_MAX) return 1n << SHIFT_MAX
  if (shift < -SHIFT_MAX) return 0n
  const fraction = exponent & 0xffffn
  const cubic = 195766423245049n * fraction + 971821376n * fraction ** 2n + 5127n * fraction ** 3n + (1n << 47n)
  const scaled = anchor.target * (RADIX + (cubic >> 48n))
  return shift >= 16n ? scaled << (shift - 16n) : scaled >> (16n - shift)
}

/** Target that a child of `parent` must carry. Block 1 has no anchor and takes the network's initial target. */
export function targetAfter(anchor: Anchor | null, parent: Point, rules: BlockRules): bigint {
  return anchor === null ? rules.initialTarget : clamp(unclampedTarget(anchor, parent, rules), rules.powLimit)
}

/**
 * The anchor for the children of `header`.
 * - Block 1 is the first anchor.
 * - A block whose unclamped target was STRICTLY above the limit becomes the anchor, at the limit. With >= the chain
 * would never leave the limit; without the rule a long stall would be followed by a burst of blocks.
 * - With `anchorResetGapMs`, a block that comes later than that after its parent becomes the anchor, at ASERT's target
 * for parent time + gap. Otherwise a machine that slept would make a burst of blocks when it wakes.
 */
export function anchorAfter(anchor: Anchor | null, parent: Point, header: Header, rules: BlockRules): Anchor {
  const { height, timeMs } = header
  if (anchor === null) return { height, timeMs, target: header.target }
  if (unclampedTarget(anchor, parent, rules) > rules.powLimit) return { height, timeMs, target: rules.powLimit }
  const gapMs = rules.anchorResetGapMs
  if (gapMs === null || timeMs - parent.timeMs <= gapMs) return anchor
  const target = unclampedTarget(anchor, { height, timeMs: parent.timeMs + gapMs }, rules)
  return { height, timeMs, target: clamp(target, rules.powLimit) }
}

/**
 * The anchor for the first block of a rule step. If the step changes spacing, half-life or limit, the parent becomes
 * the anchor, at the target that the old rules would have asked. Measured from an older anchor by the new rules, all
 * blocks since then would be too early or too late at once.
 */
export function anchorAtStep(
  anchor: Anchor | null,
  parent: Point,
  { ended, rules }: { readonly ended: BlockRules; readonly rules: BlockRules },
): Anchor | null {
  const same =
    ended.spacingMs === rules.spacingMs && ended.halfLifeMs === rules.halfLifeMs && ended.powLimit === rules.powLimit
  if (anchor === null || same) return anchor
  return { height: parent.height, timeMs: parent.timeMs, target: targetAfter(anchor, parent, ended) }
}

function clamp(target: bigint, powLimit: bigint): bigint {
  if (target < 1n) return 1n
  return target > powLimit ? powLimit : target
}

function floorDivide(numerator: bigint, divisor: bigint): bigint {
  const quotient = numerator / divisor
  return numerator < 0n && quotient * divisor !== numerator ? quotient - 1n : quotient
}
