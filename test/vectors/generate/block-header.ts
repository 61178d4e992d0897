import {
  blockId,
  headerBytes,
  madeHeader,
  plainHeader,
  powHash,
  powInput,
  type RawHeader,
  targetWork,
  workTarget,
} from './block-wire.ts'
import { hex, join } from './bytes.ts'
import { bodyBytes, fillerSignature, wireBytes, witnessBytes } from './tx-fields.ts'
import { PAYLOADS, rawBody, SOUND } from './tx-payloads.ts'
import { container, listOfVarying, listRoot, shortHex, tagged, type VectorSet, vary } from './tx-wire.ts'

/** A header in all its forms. */
export interface HeaderCase {
  readonly name: string
  readonly header: Readonly<Record<string, string | number>>
  readonly bytes: string
  readonly id: string
  readonly powInput: string
  /** Argon2id at 256 KiB, one pass, one lane. */
  readonly powHash: string
  /** Whether the hash meets the header's own target. */
  readonly meets: boolean
}

const SAMPLES: readonly (readonly [string, RawHeader])[] = [
  ['made-up fields', madeHeader('plain')],
  ['every signal bit set', madeHeader('signals', { version: 0xffff_0001 })],
  ['another nonce', madeHeader('plain', { nonce: 0n })],
  [
    'the largest numbers',
    madeHeader('largest', {
      ...{ version: 2 ** 32 - 1, height: 2 ** 32 - 1, timeMs: Number.MAX_SAFE_INTEGER, target: 2n ** 256n - 1n },
      ...{ baseFee: 2n ** 64n - 1n, weightUsed: 2 ** 32 - 1, nonce: 2n ** 64n - 1n },
    }),
  ],
  [
    'zeros',
    {
      ...{ version: 0, height: 0, timeMs: 0, target: 0n, baseFee: 0n, weightUsed: 0, nonce: 0n, parent: zero() },
      ...{ transactionsRoot: zero(), witnessRoot: zero(), receiptsRoot: zero(), stateRoot: zero() },
      ...{ historyRoot: zero(), miner: zero(), extra: zero() },
    },
  ],
]

function zero(): Uint8Array {
  return new Uint8Array(32)
}

function headerCase(name: string, raw: RawHeader): HeaderCase {
  const bytes = headerBytes(raw)
  const hash = powHash(bytes)
  return {
    ...{ name, header: plainHeader(raw), bytes: hex(bytes), id: hex(blockId(bytes)) },
    ...{ powInput: hex(powInput(bytes)), powHash: hex(hash), meets: BigInt(`0x${hex(hash)}`) <= raw.target },
  }
}

/** The lowest nonce that meets a target of two hashes, and the lowest that misses it. */
function searched(): readonly HeaderCase[] {
  const raw = madeHeader('search', { target: workTarget(2n) })
  const first = (meets: boolean): bigint => {
    for (let nonce = 0n; ; nonce++) {
      const hash = BigInt(`0x${hex(powHash(headerBytes({ ...raw, nonce })))}`)
      if (hash <= raw.target === meets) return nonce
    }
  }
  return [
    headerCase('a nonce that meets a target of two hashes', { ...raw, nonce: first(true) }),
    headerCase('a nonce that misses a target of two hashes', { ...raw, nonce: first(false) }),
  ]
}

export function blockHeader(): VectorSet<HeaderCase> {
  return {
    about: 'Headers: bytes, id, input and hash of the proof of work.',
    spec: 'blocks.md, sections 1 and 2',
    cases: [...SAMPLES.map(([name, raw]) => headerCase(name, raw)), ...searched()],
  }
}

export interface WorkCase {
  readonly target: string
  readonly work: string
}

/** The cases of `block-work.json`. */
export function blockWork(): VectorSet<WorkCase & { readonly hashes: string | null }> {
  const hashes = [1n, 2n, 3n, 1_000n, 12_000n, 2n ** 14n, 2n ** 14n + 1n, 999_999_937n, 2n ** 64n, 2n ** 255n + 1n]
  const targets = [0n, 1n, 2n, 2n ** 255n, 2n ** 255n - 1n, 2n ** 256n - 2n, 2n ** 256n - 1n, 2n ** 242n + 12_345n]
  return {
    about: 'Target of a number of hashes where one is named, and the work of the target. Decimal numbers.',
    spec: 'blocks.md, sections 2 and 3',
    cases: [
      ...hashes.map((n) => ({
        hashes: n.toString(),
        target: workTarget(n).toString(),
        work: targetWork(workTarget(n)).toString(),
      })),
      ...targets.map((target) => ({ hashes: null, target: target.toString(), work: targetWork(target).toString() })),
    ],
  }
}

export interface BlockCase {
  readonly name: string
  readonly bytes: string
  readonly id: string
  readonly txIds: readonly string[]
  readonly wtxIds: readonly string[]
  readonly transactionsRoot: string
  readonly witnessRoot: string
  /** The size that counts for the byte limit. */
  readonly bodySize: number
}

function blockCase(count: number): BlockCase {
  const parts = Array.from({ length: count }, (_, i) => {
    const body = bodyBytes(rawBody('transfer', PAYLOADS.transfer({ ...SOUND.transfer, amount: BigInt(i + 1) })))
    const witness = witnessBytes({ keys: new Uint8Array(0), signatures: [fillerSignature(0, 1, i)] })
    const txId = tagged('farthing/tx-id/1', body)
    return { wire: wireBytes(body, witness), txId, wtxId: tagged('farthing/wtx-id/1', join(txId, witness)) }
  })
  const roots = {
    transactionsRoot: listRoot(
      'tx',
      parts.map(({ txId }) => txId),
    ),
    witnessRoot: listRoot(
      'witness',
      parts.map(({ wtxId }) => wtxId),
    ),
  }
  const header = headerBytes(madeHeader(`of ${count}`, roots))
  const list = listOfVarying(parts.map(({ wire }) => wire))
  return {
    ...{ name: `${count} transactions`, bytes: shortHex(container(header, vary(list))), id: hex(blockId(header)) },
    txIds: parts.map(({ txId }) => hex(txId)),
    wtxIds: parts.map(({ wtxId }) => hex(wtxId)),
    transactionsRoot: hex(roots.transactionsRoot),
    witnessRoot: hex(roots.witnessRoot),
    bodySize: list.length,
  }
}

export function blockEncoding(): VectorSet<BlockCase> {
  return {
    about: 'Blocks with their roots of transactions and witnesses. `[5a*2484]` in hex stands for 2,484 bytes 5a.',
    spec: 'blocks.md, section 1; encoding.md, section 4',
    cases: [0, 1, 2, 3, 5, 8].map(blockCase),
  }
}
