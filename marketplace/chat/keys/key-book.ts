import type { Clock } from '../../../consensus/chain/ports.ts'
import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { type DayUsage, dayOf, LastMinute, narrower, plus, tokensUnheld, UNUSED, usedOn } from './key-quota.ts'
import type { KeyRecord, OwnerRecord } from './key-record.ts'
import { invalid, limited, WHY_NOT } from './key-refusals.ts'
import { readWish } from './key-wish.ts'
import {
  type ChatKey,
  type ChatKeys,
  type ChatPass,
  type KeyChange,
  type KeyUsage,
  type NewKey,
  OPERATOR,
  type OwnerBounds,
} from './keys.ts'

/** Writes that are made atomically. */
export interface KeyWrites {
  readonly keys: readonly KeyRecord[]
  readonly forgottenKeys: readonly string[]
  readonly owners: readonly OwnerRecord[]
  readonly forgottenOwners: readonly string[]
}

/** Atomic: a rejected write changed nothing. */
export type WriteKeys = (writes: KeyWrites) => Promise<void>

/** A seal is the MAC of a key under a secret. */
export interface KeySeals {
  /** Public name of the secret. */
  readonly name: string
  readonly draw: () => { readonly id: string; readonly key: string }
  readonly seal: (key: string) => string
  /** Compares in constant time. */
  readonly matches: (key: string, seal: string) => boolean
}

/** What a book of keys is given. */
export interface KeyBookParts {
  readonly bounds: OwnerBounds
  readonly clock: Clock
  readonly seals: KeySeals
  readonly write: WriteKeys
  readonly kept: { readonly keys: readonly KeyRecord[]; readonly owners: readonly OwnerRecord[] }
  /** With this many keys in all, a wallet gets a new key only in place of an old one. Default {@link KEYS_IN_ALL_MAX}. */
  readonly keysInAllMax?: number
}

/**
 * Includes the keys of the operator, who can make more all the same. Wallets are free, and each key takes about two
 * kilobytes of memory.
 */
export const KEYS_IN_ALL_MAX = 20_000
/** In a full book, a new key takes the place of a wallet's key that was never used and is older than this. */
const UNUSED_MS = 86_400_000
/** In a full book, a new key also takes the place of a wallet's key last used longer ago. Keys used once must not fill it for good. */
const IDLE_MS = 30 * UNUSED_MS
const SHOWN = /^bearer +(fk-([0-9A-Za-z]{8})[0-9A-Za-z]{43})$/i
const AT_ONCE_MS = 1_000
/** Most prompt tokens, and most answer tokens, that are counted for one chat, whatever the backend reports. */
const CHAT_TOKENS_MAX = 1_000_000_000

interface Entry {
  record: KeyRecord
  readonly minute: LastMinute
  running: number
  /** Reserved for running chats. Not stored, since the chats end with the process. */
  held: number
}

interface Owner {
  record: OwnerRecord
  readonly minute: LastMinute
  readonly ids: Set<string>
  running: number
  held: number
}

/** Holds the keys in memory, with their use of the limits. {@link flush} writes the use to the store. */
export class KeyBook implements ChatKeys {
  readonly bounds: OwnerBounds
  readonly #parts: KeyBookParts
  readonly #entries = new Map<string, Entry>()
  readonly #owners = new Map<string, Owner>()
  readonly #changedKeys = new Set<string>()
  readonly #changedOwners = new Set<string>()
  #writing: Promise<void> = Promise.resolve()

  constructor(parts: KeyBookParts) {
    this.#parts = parts
    this.bounds = parts.bounds
    for (const record of parts.kept.owners) this.#ownerOf(record.owner).record = record
    for (const record of parts.kept.keys.toSorted((a, b) => a.createdAtMs - b.createdAtMs)) this.#take(record)
  }

  identify(authorization: string | undefined): Result<ChatKey> {
    if (authorization === undefined) return invalid('the header Authorization: Bearer <key> is missing')
    const [, shown, id] = SHOWN.exec(authorization) ?? []
    if (shown === undefined || id === undefined) return invalid('this is no key of this node')
    const entry = this.#entries.get(id)
    if (entry === undefined) return invalid('this is no key of this node')
    const view = this.#view(entry.record)
    if (view.state === 'lost') return invalid(WHY_NOT.lost)
    if (!this.#parts.seals.matches(shown, entry.record.seal)) return invalid('this is no key of this node')
    return view.state === 'live' ? ok(view) : invalid(WHY_NOT[view.state])
  }

  admit({ id }: ChatKey, expectedTokens: () => number = () => 0): Result<ChatPass> {
    const entry = this.#entries.get(id)
    if (entry === undefined) return invalid('it was forgotten')
    const view = this.#view(entry.record)
    if (view.state !== 'live') return invalid(WHY_NOT[view.state])
    const owner = this.#ownerOf(view.owner)
    const { requests, tokens } = this.#left(entry, owner)
    if (requests.remaining === 0) return limited(`the limit of ${requests.limit} chats a minute`, requests.waitMs)
    if (tokens.remaining === 0) {
      const held = tokens.isHeld ? ', with what is held for chats that are under way,' : ''
      return limited(`the limit of ${tokens.limit} tokens a day${held}`, tokens.waitMs)
    }
    if ((view.owner === OPERATOR ? entry : owner).running >= this.bounds.concurrent)
      return limited(`the limit of ${this.bounds.concurrent} chats at once`, AT_ONCE_MS)
    const held = soundCount(expectedTokens())
    const beganMs = this.#begin(entry, owner, held)
    return ok({ ...this.#left(entry, owner), ...this.#ending(entry, owner, { beganMs, held }) })
  }

  allowances({ id, owner }: ChatKey): Pick<ChatPass, 'requests' | 'tokens'> {
    const entry = this.#entries.get(id)
    return this.#left(entry ?? null, this.#owners.get(owner) ?? newOwner(owner))
  }

  async create(wanted: NewKey): Promise<Result<{ readonly key: ChatKey; readonly secret: string }>> {
    const nowMs = this.#now()
    const wish = readWish(wanted, nowMs)
    if (!wish.ok) return wish
    const { owner, label, limits, expiresAtMs } = wish.value
    const room = this.#makeRoom(owner)
    if (room !== null) return fail(room)
    const { id, key: secret } = this.#draw()
    const { name, seal } = this.#parts.seals
    const told = { id, label, owner, limits, createdAtMs: nowMs, lastUsedAtMs: null, expiresAtMs, revokedAtMs: null }
    const today = { day: dayOf(nowMs), ...UNUSED }
    // Added before it is written, so that concurrent calls count this key too. Its secret is not shown yet.
    this.#take({ ...told, seal: seal(secret), sealedBy: name, today, inAll: UNUSED })
    try {
      await this.#write([id])
    } catch (error) {
      this.#forget(id)
      throw error
    }
    return ok({ key: this.#viewOf(id), secret })
  }

  async change(id: string, by: string, to: KeyChange): Promise<Result<ChatKey>> {
    const wish = readWish(to, this.#now())
    if (!wish.ok) return wish
    const { label, limits } = wish.value
    return this.#alter(id, by, { ...(label !== undefined && { label }), ...(limits !== undefined && { limits }) })
  }

  revoke(id: string, by: string): Promise<Result<ChatKey>> {
    const revokedAtMs = this.#entries.get(id)?.record.revokedAtMs ?? this.#now()
    return this.#alter(id, by, { revokedAtMs })
  }

  list(by: string): readonly ChatKey[] {
    const ids = by === OPERATOR ? [...this.#entries.keys()] : [...(this.#owners.get(by)?.ids ?? [])]
    return ids.reverse().map((id) => this.#viewOf(id))
  }

  usedToday(owner: string): KeyUsage {
    const known = this.#owners.get(owner)
    return known === undefined ? UNUSED : usedOn(known.record, this.#now())
  }

  /** Writes what is not written yet. After a failure, the next write repeats it. */
  async flush(): Promise<void> {
    this.#forgetYesterday()
    if (this.#changedKeys.size > 0 || this.#changedOwners.size > 0) await this.#write([])
  }

  #now(): number {
    return this.#parts.clock.now()
  }

  #viewOf(id: string): ChatKey {
    return this.#view((this.#entries.get(id) as Entry).record)
  }

  #view(record: KeyRecord): ChatKey {
    const { seal: _, sealedBy: _by, today, inAll, ...told } = record
    const nowMs = this.#now()
    return { ...told, state: this.#stateOf(record, nowMs), usedToday: usedOn(today, nowMs), usedInAll: inAll }
  }

  #stateOf({ revokedAtMs, expiresAtMs, sealedBy }: KeyRecord, nowMs: number): ChatKey['state'] {
    if (revokedAtMs !== null) return 'revoked'
    if (expiresAtMs !== null && expiresAtMs <= nowMs) return 'expired'
    return sealedBy === this.#parts.seals.name ? 'live' : 'lost'
  }

  /**
   * Each key of the operator has the limits to itself, since the operator hands keys to different people. All keys of a
   * wallet share them, since a wallet makes keys at no cost.
   */
  #left(entry: Entry | null, owner: Owner) {
    const nowMs = this.#now()
    const { rpm, tpd } = this.bounds
    const own = entry?.record
    const used = own === undefined ? UNUSED : usedOn(own.today, nowMs)
    const ofKey = (entry ?? owner).minute.left(Math.min(rpm, own?.limits.rpm ?? rpm), nowMs)
    const dayOfKey = tokensUnheld(Math.min(tpd, own?.limits.tpd ?? tpd), { used, held: entry?.held ?? 0 }, nowMs)
    if (owner.record.owner === OPERATOR) return { requests: ofKey, tokens: dayOfKey }
    const ofOwner = owner.minute.left(rpm, nowMs)
    const dayOfOwner = tokensUnheld(tpd, { used: usedOn(owner.record, nowMs), held: owner.held }, nowMs)
    return { requests: narrower(ofKey, ofOwner), tokens: narrower(dayOfKey, dayOfOwner) }
  }

  #begin(entry: Entry, owner: Owner, held: number): number {
    const nowMs = this.#now()
    entry.minute.add(nowMs)
    owner.minute.add(nowMs)
    for (const one of [entry, owner]) {
      one.running += 1
      one.held += held
    }
    entry.record = { ...entry.record, lastUsedAtMs: nowMs }
    this.#count(entry, owner, { ...UNUSED, requests: 1 })
    return nowMs
  }

  #ending(
    entry: Entry,
    owner: Owner,
    { beganMs, held }: { readonly beganMs: number; readonly held: number },
  ): Pick<ChatPass, 'done' | 'cancel'> {
    let isOver = false
    const end = (): boolean => {
      if (isOver) return false
      isOver = true
      for (const one of [entry, owner]) {
        one.running -= 1
        one.held -= held
      }
      return true
    }
    return {
      done: (usage) => {
        if (!end() || usage === null) return
        const [promptTokens, completionTokens] = [soundCount(usage.promptTokens), soundCount(usage.completionTokens)]
        this.#count(entry, owner, { requests: 0, promptTokens, completionTokens })
      },
      cancel: () => {
        if (end()) this.#uncount(entry, owner, beganMs)
      },
    }
  }

  /** Figures of a day change only if they are of the day on which the chat began. */
  #uncount(entry: Entry, owner: Owner, beganMs: number): void {
    const nowMs = this.#now()
    entry.minute.takeBack(beganMs, nowMs)
    owner.minute.takeBack(beganMs, nowMs)
    const { record } = entry
    const none: KeyUsage = { ...UNUSED, requests: -1 }
    const day = dayOf(beganMs)
    const less = <Day extends DayUsage>(usage: Day): Day =>
      usage.day === day ? { ...usage, ...plus(usage, none) } : usage
    entry.record = { ...record, today: less(record.today), inAll: plus(record.inAll, none) }
    owner.record = less(owner.record)
    this.#changedKeys.add(record.id)
    this.#changedOwners.add(owner.record.owner)
  }

  #count(entry: Entry, owner: Owner, more: KeyUsage): void {
    const nowMs = this.#now()
    const day = dayOf(nowMs)
    const { record } = entry
    const today = { day, ...plus(usedOn(record.today, nowMs), more) }
    entry.record = { ...record, today, inAll: plus(record.inAll, more) }
    owner.record = { owner: owner.record.owner, day, ...plus(usedOn(owner.record, nowMs), more) }
    this.#changedKeys.add(record.id)
    this.#changedOwners.add(owner.record.owner)
  }

  async #alter(id: string, by: string, to: Partial<KeyRecord>): Promise<Result<ChatKey>> {
    const entry = this.#entries.get(id)
    if (entry === undefined || (by !== OPERATOR && entry.record.owner !== by))
      return fail(fault('chat/no-key', { id: id.slice(0, 40) }))
    // In force at once, even if the write fails.
    entry.record = { ...entry.record, ...to }
    await this.#write([id])
    return ok(this.#view(entry.record))
  }

  #draw(): { readonly id: string; readonly key: string } {
    for (;;) {
      const drawn = this.#parts.seals.draw()
      if (!this.#entries.has(drawn.id)) return drawn
    }
  }

  #take(record: KeyRecord): void {
    this.#entries.set(record.id, { record, minute: new LastMinute(), running: 0, held: 0 })
    this.#ownerOf(record.owner).ids.add(record.id)
  }

  #ownerOf(name: string): Owner {
    const known = this.#owners.get(name)
    if (known !== undefined) return known
    const owner = newOwner(name)
    this.#owners.set(name, owner)
    return owner
  }

  /** Removes old keys if necessary. A fault if there is no room. */
  #makeRoom(name: string): Fault | null {
    const views = [...(this.#owners.get(name)?.ids ?? [])].map((id) => this.#viewOf(id))
    const ended = views.filter(({ state }) => state !== 'live')
    const max = this.bounds.keys
    if (views.length - ended.length >= max) return fault('chat/keys-full', { max })
    for (const { id } of ended.slice(0, Math.max(0, ended.length - max + 1))) this.#forget(id)
    const inAllMax = this.#parts.keysInAllMax ?? KEYS_IN_ALL_MAX
    if (this.#entries.size < inAllMax) return null
    const spare = this.#spare()
    if (spare === undefined) return name === OPERATOR ? null : fault('chat/no-room', { max: inAllMax })
    this.#forget(spare)
    return null
  }

  /** The oldest key that can be removed: one that has ended, or an idle one of a wallet. */
  #spare(): string | undefined {
    const nowMs = this.#now()
    for (const [id, { record }] of this.#entries) if (this.#isSpare(record, nowMs)) return id
    return undefined
  }

  #isSpare(record: KeyRecord, nowMs: number): boolean {
    const { owner, lastUsedAtMs, createdAtMs } = record
    if (this.#stateOf(record, nowMs) !== 'live') return true
    if (owner === OPERATOR) return false
    return lastUsedAtMs === null ? createdAtMs < nowMs - UNUSED_MS : lastUsedAtMs < nowMs - IDLE_MS
  }

  #forget(id: string): void {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    this.#entries.delete(id)
    this.#changedKeys.add(id)
    this.#owners.get(entry.record.owner)?.ids.delete(id)
  }

  /** The use of an owner without keys is needed until the end of the day. */
  #forgetYesterday(): void {
    const day = dayOf(this.#now())
    for (const [name, { record, ids, running }] of this.#owners)
      if (ids.size === 0 && running === 0 && record.day !== day) {
        this.#owners.delete(name)
        this.#changedOwners.add(name)
      }
  }

  /** One after another, each with the newest figures, so that an older figure is never written last. */
  #write(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#changedKeys.add(id)
    const turn = this.#writing.then(() => this.#writeNow())
    this.#writing = turn.catch(() => {})
    return turn
  }

  async #writeNow(): Promise<void> {
    const ids = [...this.#changedKeys]
    const names = [...this.#changedOwners]
    this.#changedKeys.clear()
    this.#changedOwners.clear()
    try {
      await this.#parts.write({
        keys: ids.flatMap((id) => this.#entries.get(id)?.record ?? []),
        forgottenKeys: ids.filter((id) => !this.#entries.has(id)),
        owners: names.flatMap((name) => this.#owners.get(name)?.record ?? []),
        forgottenOwners: names.filter((name) => !this.#owners.has(name)),
      })
    } catch (error) {
      for (const id of ids) this.#changedKeys.add(id)
      for (const name of names) this.#changedOwners.add(name)
      throw error
    }
  }
}

function newOwner(owner: string): Owner {
  return { record: { owner, day: 0, ...UNUSED }, minute: new LastMinute(), ids: new Set(), running: 0, held: 0 }
}

/** Backends are not trusted: a sum that is no safe integer would make an unreadable record. */
function soundCount(tokens: number): number {
  return Number.isSafeInteger(tokens) && tokens > 0 ? Math.min(tokens, CHAT_TOKENS_MAX) : 0
}
