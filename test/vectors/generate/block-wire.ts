import { argon2Sync } from 'node:crypto'
import { hex, join, madeBytes, utf8 } from './bytes.ts'
import { tagged, u32, u64, u256 } from './tx-wire.ts'

/** The fields of a header. This file is written from docs/spec/blocks.md alone. */

export interface RawHeader {
  readonly version: number
  readonly height: number
  readonly parent: Uint8Array
  readonly timeMs: number
  readonly target: bigint
  readonly transactionsRoot: Uint8Array
  readonly witnessRoot: Uint8Array
  readonly receiptsRoot: Uint8Array
  readonly stateRoot: Uint8Array
  readonly historyRoot: Uint8Array
  readonly miner: Uint8Array
  readonly baseFee: bigint
  readonly weightUsed: number
  readonly extra: Uint8Array
  readonly nonce: bigint
}

export function headerBytes(h: RawHeader): Uint8Array {
  return join(
    ...[u32(h.version), u32(h.height), h.parent, u64(h.timeMs), u256(h.target), h.transactionsRoot, h.witnessRoot],
    ...[h.receiptsRoot, h.stateRoot, h.historyRoot, h.miner, u64(h.baseFee), u32(h.weightUsed), h.extra, u64(h.nonce)],
  )
}

export function blockId(header: Uint8Array): Uint8Array {
  return tagged('farthing/block-id/1', header)
}

/** A header whose every field is made up. */
export function madeHeader(label: string, change: Partial<RawHeader> = {}): RawHeader {
  const hash = (name: string) => madeBytes(`block ${label} ${name}`, 32)
  return {
    version: 1,
    height: 1_000,
    parent: hash('parent'),
    timeMs: 1_793_491_200_000,
    target: workTarget(2n ** 20n),
    transactionsRoot: hash('transactions'),
    witnessRoot: hash('witnesses'),
    receiptsRoot: hash('receipts'),
    stateRoot: hash('state'),
    historyRoot: hash('history'),
    miner: hash('miner'),
    baseFee: 32n,
    weightUsed: 4_686,
    extra: hash('extra'),
    nonce: 0x0123_4567_89ab_cdefn,
    ...change,
  }
}

/** Target of n hashes = floor(2^256 / n) - 1. */
export function workTarget(hashes: bigint): bigint {
  return 2n ** 256n / hashes - 1n
}

/** Work of a block = floor(2^256 / (target + 1)). */
export function targetWork(target: bigint): bigint {
  return 2n ** 256n / (target + 1n)
}

export function powInput(header: Uint8Array): Uint8Array {
  return tagged('farthing/pow-input/1', header.slice(0, header.length - 8))
}

export function powHash(header: Uint8Array): Uint8Array {
  return Uint8Array.from(
    argon2Sync('argon2id', {
      message: join(powInput(header), header.slice(header.length - 8)),
      nonce: utf8('farthing/pow/v1.'),
      parallelism: 1,
      tagLength: 32,
      memory: 256,
      passes: 1,
    }),
  )
}

/** A header's fields as JSON: bytes as hex, large numbers as decimal text. */
export function plainHeader(header: RawHeader): Readonly<Record<string, string | number>> {
  return Object.fromEntries(
    Object.entries(header).map(([key, value]: [string, unknown]) => {
      if (value instanceof Uint8Array) return [key, hex(value)]
      return [key, typeof value === 'bigint' ? value.toString() : (value as number)]
    }),
  )
}
