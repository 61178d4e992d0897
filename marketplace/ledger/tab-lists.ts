import type { BlockIndex, IndexEntry, IndexWrite, StateIndex } from '../../consensus/chain/chain-index.ts'
import type { ConnectedBlock } from '../../consensus/chain/events.ts'
import { keyAfter } from '../../consensus/chain/key-value.ts'
import type { DatabaseReader } from '../../consensus/chain/reader.ts'
import { concat, fromHex, toHex, uintBE } from '../../consensus/primitives/bytes.ts'
import { decodeOwn } from '../../consensus/primitives/codec.ts'
import type { Address, AgentId, TxId } from '../../consensus/primitives/ids.ts'
import { encodeText } from '../../consensus/primitives/text.ts'
import type { StateChange } from '../../consensus/state/view.ts'
import { TAB_RECORD, TABS, type Tab } from './tab-records.ts'
import { tabStepsOf } from './tab-steps.ts'

/** Whose tabs a list holds: those that an address pays, those of an agent, or all. */
export type TabList = { readonly payer: Address } | { readonly agentId: AgentId } | 'all'

/** Place of a tab in a list. */
export interface TabPlace {
  readonly openedAt: number
  readonly tabId: TxId
}

/**
 * Open tabs: list || 2^32 - 1 - height of the opening (big-endian) || tab id -> nothing. A list is 0 || payer, 1 || agent
 * id `/`, or 2. It follows from the state, so it is complete on every node.
 */
export const OPEN_TABS: StateIndex = { name: 'open-tabs', prefix: 0x08, changesOf }

/** All tabs, those that have ended too. Keys as in {@link OPEN_TABS}. */
export const TAB_LISTS: BlockIndex = { name: 'tab-lists', prefix: 0x09, entriesOf }

const HEIGHT_BYTES = 4
const ID_BYTES = 32
const LAST = 0xffff_ffff
const NOTHING = new Uint8Array(0)

/** The newest tabs of a list, before the tab `before`; with `open` only open ones. */
export function tabsListed(
  database: DatabaseReader,
  list: TabList,
  page: { readonly limit: number; readonly open?: boolean | undefined; readonly before?: TabPlace | undefined },
): Promise<readonly TabPlace[]> {
  const prefix = listKey(list)
  const from = page.before && keyAfter(placeKey(prefix, page.before))
  return database.indexPage(page.open ? OPEN_TABS : TAB_LISTS, { prefix, from, limit: page.limit }, placeOf)
}

function changesOf(changes: readonly StateChange[]): readonly IndexWrite[] {
  return changes.flatMap(({ table, key, before, after }): readonly IndexWrite[] => {
    if (table.prefix !== TABS.prefix || (before === undefined) === (after === undefined)) return []
    const tab = decodeOwn(TAB_RECORD, (after ?? before) as Uint8Array)
    const keys = keysOf(tab, key.slice(2) as TxId)
    return keys.map((entry) => (after === undefined ? { key: entry } : { key: entry, value: NOTHING }))
  })
}

function entriesOf(connected: ConnectedBlock): readonly IndexEntry[] {
  return tabStepsOf(connected).flatMap(({ what, tabId, tab }) =>
    what === 'opened' ? keysOf(tab, tabId).map((key) => ({ key, value: NOTHING })) : [],
  )
}

function keysOf({ payer, agentId, openedAt }: Tab, tabId: TxId): readonly Uint8Array[] {
  const lists: readonly TabList[] = [{ payer }, { agentId }, 'all']
  return lists.map((list) => placeKey(listKey(list), { openedAt, tabId }))
}

function listKey(list: TabList): Uint8Array {
  if (list === 'all') return Uint8Array.of(2)
  if ('payer' in list) return concat(Uint8Array.of(0), fromHex(list.payer))
  // No id contains the separator, so no agent's list is in another's.
  return concat(Uint8Array.of(1), encodeText(`${list.agentId}/`))
}

function placeKey(list: Uint8Array, { openedAt, tabId }: TabPlace): Uint8Array {
  return concat(list, uintBE(BigInt(LAST - openedAt), HEIGHT_BYTES), fromHex(tabId))
}

function placeOf({ key }: IndexEntry): TabPlace {
  const at = key.length - ID_BYTES
  const height = new DataView(key.buffer, key.byteOffset).getUint32(at - HEIGHT_BYTES)
  return { openedAt: LAST - height, tabId: toHex(key.subarray(at)) as TxId }
}
