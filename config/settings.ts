import type { RateBucket } from '../rpc/contract/route.ts'
import type { TrustedProxies } from '../rpc/edge/proxies.ts'
import { CHAT_SETTINGS, type ChatConfig } from './chat-settings.ts'
import type { NetworkName } from './networks/table.ts'
import { OUTSIDE_SETTINGS, type OutsideConfig } from './outside-settings.ts'
import { choice, dollars, flag, integer, type Setting, text } from './setting.ts'

const MIB = [1, 65_536] as const
const PORTS = [0, 65_535] as const
const THREADS = [0, 256] as const
const RATES = [1, 100_000_000] as const

const EVM_ADDRESS = 'an address of 0x and 40 hex digits'
const EVM = /^0x[0-9a-fA-F]{40}$/

/** Every setting of the daemon, in the order of `farthing config print`. */
export const SETTINGS = {
  network: choice('Which network to join', 'devnet', ['mainnet', 'testnet', 'devnet']),
  'data-dir': text('Folder of chain, wallets and market records; default ~/.farthing/<network>', null, 'a path'),
  'rpc.host': text(
    'Address that the API listens on',
    '127.0.0.1',
    'a host name or IP address',
    /^[0-9a-zA-Z.:_-]{1,253}$/,
  ),
  'rpc.port': integer('Port of the API; 0 takes a free one', 8420, PORTS),
  'rpc.public-url': text(
    'Base address of the API in documents and quotes; default: from the Host header of each request',
    null,
    'an http(s) URL without a slash at the end',
    /^https?:\/\/[^\s/]+(\/[^\s]*[^\s/])?$/,
  ),
  'rpc.trust-proxy': {
    type: { kind: 'proxies' },
    default: 'false',
    about:
      'Proxies whose X-Forwarded-For and X-Forwarded-Proto headers are believed: addresses and networks separated by commas, or true for every client',
  },
  'rpc.rate-read': integer('Reads per minute and address', 3_000, RATES),
  'rpc.rate-list': integer('Long lists, whole blocks and other expensive reads per minute and address', 600, RATES),
  'rpc.rate-transaction': integer('Transactions per minute and address', 6_000, RATES),
  'rpc.rate-simulate': integer('Transactions simulated per minute and address', 1_200, RATES),
  'rpc.rate-quote': integer('Calls without a payment per minute and address', 9_000, RATES),
  'rpc.rate-settle': integer('Calls with a payment per minute and address', 15_000, RATES),
  'rpc.rate-tab': integer('Calls on tabs that the node knows per minute and address', 120_000, RATES),
  'rpc.rate-mining': integer('Templates and solutions for mining per minute and address', 1_200, RATES),
  'rpc.rate-health': integer('Health checks and scrapes per minute and address', 6_000, RATES),
  'rpc.rate-events': integer('Event streams opened per minute and address', 300, RATES),
  'rpc.rate-mcp': integer('Calls over MCP and A2A without a payment per minute and address', 3_000, RATES),
  'rpc.rate-chat': integer('Chats, speech and questions to the info API per minute and address', 1_200, RATES),
  'rpc.rate-sign-in': integer('Attempts to sign in to the dashboard per minute and address', 20, RATES),
  'rpc.delay-max-ms': integer(
    'Event loop delay above which the node refuses requests, first those that are cheap to repeat',
    150,
    [10, 100_000],
  ),
  'rpc.concurrent-max': integer('Requests answered at once', 1_024, [1, 100_000]),
  'mcp.allowed-origins': text(
    "Origins of web pages that may use /api/mcp, separated by commas, or * for all; the node's own origin always may",
    null,
    'origins like https://chat.example, separated by commas, or *',
    /^(\*|https?:\/\/[^\s/,]+(,https?:\/\/[^\s/,]+)*)$/,
  ),
  'p2p.enabled': flag('Whether this node connects to other nodes', true),
  'p2p.host': text(
    'IP address to listen on for peers; default: all addresses of this machine, on the devnet 127.0.0.1',
    null,
    'an IP address',
    /^(\d{1,3}(\.\d{1,3}){3}|[0-9a-fA-F]{0,4}:[0-9a-fA-F:.]{1,40})$/,
  ),
  'p2p.port': integer('Port of the peer-to-peer network; 0 takes a free one', 8421, PORTS),
  'p2p.peers': text(
    'Nodes to stay connected to, separated by commas: /ip4/10.0.0.2/tcp/8421/p2p/<id>',
    null,
    'multiaddresses separated by commas',
    /^\/[^\s,]+(,\/[^\s,]+)*$/,
  ),
  'p2p.outbound': integer('Outbound connections to keep', 8, [0, 64]),
  'p2p.inbound-max': integer('Most inbound connections', 48, [0, 1_024]),
  'p2p.mdns': choice('Whether to find nodes on the local network by mDNS; auto: only on the devnet', 'auto', [
    'auto',
    'true',
    'false',
  ]),
  'p2p.dht': flag('Whether to find nodes through a Kademlia table (DHT)', true),
  'p2p.upnp': flag('Whether to ask the router to forward the port (UPnP)', false),
  'p2p.autonat': flag('Whether to ask peers if this node can be reached (AutoNAT)', false),
  'p2p.announce': text(
    'Address to announce to peers, if it differs from the one listened on',
    null,
    'a multiaddress like /dns4/node.example/tcp/8421',
    /^\/(ip4|ip6|dns|dns4|dns6)\/[^\s,/]+\/tcp\/[1-9][0-9]{0,4}$/,
  ),
  'sync.snapshot': choice(
    'How a new node gets the state; auto: from all blocks if a peer serves them quickly, else from a snapshot',
    'auto',
    ['auto', 'always', 'never'],
  ),
  'storage.mode': choice(
    'Kept data. archive: everything; full: all blocks, and witnesses of some days; pruned: only recent blocks',
    'full',
    ['archive', 'full', 'pruned'],
  ),
  'storage.witness-days': integer('Days for which a full node keeps witnesses', 7, [1, 3_650]),
  'storage.snapshot-blocks': integer(
    'Blocks between the snapshots that are offered to new nodes',
    1_200,
    [10, 100_000],
  ),
  'mine.threads': integer('Mining threads; 0 does not mine', 0, THREADS),
  'mine.address': text('Address that mining pays; default: the market wallet', null, 'an address of the network'),
  'verify.threads': integer('Signature verification threads; 0: one per core', 0, THREADS),
  'wallet.passphrase-file': text('File with the passphrase of the wallets', null, 'a path'),
  'dev-key': integer(
    'Number of the development key that the caller wallet of a devnet gets (1 to 10); the market wallet gets the next one',
    1,
    [1, 10],
  ),
  'market.enabled': flag('Whether this node sells services', true),
  'market.agent-id': text(
    'Agent id on chain; default: made from the owner address',
    null,
    '3 to 32 of a-z, 0-9 and inner hyphens',
    /^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]$/,
  ),
  'market.agent-name': text('Display name of the agent', 'Farthing node', '1 to 64 characters', /^\S(.{0,62}\S)?$/u),
  'market.owner': text('Owner address, if its key is kept elsewhere', null, 'an address of the network'),
  'market.payout': text('Address that calls pay; default: the owner', null, 'an address of the network'),
  'market.prices': {
    type: { kind: 'prices' },
    default: null,
    about: 'Dollar prices of services that differ from the defaults: node-a=0.01,node-b=0.02',
  },
  'market.min-pool-depth-usd': dollars(
    'Least dollars in the pool that prices the coin; with less, nothing is quoted in the coin',
    '10000',
  ),
  'market.native-usd-min': dollars('Dollar price of the coin below which nothing is quoted in it', null),
  'market.native-usd-max': dollars('Dollar price of the coin above which nothing is quoted in it', null),
  'market.settlers': text(
    'Settler addresses of the other replicas, separated by commas; they are registered on chain beside that of this node',
    null,
    'addresses separated by commas, at most 7',
    /^[0-9a-z]+(,[0-9a-z]+){0,6}$/,
  ),
  'market.claims-url': {
    type: { kind: 'text', allowed: 'a postgres:// URL', pattern: /^postgres(ql)?:\/\/\S+$/ },
    default: null,
    about:
      'PostgreSQL database for the claims of several replicas, postgres://user@host/database; default: the data folder',
    isSecret: true,
  },
  'market.claims-lease-seconds': integer(
    'Seconds of silence after which a replica counts as dead; the same for all replicas that share claims',
    30,
    [2, 3_600],
  ),
  'market.tabs': flag(
    'Whether callers can open tabs with this agent; those that are open are claimed in any case',
    true,
  ),
  'market.tab-close-delay': integer(
    'Least blocks between a request of a payer to close its tab and the end of the tab; the next delay that the network knows is taken',
    400,
    [1, 1_000_000],
  ),
  'market.tab-key-file': text(
    'File with the key (64 hex digits) that signs the receipts of tabs; default: the one in the store that replicas share, else made from the market wallet',
    null,
    'a path',
  ),
  'market.pause-depth': integer(
    'Depth in blocks from which a reorganisation is reported and pauses sales',
    6,
    [1, 2_400],
  ),
  'market.settle-wait-ms': integer('Longest wait for confirmations within one call', 30_000, [0, 120_000]),
  'market.result-keep-hours': integer(
    'How long results are kept for repeated calls, while they have room',
    24,
    [1, 8_760],
  ),
  'market.result-keep-mib': integer(
    'Most MiB of kept results per rail; above it, results that are large for their price are deleted first',
    256,
    MIB,
  ),
  'stable.enabled': flag(
    'Whether calls can be paid in a dollar stablecoin of an EVM network (x402 scheme exact)',
    false,
  ),
  'stable.network': choice(
    'Network of the stablecoin; custom also needs stable.network-word, chain-id, asset-contract and asset-name',
    'base',
    ['base', 'base-sepolia', 'custom'],
  ),
  'stable.network-word': text(
    'Name of the network in x402 version 1, if it differs from the default',
    null,
    'a word like base-sepolia',
    /^[a-z0-9]+(-[a-z0-9]+)*$/,
  ),
  'stable.chain-id': text(
    'EVM chain id, if it differs from the default',
    null,
    'a whole number from 1',
    /^[1-9][0-9]{0,14}$/,
  ),
  'stable.asset-contract': text('Token contract, if it is not the USDC of the network', null, EVM_ADDRESS, EVM),
  'stable.asset-symbol': text('Symbol of the token, for people', null, '1 to 11 characters', /^\S{1,11}$/u),
  'stable.asset-name': text("Name in the token's EIP-712 domain", null, '1 to 64 characters', /^\S(.{0,62}\S)?$/u),
  'stable.asset-version': text("Version in the token's EIP-712 domain", null, '1 to 16 characters', /^\S{1,16}$/u),
  'stable.asset-decimals': text('Decimals of the token, if they are not 6', null, '0 to 18', /^([0-9]|1[0-8])$/),
  'stable.pay-to': text('Address on the EVM network that stablecoin calls pay', null, EVM_ADDRESS, EVM),
  'stable.facilitators': text(
    'Base addresses of x402 facilitators, separated by commas, in the order in which they are asked',
    null,
    'http(s) URLs separated by commas, at most 8',
    /^https?:\/\/[^\s,]+(,https?:\/\/[^\s,]+){0,7}$/,
  ),
  'stable.facilitator-auth-file': text(
    'JSON file with the headers that facilitators require: {"<url>": {"verify": {"authorization": "..."}}}, * for all paths',
    null,
    'a path',
  ),
  'stable.rpc-url': {
    type: { kind: 'text', allowed: 'an http(s) URL', pattern: /^https?:\/\/[^\s,]+$/ },
    default: null,
    about: 'JSON-RPC address of an EVM node, to find out whether a payment was settled if the facilitator does not say',
    isSecret: true,
  },
  'stable.max-timeout-seconds': integer('How long a stablecoin offer can be paid', 120, [15, 3_600]),
  'stable.refund-key-file': text(
    'File with the key (64 hex digits) of the EVM wallet that pays stablecoin refunds',
    null,
    'a path',
  ),
  'stable.channels': flag(
    'Whether stablecoin calls can also be paid from channels (x402 scheme batch-settlement)',
    true,
  ),
  'stable.channel-gas-key-file': text(
    'File with the key (64 hex digits) of an EVM account that sends the transactions of channels through stable.rpc-url and pays their gas; without it facilitators do',
    null,
    'a path',
  ),
  'stable.channel-withdraw-delay': integer(
    'Seconds that this node has for its claim after a payer asked to withdraw from its channel',
    86_400,
    [900, 2_592_000],
  ),
  'stable.channel-deposit-min': dollars('Least deposit in a channel', '0.05'),
  'stable.channel-unclaimed-max': dollars(
    'Most that is charged on one channel before it is claimed; from three quarters on it is claimed at once',
    '5',
  ),
  ...OUTSIDE_SETTINGS,
  ...CHAT_SETTINGS,
  'chain.reorganisation-max': integer(
    'Deepest reorganisation that is accepted without the operator',
    1_200,
    [1, 2_399],
  ),
  'mempool.count-max': integer('Most waiting transactions', 10_000, [100, 1_000_000]),
  'mempool.mib-max': integer('Most MiB of waiting transactions', 32, MIB),
  'storage.cache-mib': integer('LevelDB block cache', 32, MIB),
  'storage.write-buffer-mib': integer('LevelDB write buffer', 16, MIB),
  'log.level': choice('Least severity that is logged', 'info', [
    'trace',
    'debug',
    'info',
    'warn',
    'error',
    'fatal',
    'silent',
  ]),
  'log.format': choice('How logs are written; auto: pretty on a terminal, else JSON', 'auto', [
    'auto',
    'json',
    'pretty',
  ]),
} as const satisfies Record<string, Setting>

/** Name of a setting. */
export type SettingName = keyof typeof SETTINGS

/** The source of a value. */
export type Origin = 'default' | 'file' | 'environment' | 'flag'

/** A setting's value and its source. */
export interface Resolved {
  readonly value: string | null
  readonly origin: Origin
}

/** Prices in millionths of a dollar by service id. */
export type Prices = Readonly<Record<string, bigint>>

/** The parsed configuration of the daemon. */
export interface Config {
  readonly network: NetworkName
  readonly dataDir: string
  readonly rpc: {
    readonly host: string
    readonly port: number
    readonly publicUrl: string | null
    readonly trustProxy: TrustedProxies
    /** Requests per minute and address. */
    readonly rates: Readonly<Record<RateBucket, number>>
    readonly delayMsMax: number
    readonly concurrentMax: number
  }
  readonly mcp: { readonly allowedOrigins: readonly string[] }
  readonly p2p: {
    readonly enabled: boolean
    /** Null for the network's default. */
    readonly host: string | null
    readonly port: number
    readonly peers: readonly string[]
    readonly outbound: number
    readonly inboundMax: number
    readonly mdns: 'auto' | 'true' | 'false'
    readonly dht: boolean
    readonly upnp: boolean
    readonly autonat: boolean
    readonly announce: string | null
  }
  readonly sync: { readonly snapshot: 'auto' | 'always' | 'never' }
  readonly mine: { readonly threads: number; readonly address: string | null }
  readonly verify: { readonly threads: number }
  readonly devKey: number
  readonly wallet: { readonly passphraseFile: string | null }
  readonly market: {
    readonly enabled: boolean
    readonly agentId: string | null
    readonly agentName: string
    readonly owner: string | null
    readonly payout: string | null
    readonly prices: Prices
    /** This and the two bounds of the coin's price are dollars in millionths; a bound is null if there is none. */
    readonly minPoolDepthMicros: bigint
    readonly nativeUsdMinMicros: bigint | null
    readonly nativeUsdMaxMicros: bigint | null
    /** Addresses of other replicas' settlers. */
    readonly settlers: readonly string[]
    /** May hold a password; null for the data folder. */
    readonly claimsUrl: string | null
    readonly claimsLeaseSeconds: number
    readonly tabs: boolean
    /** In blocks. */
    readonly tabCloseDelay: number
    /** Null for the key of the wallet. */
    readonly tabKeyFile: string | null
    readonly pauseDepth: number
    readonly settleWaitMs: number
    readonly resultKeepHours: number
    readonly resultKeepMib: number
  }
  readonly stable: {
    readonly enabled: boolean
    readonly network: 'base' | 'base-sepolia' | 'custom'
    /** Overrides of the network's defaults; null for the default. */
    readonly networkWord: string | null
    readonly chainId: number | null
    readonly assetContract: string | null
    readonly assetSymbol: string | null
    readonly assetName: string | null
    readonly assetVersion: string | null
    readonly assetDecimals: number | null
    readonly payTo: string | null
    readonly facilitators: readonly string[]
    readonly facilitatorAuthFile: string | null
    /** May hold a key. */
    readonly rpcUrl: string | null
    readonly maxTimeoutSeconds: number
    readonly refundKeyFile: string | null
    readonly channels: boolean
    /** Null: facilitators send the transactions of channels. */
    readonly channelGasKeyFile: string | null
    /** In seconds. */
    readonly channelWithdrawDelay: number
    readonly channelDepositMinMicros: bigint
    readonly channelUnclaimedMaxMicros: bigint
  }
  readonly outside: OutsideConfig
  readonly chat: ChatConfig
  readonly chain: { readonly reorganisationMax: number }
  readonly mempool: { readonly countMax: number; readonly mibMax: number }
  readonly storage: {
    readonly cacheMib: number
    readonly writeBufferMib: number
    readonly mode: 'archive' | 'full' | 'pruned'
    readonly witnessDays: number
    readonly snapshotBlocks: number
  }
  readonly log: { readonly level: string; readonly format: 'auto' | 'json' | 'pretty' }
}
