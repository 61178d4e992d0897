import { ed25519 } from '@noble/curves/ed25519.js'
import { ml_dsa44 } from '@noble/post-quantum/ml-dsa.js'
import { blockId, headerBytes, workTarget } from './block-wire.ts'
import { hex, join, utf8 } from './bytes.ts'
import { treeHash } from './state-tree.ts'
import { accountKeys, addressOf } from './tx-fields.ts'
import { listRoot, tagged, u8, u32, u64, u128, u256, type VectorSet } from './tx-wire.ts'

/** Genesis and rules of the networks, written from the specification and the parameters it names. */

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
  readonly powLimit: bigint
  readonly initialTarget: bigint
  readonly anchorResetGapMs: number | null
  readonly allocations: readonly Uint8Array[]
}

const COIN = 100_000_000n
const GRANT = 1_000_000n * COIN
const CAP = 10n ** 16n
/** 2026-11-01T00:00:00Z. */
const TIME_MS = 1_793_491_200_000

/** The account of development key `number`: its seed is H(text tag, "farthing devnet key N"). */
function devAddress(number: number): Uint8Array {
  const seed = tagged('farthing/text/1', utf8(`farthing devnet key ${number}`))
  const classical = ed25519.getPublicKey(tagged('farthing/seed-ed25519/1', u8(1), seed))
  const { publicKey } = ml_dsa44.keygen(tagged('farthing/seed-ml-dsa/1', u8(1), seed))
  return addressOf(accountKeys(1, 1, [{ scheme: 1, bytes: join(classical, publicKey) }]))
}

const EASY = workTarget(2n ** 14n)

function networks(): readonly Network[] {
  const main = { powLimit: EASY, initialTarget: EASY, anchorResetGapMs: null, allocations: [] }
  return [
    { ...main, name: 'mainnet', addressPrefix: 'far', message: 'Farthing mainnet' },
    { ...main, name: 'testnet', addressPrefix: 'tfar', message: 'Farthing testnet' },
    {
      ...{ name: 'devnet', addressPrefix: 'dfar', message: 'Farthing devnet', anchorResetGapMs: 120_000 },
      ...{ powLimit: workTarget(1_000n), initialTarget: workTarget(12_000n) },
      allocations: Array.from({ length: 10 }, (_, i) => devAddress(i + 1)),
    },
  ]
}

function stateRoot(allocations: readonly Uint8Array[]): Uint8Array {
  const minted = GRANT * BigInt(allocations.length)
  const records = [
    ...allocations.map((address) => ({
      key: join(u8(0x01), address),
      value: join(u8(1), u64(0), u128(GRANT), new Uint8Array(32)),
    })),
    { key: join(u8(0x02), new Uint8Array(32)), value: join(u128(minted), u128(0), u128(CAP)) },
  ]
  return treeHash(
    records.map(({ key, value }) => ({
      path: tagged('farthing/state-key/1', key),
      value: tagged('farthing/state-value/1', value),
    })),
  )
}

function genesisHeader({ message, powLimit, allocations }: Network): Uint8Array {
  const text = utf8(message)
  return headerBytes({
    ...{ version: 1, height: 0, parent: new Uint8Array(32), timeMs: TIME_MS, target: powLimit },
    transactionsRoot: listRoot('tx', []),
    witnessRoot: listRoot('witness', []),
    receiptsRoot: listRoot('receipt', []),
    stateRoot: stateRoot(allocations),
    historyRoot: tagged('farthing/history-root/1', u32(0), new Uint8Array(32), u256(0)),
    ...{ miner: new Uint8Array(32), baseFee: 32n, weightUsed: 0, nonce: 0n },
    extra: join(text, new Uint8Array(32 - text.length)),
  })
}

/** Rules as the fingerprint hashes them; large numbers are decimal text. */
function rulesOf({ powLimit, initialTarget, anchorResetGapMs }: Network) {
  return {
    tx: {
      chainId: 1,
      weight: {
        ...{ perSignature: 400, perStateWrite: 200, createAccount: 2_000, registerAgent: 20_000 },
        ...{ publishService: 2_000, invokeRefund: 800 },
      },
      ...{ invokeAmountMin: '100000', invokeTerms: [100, 400, 1_200, 9_600] },
    },
    block: {
      ...{ bytesMax: 1_048_576, weightMax: 2_000_000, writesMax: 4_000, baseFeeMin: '32', baseFeeChangeDivisor: '32' },
      ...{ spacingMs: 3_000, halfLifeMs: 300_000, powLimit: `${powLimit}`, initialTarget: `${initialTarget}` },
      ...{ anchorResetGapMs, futureMsMax: 15_000, pow: { memoryKiB: 256, passes: 1, lanes: 1 } },
    },
    coin: { supplyCap: `${CAP}`, subsidyDivisor: `${2 ** 23}`, stakingShareBps: '1000', rewardMaturity: 100 },
    market: { epochBlocks: 20, nativeUsdMicros: '250000', deliveredBurnDivisor: '100' },
  }
}

const KINDS = [
  ['transfer', 0x01],
  ...['agent_register', 'agent_update', 'service_publish', 'service_retire', 'agent_invoke', 'agent_receipt'].map(
    (kind, i) => [kind, 0x60 + i],
  ),
]

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
  ['agents', 0x60, true],
  ['services', 0x62, true],
]

function fingerprint(network: Network): string {
  const allocations = network.allocations.map((address) => ({ address: hex(address), amount: `${GRANT}` }))
  const genesis = { timeMs: TIME_MS, baseFee: '32', message: network.message, allocations }
  const steps = [{ fromHeight: 0, rules: rulesOf(network) }]
  return hex(tagged('farthing/rules/1', utf8(sortedJson({ kinds: KINDS, state: TABLES, steps, genesis }))))
}

/** JSON without blanks, the keys of every object in order. */
function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, part]) => `${JSON.stringify(key)}:${sortedJson(part)}`).join(',')}}`
}

/** `network-genesis.json`. */
export function networkGenesis(): VectorSet<NetworkCase> {
  return {
    about: 'Genesis block, state root and rules fingerprint of every network.',
    spec: 'blocks.md, section 8; encoding.md, section 5',
    cases: networks().map((network) => {
      const header = genesisHeader(network)
      return {
        ...{ name: network.name, addressPrefix: network.addressPrefix, genesisId: hex(blockId(header)) },
        ...{ genesisHeader: hex(header), stateRoot: hex(stateRoot(network.allocations)) },
        fingerprint: fingerprint(network),
        allocations: network.allocations.map((address) => ({ address: hex(address), amount: `${GRANT}` })),
      }
    }),
  }
}
