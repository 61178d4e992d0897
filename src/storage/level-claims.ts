import { Level } from 'level'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { type Claim, isFinished } from '../../marketplace/checkout/claim.ts'
import type { ClaimPage, ClaimStore } from '../../marketplace/checkout/claim-store.ts'
import { KeyedLock } from './keyed-lock.ts'

type Database = Level<string, string>

/**
 * Every key of the market's store. Claims are JSON without their results, which would make every listing read them all;
 * the other entries are indexes over them. Everything of a claim is written in one batch.
 */
const KEYS = {
  claim: (txId: string) => `claim/${txId}`,
  /** Claims whose work or settlement is not over. */
  open: (txId: string) => `open/${txId}`,
  /** Claims by time, for listings. */
  byTime: ({ claimedAtMs, txId }: Claim) => `time/${padded(claimedAtMs)}/${txId}`,
  /** Kept results. */
  text: (txId: string) => `text/${txId}`,
  /** Lengths of kept results by the time they were finished, for pruning. */
  result: (finishedAtMs: number, txId: string) => `result/${padded(finishedAtMs)}/${txId}`,
} as const

const CACHE_BYTES = 4 * 1024 * 1024
const WRITE_BUFFER_BYTES = 4 * 1024 * 1024

/** The claim store of a single node: LevelDB, every write synced. */
export class LevelClaimStore implements ClaimStore {
  readonly #database: Database
  readonly #locks = new KeyedLock()

  private constructor(database: Database) {
    this.#database = database
  }

  /** Opens the store, creating it if there is none. */
  static async open(path: string): Promise<LevelClaimStore> {
    const database: Database = new Level(path, { cacheSize: CACHE_BYTES, writeBufferSize: WRITE_BUFFER_BYTES } as never)
    await database.open()
    return new LevelClaimStore(database)
  }

  async get(txId: TxId): Promise<Claim | undefined> {
    const [json, result] = await this.#database.getMany([KEYS.claim(txId), KEYS.text(txId)])
    if (json === undefined) return undefined
    const claim = JSON.parse(json) as Claim
    return claim.state === 'delivered' ? { ...claim, result: result ?? null } : claim
  }

  claim(claim: Claim): Promise<Claim | null> {
    return this.#locks.run(claim.txId, async () => {
      const known = await this.get(claim.txId)
      if (known !== undefined) return known
      await this.#write(claim)
      return null
    })
  }

  advance(from: Claim['state'], next: Claim): Promise<boolean> {
    return this.#locks.run(next.txId, async () => {
      const current = await this.get(next.txId)
      if (current?.state !== from) return false
      await this.#write(next)
      return true
    })
  }

  async open(): Promise<readonly Claim[]> {
    const claims: Claim[] = []
    for await (const key of this.#database.keys(rangeOf('open/'))) {
      const claim = await this.get(key.slice('open/'.length) as TxId)
      if (claim !== undefined) claims.push(claim)
    }
    return claims
  }

  async recent(limit: number, cursor: string | null): Promise<ClaimPage> {
    const range = rangeOf('time/')
    const bounds = cursor === null ? range : { gte: range.gte, lt: `time/${cursor}` }
    const keys = await this.#database.keys({ ...bounds, reverse: true, limit: limit + 1 }).all()
    const claims = await this.#database.getMany(
      keys.slice(0, limit).map((key) => KEYS.claim(key.split('/')[2] as TxId)),
    )
    const last = keys[limit - 1]
    return {
      claims: claims.flatMap((json) => (json === undefined ? [] : [JSON.parse(json) as Claim])),
      nextCursor: keys.length > limit && last !== undefined ? last.slice('time/'.length) : null,
    }
  }

  async pruneResults(beforeMs: number, bytesMax: number): Promise<number> {
    const entries = await this.#database.iterator(rangeOf('result/')).all()
    let bytes = entries.reduce((sum, [, length]) => sum + Number(length), 0)
    let pruned = 0
    for (const [key, length] of entries) {
      const [, finishedAt, txId] = key.split('/') as [string, string, string]
      if (Number(finishedAt) >= beforeMs && bytes <= bytesMax) break
      await this.#forgetResult(txId as TxId, key)
      bytes -= Number(length)
      pruned += 1
    }
    return pruned
  }

  async close(): Promise<void> {
    await this.#database.close()
  }

  #forgetResult(txId: TxId, resultKey: string): Promise<void> {
    return this.#locks.run(txId, () =>
      this.#database
        .batch()
        .del(resultKey)
        .del(KEYS.text(txId))
        .write({ sync: true } as never),
    )
  }

  async #write(claim: Claim): Promise<void> {
    const { txId } = claim
    const kept = claim.state === 'delivered' ? { ...claim, result: null } : claim
    const batch = this.#database.batch().put(KEYS.claim(txId), JSON.stringify(kept)).put(KEYS.byTime(claim), '')
    const over = isFinished(claim) && claim.settlement === 'final'
    if (over) batch.del(KEYS.open(txId))
    else batch.put(KEYS.open(txId), '')
    if (claim.state === 'delivered' && claim.result !== null) {
      batch.put(KEYS.text(txId), claim.result)
      batch.put(KEYS.result(claim.finishedAtMs, txId), String(Buffer.byteLength(claim.result)))
    }
    await batch.write({ sync: true } as never)
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
