import { describe, expect, it } from 'vitest'
import { poolIdOf } from '../../amm/pool.ts'
import { LAUNCH_RULES } from '../../config/networks/rules.ts'
import { attestationMessage } from '../../consensus/crypto/signing.ts'
import { assetOf, symbolOf } from '../../consensus/ledger/asset.ts'
import { skeletonOf } from '../../consensus/ledger/token-records.ts'
import { toHex } from '../../consensus/primitives/bytes.ts'
import { type BlockId, type Hash, TOKEN_SYMBOL, type TokenSymbol } from '../../consensus/primitives/ids.ts'
import { attestationDigest, depositRecordId } from '../../consensus/tx/attestations.ts'
import { actionFromJson, actionToJson } from '../../consensus/tx/attested-payload.ts'
import { transactionFromJson, transactionToJson } from '../../consensus/tx/json.ts'
import { TX_KIND_NAMES } from '../../consensus/tx/kinds.ts'
import { decodeTransaction, encodeTransaction } from '../../consensus/tx/transaction.ts'
import { fullHex, vectors } from './read.ts'

const { coin, tx: TX_RULES } = LAUNCH_RULES

describe('assets', () => {
  it.each(vectors('asset-ids').cases)('$symbol', ({ symbol, asset, skeleton }) => {
    expect(TOKEN_SYMBOL.test(symbol)).toBe(true)
    expect(assetOf(symbol as TokenSymbol, coin)).toBe(asset)
    expect(symbolOf(asset as Hash, coin)).toBe(symbol)
    expect(skeletonOf(symbol as TokenSymbol)).toBe(skeleton)
  })
})

describe('pools', () => {
  it.each(vectors('pool-ids').cases)('$assetA/$assetB at $feeBps', ({ assetA, assetB, feeBps, poolId }) => {
    const [a, b] = [assetA, assetB].map((symbol) => assetOf(symbol as TokenSymbol, coin)) as [Hash, Hash]
    expect(poolIdOf(a, b, feeBps)).toBe(poolId)
  })
})

/** JSON with shortened hex written out. */
function unshortened(value: unknown): unknown {
  if (typeof value === 'string') return /^[0-9a-f]*\[/.test(value) ? toHex(fullHex(value)) : value
  if (Array.isArray(value)) return value.map(unshortened)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, unshortened(part)]))
}

describe('attestations', () => {
  const { cases } = vectors('attestations')

  it.each(cases)('$name', (vector) => {
    const json = unshortened(vector.action)
    const read = actionFromJson('far', TX_RULES, json)
    if (!read.ok) throw new Error(JSON.stringify(read.fault))
    const action = read.value
    expect(actionToJson('far', action)).toEqual(json)
    if (action.action === 'deposit') expect(depositRecordId(action)).toBe(vector.record)
    const digest = attestationDigest(action, vector.epoch)
    expect(toHex(digest)).toBe(vector.digest)
    const network = { chainId: vector.chainId, genesis: vector.genesis as BlockId }
    expect(toHex(attestationMessage(network, digest))).toBe(vector.message)
  })

  it('are of every action, and no two are the same', () => {
    const actions = ['deposit', 'sign', 'cancel', 'release', 'rotate', 'halt']
    expect(new Set(cases.map(({ action }) => action.action))).toEqual(new Set(actions))
    expect(new Set(cases.map(({ message }) => message)).size).toBe(cases.length)
  })
})

describe('the JSON of transactions', () => {
  const { cases } = vectors('tx-json')

  it.each(cases)('$name on $prefix', ({ prefix, wire, json }) => {
    const bytes = fullHex(wire)
    const decoded = decodeTransaction(bytes)
    if (!decoded.ok) throw new Error(JSON.stringify(decoded.fault))
    const full = unshortened(json)
    expect(transactionToJson(prefix, decoded.value)).toEqual(full)
    const read = transactionFromJson(prefix, JSON.parse(JSON.stringify(full)))
    if (!read.ok) throw new Error(JSON.stringify(read.fault))
    expect(toHex(encodeTransaction(read.value))).toBe(toHex(bytes))
  })

  it('is there of every kind', () => {
    expect(new Set(cases.map(({ json }) => json.kind))).toEqual(new Set(TX_KIND_NAMES))
  })
})
