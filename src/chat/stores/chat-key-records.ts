import { rename, rm } from 'node:fs/promises'
import { Level } from 'level'
import type { KeyWrites } from '../../../marketplace/chat/keys/key-book.ts'
import {
  type KeyRecord,
  type OwnerRecord,
  readKeyRecord,
  readOwnerRecord,
} from '../../../marketplace/chat/keys/key-record.ts'
import { storageFaultOf } from '../../storage/folder.ts'

type Database = Level<string, string>

const SIZES = { cacheSize: 1_048_576, writeBufferSize: 1_048_576 }
const KEYS = { key: (id: string) => `key/${id}`, owner: (name: string) => `owner/${name}` } as const

/** Content of the store of keys. */
export interface KeptKeys {
  readonly keys: readonly KeyRecord[]
  readonly owners: readonly OwnerRecord[]
  /** Names of unreadable entries. They stay in the store. */
  readonly unreadable: readonly string[]
}

/** Key records in a separate LevelDB. Every write is synced. */
export class LevelKeyRecords {
  readonly #database: Database

  private constructor(database: Database) {
    this.#database = database
  }

  /**
   * A damaged store is moved to `<path>.damaged`, replacing an earlier one, and a new store begins: new keys can be
   * made, and the node must keep running. A lock or a failing disk is thrown.
   */
  static async open(path: string, onDamage: (reason: string) => void): Promise<LevelKeyRecords & { kept: KeptKeys }> {
    try {
      return await LevelKeyRecords.#openSound(path)
    } catch (error) {
      const cause = storageFaultOf(path, error)
      if (cause?.code !== 'storage/damaged') throw error
      onDamage(String(cause.detail.reason))
      await rm(`${path}.damaged`, { recursive: true, force: true })
      await rename(path, `${path}.damaged`)
      return await LevelKeyRecords.#openSound(path)
    }
  }

  /** Atomic. Rejects if nothing was written. */
  async write({ keys, forgottenKeys, owners, forgottenOwners }: KeyWrites): Promise<void> {
    const batch = this.#database.batch()
    for (const record of keys) batch.put(KEYS.key(record.id), JSON.stringify(record))
    for (const id of forgottenKeys) batch.del(KEYS.key(id))
    for (const record of owners) batch.put(KEYS.owner(record.owner), JSON.stringify(record))
    for (const name of forgottenOwners) batch.del(KEYS.owner(name))
    await batch.write({ sync: true } as never)
  }

  async close(): Promise<void> {
    await this.#database.close()
  }

  static async #openSound(path: string): Promise<LevelKeyRecords & { kept: KeptKeys }> {
    const database: Database = new Level(path, SIZES as never)
    try {
      await database.open()
      const kept = await readAll(database)
      return Object.assign(new LevelKeyRecords(database), { kept })
    } catch (error) {
      await database.close()
      throw error
    }
  }
}

async function readAll(database: Database): Promise<KeptKeys> {
  const keys: KeyRecord[] = []
  const owners: OwnerRecord[] = []
  const unreadable: string[] = []
  for await (const [name, json] of database.iterator()) {
    const key = name.startsWith('key/') ? readKeyRecord(json) : undefined
    const owner = name.startsWith('owner/') ? readOwnerRecord(json) : undefined
    if (key !== undefined && KEYS.key(key.id) === name) keys.push(key)
    else if (owner !== undefined && KEYS.owner(owner.owner) === name) owners.push(owner)
    else unreadable.push(name)
  }
  return { keys, owners, unreadable }
}
