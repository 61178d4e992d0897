import type { ChainReader } from '../../consensus/chain/reader.ts'
import { parseAddress } from '../../consensus/crypto/address.ts'
import { isHex, ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { AgentId, TxId } from '../../consensus/primitives/ids.ts'
import { NATIVE_ASSET } from '../../consensus/state/table.ts'
import { AGENTS } from '../../marketplace/ledger/agents.ts'
import { type TabList, type TabPlace, tabsListed } from '../../marketplace/ledger/tab-lists.ts'
import { type TabClaim, type TabClaimPlace, tabClaims } from '../../marketplace/ledger/tab-lives.ts'
import { TAB_TERMS_TABLE, tabTotals } from '../../marketplace/ledger/tab-records.ts'
import { type TabFacts, tabFacts, tabGap } from '../../marketplace/queries/tabs.ts'
import { assetAmountJson } from '../json/asset-json.ts'
import { tabClaimJson, tabFactsJson } from '../json/tab-facts-json.ts'
import type { Handler } from '../server/answer.ts'
import { answerAtHead, badCursor, cursorNumbers, pageLimit } from '../server/at-head.ts'

const TABS_DEFAULT = 20
const CLAIM_PLACE_NUMBERS = 3

interface ListQuery {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
  readonly open?: string | undefined
}

/** All tabs of the chain. */
export const listTabs: Handler<'listTabs'> = ({ chain }, { query }) => {
  const before = placeIn(query)
  if (before === null) return badCursor()
  return answerAtHead(chain, async () => {
    const { open, locked, claimed, burned } = tabTotals(chain.database)
    const coins = (units: bigint) => assetAmountJson(chain, NATIVE_ASSET, units)
    const totals = { open, locked: coins(locked), claimed: coins(claimed), burned: coins(burned) }
    return { totals, ...(await pageOf(chain, 'all', { query, before })) }
  })
}

/** One tab. */
export const getTabFacts: Handler<'getTabFacts'> = ({ chain }, { params }) =>
  answerAtHead(chain, () => {
    const facts = factsOr(chain, params.tabId as TxId)
    return 'code' in facts ? facts : { tab: tabFactsJson(chain, facts) }
  })

/** The cursor is the last claim. */
export const listTabClaims: Handler<'listTabClaims'> = ({ chain }, { params, query }) => {
  const numbers = query.cursor === undefined ? [] : cursorNumbers(query.cursor, CLAIM_PLACE_NUMBERS)
  if (numbers === undefined) return badCursor()
  const [height, index, entry] = numbers
  const after = height === undefined ? undefined : ({ height, index, entry } as TabClaimPlace)
  const limit = pageLimit(query)
  return answerAtHead(chain, async () => {
    const facts = factsOr(chain, params.tabId as TxId)
    if ('code' in facts) return facts
    const claims = await tabClaims(chain.database, facts.tabId, { limit, after })
    const last = claims.length === limit ? (claims.at(-1) as TabClaim) : null
    return {
      indexedFrom: chain.database.indexedFrom,
      claims: claims.map((claim) => tabClaimJson(chain, claim)),
      nextCursor: last && `${last.height}-${last.index}-${last.entry}`,
    }
  })
}

/** Tabs that an address opened. */
export const listAccountTabs: Handler<'listAccountTabs'> = ({ chain }, { params, query }) => {
  const address = parseAddress(chain.ruleBook.params.addressPrefix, params.address)
  if (!address.ok) return address.fault
  const before = placeIn(query)
  if (before === null) return badCursor()
  return answerAtHead(chain, async () => ({
    address: params.address,
    ...(await pageOf(chain, { payer: address.value }, { query, before })),
  }))
}

/** Tabs of an agent. */
export const listAgentTabs: Handler<'listAgentTabs'> = ({ chain }, { params, query }) => {
  const agentId = params.id as AgentId
  const before = placeIn(query)
  if (before === null) return badCursor()
  return answerAtHead(chain, async () => {
    const { database } = chain
    if (database.get(AGENTS, agentId) === undefined) return fault('rpc/agent-not-found', { agentId })
    const terms = database.get(TAB_TERMS_TABLE, agentId)
    const taken = terms === undefined || terms.receiptKey === ZERO_HEX_32 ? null : terms
    return {
      agentId,
      terms: taken && { ...taken, minDeposit: assetAmountJson(chain, NATIVE_ASSET, taken.minDeposit) },
      ...(await pageOf(chain, { agentId }, { query, before })),
    }
  })
}

function factsOr(chain: ChainReader, tabId: TxId): TabFacts | Fault {
  return tabFacts(chain, tabId) ?? tabGap(chain) ?? fault('tab/unknown', { tabId })
}

/** The cursor is the last tab, with the height of its opening. Null if it is malformed. */
function placeIn({ cursor }: ListQuery): TabPlace | undefined | null {
  if (cursor === undefined) return undefined
  const [height = '', tabId = '', ...more] = cursor.split('-')
  const openedAt = cursorNumbers(height, 1)?.[0]
  return openedAt === undefined || more.length > 0 || !isHex(tabId, 32) ? null : { openedAt, tabId: tabId as TxId }
}

async function pageOf(
  chain: ChainReader,
  list: TabList,
  { query, before }: { readonly query: ListQuery; readonly before: TabPlace | undefined },
) {
  const limit = pageLimit(query, TABS_DEFAULT)
  const places = await tabsListed(chain.database, list, { limit, before, open: query.open !== undefined })
  const last = places.length === limit ? (places.at(-1) as TabPlace) : null
  return {
    indexedFrom: chain.database.indexedFrom,
    tabs: places.flatMap(({ tabId }) => {
      const facts = tabFacts(chain, tabId)
      return facts === undefined ? [] : [tabFactsJson(chain, facts)]
    }),
    nextCursor: last && `${last.openedAt}-${last.tabId}`,
  }
}
