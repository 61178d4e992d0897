import { readFile, stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { Reader } from 'maxmind'
import { type Fault, fault, faultMessage } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { GeoDatabase } from '../../marketplace/ports/geo.ts'

/** The used part of maxmind's reader. */
interface MmdbReader {
  readonly metadata: {
    readonly databaseType: string
    readonly buildEpoch: Date
    readonly ipVersion: number
    readonly nodeCount: number
    readonly searchTreeSize: number
  }
  get(ip: string): unknown
}

interface Held {
  readonly reader: MmdbReader
  readonly version: string
}

/** A larger file would not fit into memory beside a chain. */
const BYTES_MAX = 512 * 1_048_576
const TYPE_CHARS_MAX = 100
/** Addresses that are looked up in a new file before it is used, so that callers do not meet a broken file. */
const PROBES = ['1.1.1.1', '8.8.8.8', '193.0.6.139', '203.0.113.7', '2001:4860:4860::8888', '2a00:1450:4001:81b::200e']

/** A MaxMind DB file (https://maxmind.github.io/MaxMind-DB/) that may be replaced while it is used. */
export class MmdbFile {
  readonly path: string
  #held: Held
  /** The last version that was unusable. */
  #broken: string | null = null
  #trouble: Fault | null = null

  private constructor(path: string, held: Held) {
    this.path = path
    this.#held = held
  }

  /** Fault `config/file` if the file cannot be read or is no such database. */
  static async open(path: string): Promise<Result<MmdbFile>> {
    const held = await read(path)
    return held.ok ? ok(new MmdbFile(path, held.value)) : held
  }

  get name(): string {
    return basename(this.path)
  }

  get database(): GeoDatabase {
    const { databaseType, buildEpoch } = this.#held.reader.metadata
    return { type: databaseType.slice(0, TYPE_CHARS_MAX), buildDate: buildEpoch.toISOString() }
  }

  /** Why the newest file is not in use; null if it is. */
  get trouble(): string | null {
    return this.#trouble === null ? null : faultMessage(this.#trouble)
  }

  /** Null if there is no record. Throws for a record that cannot be decoded. */
  get(ip: string): unknown {
    const { reader } = this.#held
    // In an IPv4 tree the reader would look up the first bits of an IPv6 address.
    return reader.metadata.ipVersion === 4 && ip.includes(':') ? null : reader.get(ip)
  }

  /** If the new file is unusable, the old one stays in use. */
  async refresh(): Promise<Result<boolean>> {
    const version = await versionOf(this.path)
    if (version === this.#held.version) this.#trouble = null
    if (version === this.#held.version || version === this.#broken) return ok(false)
    const held = await read(this.path)
    if (held.ok) {
      this.#held = held.value
      this.#broken = null
      this.#trouble = null
      return ok(true)
    }
    this.#broken = version
    this.#trouble = held.fault
    return held
  }
}

async function read(path: string): Promise<Result<Held>> {
  const unusable = (reason: string): Result<never> => fail(fault('config/file', { path: resolve(path), reason }))
  const version = await versionOf(path)
  if (version === null) return unusable('it cannot be read')
  try {
    const { size } = await stat(path)
    if (size > BYTES_MAX) return unusable(`it is longer than ${BYTES_MAX} bytes`)
    const bytes = await readFile(path)
    if ((await versionOf(path)) !== version) return unusable('it changes while it is read')
    return ok({ reader: proven(new Reader(bytes) as unknown as MmdbReader, bytes.length), version })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return unusable(code === undefined ? `it is no MaxMind database (${message.slice(0, 100)})` : 'it cannot be read')
  }
}

/** Throws if the metadata does not fit the bytes or an address cannot be looked up. */
function proven(reader: MmdbReader, bytes: number): MmdbReader {
  const { databaseType, buildEpoch, ipVersion, nodeCount, searchTreeSize } = reader.metadata
  if (typeof databaseType !== 'string' || Number.isNaN(buildEpoch.getTime()))
    throw new Error('it does not say what it is')
  if ((ipVersion !== 4 && ipVersion !== 6) || !(nodeCount > 0) || !(searchTreeSize < bytes))
    throw new Error('its search tree does not fit into it')
  for (const ip of PROBES) if (ipVersion === 6 || !ip.includes(':')) reader.get(ip)
  return reader
}

async function versionOf(path: string): Promise<string | null> {
  try {
    const { ino, size, mtimeNs } = await stat(path, { bigint: true })
    return `${ino}-${size}-${mtimeNs}`
  } catch {
    return null
  }
}
