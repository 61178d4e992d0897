import { encodedBodySize } from '../../../consensus/block/block.ts'
import type { BlockEntry } from '../../../consensus/chain/layout.ts'
import type { ChainReader, DatabaseReader } from '../../../consensus/chain/reader.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import type { Answer, Exchange } from '../peers/exchange.ts'
import type { Turn } from '../peers/serving.ts'
import type { HeldRange } from '../sync/snapshot-door.ts'
import { HEADERS_MAX, type RequestOf } from '../wire/messages.ts'
import { PAGE_BYTES } from '../wire/protocols.ts'

/** What the chain is served from. */
export interface ServeChainDependencies {
  readonly chain: ChainReader
  readonly held: () => HeldRange
}

/** Answers `headers` and `bodies` from the stored chain. */
export function serveChain(exchange: Exchange, dependencies: ServeChainDependencies): void {
  exchange.answer('headers', (_, request, turn) => headersAfter(dependencies, request, turn))
  exchange.answer('bodies', (_, ids, turn) => bodiesOf(dependencies, ids, turn))
}

/**
 * Headers of the best chain after the first id of the locator that is on it. Refused as `busy` while the head moves, because a list that
 * ends early looks like a short chain.
 */
async function headersAfter(
  { chain }: ServeChainDependencies,
  { locator, limit }: RequestOf<'headers'>,
  turn: Turn,
): Promise<Answer<'headers'>> {
  const { database } = chain
  const start = commonBlock(database, locator)
  if (chain.moving) return { refusal: 'busy' }
  if (start === undefined) return { refusal: 'unknown' }
  const headers: Uint8Array[] = []
  let parent = start.id
  for (let height = start.header.height + 1; headers.length < Math.min(limit, HEADERS_MAX); height++) {
    const id = database.idAt(height)
    const entry = id === undefined ? undefined : database.entry(id)
    if (entry === undefined) break
    if (entry.header.parent !== parent) return { refusal: 'busy' }
    headers.push(entry.bytes)
    parent = entry.id
    if (turn.due()) await turn.pause()
  }
  return chain.moving ? { refusal: 'busy' } : { reply: headers }
}

function commonBlock(database: ChainReader['database'], locator: readonly BlockId[]): BlockEntry | undefined {
  for (const id of locator) {
    const entry = database.entry(id)
    if (entry !== undefined && database.isCanonical(entry)) return entry
  }
  return undefined
}

async function bodiesOf(
  { chain: { database }, held }: ServeChainDependencies,
  ids: RequestOf<'bodies'>,
  turn: Turn,
): Promise<Answer<'bodies'>> {
  const { bodiesFrom, witnessesFrom } = held()
  const heldFrom = Math.max(bodiesFrom, witnessesFrom)
  const bodies: (readonly Uint8Array[])[] = []
  let bytes = 0
  for (const id of ids) {
    const entry = database.entry(id)
    if (entry === undefined || entry.invalid || entry.header.height < heldFrom) break
    if (bodies.length > 0 && bytes + entry.bodyBytes > PAGE_BYTES) break
    const transactions = database.encodedTransactions(id)
    if (transactions === undefined) break
    // An entry that was written before its body came may give too small a size.
    bytes += encodedBodySize(transactions)
    if (bodies.length > 0 && bytes > PAGE_BYTES) break
    bodies.push(transactions)
    if (turn.due()) await turn.pause()
  }
  return bodies.length > 0 || ids.length === 0 ? { reply: bodies } : { refusal: 'not-held' }
}

const UNKNOWN = new Uint8Array(0)

/** Answers `keys` with the public keys of addresses, empty where they are unknown or the page is full. */
export function serveKeys(exchange: Exchange, database: Pick<DatabaseReader, 'keysOf'>): void {
  exchange.answer('keys', (_, addresses) => {
    let bytes = 0
    const reply = addresses.map((address) => {
      const keys = bytes < PAGE_BYTES ? database.keysOf(address) : undefined
      bytes += keys?.length ?? 0
      return keys ?? UNKNOWN
    })
    return { reply }
  })
}
