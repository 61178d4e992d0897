import { QUOTE_POOLS_MAX } from '../../amm/quote.ts'
import { LAUNCH_RULES } from '../../config/networks/rules.ts'
import { SETTINGS } from '../../config/settings.ts'
import { BLOCK_TRANSACTIONS_MAX } from '../../consensus/block/block.ts'
import { UNDO_BLOCKS } from '../../consensus/chain/database.ts'
import { REFUNDS_PER_BLOCK_MAX, refundsPerBlockMax } from '../../consensus/chain/params.ts'
import { POLICY_KEYS_MAX } from '../../consensus/crypto/schemes.ts'
import { SUPPLY_BOUND } from '../../consensus/primitives/amount.ts'
import {
  DESCRIPTION_BYTES_MAX,
  ENDPOINT_BYTES_MAX,
  NAME_BYTES_MAX,
  RECEIPT_ENTRIES_MAX,
  REQUEST_FORMAT_BYTES_MAX,
  SETTLERS_MAX,
} from '../../consensus/tx/payloads.ts'
import { SIGNED_TEXT_CHARS_MAX } from '../../consensus/tx/signed-text.ts'
import { MEMO_BYTES_MAX, TX_BYTES_MAX, WITNESS_BYTES_MAX } from '../../consensus/tx/transaction.ts'
import { KEYS_IN_ALL_MAX } from '../../marketplace/chat/keys/key-book.ts'
import { HOLDINGS_MAX } from '../../marketplace/queries/accounts.ts'
import { AGENT_SERVICES_MAX } from '../../marketplace/queries/agents.ts'
import { NATIVE_POOLS_MAX } from '../../marketplace/queries/arbitrage.ts'
import { REPLAY_BLOCKS_MAX } from '../../marketplace/queries/event-walk.ts'
import { NAMED_MAX } from '../../marketplace/queries/known-addresses.ts'
import { NAMES_COMPARED_MAX } from '../../marketplace/queries/look-alikes.ts'
import { MARKET_POOLS_MAX } from '../../marketplace/queries/market-pools.ts'
import { ROUTE_POOLS_MAX } from '../../marketplace/queries/prices.ts'
import { STABLES_MAX } from '../../marketplace/queries/stables.ts'
import { SUPPLY_ENTRIES_MAX } from '../../marketplace/queries/supply.ts'
import { SUMMARY_WINDOW } from '../../marketplace/services/chain/explorer-summary.ts'
import { WHALE_WINDOW } from '../../marketplace/services/chain/whale-watch.ts'
import { ROSTER_AGENTS_MAX } from '../../marketplace/services/market/agent-roster.ts'
import { ANALYSED_POOLS_MAX } from '../../marketplace/services/market/pool-analytics.ts'
import { HISTORY_HOURS } from '../../marketplace/services/market/price-history.ts'
import { SEARCHED_SERVICES_MAX } from '../../marketplace/services/market/service-search.ts'
import { SERVICE_TABLE } from '../../marketplace/services/table.ts'
import { COVERED_HOLDERS_MAX } from '../../marketplace/services/tokens/holder-stats.ts'
import { AUDITED_TOKENS_MAX } from '../../marketplace/services/tokens/supply-audit.ts'
import { PASSED_OVER_MAX, PAYER_PART } from '../../marketplace/till/claim-store.ts'
import { TOGETHER_MAX } from '../../marketplace/till/gathered.ts'
import { PUBLISHED_AT_ONCE } from '../../marketplace/till/rails/native/registrar.ts'
import { WRONG_SIGNATURES } from '../../marketplace/till/rails/tab/bad-vouchers.ts'
import { SEQ_WINDOW } from '../../marketplace/till/rails/tab/seq-window.ts'
import { TAB_MARGIN_BLOCKS } from '../../marketplace/till/rails/tab/settings.ts'
import { DEFAULT_MARKET_SETTINGS, FINAL_DEPTH, RECEIPT_MARGIN_BLOCKS } from '../../marketplace/till/settings.ts'
import { WAITING_MAX, WAITING_PER_PAYMENT_MAX } from '../../marketplace/till/waiting-room.ts'
import { RESULTS_KEPT_MAX } from '../../marketplace/till/workshop.ts'
import { DEFAULT_MEMPOOL_POLICY } from '../../mempool/policy.ts'
import { JOBS_PER_ADDRESS } from '../../miner/job-book.ts'
import { REMOTE_ADDRESSES_MAX, REMOTE_SEATS_MAX } from '../../miner/seats.ts'
import { ASKED_CHARS_MAX } from '../../rpc/a2a/questions.ts'
import { TASK_CHARS_MAX, TASK_KEPT_MS, TASKS_MAX } from '../../rpc/a2a/tasks.ts'
import { PARTS_MAX } from '../../rpc/a2a/wire.ts'
import { KEYS_A_DAY_MAX, NETWORK_KEYS_A_DAY_MAX } from '../../rpc/chat/dashboard/key-makers.ts'
import { SESSIONS_MAX } from '../../rpc/chat/dashboard/sessions.ts'
import { COMPRESSED_PER_MINUTE } from '../../rpc/edge/documents.ts'
import { WORD_CHARS_MAX } from '../../rpc/mcp/prompts.ts'
import { DEFAULT_HTTP_LIMITS } from '../../rpc/server/limits.ts'
import { USAGE_LOSS_MS_MAX } from '../../src/chat/stores/level-chat-keys.ts'
import { TABLE_QUESTIONS } from '../../src/p2p/host/node-table.ts'
import { ALLOWANCES, type Resource } from '../../src/p2p/peers/budget.ts'
import { REFUSED_REQUESTS } from '../../src/p2p/peers/exchange.ts'
import {
  BAN_MS,
  BAN_POINTS,
  DISCONNECT_POINTS,
  HALF_LIFE_MS,
  OFFENCES,
  type Offence,
} from '../../src/p2p/peers/offences.ts'
import { SERVING } from '../../src/p2p/peers/serving.ts'
import { WANTED } from '../../src/p2p/relay/puller.ts'
import { MIB_WORTH_MS, OWED_MS_MAX, OWED_MS_MAX_ALL } from '../../src/p2p/snapshot/waits.ts'
import { LATE_MAX } from '../../src/p2p/sync/body-sources.ts'
import { HELD_UP_MS } from '../../src/p2p/sync/candidates.ts'
import { CHOSEN_MS } from '../../src/p2p/sync/contest.ts'
import {
  HEADERS_HELD_MS_MAX,
  HEADERS_OWED_MS_MAX,
  PAGE_PACE_MS,
  PAGE_WORTH_MS,
} from '../../src/p2p/sync/header-walk.ts'
import {
  BODIES_MAX,
  HEADERS_MAX,
  POOL_IDS_MAX,
  SNAPSHOTS_MAX,
  TRANSACTION_IDS_MAX,
} from '../../src/p2p/wire/messages.ts'
import { CHANNELS, PROTOCOL_NAMES, PROTOCOLS, TOPIC_BYTES_MAX } from '../../src/p2p/wire/protocols.ts'
import { KEPT_BLOCKS } from '../../src/storage/pruning.ts'
import { sourceFiles } from '../support/source-tree.ts'
import { CONNECTION_LIMITS, perSecond } from './connection-limits.ts'
import { dearestBlocks } from './dearest-blocks.ts'
import { DOLLAR_LIMITS } from './dollar-limits.ts'
import { DOOR_LIMITS } from './door-limits.ts'
import { OUTSIDE_LIMITS } from './outside-limits.ts'

const percent = (share: number): string => String(Math.round(share * 100))

type Row = readonly [what: string, value: number | bigint | string, unit: string, where: string]

const { block, tx, coin } = LAUNCH_RULES

const CONSENSUS: readonly Row[] = [
  [
    'amount in a transaction, supply of an asset (exclusive)',
    SUPPLY_BOUND,
    'base units',
    'consensus/primitives/amount.ts',
  ],
  ['supply of the native coin', coin.supplyCap, 'base units', 'config/networks/rules.ts'],
  ['transactions of a block', block.bytesMax, 'bytes', 'config/networks/rules.ts'],
  ['weight of a block', block.weightMax, 'weight', 'config/networks/rules.ts'],
  ['declared state writes of a block', block.writesMax, 'records', 'config/networks/rules.ts'],
  ['transactions of a block, count', BLOCK_TRANSACTIONS_MAX, '', 'consensus/block/block.ts'],
  [
    'refunds that can fall due in one block',
    refundsPerBlockMax(LAUNCH_RULES),
    '',
    `chain/params.ts, at most ${REFUNDS_PER_BLOCK_MAX}`,
  ],
  ['transaction', TX_BYTES_MAX, 'bytes', 'consensus/tx/transaction.ts'],
  ['witness', WITNESS_BYTES_MAX, 'bytes', 'consensus/tx/transaction.ts'],
  ['memo', MEMO_BYTES_MAX, 'bytes', 'consensus/tx/transaction.ts'],
  ['keys of a policy', POLICY_KEYS_MAX, '', 'consensus/crypto/schemes.ts'],
  ['settlers of an agent', SETTLERS_MAX, '', 'consensus/tx/payloads.ts'],
  ['entries of an agent_receipt', RECEIPT_ENTRIES_MAX, '', 'consensus/tx/payloads.ts'],
  ['name', NAME_BYTES_MAX, 'bytes', 'consensus/tx/payloads.ts'],
  ['endpoint', ENDPOINT_BYTES_MAX, 'bytes', 'consensus/tx/payloads.ts'],
  ['request format', REQUEST_FORMAT_BYTES_MAX, 'bytes', 'consensus/tx/payloads.ts'],
  ['description', DESCRIPTION_BYTES_MAX, 'bytes', 'consensus/tx/payloads.ts'],
  ['least amount of an agent_invoke', tx.invokeAmountMin, 'base units', 'config/networks/rules.ts'],
  ['escrow terms', tx.invokeTerms.join(', '), 'blocks', 'config/networks/rules.ts'],
  ['maturity of rewards', coin.rewardMaturity, 'blocks', 'config/networks/rules.ts'],
  ['header time ahead of the local clock', block.futureMsMax, 'ms', 'config/networks/rules.ts'],
]

const NODE: readonly Row[] = [
  ['blocks that can be unwound', UNDO_BLOCKS, 'blocks', 'consensus/chain/database.ts'],
  [
    'reorganisation without the operator',
    SETTINGS['chain.reorganisation-max'].default as string,
    'blocks',
    'chain.reorganisation-max',
  ],
  ['waiting transactions', DEFAULT_MEMPOOL_POLICY.countMax, '', 'mempool.count-max'],
  ['waiting transactions', DEFAULT_MEMPOOL_POLICY.bytesMax, 'bytes', 'mempool.mib-max'],
  ['executable transactions of an account', DEFAULT_MEMPOOL_POLICY.executablePerAccount, '', 'mempool/policy.ts'],
  [
    'transactions of an account accepted before some are mined',
    `${DEFAULT_MEMPOOL_POLICY.unpaidPerAccount}, and ${DEFAULT_MEMPOOL_POLICY.unpaidPerBlock} a block`,
    '',
    'mempool/policy.ts',
  ],
  ['gapped transactions of an account', DEFAULT_MEMPOOL_POLICY.gappedPerAccount, '', 'mempool/policy.ts'],
  [
    'wait of a transaction that no block can take',
    DEFAULT_MEMPOOL_POLICY.unminableBlocksMax,
    'blocks',
    'mempool/policy.ts',
  ],
  ['signatures waiting for verification', DEFAULT_MEMPOOL_POLICY.verifyingMax, '', 'mempool/policy.ts'],
  ['replacement pays more by', DEFAULT_MEMPOOL_POLICY.replacementBumpBps, 'basis points', 'mempool/policy.ts'],
  ...DOOR_LIMITS,
  ['API keys of all owners, unused ones forgotten first', KEYS_IN_ALL_MAX, '', 'marketplace/chat/keys/key-book.ts'],
  ['use of keys that a killed process forgets', USAGE_LOSS_MS_MAX, 'ms', 'src/chat/stores/level-chat-keys.ts'],
  ['dashboard sessions of all wallets', SESSIONS_MAX, '', 'rpc/chat/dashboard/sessions.ts'],
  ['API keys that wallets make in a day from one address', KEYS_A_DAY_MAX, '', 'rpc/chat/dashboard/key-makers.ts'],
  [
    'API keys that wallets make in a day from one /24 (IPv6: /48)',
    NETWORK_KEYS_A_DAY_MAX,
    '',
    'rpc/chat/dashboard/key-makers.ts',
  ],
  ['delay of the event loop above which work is refused', DEFAULT_HTTP_LIMITS.delayMsMax, 'ms', 'rpc.delay-max-ms'],
  [
    'streams of events in all; then the client with most makes room for others',
    DEFAULT_HTTP_LIMITS.streams.openMax,
    '',
    'rpc/server/limits.ts',
  ],
  ['streams of events of an address', DEFAULT_HTTP_LIMITS.streams.openPerAddressMax, '', 'rpc/server/limits.ts'],
  [
    'streams of events of the operator, in addition',
    DEFAULT_HTTP_LIMITS.streams.operatorMax,
    '',
    'rpc/server/limits.ts',
  ],
  ['unread bytes of a stream', DEFAULT_HTTP_LIMITS.streams.bufferBytesMax, 'bytes', 'rpc/server/limits.ts'],
  [
    'how long a reader who is behind may take less than 1024 bytes a second',
    DEFAULT_HTTP_LIMITS.streams.behindMsMax,
    'ms',
    'rpc/server/limits.ts',
  ],
  ['blocks whose events a returning reader gets', REPLAY_BLOCKS_MAX, 'blocks', 'marketplace/queries/event-walk.ts'],
  ['A2A tasks kept; then the client with most loses its oldest, unpaid ones first', TASKS_MAX, '', 'rpc/a2a/tasks.ts'],
  ['requests and results of these tasks together', TASK_CHARS_MAX, 'characters', 'rpc/a2a/tasks.ts'],
  ['how long a task is kept after its last change', TASK_KEPT_MS, 'ms', 'rpc/a2a/tasks.ts'],
  ['parts of a message of A2A', PARTS_MAX, '', 'rpc/a2a/wire.ts'],
  ['part of a question that is read', ASKED_CHARS_MAX, 'characters', 'rpc/a2a/questions.ts'],
  ['argument of a prompt of MCP', WORD_CHARS_MAX, 'characters', 'rpc/mcp/prompts.ts'],
  [
    'addresses that external miners mine for at once; then the one with most clients makes room for others',
    REMOTE_ADDRESSES_MAX,
    '',
    'miner/seats.ts',
  ],
  ['clients that mine for these addresses; the same rule', REMOTE_SEATS_MAX, '', 'miner/seats.ts'],
  ['open jobs of an address', JOBS_PER_ADDRESS, '', 'miner/job-book.ts'],
  [
    'tokens, pool positions and stakes of an address that are listed, each',
    HOLDINGS_MAX,
    '',
    'marketplace/queries/accounts.ts',
  ],
  [
    'text of documents that is compressed in a minute; more is sent uncompressed',
    COMPRESSED_PER_MINUTE,
    'characters',
    'rpc/edge/documents.ts',
  ],
  ['services of an agent that are listed', AGENT_SERVICES_MAX, '', 'marketplace/queries/agents.ts'],
  [
    'calls of other services that are skipped for one page of the calls of one service',
    PASSED_OVER_MAX,
    '',
    'marketplace/till/claim-store.ts',
  ],
  ['pools that a price is read through', ROUTE_POOLS_MAX, '', 'marketplace/queries/prices.ts'],
  ['pools that a quote looks at', QUOTE_POOLS_MAX, '', 'amm/quote.ts'],
]

const RESOURCES: Readonly<Record<Resource, readonly [string, string]>> = {
  requests: ['answered requests of a peer', ''],
  bytesIn: ['bytes of the requests and gossip of a peer', 'bytes'],
  bytesOut: ['bytes of our replies to a peer', 'bytes'],
  statuses: ['of these, requests of status', ''],
  verificationMs: ['processor time for useless data of a peer', 'ms'],
  missingIds: ['transactions that a peer announced and does not have, before that is an offence', ''],
  uselessTransactions: ['useless transactions that a peer announced and gave, before it is asked later', ''],
}

const NETWORK: readonly Row[] = [
  ...CONNECTION_LIMITS,
  ...PROTOCOL_NAMES.flatMap((name): readonly Row[] => {
    const { requestMax, replyMax, deadlineMs, concurrentMax } = PROTOCOLS[name]
    const value = `${requestMax} / ${replyMax} bytes, ${deadlineMs} ms, ${concurrentMax} at once`
    return [[`request and reply of ${name}, deadline, of a peer`, value, '', 'src/p2p/wire/protocols.ts']]
  }),
  ['question to the table of nodes', CHANNELS.kad.requestMax, 'bytes', 'src/p2p/wire/protocols.ts'],
  ['answer of the table of nodes', CHANNELS.kad.replyMax, 'bytes', 'src/p2p/wire/protocols.ts'],
  ['questions to the table of nodes, of a peer', perSecond(TABLE_QUESTIONS), '', 'src/p2p/host/node-table.ts'],
  ['gossiped block', TOPIC_BYTES_MAX.blocks, 'bytes', 'src/p2p/wire/protocols.ts'],
  ['gossiped transaction', TOPIC_BYTES_MAX.transactions, 'bytes', 'src/p2p/wire/protocols.ts'],
  ['headers of a reply', HEADERS_MAX, '', 'src/p2p/wire/messages.ts'],
  ['blocks of a request for bodies', BODIES_MAX, '', 'src/p2p/wire/messages.ts'],
  ['transactions of a request or an announcement', TRANSACTION_IDS_MAX, '', 'src/p2p/wire/messages.ts'],
  ['waiting transaction ids of a peer, always allowed', WANTED.always, '', 'src/p2p/relay/puller.ts'],
  ['waiting transaction ids of a peer, while there is room', WANTED.ofPeer, '', 'src/p2p/relay/puller.ts'],
  [
    'waiting transaction ids of all peers; above that, each has only the number that is always allowed',
    WANTED.ofAll,
    '',
    'src/p2p/relay/puller.ts',
  ],
  ['ids of a page of the mempool', POOL_IDS_MAX, '', 'src/p2p/wire/messages.ts'],
  ['snapshots that a node offers', SNAPSHOTS_MAX, '', 'src/p2p/wire/messages.ts'],
  ['waiting for a snapshot that one MiB makes up for', MIB_WORTH_MS, 'ms', 'src/p2p/snapshot/waits.ts'],
  ['waiting beyond that after which a peer is not asked any more', OWED_MS_MAX, 'ms', 'src/p2p/snapshot/waits.ts'],
  [
    'waiting beyond that, all peers together, after which the download ends',
    OWED_MS_MAX_ALL,
    'ms',
    'src/p2p/snapshot/waits.ts',
  ],
  ['waiting for a chosen peer before a state is taken from an inbound one', CHOSEN_MS, 'ms', 'src/p2p/sync/contest.ts'],
  ['waiting for headers that a full page makes up for', PAGE_WORTH_MS, 'ms', 'src/p2p/sync/header-walk.ts'],
  [
    'waiting beyond that after which a peer gives way to others',
    HEADERS_OWED_MS_MAX,
    'ms',
    'src/p2p/sync/header-walk.ts',
  ],
  ['waiting that a full page makes up for, over a whole branch', PAGE_PACE_MS, 'ms', 'src/p2p/sync/header-walk.ts'],
  ['waiting beyond that, over a whole branch', HEADERS_HELD_MS_MAX, 'ms', 'src/p2p/sync/header-walk.ts'],
  [
    'waiting for a peer that shows no more work than is proven, after which it has no say',
    HELD_UP_MS,
    'ms',
    'src/p2p/sync/candidates.ts',
  ],
  ['times that the import waits for a peer before all others come first', LATE_MAX, '', 'src/p2p/sync/body-sources.ts'],
  ['blocks kept whole by a pruned node', KEPT_BLOCKS, 'blocks', 'src/storage/pruning.ts'],
  ...(Object.keys(ALLOWANCES) as Resource[]).map((resource): Row => {
    const [what, unit] = RESOURCES[resource]
    return [what, perSecond(ALLOWANCES[resource]), unit, 'src/p2p/peers/budget.ts']
  }),
  ['share of the main thread for answering one peer', percent(SERVING.peerShare), '%', 'src/p2p/peers/serving.ts'],
  ['time over which that share is averaged', SERVING.peerWindowMs, 'ms', 'src/p2p/peers/serving.ts'],
  ['share of the main thread for answering all peers', percent(SERVING.allShare), '%', 'src/p2p/peers/serving.ts'],
  [
    'further share for checking headers whose work is not shown yet',
    percent(SERVING.checksShare),
    '%',
    'src/p2p/peers/serving.ts',
  ],
  [
    'further share for checking announced transactions that were asked for',
    percent(SERVING.toldShare),
    '%',
    'src/p2p/peers/serving.ts',
  ],
  ['time that all peers may take of it at once', SERVING.allBurstMs, 'ms', 'src/p2p/peers/serving.ts'],
  ['waiting of a request, then it is refused `busy`', SERVING.waitMs, 'ms', 'src/p2p/peers/serving.ts'],
  ['charged for the transport of a request', SERVING.requestMs, 'ms', 'src/p2p/peers/serving.ts'],
  ['charged for the transport of a MiB of a reply', SERVING.mibMs, 'ms', 'src/p2p/peers/serving.ts'],
  ['requests that a `busy` refusal counts as', REFUSED_REQUESTS, '', 'src/p2p/peers/exchange.ts'],
  ...(Object.keys(OFFENCES) as Offence[]).map(
    (offence): Row => [`points for ${offence}`, OFFENCES[offence], 'points', 'src/p2p/peers/offences.ts'],
  ),
  ['points at which a peer is disconnected', DISCONNECT_POINTS, 'points', 'src/p2p/peers/offences.ts'],
  ['points at which a peer is banned', BAN_POINTS, 'points', 'src/p2p/peers/offences.ts'],
  ['time in which points fade by half', HALF_LIFE_MS, 'ms', 'src/p2p/peers/offences.ts'],
  ['time of a ban', BAN_MS, 'ms', 'src/p2p/peers/offences.ts'],
]

const MARKET: readonly Row[] = [
  ['wait for confirmations within one call', DEFAULT_MARKET_SETTINGS.settleWaitMs, 'ms', 'market.settle-wait-ms'],
  [
    'calls that wait so, for one payment and in all, of each rail; then who has most makes room for others',
    `${WAITING_PER_PAYMENT_MAX}, ${WAITING_MAX}`,
    '',
    'marketplace/till/waiting-room.ts',
  ],
  ['numbers of calls above the lowest unused one of a tab', SEQ_WINDOW, '', 'marketplace/till/rails/tab/seq-window.ts'],
  ['calls on tabs that are written in one group', TOGETHER_MAX, '', 'marketplace/till/gathered.ts'],
  [
    'wrong signatures of vouchers within a minute, from one client and for one tab',
    `${WRONG_SIGNATURES.ofClient}, ${WRONG_SIGNATURES.ofTab}`,
    '',
    'marketplace/till/rails/tab/bad-vouchers.ts',
  ],
  [
    'blocks before the end of a tab in which no call is taken, besides those of its work',
    TAB_MARGIN_BLOCKS,
    'blocks',
    'marketplace/till/rails/tab/settings.ts',
  ],
  ...DEFAULT_MARKET_SETTINGS.confirmationSteps.map(
    ({ belowUsdMicros, confirmations }): Row => [
      `confirmations while the payments of one block that are taken here come to less than ${Number(belowUsdMicros) / 1e6} USD`,
      confirmations,
      'blocks',
      'marketplace/till/settings.ts',
    ],
  ),
  ['confirmations above that', DEFAULT_MARKET_SETTINGS.confirmationsMax, 'blocks', 'marketplace/till/settings.ts'],
  ['blocks kept for the receipt', RECEIPT_MARGIN_BLOCKS, 'blocks', 'marketplace/till/settings.ts'],
  ['depth at which a receipt is final', FINAL_DEPTH, 'blocks', 'marketplace/till/settings.ts'],
  ...DOLLAR_LIMITS,
  ['results kept, while they have room', DEFAULT_MARKET_SETTINGS.resultKeepMs, 'ms', 'market.result-keep-hours'],
  [
    'results kept, each rail; beyond it those go first that take more of it than their price is of all prices paid',
    DEFAULT_MARKET_SETTINGS.resultBytesMax,
    'bytes',
    'market.result-keep-mib',
  ],
  [
    'part of these bytes beyond which a payer loses such results before others do',
    `1/${PAYER_PART}`,
    '',
    'marketplace/till/claim-store.ts',
  ],
]

const SERVICES: readonly Row[] = [
  ['results of services kept while the head stays', RESULTS_KEPT_MAX, '', 'marketplace/till/workshop.ts'],
  ['services published at once', PUBLISHED_AT_ONCE, '', 'marketplace/till/rails/native/registrar.ts'],
  ['blocks of a whale watch', WHALE_WINDOW.blocks, 'blocks', 'marketplace/services/chain/whale-watch.ts'],
  [
    'transactions after which a whale watch reads no further block',
    WHALE_WINDOW.transactions,
    '',
    'marketplace/services/chain/whale-watch.ts',
  ],
  [
    'addresses of agents and of tokens that are known by name, each',
    NAMED_MAX,
    '',
    'marketplace/queries/known-addresses.ts',
  ],
  [
    'blocks that an explorer summary counts over',
    SUMMARY_WINDOW.blocks,
    'blocks',
    'marketplace/services/chain/explorer-summary.ts',
  ],
  [
    'holders that concentration is worked out over',
    COVERED_HOLDERS_MAX,
    '',
    'marketplace/services/tokens/holder-stats.ts',
  ],
  ['tokens of a supply audit', AUDITED_TOKENS_MAX, '', 'marketplace/services/tokens/supply-audit.ts'],
  ['holders that a supply audit adds up', SUPPLY_ENTRIES_MAX, '', 'marketplace/queries/supply.ts'],
  ['agents of a roster', ROSTER_AGENTS_MAX, '', 'marketplace/services/market/agent-roster.ts'],
  [
    'services after which a search reads no further agent',
    SEARCHED_SERVICES_MAX,
    '',
    'marketplace/services/market/service-search.ts',
  ],
  [
    'pools that figures of the whole market are summed over',
    MARKET_POOLS_MAX,
    '',
    'marketplace/queries/market-pools.ts',
  ],
  ['pools of one pool analysis', ANALYSED_POOLS_MAX, '', 'marketplace/services/market/pool-analytics.ts'],
  [
    'pools of the native coin that an arbitrage scan begins with',
    NATIVE_POOLS_MAX,
    '',
    'marketplace/queries/arbitrage.ts',
  ],
  ['stable tokens of a health check', STABLES_MAX, '', 'marketplace/queries/stables.ts'],
  ['tokens whose names are compared with a new one', NAMES_COMPARED_MAX, '', 'marketplace/queries/look-alikes.ts'],
  ['candles of a price history', HISTORY_HOURS, 'hours', 'marketplace/services/market/price-history.ts'],
  ['text that is signed', SIGNED_TEXT_CHARS_MAX, 'characters', 'consensus/tx/signed-text.ts'],
]

const SERVICE_FILES = sourceFiles(['marketplace/services'])

const HEAD = `# Limits

Made from the constants by \`npm run gen\`; a test compares them.

- Consensus limits are the same on every node. The others are defaults of this release.
- If the last column is a setting, such as \`mempool.count-max\`, the operator can change it. Otherwise it is the file of the constant.
- What a caller sees when a limit is reached is in [errors.md](errors.md).
`

/** Names of the rows that callers and payers are most likely to meet. */
const FIRST_MET: readonly string[] = [
  'calls without a payment per minute and address',
  'calls with a payment per minute and address',
  'reads per minute and address',
  'transactions per minute and address',
  'chats, speech and questions to the info API per minute and address',
  'body of an HTTP request',
  'unanswered requests of a connection',
  'least amount of an agent_invoke',
  'executable transactions of an account',
  'wait for confirmations within one call',
  'results kept, while they have room',
]

function firstMet(): readonly Row[] {
  const rows = [...CONSENSUS, ...NODE, ...MARKET]
  return FIRST_MET.map((named) => rows.find(([what]) => what === named) ?? missing(named))
}

function missing(what: string): never {
  throw new Error(`no limit of: ${what}`)
}

/** The text of `docs/limits.md`. */
export function limitsDocument(): string {
  const services = SERVICE_TABLE.flatMap(({ serviceId, timeoutMs, resultBytesMax }): Row[] => [
    [`time of ${serviceId}`, timeoutMs, 'ms', fileOf(serviceId)],
    [`result of ${serviceId}`, resultBytesMax, 'bytes', fileOf(serviceId)],
  ])
  return [
    HEAD,
    section('What callers meet first', firstMet()),
    section('Consensus', CONSENSUS),
    dearestBlocks(),
    section('Node', NODE),
    section('Network', NETWORK),
    section('Market', [...MARKET, ...SERVICES, ...services]),
    section('Outside of the chain', OUTSIDE_LIMITS),
  ].join('\n')
}

/** The file of a service: its id without `node-`, in the folder of its subject. */
function fileOf(serviceId: string): string {
  const name = `/${serviceId.replace('node-', '')}.ts`
  const [file] = SERVICE_FILES.filter(({ path }) => path.endsWith(name))
  if (file === undefined) throw new Error(`no file of the service ${serviceId}`)
  return file.path
}

function section(title: string, rows: readonly Row[]): string {
  const lines = rows.map(([what, value, unit, where]) => `| ${what} | ${value} | ${unit} | ${where} |`)
  return [`## ${title}`, '', '| limit of | value | unit | where |', '|---|--:|---|---|', ...lines, ''].join('\n')
}
