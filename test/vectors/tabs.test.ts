import { describe, expect, it } from 'vitest'
import { taggedHashHex } from '../../consensus/crypto/hash.ts'
import { verifyTabSignature } from '../../consensus/crypto/tab-signing.ts'
import { fromHex, toHex } from '../../consensus/primitives/bytes.ts'
import type { BlockId, Hash, TxId } from '../../consensus/primitives/ids.ts'
import {
  encodeTabReceipt,
  type TabReceipt,
  tabChain,
  tabQueryMessage,
  tabReceiptMessage,
  tabReceiptsRoot,
  voucherMessage,
  voucherSeed,
} from '../../consensus/tx/tab-messages.ts'
import type { Voucher } from '../../consensus/tx/tab-payloads.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { tabKey } from '../support/tab-choices.ts'
import type { TabSigningCase } from './generate/tabs.ts'
import { revived, vectors } from './read.ts'

/** The message of a vector as the program makes it. */
function messageOf({ what, chainId, genesis, fields }: TabSigningCase): Uint8Array {
  const network = { chainId, genesis: genesis as BlockId }
  const read = revived(fields) as never
  if (what === 'receipt') return tabReceiptMessage(network, encodeTabReceipt(read as TabReceipt))
  const { tabId, query, timeMs } = fields as { tabId: TxId; query: 'state' | 'refund'; timeMs: number }
  if (what === 'query') return tabQueryMessage(network, { tabId, what: query, timeMs })
  return voucherMessage(network, tabId, read as Voucher)
}

describe('what keys of tabs sign', () => {
  const { cases } = vectors('tab-signing')

  it.each(cases)('$name: $valid', (vector) => {
    expect(toHex(messageOf(vector))).toBe(vector.message)
    const [key, message, signature] = [vector.key, vector.message, vector.signature].map(fromHex) as [
      ...[Uint8Array, Uint8Array, Uint8Array],
    ]
    expect(verifyTabSignature(NATIVE_BACKEND, { key, message, signature })).toBe(vector.valid)
  })

  it('is of every sort, sound and forged, and no two messages are the same', () => {
    expect(new Set(cases.map(({ what }) => what))).toEqual(new Set(['voucher', 'receipt', 'query']))
    expect(cases.filter(({ valid }) => !valid).length).toBeGreaterThan(5)
    const sound = cases.filter(({ valid }) => valid)
    expect(new Set(sound.map(({ message }) => message)).size).toBe(sound.length)
  })
})

describe('claims', () => {
  it.each(vectors('tab-claims').cases)('$name', ({ receipts, root, before, total, claimed, chain }) => {
    const items = receipts.map(({ fields, item, leaf }) => {
      const bytes = encodeTabReceipt(revived(fields) as TabReceipt)
      expect(toHex(bytes)).toBe(item)
      expect(taggedHashHex('tabReceiptLeaf', bytes)).toBe(leaf)
      return bytes
    })
    expect(tabReceiptsRoot(items)).toBe(root)
    const claim = { root: root as Hash, receipts: total, claimed: BigInt(claimed) }
    expect(tabChain(before as Hash, claim)).toBe(chain)
  })
})

describe('seeds of voucher keys', () => {
  it.each(vectors('tab-seeds').cases)('of $name', ({ walletSeed, genesis, nonce, seed, key }) => {
    const found = voucherSeed(fromHex(walletSeed), genesis as BlockId, BigInt(nonce))
    expect(toHex(found)).toBe(seed)
    expect(tabKey(found).publicKey).toBe(key)
  })
})
