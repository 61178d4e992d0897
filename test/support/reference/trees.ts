import { concat, littleEndian, sha256, tagged, unhex, xor, ZERO32 } from './bytes.ts'
import { u32, u256 } from './ssz.ts'

const EMPTY = unhex(ZERO32)

/** Joins neighbours level by level. An odd last one is carried up. */
function fold<T>(level: readonly T[], join: (left: T, right: T) => T): T | undefined {
  if (level.length <= 1) return level[0]
  const next: T[] = []
  for (let i = 0; i < level.length; i += 2) {
    const [left, right] = [level[i] as T, level[i + 1]]
    next.push(right === undefined ? left : join(left, right))
  }
  return fold(next, join)
}

/** Root of a list tree (encoding.md, section 4) under the tags `${tree}-leaf`, `-node`, `-root`. */
export function listRoot(tree: 'tx' | 'witness' | 'receipt' | 'tab-receipt', items: readonly Uint8Array[]): Uint8Array {
  const node = tagged(`${tree}-node`)
  const leaves = items.map((item) => tagged(`${tree}-leaf`, item))
  const top = fold(leaves, (left, right) => sha256(xor(left, node), right)) ?? EMPTY
  return tagged(`${tree}-root`, littleEndian(BigInt(items.length), 4), top)
}

/** The history tree's entry of one block. */
export interface HistoryItem {
  readonly id: Uint8Array
  readonly height: number
  readonly timeMs: number
  readonly target: bigint
  readonly work: bigint
}

/** Root of the history tree (blocks.md, section 5). `items` are all blocks of a branch, from genesis on. */
export function historyRoot(items: readonly HistoryItem[]): Uint8Array {
  const leaves = items.map(({ id, height, timeMs, target, work }) => ({
    hash: tagged(
      'history-leaf',
      concat(id, u32.encode(height), littleEndian(BigInt(timeMs), 8), u256.encode(target), u256.encode(work)),
    ),
    work,
  }))
  const top = fold(leaves, (left, right) => ({
    hash: tagged('history-node', left.hash, u256.encode(left.work), right.hash, u256.encode(right.work)),
    work: left.work + right.work,
  }))
  return tagged('history-root', u32.encode(items.length), top?.hash ?? EMPTY, u256.encode(top?.work ?? 0n))
}

interface StateItem {
  readonly path: Uint8Array
  readonly valueHash: Uint8Array
}

/** Root of the state tree (blocks.md, section 6) over every record. */
export function stateRoot(records: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const nodeTag = tagged('state-node')
  const subtree = (items: readonly StateItem[], depth: number): Uint8Array => {
    const [first] = items
    if (first === undefined) return EMPTY
    if (items.length === 1) return tagged('state-leaf', first.path, first.valueHash)
    const goesRight = ({ path }: StateItem): boolean => (((path[depth >> 3] as number) >> (7 - (depth & 7))) & 1) === 1
    const left = subtree(
      items.filter((item) => !goesRight(item)),
      depth + 1,
    )
    const right = subtree(items.filter(goesRight), depth + 1)
    return sha256(xor(left, nodeTag), right)
  }
  const items = [...records].map(([key, record]) => ({
    path: tagged('state-key', unhex(key)),
    valueHash: tagged('state-value', record),
  }))
  return subtree(items, 0)
}
