import type { HeaderTip } from '../../../consensus/block/header-tip.ts'
import type { WorkVerifier } from '../../../consensus/block/pow.ts'
import type { Chain } from '../../../consensus/chain/chain.ts'
import type { PeerId } from '../network.ts'
import type { Peers } from '../peers/peers.ts'
import { type Claim, commitmentTo, keepsClaim } from './claim.ts'
import type { BlockRef } from './denials.ts'
import type { HeaderPage, HeaderWalk, Others } from './header-walk.ts'
import type { Running } from './reporter.ts'

/** Milliseconds of one core for one hash, charged to the peer that sent the header. */
const HASH_MS = 0.125
/** The first batch is small: a lie in it costs us some milliseconds and the liar a ban. Later ones keep all threads busy. */
const BATCH_FIRST = 64
const BATCH_MAX = 512

/** What a prover works with. */
export interface ProveDependencies {
  readonly chain: Chain
  readonly peers: Peers
  readonly workVerifier: WorkVerifier
}

/** What became of a batch. `unproven`: the threads failed, or the peer's allowance is used up. Then no header is known to be false. */
export type Proof = 'proven' | 'false' | 'unproven'

/** Checks the proof of work of one peer's headers in growing batches, and remembers what is proven. */
export class Prover {
  readonly #deps: ProveDependencies
  readonly #peer: PeerId
  #batch = BATCH_FIRST

  constructor(dependencies: ProveDependencies, peer: PeerId) {
    this.#deps = dependencies
    this.#peer = peer
  }

  /** Proves headers in order, up to the first batch with a false one, whose sender is reported. It never rejects. */
  async prove(headers: readonly HeaderTip[]): Promise<Proof> {
    const { proven } = this.#deps.chain
    const open = headers.filter(({ id }) => !proven.has(id))
    for (let start = 0; start < open.length; ) {
      const batch = open.slice(start, start + this.#batch)
      const proof = await this.#proveBatch(batch)
      if (proof !== 'proven') return proof
      for (const { id } of batch) proven.add(id)
      start += batch.length
      this.#batch = Math.min(BATCH_MAX, this.#batch * 2)
    }
    return 'proven'
  }

  async trust(headers: readonly HeaderTip[]): Promise<Proof> {
    for (const { id } of headers) this.#deps.chain.proven.add(id)
    return 'proven'
  }

  async #proveBatch(batch: readonly HeaderTip[]): Promise<Proof> {
    const { chain, peers, workVerifier } = this.#deps
    const cost = HASH_MS * batch.length
    if (!peers.chargeVerification(this.#peer, cost)) return 'unproven'
    const jobs = batch.map(({ bytes, header }) => ({
      bytes,
      target: header.target,
      cost: chain.ruleBook.at(header.height).block.pow,
    }))
    const verdicts = await workVerifier.verifyWork(jobs).catch(() => null)
    if (verdicts === null) return 'unproven'
    const bad = batch.find((_, i) => verdicts[i] !== true)
    if (bad !== undefined) {
      peers.report(this.#peer, 'bad-work', `header ${bad.id} at height ${bad.header.height}`)
      return 'false'
    }
    peers.creditVerification(this.#peer, cost)
    return 'proven'
  }
}

/**
 * How proving a branch ended. `broken`: its owner broke off, lied or changed it, or it could not be checked. `unwanted`: `take` wanted no
 * more.
 */
export type ProvenEnd = 'complete' | 'broken' | 'unwanted'

/** A branch to prove: its walk, and what it claimed before if it had to. */
export interface Unproven {
  readonly walk: HeaderWalk
  readonly first: HeaderPage
  readonly claim: Claim | undefined
}

/**
 * Proves a peer's branch to its end. Each page is fetched and checked while the one before is hashed. `take` gets proven headers in order
 * and ends the work with false. With `others`, a peer whose pages come too slowly gives way to a waiting one.
 */
export async function proveBranch(
  { walk, first, claim }: Unproven,
  prover: Prover,
  take: (headers: readonly HeaderTip[]) => Promise<boolean>,
  others: Others = () => false,
): Promise<ProvenEnd> {
  let page = first
  for (let index = 0; ; index++) {
    if (claim !== undefined && !keepsClaim(claim, index, page.headers)) return 'broken'
    const isProven = claim?.proven !== undefined && index < claim.commitments.length
    const proof = isProven ? prover.trust(page.headers) : prover.prove(page.headers)
    const following = page.more ? walk.next({ claimed: false, others }) : null
    if ((await proof) !== 'proven') return 'broken'
    if (!(await take(page.headers))) return 'unwanted'
    if (following === null) return 'complete'
    const next = await following
    if (!next.ok) return 'broken'
    page = next.value
  }
}

/** All peers that follow a branch have the block this far below its end, even if their newest blocks differ. */
export const BURIED_BLOCKS = 100

/**
 * Proves the work of a branch to its end before any of its blocks is fetched, and keeps only commitments, 40 bytes a page. So a branch
 * takes the place of another only once it is known to have more work.
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

  /** The proven branch; null if it could not be proven to its end. It never rejects. */
  async run(unproven: Unproven): Promise<Claim | null> {
    const { base } = unproven.walk
    const commitments: Uint8Array[] = []
    const sizes: number[] = []
    let newest: readonly BlockRef[] = []
    let tip: HeaderTip | undefined
    const take = async (headers: readonly HeaderTip[]): Promise<boolean> => {
      // When the branch is shown again, an empty page after a full one is not asked for.
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
