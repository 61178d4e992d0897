import { blockId, headerBytes, madeHeader, targetWork, workTarget } from './block-wire.ts'
import { hex, join } from './bytes.ts'
import { tagged, u32, u64, u256, type VectorSet } from './tx-wire.ts'

/** History roots over the first blocks of one list, with proofs. */
export interface HistoryCase {
  readonly count: number
  readonly root: string
  readonly proofs: readonly {
    readonly index: number
    readonly siblings: readonly { readonly hash: string; readonly work: string }[]
  }[]
}

/** The set: headers once, then roots over the first `count` of them. */
export interface HistorySet extends VectorSet<HistoryCase> {
  readonly headers: readonly string[]
}

interface Node {
  readonly hash: Uint8Array
  readonly work: bigint
}

const HEADERS = Array.from({ length: 20 }, (_, height) =>
  headerBytes(
    madeHeader('history', {
      height,
      timeMs: 1_793_491_200_000 + 3_000 * height,
      target: workTarget(16_384n + BigInt(height) * 777n),
    }),
  ),
)

const LEAVES: readonly Node[] = HEADERS.map((bytes, height) => {
  const target = workTarget(16_384n + BigInt(height) * 777n)
  const work = targetWork(target)
  const time = u64(1_793_491_200_000 + 3_000 * height)
  return { hash: tagged('farthing/history-leaf/1', blockId(bytes), u32(height), time, u256(target), u256(work)), work }
})

function joined(left: Node, right: Node): Node {
  const data = join(left.hash, u256(left.work), right.hash, u256(right.work))
  return { hash: tagged('farthing/history-node/1', data), work: left.work + right.work }
}

/** All levels, bottom up: neighbours joined, an odd last node carried. */
function levels(leaves: readonly Node[]): readonly (readonly Node[])[] {
  if (leaves.length <= 1) return [leaves]
  const above: Node[] = []
  for (let i = 0; i < leaves.length; i += 2) {
    const [left, right] = [leaves[i] as Node, leaves[i + 1]]
    above.push(right === undefined ? left : joined(left, right))
  }
  return [leaves, ...levels(above)]
}

function historyCase(count: number): HistoryCase {
  const tree = levels(LEAVES.slice(0, count))
  const top = tree.at(-1)?.[0] ?? { hash: new Uint8Array(32), work: 0n }
  return {
    count,
    root: hex(tagged('farthing/history-root/1', u32(count), top.hash, u256(top.work))),
    proofs: Array.from({ length: count }, (_, index) => ({
      index,
      siblings: tree.slice(0, -1).flatMap((level, height) => {
        const sibling = level[(index >> height) ^ 1]
        return sibling === undefined ? [] : [{ hash: hex(sibling.hash), work: sibling.work.toString() }]
      }),
    })),
  }
}

export function blockHistory(): HistorySet {
  return {
    about: 'History roots over the first blocks of a list, with the proof of each block.',
    spec: 'blocks.md, section 5',
    headers: HEADERS.map(hex),
    cases: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 20].map(historyCase),
  }
}
