import { rename, rm } from 'node:fs/promises'
import { Level } from 'level'
import type { PeerRecords } from '../p2p/host/peer-records.ts'
import { storageFault } from './folder.ts'

type Database = Level<string, string>

const SIZES = { cacheSize: 1_048_576, writeBufferSize: 1_048_576 }

/** What is known of peers, in a LevelDB of its own: it can be lost without harm, so a damaged one never stops the node. */
export class LevelPeers implements PeerRecords {
  readonly #database: Database

  private constructor(database: Database) {
    this.#database = database
  }

  /**
   * Opens the database, creating it if there is none. A damaged one is moved to `<path>.damaged`, in the place of one moved before,
   * and a new one begun; `onDamage` hears why. A lock or a disk that fails is thrown.
   */
  static async open(path: string, onDamage: (reason: string) => void): Promise<LevelPeers> {
    try {
      return await LevelPeers.#openSound(path)
    } catch (error) {
      const { code, detail } = storageFault(path, error)
      if (code !== 'storage/damaged') throw error
      onDamage(String(detail.reason))
      await rm(`${path}.damaged`, { recursive: true, force: true })
      await rename(path, `${path}.damaged`)
      return await LevelPeers.#openSound(path)
    }
  }

  async load(kind: string, limit: number): Promise<readonly (readonly [string, string])[]> {
    return this.#database.iterator({ gte: `${kind}/`, lt: `${kind}0`, limit }).all()
  }

  async write(changes: ReadonlyMap<string, string | null>): Promise<void> {
    const batch = this.#database.batch()
    for (const [key, value] of changes) {
      if (value === null) batch.del(key)
      else batch.put(key, value)
    }
    await batch.write()
  }

  async close(): Promise<void> {
    await this.#database.close()
  }

  static async #openSound(path: string): Promise<LevelPeers> {
    const database: Database = new Level(path, SIZES as never)
    try {
      await database.open()
      // Damage in a table shows only where it is read.
      for await (const _ of database.iterator());
      return new LevelPeers(database)
    } catch (error) {
      await database.close()
      throw error
    }
  }
}
