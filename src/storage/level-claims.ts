import { Level } from 'level'
import type { ClaimKind, ClaimPage, ClaimStore, StoredClaim } from '../../marketplace/checkout/claim-store.ts'
import { KeyedLock } from './keyed-lock.ts'

type Database = Level<string, string>

/**
 * Every key of the market's store. Claims are JSON without their results, which would make every listing read them all;
 * the other entries are indexes over them. Everything of a claim is written in one batch.
 */
const KEYS = {
  claim: (id: string) => `claim/${id}`,
  /** Claims whose work or settlement is not over. */
  open: (id: string) => `open/${id}`,
  /** Claims by time, for listings. */
  byTime: (claimedAtMs: number, id: string) => `time/${padded(claimedAtMs)}/${id}`,
  /** Kept results. */
  text: (id: string) => `text/${id}`,
  /** Lengths of kept results by the time they were finished, for pruning. */
  result: (finishedAtMs: number, id: string) => `result/${padded(finishedAtMs)}/${id}`,
} as const

const CACHE_BYTES = 4 * 1024 * 1024
const WRITE_BUFFER_BYTES = 4 * 1024 * 1024

/** The claim store of a single node: LevelDB, every write synced but those of tentative claims and what is forgotten. */
export class LevelClaimStore<C extends StoredClaim> implements ClaimStore<C> {
  readonly #database: Database
  readonly #kind: ClaimKind<C>
  readonly #locks = new KeyedLock()

  private constructor(database: Database, kind: ClaimKind<C>) {
    this.#database = database
    this.#kind = kind
  }

  /** Opens the store of a kind of claims, creating it if there is none. */
  static async open<C extends StoredClaim>(path: string, kind: ClaimKind<C>): Promise<LevelClaimStore<C>> {
    const database: Database = new Level(path, { cacheSize: CACHE_BYTES, writeBufferSize: WRITE_BUFFER_BYTES } as never)
    await database.open()
    return new LevelClaimStore(database, kind)
  }

  async get(id: string): Promise<C | undefined> {
    // One entry that is nearly always in memory: a way through the thread pool costs several times as much.
    const json = this.#database.getSync(KEYS.claim(id))
    if (json === undefined) return undefined
    const claim = JSON.parse(json) as C
    return claim.result === undefined ? claim : { ...claim, result: this.#database.getSync(KEYS.text(id)) ?? null }
  }

  claim(claim: C): Promise<C | null> {
    const id = this.#kind.idOf(claim)
    return this.#locks.run(id, async () => {
      const known = await this.get(id)
      if (known !== undefined) return known
      await this.#write(claim)
      return null
    })
  }

  advance(from: C['state'], next: C): Promise<boolean> {
    const id = this.#kind.idOf(next)
    return this.#locks.run(id, async () => {
      const current = await this.get(id)
      if (current?.state !== from) return false
      await this.#write(next, current)
      return true
    })
  }

  release(from: C['state'], id: string): Promise<boolean> {
    return this.#locks.run(id, async () => {
      const current = await this.get(id)
      if (current?.state !== from) return false
      const batch = this.#database.batch().del(KEYS.claim(id)).del(KEYS.open(id)).del(KEYS.text(id))
      batch.del(KEYS.byTime(current.claimedAtMs, id))
      if (current.finishedAtMs !== undefined) batch.del(KEYS.result(current.finishedAtMs, id))
      await batch.write(this.#durability(current))
      return true
    })
  }

  async open(): Promise<readonly C[]> {
    const claims: C[] = []
    for await (const key of this.#database.keys(rangeOf('open/'))) {
      const claim = await this.get(key.slice('open/'.length))
      if (claim !== undefined) claims.push(claim)
    }
    return claims
  }

  async recent(limit: number, cursor: string | null): Promise<ClaimPage<C>> {
    const range = rangeOf('time/')
    const bounds = cursor === null ? range : { gte: range.gte, lt: `time/${cursor}` }
    const keys = await this.#database.keys({ ...bounds, reverse: true, limit: limit + 1 }).all()
    const claims = await this.#database.getMany(
      keys.slice(0, limit).map((key) => KEYS.claim(key.split('/')[2] as string)),
    )
    const last = keys[limit - 1]
    return {
      claims: claims.flatMap((json) => (json === undefined ? [] : [JSON.parse(json) as C])),
      nextCursor: keys.length > limit && last !== undefined ? last.slice('time/'.length) : null,
    }
  }

  async pruneResults(beforeMs: number, bytesMax: number): Promise<number> {
    let bytes = 0
    for await (const length of this.#database.values(rangeOf('result/'))) bytes += Number(length)
    let pruned = 0
    for await (const [key, length] of this.#database.iterator(rangeOf('result/'))) {
      const [, finishedAt, id] = key.split('/') as [string, string, string]
      if (Number(finishedAt) >= beforeMs && bytes <= bytesMax) break
      await this.#forgetResult(id, key)
      bytes -= Number(length)
      pruned += 1
    }
    return pruned
  }

  async close(): Promise<void> {
    await this.#database.close()
  }

  /** Not synced: what a crash brings back is forgotten again, and the disk is needed for claims. */
  #forgetResult(id: string, resultKey: string): Promise<void> {
    return this.#locks.run(id, () => this.#database.batch().del(resultKey).del(KEYS.text(id)).write())
  }

  async #write(claim: C, before?: C): Promise<void> {
    const id = this.#kind.idOf(claim)
    const { result, finishedAtMs = 0, claimedAtMs } = claim
    const kept = result === undefined ? claim : { ...claim, result: null }
    const batch = this.#database.batch().put(KEYS.claim(id), JSON.stringify(kept)).put(KEYS.byTime(claimedAtMs, id), '')
    if (this.#kind.isOpen(claim)) batch.put(KEYS.open(id), '')
    else batch.del(KEYS.open(id))
    if (typeof result === 'string') {
      batch.put(KEYS.text(id), result)
      batch.put(KEYS.result(finishedAtMs, id), String(Buffer.byteLength(result)))
    }
    if (result === undefined && before?.finishedAtMs !== undefined) {
      batch.del(KEYS.text(id)).del(KEYS.result(before.finishedAtMs, id))
    }
    await batch.write(this.#durability(claim))
  }

  /** A synced write takes those before it along, so what follows a tentative claim makes it last too. */
  #durability(claim: C): never {
    return { sync: this.#kind.isTentative?.(claim) !== true } as never
  }
}

/** Decimal digits of a time in milliseconds, so that keys sort by it. */
function padded(timeMs: number): string {
  return String(timeMs).padStart(15, '0')
}

/** Keys that begin with a prefix that ends in a slash: `0` is the character after it. */
function rangeOf(prefix: string): { readonly gte: string; readonly lt: string } {
  return { gte: prefix, lt: `${prefix.slice(0, -1)}0` }
}
