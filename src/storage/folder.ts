import { mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ChainDatabase, type OpenOptions } from '../../consensus/chain/database.ts'
import type { Genesis } from '../../consensus/chain/genesis.ts'
import type { RuleBook } from '../../consensus/chain/rule-book.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { writeFileAtomically } from './atomic-file.ts'
import { type LevelSizes, LevelStore } from './level-store.ts'

/** Paths of the files in a data folder. */
export function folderPaths(dataDir: string) {
  return {
    config: join(dataDir, 'farthing.json'),
    marker: join(dataDir, 'network.json'),
    chain: join(dataDir, 'chain'),
    market: join(dataDir, 'market'),
    stable: join(dataDir, 'market-stable'),
    marketTabs: join(dataDir, 'market-tabs'),
    channelKey: join(dataDir, 'channel.key'),
    chatKeys: join(dataDir, 'chat-keys'),
    facilitator: join(dataDir, 'facilitator'),
    mempool: join(dataDir, 'mempool.bin'),
    wallets: join(dataDir, 'wallets'),
    calls: join(dataDir, 'calls'),
    tabs: join(dataDir, 'tabs'),
    peers: join(dataDir, 'peers'),
    operatorToken: join(dataDir, 'operator.token'),
    operatorPassword: join(dataDir, 'operator.password'),
  }
}

/** An open chain with its store. */
export interface OpenChain {
  readonly database: ChainDatabase
  readonly store: LevelStore
}

/**
 * Creates folder and chain if they do not exist. A marker file records that the folder was initialised: otherwise a
 * lost database would silently be replaced by an empty one.
 */
export async function openChain(
  dataDir: string,
  ruleBook: RuleBook,
  genesis: Genesis,
  sizes: LevelSizes,
  options: OpenOptions = {},
): Promise<Result<OpenChain>> {
  const paths = folderPaths(dataDir)
  const expected = { network: ruleBook.params.name, genesis: genesis.block.id }
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    const marked = await checkMarker(dataDir, expected)
    if (!marked.ok) return marked
    const found = marked.value
    const store = await LevelStore.open(paths.chain, sizes, found === null)
    const database = await openDatabase(store, ruleBook, genesis, dataDir, options)
    if ('code' in database) return fail(database)
    if (found === null) await writeFileAtomically(paths.marker, `${JSON.stringify(expected)}\n`)
    return ok({ database, store })
  } catch (error) {
    return fail(storageFault(dataDir, error))
  }
}

async function openDatabase(
  store: LevelStore,
  ...[ruleBook, genesis, dataDir, options]: [RuleBook, Genesis, string, OpenOptions]
): Promise<ChainDatabase | Fault> {
  let database: ChainDatabase | Fault | undefined
  try {
    database = await ChainDatabase.open(store, ruleBook, genesis, dataDir, options)
    return database
  } finally {
    if (database === undefined || 'code' in database) await store.close()
  }
}

/**
 * Null if there is none yet. The fault for another network lets commands stop before they ask for anything or write.
 */
export async function checkMarker(dataDir: string, expected: Marker): Promise<Result<Marker | null>> {
  const path = folderPaths(dataDir).marker
  try {
    const found = JSON.parse(await readFile(path, 'utf8')) as Marker
    if (found.genesis === expected.genesis) return ok(found)
    if (typeof found.genesis !== 'string') return fail(damagedMarker(dataDir))
    return fail(otherGenesis(dataDir, found, expected))
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return ok(null)
    if (error instanceof SyntaxError || error instanceof TypeError) return fail(damagedMarker(dataDir))
    return fail(storageFault(dataDir, error))
  }
}

function damagedMarker(folder: string): Fault {
  return fault('storage/damaged', { folder, reason: 'network.json is not the marker of a network' })
}

/** Whether a folder was initialised. */
export async function isInitialised(dataDir: string): Promise<boolean> {
  return stat(folderPaths(dataDir).marker).then(
    () => true,
    () => false,
  )
}

const DISK_ERRORS = /^(LEVEL_IO_ERROR|ENOSPC|EIO|EROFS|EACCES|EPERM|ENOTDIR|EEXIST|EDQUOT|EFBIG)$/

/** LevelDB messages for files of its own that are missing, truncated or replaced. */
const LOST_FILES = /create_if_missing is false|No such file|Not a directory|File exists|Invalid argument/

/** A failure of the disk, or a locked or damaged LevelDB, as a fault. Throws every other error again: it is a bug. */
export function storageFault(folder: string, error: unknown): Fault {
  const found = storageFaultOf(folder, error)
  if (found === undefined) throw error
  return found
}

/** Like {@link storageFault}, but undefined for every other error. */
export function storageFaultOf(folder: string, error: unknown): Fault | undefined {
  const { code, reason } = causeOf(error)
  if (code === 'LEVEL_LOCKED') return fault('storage/locked', { folder })
  if (code === 'LEVEL_CORRUPTION' || (code.startsWith('LEVEL_') && LOST_FILES.test(reason)))
    return fault('storage/damaged', { folder, reason })
  return DISK_ERRORS.test(code) ? fault('storage/full', { folder, reason }) : undefined
}

/** Whether an error came from the disk or the database. */
export function isStorageFailure(error: unknown): boolean {
  const { code } = causeOf(error)
  return DISK_ERRORS.test(code) || code.startsWith('LEVEL_')
}

function causeOf(error: unknown): { readonly code: string; readonly reason: string } {
  const {
    code = '',
    message = '',
    cause,
  } = (error ?? {}) as { code?: string; message?: string; cause?: { code?: string; message?: string } }
  return { code: cause?.code ?? code, reason: cause?.message ?? message }
}

interface Marker {
  readonly network: string
  readonly genesis: string
}

function otherGenesis(folder: string, found: Marker, expected: Marker): Fault {
  const describe = ({ network, genesis }: Marker): string => `${network} (genesis ${genesis.slice(0, 12)})`
  return fault('storage/other-genesis', { folder, found: describe(found), expected: describe(expected) })
}
