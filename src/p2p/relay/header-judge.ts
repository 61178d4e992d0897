import { earlyMs } from '../../../consensus/block/check.ts'
import type { SealedHeader } from '../../../consensus/block/header.ts'
import type { WorkVerifier } from '../../../consensus/block/pow.ts'
import type { Chain } from '../../../consensus/chain/chain.ts'
import { type CheckedTip, extendTip, type HeaderTip, headerTipOf } from '../../../consensus/chain/header-tip.ts'
import type { Clock } from '../../../consensus/chain/ports.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import type { PeerId } from '../network.ts'
import type { Peers } from '../peers/peers.ts'
import type { BlockFacts } from './relay-facts.ts'

/** What the judge works with. */
export interface HeaderJudgeDependencies {
  readonly chain: Chain
  readonly peers: Peers
  readonly workVerifier: WorkVerifier
  readonly clock: Clock
  readonly facts: BlockFacts
  /** Tip of a block that is not connected yet. */
  readonly tipOf: (id: BlockId) => HeaderTip | undefined
}

/**
 * What is known of a header: `good` with the time until the clock allows it; `bad` for ever, its sender was reported; or
 * not taken, and nobody is to blame; `unproven` where its sender has used up the time of a core that he may cost.
 */
export type HeaderJudgement =
  | { readonly kind: 'good'; readonly tip: CheckedTip; readonly waitMs: number }
  | { readonly kind: 'bad' | 'unknown-parent' | 'not-taken' | 'unproven' }

/** Time of a core that a proof of work takes. */
export const WORK_MS = 0.25
/** How early a header may be to be held until its time; what is earlier comes again by itself. */
export const EARLY_MS_MAX = 120_000
const BAD_REMEMBERED = 4_096

const NOT_TAKEN = { kind: 'not-taken' } as const
const BAD = { kind: 'bad' } as const
const UNPROVEN = { kind: 'unproven' } as const

/** Judges headers on known parents, each check before anything dearer, and hashes none of them twice. */
export class HeaderJudge {
  readonly #deps: HeaderJudgeDependencies
  readonly #bad = new LruMap<BlockId, 'bad-header' | 'bad-work'>(BAD_REMEMBERED)
  readonly #hashing = new Map<BlockId, Promise<boolean | undefined>>()

  constructor(dependencies: HeaderJudgeDependencies) {
    this.#deps = dependencies
  }

  async judge(from: PeerId, header: SealedHeader): Promise<HeaderJudgement> {
    const offence = this.#bad.get(header.id)
    if (offence !== undefined) return this.#condemn(from, header, offence, 'again')
    const parent = this.#parentOf(header)
    if (parent === 'invalid') return NOT_TAKEN
    if (parent === undefined) return { kind: 'unknown-parent' }
    const tip = extendTip(this.#deps.chain.ruleBook, parent, header)
    if (!tip.ok) return this.#condemn(from, header, 'bad-header', tip.fault.code)
    if (!this.#deps.chain.isNearHead(tip.value.totalWork)) {
      this.#deps.facts.tooLight++
      return NOT_TAKEN
    }
    const { chain, clock } = this.#deps
    const waitMs = earlyMs(header, clock.now(), chain.ruleBook.at(header.header.height).block)
    if (waitMs > EARLY_MS_MAX) return NOT_TAKEN
    const proven = await this.#prove(from, header)
    if (proven === undefined) return UNPROVEN
    return proven ? { kind: 'good', tip: tip.value, waitMs } : this.#condemn(from, header, 'bad-work', 'false')
  }

  #condemn(...[from, { id }, offence, about]: [PeerId, SealedHeader, 'bad-header' | 'bad-work', string]): typeof BAD {
    this.#bad.set(id, offence)
    this.#deps.facts.bad++
    this.#deps.peers.report(from, offence, `${id}: ${about}`)
    return BAD
  }

  #parentOf({ header }: SealedHeader): HeaderTip | 'invalid' | undefined {
    const { chain, tipOf } = this.#deps
    const entry = chain.database.entry(header.parent)
    if (entry === undefined) return tipOf(header.parent)
    // Whoever passes blocks on before they are checked cannot know that one is invalid.
    return entry.invalid ? 'invalid' : headerTipOf(chain.database, entry)
  }

  /** Whether the proof of work holds; undefined where it was not looked at. */
  #prove(from: PeerId, header: SealedHeader): Promise<boolean | undefined> {
    if (this.#deps.chain.proven.has(header.id)) return Promise.resolve(true)
    const running = this.#hashing.get(header.id)
    if (running !== undefined) return running
    if (!this.#deps.peers.chargeVerification(from, WORK_MS)) return Promise.resolve(undefined)
    const hashing = this.#hash(from, header).finally(() => this.#hashing.delete(header.id))
    this.#hashing.set(header.id, hashing)
    return hashing
  }

  async #hash(from: PeerId, { id, bytes, header }: SealedHeader): Promise<boolean | undefined> {
    const { chain, peers, workVerifier, facts } = this.#deps
    facts.hashes++
    const cost = chain.ruleBook.at(header.height).block.pow
    try {
      const [good] = await workVerifier.verifyWork([{ bytes, target: header.target, cost }])
      if (good !== true) return false
    } catch {
      // The verifier failed, the header did not.
      return undefined
    }
    peers.creditVerification(from, WORK_MS)
    chain.proven.add(id)
    return true
  }
}
