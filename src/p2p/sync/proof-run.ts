import type { HeaderTip } from '../../../consensus/block/header-tip.ts'
import type { PeerId } from '../network.ts'
import { type Claim, commitmentTo } from './claim.ts'
import type { BlockRef } from './denials.ts'
import type { Others } from './header-walk.ts'
import { type ProveDependencies, Prover, proveBranch, type Unproven } from './prove.ts'
import type { Running } from './reporter.ts'

/** Blocks on one that all who follow its branch have, whatever the newest of them are. */
const BURIED_BLOCKS = 100

/**
 * Proves the work of a branch to its end beside what is followed: nothing of it is kept but commitments, 40 bytes a page. It takes the
 * place of another branch only once it is known to have more work.
 */
export class ProofRun implements Running {
  readonly state = 'headers'
  readonly part = null
  headersHeight = 0
  totalWork = 0n
  readonly #deps: ProveDependencies
  readonly #peer: PeerId
  readonly #others: Others

  constructor(dependencies: ProveDependencies, peer: PeerId, others: Others) {
    this.#deps = dependencies
    this.#peer = peer
    this.#others = others
  }

  /** The proven branch; null where it could not be proven to its end. It never rejects. */
  async run(unproven: Unproven): Promise<Claim | null> {
    const { base } = unproven.walk
    const commitments: Uint8Array[] = []
    const sizes: number[] = []
    let newest: readonly BlockRef[] = []
    let tip: HeaderTip | undefined
    const take = async (headers: readonly HeaderTip[]): Promise<boolean> => {
      // Behind a full page may be nothing: that is no page to ask for again.
      if (headers.length === 0) return true
      sizes.push(headers.length)
      commitments.push(commitmentTo(headers))
      newest = [...newest, ...headers.map(({ id, header }) => ({ id, height: header.height }))].slice(-BURIED_BLOCKS)
      tip = headers.at(-1) ?? tip
      this.headersHeight = tip?.header.height ?? 0
      this.totalWork = tip?.totalWork ?? 0n
      return true
    }
    const end = await proveBranch(unproven, new Prover(this.#deps, this.#peer), take, this.#others)
    if (end !== 'complete' || base === undefined || tip === undefined) return null
    const buried = newest.length < BURIED_BLOCKS ? { id: base.id, height: base.header.height } : (newest[0] as BlockRef)
    return { base, sizes, commitments, proven: { tip, buried, isEarly: unproven.walk.early } }
  }
}
