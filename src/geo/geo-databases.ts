import { fileURLToPath } from 'node:url'
import type { OutsideConfig } from '../../config/outside-settings.ts'
import type { Timers } from '../../consensus/chain/ports.ts'
import { ok, type Result } from '../../consensus/primitives/result.ts'
import { type GeoDatabase, type GeoDatabases, type GeoFacts, NO_GEO_FACTS } from '../../marketplace/ports/geo.ts'
import { notConfigured, type Readiness } from '../../marketplace/ports/readiness.ts'
import type { Checkable, ProviderCheck, ProviderFacts } from '../adapters/providers/provider.ts'
import { attributionOf } from './geo-attribution.ts'
import { geoFactsOf, mergedFacts } from './geo-record.ts'
import { MmdbFile } from './mmdb-file.ts'

/** What the databases are opened with. */
export interface GeoParts {
  readonly config: OutsideConfig['geo']
  readonly timers: Timers
  /** Path of the country database to use without `geo.city-db`. Default: that of an installed package. */
  readonly fallback?: () => string | null
}

const LOOK_MS = 60_000
const WHAT = 'where addresses are'
/** A country database that needs no key, used if the operator installed it. */
const PACKAGED = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb'

/** Databases in the operator's files, reloaded when they change. */
export class FileGeoDatabases implements GeoDatabases, Checkable {
  readonly #files: readonly MmdbFile[]
  readonly #timers: Timers
  #cancel: (() => void) | null = null
  #stopped = false

  private constructor(files: readonly MmdbFile[], { timers }: GeoParts) {
    this.#files = files
    this.#timers = timers
    if (files.length > 0) this.#watch()
  }

  /** Fault `config/file` if a configured file is unusable. */
  static async open(parts: GeoParts): Promise<Result<FileGeoDatabases>> {
    const { cityDb, asnDb } = parts.config
    const files: MmdbFile[] = []
    for (const path of [cityDb, asnDb]) {
      if (path === null) continue
      const file = await MmdbFile.open(path)
      if (!file.ok) return file
      files.push(file.value)
    }
    const packaged = cityDb === null ? (parts.fallback ?? packagedFile)() : null
    // This file was not configured, so a problem with it must not keep the node from starting.
    const spare = packaged === null ? null : await MmdbFile.open(packaged)
    return ok(new FileGeoDatabases(spare?.ok ? [spare.value, ...files] : files, parts))
  }

  readonly readiness = (): Readiness =>
    this.#files.length === 0
      ? notConfigured('a database of addresses', 'geo.city-db', 'geo.asn-db')
      : { available: true, engine: 'mmdb' }

  get databases(): readonly GeoDatabase[] {
    return this.#files.map(({ database }) => database)
  }

  get attribution(): string {
    return attributionOf(this.databases.map(({ type }) => type))
  }

  readonly lookUp = (ip: string): GeoFacts | null => {
    const facts = mergedFacts(this.#files.map((file) => factsIn(file, ip)))
    return Object.values(facts).every((value) => value === null) ? null : facts
  }

  get facts(): readonly ProviderFacts[] {
    return this.#files.map(({ name, trouble }) => ({ what: WHAT, name, usable: true, trouble }))
  }

  async checkAll(): Promise<readonly ProviderCheck[]> {
    await this.#refresh()
    return this.#files.map(({ name, trouble, database }) => ({
      what: WHAT,
      name,
      ok: trouble === null,
      detail: trouble ?? `${database.type} of ${database.buildDate.slice(0, 10)}`,
      ms: 0,
    }))
  }

  stop(): void {
    this.#stopped = true
    this.#cancel?.()
  }

  #watch(): void {
    if (this.#stopped) return
    this.#cancel = this.#timers.after(LOOK_MS, () => {
      void this.#refresh().finally(() => this.#watch())
    })
  }

  async #refresh(): Promise<void> {
    for (const file of this.#files) await file.refresh()
  }
}

/** A record that cannot be decoded has no facts. */
function factsIn(file: MmdbFile, ip: string): GeoFacts {
  try {
    return geoFactsOf(file.get(ip))
  } catch {
    return NO_GEO_FACTS
  }
}

function packagedFile(): string | null {
  try {
    return fileURLToPath(import.meta.resolve(PACKAGED))
  } catch {
    return null
  }
}
