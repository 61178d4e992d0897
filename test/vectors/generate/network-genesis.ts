import { ed25519 } from '@noble/curves/ed25519.js'
import { ml_dsa44, ml_dsa65 } from '@noble/post-quantum/ml-dsa.js'
import { blockId, headerBytes, workTarget } from './block-wire.ts'
import { hex, join, utf8 } from './bytes.ts'
import { devLedgers, EMPTY, FORMATS, type Ledgers } from './network-ledgers.ts'
import { type Beginning, genesisRecords } from './network-records.ts'
import { treeHash } from './state-tree.ts'
import { accountKeys, addressOf } from './tx-fields.ts'
import { listRoot, tagged, u8, u32, u256, type VectorSet } from './tx-wire.ts'

/** Genesis and rules of a network. This file is written from the specification and the parameters that it names. */

export interface NetworkCase {
  readonly name: string
  readonly addressPrefix: string
  readonly genesisId: string
  readonly genesisHeader: string
  readonly stateRoot: string
  /** Hash of the canonical JSON text of the rules. */
  readonly fingerprint: string
  readonly allocations: readonly { readonly address: string; readonly amount: string }[]
}

interface Network {
  readonly name: string
  readonly addressPrefix: string
  readonly message: string
  readonly timeMs: number
  readonly powLimit: bigint
  readonly initialTarget: bigint
  readonly anchorResetGapMs: number | null
  readonly locks: readonly number[]
  readonly rotationDelay: number
  /** Height from which the network has tabs. */
  readonly tabsFrom: number
  readonly allocations: Beginning['allocations']
  readonly ledgers: Ledgers
}

const COIN = 100_000_000n
const GRANT = 1_000_000n * COIN
const CAP = 10n ** 16n
/** 2026-11-01T00:00:00Z. */
const TIME_MS = 1_793_491_200_000
/** 2026-11-15T00:00:00Z. */
const TESTNET_TIME_MS = 1_794_700_800_000

/** Seeds of development key `number` under a scheme. They derive from H(text tag, "farthing devnet key N"). */
function devSeeds(number: number, scheme: number): readonly [classical: Uint8Array, lattice: Uint8Array] {
  const seed = tagged('farthing/text/1', utf8(`farthing devnet key ${number}`))
  return [tagged('farthing/seed-ed25519/1', u8(scheme), seed), tagged('farthing/seed-ml-dsa/1', u8(scheme), seed)]
}

/** The account of a development key, in hex: scheme 1. */
function devAddress(number: number): string {
  const [classical, lattice] = devSeeds(number, 1)
  const bytes = join(ed25519.getPublicKey(classical), ml_dsa44.keygen(lattice).publicKey)
  return hex(addressOf(accountKeys(1, 1, [{ scheme: 1, bytes }])))
}

/** A development key as a member of the committee, in hex: scheme 2. */
function memberKey(number: number): string {
  const [classical, lattice] = devSeeds(number, 2)
  return hex(join(ed25519.getPublicKey(classical), ml_dsa65.keygen(lattice).publicKey))
}

const EASY = workTarget(2n ** 14n)

const DAY = 28_800

function networks(): readonly Network[] {
  const locks = [7 * DAY, 30 * DAY, 90 * DAY, 365 * DAY]
  const start = { timeMs: TIME_MS, powLimit: EASY, initialTarget: EASY, anchorResetGapMs: null }
  const main = { ...start, locks, rotationDelay: DAY, tabsFrom: 60 * DAY, allocations: [], ledgers: EMPTY }
  const addresses = Array.from({ length: 10 }, (_, i) => devAddress(i + 1))
  return [
    { ...main, name: 'mainnet', addressPrefix: 'far', message: 'Farthing mainnet' },
    {
      ...{ ...main, name: 'testnet', addressPrefix: 'tfar', message: 'Farthing testnet', timeMs: TESTNET_TIME_MS },
      ...{ powLimit: workTarget(2n ** 12n), initialTarget: workTarget(2n ** 16n), tabsFrom: 40 * DAY },
    },
    {
      ...{
        timeMs: TIME_MS,
        name: 'devnet',
        addressPrefix: 'dfar',
        message: 'Farthing devnet',
        anchorResetGapMs: 120_000,
      },
      ...{ powLimit: workTarget(1_000n), initialTarget: workTarget(12_000n) },
      ...{ locks: [10, 100, 1_000, 10_000], rotationDelay: 20, tabsFrom: 0 },
      allocations: addresses.map((address) => ({ address, amount: GRANT })),
      ledgers: devLedgers(addresses, [8, 9, 10].map(memberKey)),
    },
  ]
}

const PRICED = { dollar: 'FUSD', feeBps: 30 }

function stateRoot({ allocations, ledgers }: Network): Uint8Array {
  const bridged = BRIDGE.map(({ asset }) => asset)
  const records = genesisRecords({ allocations, ledgers, supplyCap: CAP, bridged, priced: PRICED })
  return treeHash(
    records.map(({ key, value }) => ({
      path: tagged('farthing/state-key/1', key),
      value: tagged('farthing/state-value/1', value),
    })),
  )
}

function genesisHeader(network: Network): Uint8Array {
  const { message, powLimit, timeMs } = network
  const text = utf8(message)
  return headerBytes({
    ...{ version: 1, height: 0, parent: new Uint8Array(32), timeMs, target: powLimit },
    transactionsRoot: listRoot('tx', []),
    witnessRoot: listRoot('witness', []),
    receiptsRoot: listRoot('receipt', []),
    stateRoot: stateRoot(network),
    historyRoot: tagged('farthing/history-root/1', u32(0), new Uint8Array(32), u256(0)),
    ...{ miner: new Uint8Array(32), baseFee: 32n, weightUsed: 0, nonce: 0n },
    extra: join(text, new Uint8Array(32 - text.length)),
  })
}

const DOLLARS = { asset: 'XUSD', feeBps: 10n, minimum: 5_000_000n, dailyMintCap: 10n ** 12n }

/** The ten bridge networks: key, name, confirmations, and the rules about the wrapped token. */
const BRIDGE = (
  [
    ['ethereum', 'Ethereum', 64, DOLLARS],
    ['base', 'Base', 600, DOLLARS],
    ['arbitrum', 'Arbitrum', 4_800, DOLLARS],
    ['optimism', 'Optimism', 600, DOLLARS],
    ['polygon', 'Polygon', 512, DOLLARS],
    ['bnb', 'BNB Chain', 60, DOLLARS],
    ['avalanche', 'Avalanche', 60, DOLLARS],
    ['solana', 'Solana', 64, DOLLARS],
    ['bitcoin', 'Bitcoin', 6, { asset: 'XBTC', feeBps: 20n, minimum: 20_000n, dailyMintCap: 10n ** 9n }],
    ['litecoin', 'Litecoin', 12, { asset: 'XLTC', feeBps: 20n, minimum: 10n ** 7n, dailyMintCap: 10n ** 12n }],
  ] as const
).map(([key, name, confirmations, money], i) => ({ key, name, confirmations, format: FORMATS[i], ...money }))

const TX_RULES = {
  chainId: 1,
  weight: {
    ...{ perSignature: 400, perStateWrite: 200, createAccount: 2_000, registerAgent: 20_000 },
    ...{ publishService: 2_000, invokeRefund: 800, createMarket: 20_000, bridgeRecord: 2_000, bridgeRotation: 2_400 },
  },
  ...{ invokeAmountMin: 100_000n, invokeTerms: [100, 400, 1_200, 9_600], poolFeesBps: [5, 30, 100] },
  ...{ stakeTiers: 4, stakeAmountMin: COIN, bridgeFormats: FORMATS },
}

const TABS = {
  ...{ depositMin: 1_000_000n, terms: [1_200, DAY, 7 * DAY, 30 * DAY], closeDelays: [400, 1_200, DAY] },
  ...{ callBurn: 20_000n, burnDivisor: 100n, countedAmount: 100_000n },
  ...{ perVoucher: 200, openReturn: 1_600, closeMove: 800 },
}

/** Rules as the fingerprint hashes them. */
function rulesOf({ powLimit, initialTarget, anchorResetGapMs, locks, rotationDelay }: Network, tabs: boolean) {
  const rates = [100n, 300n, 500n, 800n]
  return {
    tx: tabs ? { ...TX_RULES, tabs: TABS } : TX_RULES,
    block: {
      ...{ bytesMax: 1_048_576, weightMax: 2_000_000, writesMax: 4_000, baseFeeMin: 32n, baseFeeChangeDivisor: 32n },
      ...{ spacingMs: 3_000, halfLifeMs: 300_000, powLimit, initialTarget, anchorResetGapMs },
      ...{ futureMsMax: 15_000, pow: { memoryKiB: 256, passes: 1, lanes: 1 } },
    },
    coin: { symbol: 'FAR', supplyCap: CAP, subsidyDivisor: 2n ** 23n, stakingShareBps: 1_000n, rewardMaturity: 100 },
    market: { epochBlocks: 20, pricedPool: PRICED, priceEpochsKept: 600, deliveredBurnDivisor: 100n },
    token: { createBurn: 10n * COIN },
    staking: {
      tiers: locks.map((lockBlocks, i) => ({ lockBlocks, yearlyBps: rates[i] })),
      blocksPerYear: 365n * BigInt(DAY),
    },
    bridge: { networks: BRIDGE, dayBlocks: DAY, rotationDelay },
  }
}

function inRow(first: number, ...kinds: readonly string[]) {
  return kinds.map((kind, i) => [kind, first + i])
}

const KINDS = [
  ...inRow(0x01, 'transfer'),
  ...inRow(0x10, 'token_create', 'token_mint', 'token_burn', 'token_transfer', 'token_flags', 'token_issuer'),
  ...inRow(0x20, 'stable_deposit', 'stable_mint', 'stable_redeem', 'stable_withdraw'),
  ...inRow(0x30, 'pool_create', 'liquidity_add', 'liquidity_remove', 'swap'),
  ...inRow(0x40, 'stake', 'unstake', 'claim'),
  ...inRow(0x50, 'bridge_deposit', 'bridge_withdraw', 'bridge_sign', 'bridge_release', 'bridge_cancel'),
  ...inRow(0x55, 'bridge_rotate', 'bridge_halt'),
  ...inRow(
    0x60,
    'agent_register',
    'agent_update',
    'service_publish',
    'service_retire',
    'agent_invoke',
    'agent_receipt',
  ),
]

const TAB_KINDS = inRow(0x66, 'tab_open', 'tab_fund', 'tab_claim', 'tab_close', 'tab_terms')

/** Name, prefix and whether the state root covers it, in the order in which the ledgers run. */
const TABLES = [
  ['rewards', 0x04, true],
  ['escrows', 0x65, true],
  ['escrow-totals', 0x66, true],
  ['invokes', 0xe0, false],
  ['agent-statistics', 0x61, true],
  ['service-statistics', 0x63, true],
  ['payers', 0x64, true],
  ['accounts', 0x01, true],
  ['supply', 0x02, true],
  ['staking-pool', 0x03, true],
  ['tokens', 0x10, true],
  ['symbols', 0x11, true],
  ['token-balances', 0x12, true],
  ['stable-reserves', 0x13, true],
  ['pools', 0x20, true],
  ['pool-shares', 0x21, true],
  ['price-entries', 0x22, true],
  ['agents', 0x60, true],
  ['services', 0x62, true],
  ['staking', 0x30, true],
  ['stakes', 0x31, true],
  ['committee', 0x40, true],
  ['bridge-networks', 0x41, true],
  ['bridge-deposits', 0x42, true],
  ['withdrawals', 0x43, true],
]

const TAB_TABLES = [
  ['tabs', 0x67, true],
  ['tab-totals', 0x68, true],
  ['tab-terms', 0x69, true],
  ['tab-dues', 0xe1, false],
]

/** The tables of every network, those of tabs in their place behind `payers`. */
function tables() {
  const place = TABLES.findIndex(([name]) => name === 'accounts')
  return [...TABLES.slice(0, place), ...TAB_TABLES, ...TABLES.slice(place)]
}

function fingerprint(network: Network): string {
  const { timeMs, message, allocations, ledgers } = network
  const genesis = { timeMs, baseFee: 32n, message, allocations, ledgers }
  const step = { fromHeight: network.tabsFrom, rules: rulesOf(network, true) }
  const steps = network.tabsFrom === 0 ? [step] : [{ fromHeight: 0, rules: rulesOf(network, false) }, step]
  const kinds = [...KINDS, ...TAB_KINDS]
  return hex(tagged('farthing/rules/1', utf8(sortedJson({ kinds, state: tables(), steps, genesis }))))
}

/** JSON without blanks and with sorted keys. Big integers are decimal text. */
function sortedJson(value: unknown): string {
  if (typeof value === 'bigint') return `"${value}"`
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, part]) => `${JSON.stringify(key)}:${sortedJson(part)}`).join(',')}}`
}

export function networkGenesis(): VectorSet<NetworkCase> {
  return {
    about: 'Genesis block, state root and rules fingerprint of every network.',
    spec: 'blocks.md, section 8; encoding.md, section 5',
    cases: networks().map((network) => {
      const header = genesisHeader(network)
      return {
        ...{ name: network.name, addressPrefix: network.addressPrefix, genesisId: hex(blockId(header)) },
        ...{ genesisHeader: hex(header), stateRoot: hex(stateRoot(network)) },
        fingerprint: fingerprint(network),
        allocations: network.allocations.map(({ address, amount }) => ({ address, amount: `${amount}` })),
      }
    }),
  }
}
