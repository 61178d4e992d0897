import { Level } from 'level'
import {
  beyondBytes,
  type ClaimKind,
  type ClaimPage,
  type ClaimStore,
  type KeptResult,
  PASSED_OVER_MAX,
  type StoredClaim,
} from '../../marketplace/till/claim-store.ts'
import { KeyedLock } from './keyed-lock.ts'

type Database = Level<string, string>

/**
 * Claims are stored without their results, so that listings do not read the results. A claim is written in one batch
 * with all its entries.
 */
const KEYS = {
  claim: (id: string) => `claim/${id}`,
  /** Claims whose work or settlement is not finished. */
  open: (id: string) => `open/${id}`,
  /** Claims by time, with their service, for listings; older releases did not store the service. */
  byTime: (claimedAtMs: number, id: string) => `time/${padded(claimedAtMs)}/${id}`,
  text: (id: string) => `text/${id}`,
  /** Facts of kept results by their finish time, for pruning. */
  result: (finishedAtMs: number, id: string) => `result/${padded(finishedAtMs)}/${id}`,
} as const

interface ResultFacts {
  readonly bytes: number
  readonly payer: string | null
  readonly price: string
  readonly delivered: boolean
}

interface Listed extends KeptResult {
  readonly id: string
  readonly key: string
}

/** Entries of the list by time that one LevelDB call reads. */
const READ_AT_ONCE = 256
const CACHE_BYTES = 4 * 1024 * 1024
const WRITE_BUFFER_BYTES = 4 * 1024 * 1024

/**
 * The claim store of a single node. Every write is synced, except for tentative claims, forgotten results and marks of
 * delivery.
 */
export class LevelClaimStore<C extends StoredClaim> implements ClaimStore<C> {
  readonly #database: Database
  readonly #kind: ClaimKind<C>
  readonly #locks = new KeyedLock()

  private constructor(database: Database, kind: ClaimKind<C>) {
    this.#database = database
    this.#kind = kind
  }

  static async open<C extends StoredClaim>(path: string, kind: ClaimKind<C>): Promise<LevelClaimStore<C>> {
    const database: Database = new Level(path, { cacheSize: CACHE_BYTES, writeBufferSize: WRITE_BUFFER_BYTES } as never)
    await database.open()
    return new LevelClaimStore(database, kind)
  }

  async get(id: string): Promise<C | undefined> {
    const claim = this.#claim(id)
    return claim?.result === undefined ? claim : { ...claim, result: this.#database.getSync(KEYS.text(id)) ?? null }
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

  async recent(limit: number, cursor: string | null, serviceId?: string): Promise<ClaimPage<C>> {
    const { keys, nextCursor } = await this.#newest(limit, cursor, serviceId)
    const texts = await this.#database.getMany(keys.map((key) => KEYS.claim(key.split('/')[2] as string)))
    const claims = texts.flatMap((json) => (json === undefined ? [] : [JSON.parse(json) as C]))
    return {
      claims: serviceId === undefined ? claims : claims.filter((claim) => claim.serviceId === serviceId),
      nextCursor,
    }
  }

  /** Claims of older releases have no service, so they may belong to any. */
  async #newest(limit: number, cursor: string | null, serviceId: string | undefined) {
    const range = rangeOf('time/')
    const bounds = cursor === null ? range : { gte: range.gte, lt: `time/${cursor}` }
    const most = serviceId === undefined ? limit + 1 : PASSED_OVER_MAX
    const entries = this.#database.iterator({ ...bounds, reverse: true, limit: most })
    const keys: string[] = []
    let [passed, last] = [0, '']
    try {
      for (let some = await entries.nextv(READ_AT_ONCE); some.length > 0; some = await entries.nextv(READ_AT_ONCE)) {
        for (const [key, of] of some) {
          const isWanted = serviceId === undefined || of === serviceId || of === ''
          if (isWanted && keys.length === limit) return { keys, nextCursor: placeOf(keys.at(-1) as string) }
          if (isWanted) keys.push(key)
          passed += 1
          last = key
        }
      }
    } finally {
      await entries.close()
    }
    return { keys, nextCursor: serviceId !== undefined && passed === most ? placeOf(last) : null }
  }

  async pruneResults(beforeMs: number, bytesMax: number): Promise<number> {
    let pruned = 0
    for await (const key of this.#database.keys({
      ...rangeOf('result/'),
      lt: KEYS.result(Math.max(0, beforeMs), ''),
    })) {
      await this.#forgetResult(key.split('/')[2] as string, key)
      pruned += 1
    }
    const kept: Listed[] = []
    for await (const [key, value] of this.#database.iterator(rangeOf('result/'))) kept.push(this.#listed(key, value))
    const beyond = beyondBytes(kept, bytesMax)
    for (const { id, key } of beyond) await this.#forgetResult(id, key)
    return pruned + beyond.length
  }

  handedOver(id: string): Promise<void> {
    return this.#locks.run(id, async () => {
      const claim = this.#claim(id)
      if (claim?.finishedAtMs === undefined) return
      const key = KEYS.result(claim.finishedAtMs, id)
      const value = this.#database.getSync(key)
      if (value === undefined) return
      const listed = this.#listed(key, value)
      // Not synced: after a crash the result is, at worst, forgotten later.
      if (!listed.isDelivered) await this.#database.put(key, factsText({ ...listed, isDelivered: true }))
    })
  }

  async close(): Promise<void> {
    await this.#database.close()
  }

  /** Not synced: a crash only brings results back that are forgotten again, and claims need the disk more. */
  #forgetResult(id: string, resultKey: string): Promise<void> {
    return this.#locks.run(id, () => this.#database.batch().del(resultKey).del(KEYS.text(id)).write())
  }

  #claim(id: string): C | undefined {
    // Synchronous: this entry is nearly always in memory, and the thread pool would cost several times as much.
    const json = this.#database.getSync(KEYS.claim(id))
    return json === undefined ? undefined : (JSON.parse(json) as C)
  }

  /** Older releases stored only the result's length; then the claim provides the other facts. */
  #listed(key: string, value: string): Listed {
    const id = key.split('/')[2] as string
    const facts = JSON.parse(value) as ResultFacts | number
    if (typeof facts !== 'number') {
      const { bytes, payer, price, delivered } = facts
      return { id, key, bytes, payer, priceUsdMicros: BigInt(price), isDelivered: delivered }
    }
    const claim = this.#claim(id)
    const paid = claim && this.#kind.paidFor(claim)
    return { payer: null, priceUsdMicros: 0n, isDelivered: false, ...paid, id, key, bytes: facts }
  }

  #isDelivered(key: string): boolean {
    const value = this.#database.getSync(key)
    return value !== undefined && this.#listed(key, value).isDelivered
  }

  async #write(claim: C, before?: C): Promise<void> {
    const id = this.#kind.idOf(claim)
    const { result, finishedAtMs = 0, claimedAtMs } = claim
    const kept = result === undefined ? claim : { ...claim, result: null }
    const batch = this.#database
      .batch()
      .put(KEYS.claim(id), JSON.stringify(kept))
      .put(KEYS.byTime(claimedAtMs, id), claim.serviceId)
    if (this.#kind.isOpen(claim)) batch.put(KEYS.open(id), '')
    else batch.del(KEYS.open(id))
    if (typeof result === 'string') {
      batch.put(KEYS.text(id), result)
      const key = KEYS.result(finishedAtMs, id)
      const paid = this.#kind.paidFor(claim)
      const isDelivered = paid.isDelivered || this.#isDelivered(key)
      batch.put(key, factsText({ ...paid, isDelivered, bytes: Buffer.byteLength(result) }))
    }
    if (result === undefined && before?.finishedAtMs !== undefined) {
      batch.del(KEYS.text(id)).del(KEYS.result(before.finishedAtMs, id))
    }
    await batch.write(this.#durability(claim))
  }

  /** A synced write also makes earlier unsynced ones durable, so a later write makes a tentative claim last. */
  #durability(claim: C): never {
    return { sync: this.#kind.isTentative?.(claim) !== true } as never
  }
}

function factsText({ bytes, payer, priceUsdMicros, isDelivered }: KeptResult): string {
  const facts: ResultFacts = { bytes, payer, price: priceUsdMicros.toString(), delivered: isDelivered }
  return JSON.stringify(facts)
}

function placeOf(key: string): string {
  return key.slice('time/'.length)
}

/** A time in ms, padded so that keys sort by time. */
function padded(timeMs: number): string {
  return String(timeMs).padStart(15, '0')
}

/** Keys that begin with a prefix that ends in a slash: `0` is the character after it. */
function rangeOf(prefix: string): { readonly gte: string; readonly lt: string } {
  return { gte: prefix, lt: `${prefix.slice(0, -1)}0` }
}
