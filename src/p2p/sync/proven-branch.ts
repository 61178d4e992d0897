import type { HeaderTip } from '../../../consensus/block/header-tip.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'

/** A proven header whose block is to come. */
export interface BranchHeader {
  readonly id: BlockId
  readonly parent: BlockId
  readonly height: number
  readonly bytes: Uint8Array
}

/** Headers that are proven ahead of their blocks: about 18 MB. */
const WINDOW_HEADERS = 32_768

/** The proven headers of the followed branch, from the first whose block is not imported yet. */
export class ProvenBranch {
  #headers: BranchHeader[] = []
  /** Dropped headers at the front of the array, which is cut now and then. */
  #dropped = 0
  #totalWork = 0n
  #height = 0
  /** Whether the branch is proven to the end that the peer has shown. */
  complete = false

  get totalWork(): bigint {
    return this.#totalWork
  }

  get height(): number {
    return this.#height
  }

  get length(): number {
    return this.#headers.length - this.#dropped
  }

  /** Whether blocks must come before more is proven. */
  get full(): boolean {
    return this.length >= WINDOW_HEADERS
  }

  at(index: number): BranchHeader | undefined {
    return this.#headers[this.#dropped + index]
  }

  push(tips: readonly HeaderTip[]): void {
    for (const { id, bytes, header } of tips)
      this.#headers.push({ id, bytes, parent: header.parent, height: header.height })
    const last = tips.at(-1)
    if (last === undefined) return
    this.#totalWork = last.totalWork
    this.#height = last.header.height
  }

  shift(): void {
    this.#dropped += 1
    if (this.#dropped < 1_024) return
    this.#headers = this.#headers.slice(this.#dropped)
    this.#dropped = 0
  }
}
