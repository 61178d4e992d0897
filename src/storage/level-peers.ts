import { rename, rm } from 'node:fs/promises'
import { Level } from 'level'
import type { PeerRecords } from '../p2p/host/peer-records.ts'
import { storageFault } from './folder.ts'

type Database = Level<string, string>

const SIZES = { cacheSize: 1_048_576, writeBufferSize: 1_048_576 }

/** Records of peers in a LevelDB of their own. Losing them does no harm, so damage never stops the node. */
export class LevelPeers implements PeerRecords {
  readonly #database: Database

  private constructor(database: Database) {
    this.#database = database
  }

  /**
   * A damaged database is moved to `<path>.damaged`, replacing an earlier one there, and a new one is created;
   * `onDamage` gets the reason. Throws if the database is locked or the disk fails.
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
      // Reads everything, because damage in a table shows only when it is read.
      for await (const _ of database.iterator());
      return new LevelPeers(database)
    } catch (error) {
      await database.close()
      throw error
    }
  }
}
