import { HEADER_BYTES } from '../../consensus/block/header.ts'
import type { WorkJob } from '../../consensus/block/pow.ts'
import { readUintBE, uintBE } from '../../consensus/primitives/bytes.ts'

const TARGET_BYTES = 32
const COST_BYTES = 4
/** Header, target, and three numbers of cost. */
const JOB_BYTES = HEADER_BYTES + TARGET_BYTES + 3 * COST_BYTES

/** Packs jobs into one buffer, which is transferred to a thread without a copy. */
export function packWork(jobs: readonly WorkJob[]): Uint8Array<ArrayBuffer> {
  const packed = new Uint8Array(jobs.length * JOB_BYTES)
  const view = new DataView(packed.buffer)
  for (const [i, { bytes, target, cost }] of jobs.entries()) {
    const at = i * JOB_BYTES
    packed.set(bytes, at)
    packed.set(uintBE(target, TARGET_BYTES), at + HEADER_BYTES)
    for (const [j, part] of [cost.memoryKiB, cost.passes, cost.lanes].entries())
      view.setUint32(at + HEADER_BYTES + TARGET_BYTES + j * COST_BYTES, part)
  }
  return packed
}

/** Unpacks the output of {@link packWork}. */
export function unpackWork(packed: Uint8Array): readonly WorkJob[] {
  const view = new DataView(packed.buffer, packed.byteOffset)
  return Array.from({ length: packed.length / JOB_BYTES }, (_, i) => {
    const at = i * JOB_BYTES
    const costAt = at + HEADER_BYTES + TARGET_BYTES
    const cost = (j: number): number => view.getUint32(costAt + j * COST_BYTES)
    return {
      bytes: packed.subarray(at, at + HEADER_BYTES),
      target: readUintBE(packed.subarray(at + HEADER_BYTES, costAt)),
      cost: { memoryKiB: cost(0), passes: cost(1), lanes: cost(2) },
    }
  })
}
