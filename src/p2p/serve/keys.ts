import type { DatabaseReader } from '../../../consensus/chain/reader.ts'
import type { Exchange } from '../peers/exchange.ts'
import { PAGE_BYTES } from '../wire/protocols.ts'

const UNKNOWN = new Uint8Array(0)

/** Answers `keys`: the public keys behind addresses, empty where they are not known or the page is full. */
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
