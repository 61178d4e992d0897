import { decodeBlock, encodeBlock } from '../../../consensus/block/block.ts'
import { decodeHeader, sealHeader } from '../../../consensus/block/header.ts'
import { type AccountKeys, decodeAccountKeys, encodeAccountKeys } from '../../../consensus/crypto/account-keys.ts'
import { type Codec, encode } from '../../../consensus/primitives/codec.ts'
import type { Address, BlockId, WtxId } from '../../../consensus/primitives/ids.ts'
import { checkTransaction } from '../../../consensus/tx/check.ts'
import { decodeTransaction, encodeTransaction } from '../../../consensus/tx/transaction.ts'
import { reconstruct } from '../../../src/p2p/relay/assembly.ts'
import { makeCompactBlock, readCompactBlock } from '../../../src/p2p/relay/compact-block.ts'
import { COMPACT_BLOCK, MESSAGES, NOTHING, type ReplyOf, type RequestOf } from '../../../src/p2p/wire/messages.ts'
import { PROTOCOL_NAMES, type ProtocolName } from '../../../src/p2p/wire/protocols.ts'
import { WALLETS, wallet } from '../../support/chain.ts'
import { testRuleBook } from '../../support/network.ts'
import { statusOf } from '../../support/p2p/relay-node.ts'
import { openedAtOnce } from '../../support/prefilled.ts'
import { fixture } from '../fixture.ts'
import { structured } from '../structure.ts'
import { codecTarget, expectSame, type Target, wordOf } from '../target.ts'

const RULES = testRuleBook().at(1)

/** A valid request and a valid reply of every protocol, made from the fixture. */
export async function trueMessages(): Promise<{ [P in ProtocolName]: readonly [RequestOf<P>, ReplyOf<P>] }> {
  const { test, blocks, waiting, store } = await fixture()
  const { database, head } = test.chain
  const snapshot = head.id
  const status = { ...statusOf(test.chain), snapshots: [{ height: head.header.height, id: head.id }] }
  const ids = waiting.map(({ wtxId }) => wtxId)
  const keys = database.keysOf(wallet(1).address) as Uint8Array
  const bodies = blocks.map(({ id }) => database.encodedTransactions(id) as readonly Uint8Array[])
  const last = blocks.at(-1)?.id as BlockId
  const entries = [...store.entries(new Uint8Array(0))]
  return {
    status: [status, status],
    headers: [{ locator: [last, blocks[0]?.id as BlockId], limit: 100 }, blocks.map(({ bytes }) => bytes)],
    bodies: [blocks.map(({ id }) => id), bodies],
    blockTransactions: [{ block: last, indexes: [0, 1] }, bodies.at(-1) as readonly Uint8Array[]],
    poolIds: [{ cursor: 0 }, { ids: ids as WtxId[], next: 0 }],
    transactions: [ids, waiting.map(encodeTransaction)],
    announce: [ids, NOTHING],
    statePages: [
      { snapshot, after: new Uint8Array(0), first: true },
      { pages: [{ id: new Uint8Array(0), form: new Uint8Array(36) }], done: false },
    ],
    stateRecords: [
      { snapshot, after: new Uint8Array(0) },
      { records: entries.slice(0, 3).map(([key, value]) => ({ key, value })), done: true },
    ],
    keys: [
      [wallet(1).address, wallet(2).address],
      [keys, new Uint8Array(0)],
    ],
    keyPages: [
      { after: '00'.repeat(32) as Address, first: true },
      { keys: [keys], done: true },
    ],
    addresses: [NOTHING, [`/ip4/8.8.8.8/tcp/8421/p2p/12D3KooW${'a'.repeat(44)}`]],
  }
}

function messageTargets(protocol: ProtocolName): readonly Target[] {
  const { request, reply } = MESSAGES[protocol] as unknown as Record<'request' | 'reply', Codec<unknown>>
  const seed = async (part: 0 | 1, codec: Codec<unknown>): Promise<readonly Uint8Array[]> => [
    encode(codec, (await trueMessages())[protocol][part]),
  ]
  return [
    codecTarget(`request-${protocol}`, request, () => seed(0, request)),
    codecTarget(`reply-${protocol}`, reply, () => seed(1, reply)),
  ]
}

const transaction: Target = {
  name: 'transaction',
  seeds: async () => (await fixture()).waiting.map(encodeTransaction),
  run: (bytes) => {
    const tx = decodeTransaction(bytes)
    if (!tx.ok) return wordOf(tx)
    expectSame(encodeTransaction(tx.value), bytes)
    return `decoded, then ${checkTransaction(tx.value, RULES.tx)?.code ?? 'sound'}`
  },
}

const header: Target = {
  name: 'header',
  seeds: async () => (await fixture()).blocks.map(({ bytes }) => bytes),
  run: (bytes) => {
    const sealed = decodeHeader(bytes)
    if (sealed.ok) expectSame(sealHeader(sealed.value.header).bytes, bytes)
    return wordOf(sealed)
  },
}

const block: Target = {
  name: 'block',
  seeds: async () => (await fixture()).blocks.map(encodeBlock),
  run: (bytes) => {
    const decoded = decodeBlock(bytes)
    if (decoded.ok) expectSame(encodeBlock(decoded.value), bytes)
    return wordOf(decoded)
  },
}

const accountKeys: Target = {
  name: 'account-keys',
  seeds: async () => {
    const { database } = (await fixture()).test.chain
    return WALLETS.flatMap(({ address }) => database.keysOf(address) ?? [])
  },
  run: (bytes) => {
    const keys = decodeAccountKeys(bytes)
    if (keys.ok) expectSame(encodeAccountKeys(keys.value as AccountKeys), bytes)
    return wordOf(keys)
  },
}

const compactBlock: Target = {
  name: 'compact-block',
  seeds: async () => {
    const { next } = await fixture()
    return [() => true, () => false, (_: unknown, index: number) => index === 0].map((whole) =>
      makeCompactBlock(next, 7n, whole),
    )
  },
  generate: (random) => structured(COMPACT_BLOCK, random),
  run: async (bytes) => {
    const { waiting, next } = await fixture()
    const compact = readCompactBlock(bytes)
    if (!compact.ok) return wordOf(compact)
    const prefilled = openedAtOnce(compact.value)
    if (!prefilled.ok) return wordOf(prefilled)
    const slots = reconstruct(compact.value, prefilled.value, [...waiting, ...next.transactions])
    if (slots.length !== compact.value.count) throw new Error(`${slots.length} slots for ${compact.value.count}`)
    return `found ${slots.filter((tx) => tx !== undefined).length} of ${slots.length}`
  },
}

/** Decoders of messages from other nodes. */
export const BYTE_TARGETS: readonly Target[] = [
  ...PROTOCOL_NAMES.flatMap(messageTargets),
  codecTarget('compact-block-codec', COMPACT_BLOCK, () => compactBlock.seeds()),
  transaction,
  header,
  block,
  accountKeys,
  compactBlock,
]
