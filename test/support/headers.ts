import type { Header } from '../../consensus/block/header.ts'
import { filled } from './unsigned.ts'

/** A header with every field set. */
export function testHeader(change: Partial<Header> = {}): Header {
  return {
    version: 1,
    height: 1_000,
    parent: filled(0x10),
    timeMs: 1_793_491_200_000,
    target: 2n ** 240n,
    transactionsRoot: filled(0x11),
    witnessRoot: filled(0x12),
    receiptsRoot: filled(0x13),
    stateRoot: filled(0x14),
    historyRoot: filled(0x15),
    miner: filled(0x16),
    baseFee: 32n,
    weightUsed: 0,
    extra: new Uint8Array(32).fill(0x17),
    nonce: 5n,
    ...change,
  }
}
