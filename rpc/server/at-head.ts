import type { BlockEntry } from '../../consensus/chain/layout.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { atOneHead } from '../../marketplace/queries/one-head.ts'
import type { AtHead } from '../contract/amounts.ts'
import { moment } from '../json/chain-json.ts'
import { answer } from './answer.ts'

const PAGE_DEFAULT = 50

/** Answers with what `read` finds at one head, and names that head. */
export async function answerAtHead<T extends object>(
  chain: ChainReader,
  read: (head: BlockEntry) => Promise<T | Fault> | T | Fault,
): Promise<{ readonly status: 200; readonly json: AtHead & T } | Fault> {
  const reading = await atOneHead(chain, read)
  if (!reading.ok) return reading.fault
  const { head, value } = reading.value
  return isRefusal(value) ? value : answer({ ...atHead(head), ...value })
}

/** Names the block that an answer was read from. */
export function atHead({ header, id }: BlockEntry): AtHead {
  return { height: header.height, blockId: id, time: moment(header.timeMs) }
}

function isRefusal(value: object): value is Fault {
  return 'code' in value && 'detail' in value
}

/** Number of entries of a page: what the query asks for, else `standard`. */
export function pageLimit(query: { readonly limit?: number | undefined }, standard = PAGE_DEFAULT): number {
  return query.limit ?? standard
}

/** The fault of a cursor that this node did not give. */
export function badCursor(): Fault {
  return fault('rpc/invalid-request', { fields: ['cursor must be what the page before gave as nextCursor'] })
}

/** The numbers of a cursor such as `12-3-0`; undefined unless they are `count` numbers below 2^32. */
export function cursorNumbers(cursor: string, count: number): readonly number[] | undefined {
  const parts = cursor.split('-')
  const sound = parts.length === count && parts.every((part) => /^(0|[1-9][0-9]{0,9})$/.test(part))
  return sound && parts.every((part) => Number(part) <= 0xffff_ffff) ? parts.map(Number) : undefined
}
