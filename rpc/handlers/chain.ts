import { encodeBlock } from '../../consensus/block/block.ts'
import { historyProof } from '../../consensus/block/history.ts'
import { executedFrom } from '../../consensus/chain/adoption.ts'
import type { BlockEntry } from '../../consensus/chain/layout.ts'
import { prunedFault } from '../../consensus/chain/pruned.ts'
import { parseAddress } from '../../consensus/crypto/address.ts'
import { merkleProof, RECEIPT_TREE, TRANSACTION_TREE } from '../../consensus/crypto/merkle.ts'
import { ACCOUNTS } from '../../consensus/ledger/account.ts'
import { decodeReceipt, isReceiptOf } from '../../consensus/ledger/receipt.ts'
import { formatAmount } from '../../consensus/primitives/amount.ts'
import { fromHex, isHex, isHexBytes, toHex } from '../../consensus/primitives/bytes.ts'
import { encode } from '../../consensus/primitives/codec.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { Address, BlockId, TxId } from '../../consensus/primitives/ids.ts'
import { unknownName } from '../../consensus/primitives/likeness.ts'
import { fail, type Result } from '../../consensus/primitives/result.ts'
import { proveState } from '../../consensus/state/proof.ts'
import { transactionFromJson } from '../../consensus/tx/json.ts'
import { decodeTransaction, type Transaction } from '../../consensus/tx/transaction.ts'
import { rateOf } from '../../consensus/tx/weight.ts'
import { closureOf } from '../../marketplace/ledger/closures.ts'
import { tabFacts } from '../../marketplace/queries/tabs.ts'
import { nextBaseFee } from '../../mempool/admission.ts'
import { TRANSACTION_JSON } from '../contract/chain.ts'
import {
  addressText,
  blockSummary,
  blockToJson,
  merkleProofToJson,
  receiptToJson,
  transactionJson,
} from '../json/chain-json.ts'
import { tabFactsJson } from '../json/tab-facts-json.ts'
import type { NodeApi } from '../node/node-api.ts'
import { answer, type Handler } from '../server/answer.ts'
import { badCursor } from '../server/at-head.ts'

const PAGE_DEFAULT = 50

/** A transaction that waits here already is a success, so that a sender can repeat after a lost answer. */
export const submitTransaction: Handler<'submitTransaction'> = async (node, { body }) => {
  const decoded = readTransaction(node, body)
  if (!decoded.ok) return decoded.fault
  const { txId, wtxId } = decoded.value
  const submitted = await submitWithKeys(node, decoded.value)
  if (submitted.ok) return answer({ txId, wtxId, status: 'mempool', known: false })
  if (submitted.fault.code === 'mempool/known') return answer({ txId, wtxId, status: 'mempool', known: true })
  return submitted.fault
}

/** A node that started from a snapshot may lack public keys, and fetches them from its peers. */
async function submitWithKeys({ mempool, fetchKeys }: NodeApi, tx: Transaction): Promise<Result<Transaction>> {
  const submitted = await mempool.submit(tx)
  if (submitted.ok || submitted.fault.code !== 'tx/keys-missing') return submitted
  return (await fetchKeys?.(tx.body.sender)) === true ? mempool.submit(tx) : submitted
}

/** The cursor is the next height, so new blocks do not shift it. */
export const listBlocks: Handler<'listBlocks'> = ({ chain }, { query }) => {
  const limit = query.limit ?? PAGE_DEFAULT
  const from = query.cursor === undefined ? chain.head.header.height : Number(query.cursor)
  if (!Number.isInteger(from) || from < 0) return badCursor()
  const heights = Array.from({ length: Math.min(limit, from + 1) }, (_, i) => from - i)
  const prefix = chain.ruleBook.params.addressPrefix
  const blocks = heights.flatMap((height) => {
    const entry = findEntry({ chain }, String(height))
    if (entry === undefined) return []
    return [blockSummary(prefix, entry, chain.database.entry(entry.header.parent), chain.database.base)]
  })
  const next = from - heights.length
  return answer({ blocks, nextCursor: next >= 0 ? String(next) : null })
}

/** One block, as JSON or in its wire encoding. */
export const getBlock: Handler<'getBlock'> = (node, { params, accept }) => {
  const { chain } = node
  const entry = findEntry(node, params.id)
  const block = entry && chain.database.block(entry.id)
  if (entry === undefined) return fault('rpc/block-not-found', { id: params.id })
  if (block === undefined) return prunedFault(chain.database, entry.header.height)
  if (accept.includes('application/octet-stream')) {
    return { status: 200, content: encodeBlock(block), contentType: 'application/octet-stream' }
  }
  const canonical = chain.database.isCanonical(entry)
  const receipts = chain.database.receipts(entry.id)?.map(decodeReceipt) ?? null
  const confirmations = canonical ? chain.head.header.height - entry.header.height + 1 : 0
  return answer(blockToJson(chain.ruleBook.params.addressPrefix, block, { entry, canonical, confirmations, receipts }))
}

/** Proof that a block is an ancestor of the head. */
export const getAncestry: Handler<'getAncestry'> = (node, { params }) => {
  const { database, head } = node.chain
  const entry = findEntry(node, params.id)
  if (entry === undefined || !database.isCanonical(entry) || entry.id === head.id) {
    return fault('rpc/block-not-found', { id: params.id })
  }
  const proof = historyProof(entry.header.height, head.header.height, (level, index) =>
    database.historyNode(level, index),
  )
  return answer({
    header: toHex(entry.bytes),
    under: { height: head.header.height, id: head.id, header: toHex(head.bytes), historyRoot: head.header.historyRoot },
    index: proof.index,
    count: proof.count,
    siblings: proof.siblings.map(({ hash, work }) => ({ hash: toHex(hash), work: work.toString() })),
  })
}

/** State of a transaction, with proofs if it is mined. */
export const getTransaction: Handler<'getTransaction'> = ({ chain, mempool }, { params }) => {
  const txId = params.txId as TxId
  const prefix = chain.ruleBook.params.addressPrefix
  const location = chain.database.location(txId)
  const blockId = location === undefined ? undefined : chain.database.idAt(location.height)
  if (location === undefined || blockId === undefined) {
    const waiting = mempool.get(txId)
    if (waiting === undefined) {
      const executed = { executedFrom: executedFrom(chain.database), executedTo: chain.head.header.height }
      return answer({ txId, status: 'unknown', confirmations: 0, ...executed })
    }
    return answer({ txId, status: 'mempool', confirmations: 0, transaction: transactionJson(prefix, waiting) })
  }
  const { height, index } = location
  const mined = minedFacts({ chain }, blockId, { txId, index })
  if (mined === undefined) return prunedFault(chain.database, height)
  return answer({
    txId,
    status: 'mined',
    height,
    blockId,
    index,
    confirmations: chain.head.header.height - height + 1,
    ...mined,
    ...closureFacts(chain, txId),
    ...tabOf(chain, txId),
  })
}

/** The tab that a transaction opened. */
function tabOf(chain: NodeApi['chain'], txId: TxId) {
  const facts = tabFacts(chain, txId)
  return facts === undefined ? {} : { tab: tabFactsJson(chain, facts) }
}

/** How the call of a payment ended. Empty for other transactions and for open calls. */
function closureFacts({ database }: NodeApi['chain'], txId: TxId) {
  const closure = closureOf(database, txId)
  if (closure === undefined) return {}
  const { how, height, receiptTxId } = closure
  return { closure: { how, height, receiptTxId } }
}

function minedFacts(
  { chain }: Pick<NodeApi, 'chain'>,
  blockId: BlockId,
  { txId, index }: { txId: TxId; index: number },
) {
  const { database } = chain
  const prefix = chain.ruleBook.params.addressPrefix
  const encodedReceipts = database.receipts(blockId)
  const tx = database.transactionAt(blockId, index)
  if (encodedReceipts === undefined || tx === undefined) return undefined
  const id = fromHex(txId)
  const receiptIndex = encodedReceipts.findIndex((bytes) => isReceiptOf(bytes, id))
  const ids = (database.transactionIds(blockId) as readonly TxId[]).map(fromHex)
  return {
    transaction: transactionJson(prefix, tx),
    receipt: receiptToJson(prefix, decodeReceipt(encodedReceipts[receiptIndex] as Uint8Array)),
    proof: {
      header: toHex((database.entry(blockId) as BlockEntry).bytes),
      transaction: merkleProofToJson(merkleProof(TRANSACTION_TREE, ids, index)),
      receipt: merkleProofToJson(merkleProof(RECEIPT_TREE, encodedReceipts, receiptIndex)),
      receiptBytes: toHex(encodedReceipts[receiptIndex] as Uint8Array),
    },
  }
}

/** An account with a proof against the head's state root. */
export const getAccount: Handler<'getAccount'> = (node, { params }) => {
  const { chain } = node
  const address = parseAddress(chain.ruleBook.params.addressPrefix, params.address)
  return address.ok ? answer(accountFacts(node, address.value, params.address)) : address.fault
}

function accountFacts({ chain, mempool }: NodeApi, address: Address, text: string) {
  const { database, head, ruleBook } = chain
  const account = database.get(ACCOUNTS, address)
  const key = ACCOUNTS.key(address)
  const proof = proveState(database, key)
  return {
    address: text,
    exists: account !== undefined,
    balance: (account?.balance ?? 0n).toString(),
    balanceCoins: formatAmount(account?.balance ?? 0n, ruleBook.params.decimals),
    nonce: (account?.nonce ?? 0n).toString(),
    keysKnown: chain.keys.keysOf(address) !== undefined,
    pending: {
      nextNonce: mempool.nextNonce(address).toString(),
      transactions: mempool.ofAccount(address).map(({ txId }) => txId),
    },
    height: head.header.height,
    blockId: head.id,
    proof: {
      key,
      value: account === undefined ? null : toHex(encode(ACCOUNTS.codec, account)),
      siblings: proof.siblings.map(toHex),
      leaf: proof.leaf === null ? null : { path: toHex(proof.leaf.path), value: toHex(proof.leaf.value) },
      stateRoot: head.header.stateRoot,
      header: toHex(head.bytes),
    },
  }
}

/** Only waiting transactions that the next block could take, in its order. */
export const getMempool: Handler<'getMempool'> = ({ chain, mempool }, { query }) => {
  const limit = query.limit ?? PAGE_DEFAULT
  const baseFee = nextBaseFee(chain)
  const prefix = chain.ruleBook.params.addressPrefix
  const transactions = []
  for (const tx of mempool.candidates()) {
    if (transactions.length >= limit) break
    const { txId, body, size } = tx
    transactions.push({
      txId,
      kind: body.kind,
      sender: addressText(prefix, body.sender),
      nonce: body.nonce.toString(),
      size,
      feeRate: rateOf(body, baseFee).toString(),
    })
  }
  return answer({
    count: mempool.count,
    bytes: mempool.bytes,
    countMax: mempool.policy.countMax,
    bytesMax: mempool.policy.bytesMax,
    minFeeRate: mempool.minFeeRate.toString(),
    transactions,
  })
}

/** Fee rates and weights for a transaction in the next block. */
export const getFees: Handler<'getFees'> = ({ chain, mempool }) => {
  const { header } = chain.head
  const rules = chain.ruleBook.at(header.height + 1)
  const { perSignature, perStateWrite, ...surcharges } = rules.tx.weight
  return answer({
    height: header.height,
    baseFee: {
      current: header.baseFee.toString(),
      next: nextBaseFee(chain).toString(),
      floor: rules.block.baseFeeMin.toString(),
    },
    minAccepted: mempool.minFeeRate.toString(),
    suggested: suggestedFee(mempool.minFeeRate),
    weights: { perByte: 1, perSignature, perStateWrite, ...surcharges },
  })
}

/** Suggested rates: room for the least accepted rate to double, and the smallest tip. */
export function suggestedFee(minRate: bigint): { readonly maxFeeRate: string; readonly tip: string } {
  return { maxFeeRate: (minRate * 2n + 1n).toString(), tip: '1' }
}

function findEntry({ chain }: Pick<NodeApi, 'chain'>, name: string): BlockEntry | undefined {
  if (name === 'latest') return chain.head
  const id = isHex(name, 32) ? (name as BlockId) : chain.database.idAt(Number(name))
  return id === undefined ? undefined : chain.database.entry(id)
}

const FORMS = 'send {"raw": "<hex of its bytes>"}, its JSON form, or the bytes as application/octet-stream'

/** The transaction of a request body: its bytes, its bytes in hex as `raw`, or its JSON form. */
export function readTransaction({ chain }: Pick<NodeApi, 'chain'>, body: unknown): Result<Transaction> {
  if (body instanceof Uint8Array) return decodeTransaction(body)
  const { raw } = body as { readonly raw?: unknown }
  if (raw === undefined) return readJson(chain, body as object)
  if (typeof raw !== 'string' || !isHexBytes(raw))
    return fail(fault('tx/json', { field: 'raw', reason: 'must be lower-case hex' }))
  return decodeTransaction(fromHex(raw))
}

/** Reads the JSON form. A body without `kind` that is empty or has unknown members gets a fault that names all forms. */
function readJson({ ruleBook }: NodeApi['chain'], body: object): Result<Transaction> {
  const names = Object.keys(body)
  const stranger = names.find((name) => !Object.hasOwn(TRANSACTION_JSON.properties, name))
  if ('kind' in body || (stranger === undefined && names.length > 0))
    return transactionFromJson(ruleBook.params.addressPrefix, body)
  const what = stranger === undefined ? 'the body is empty' : unknownName('member', stranger, [])
  return fail(fault('rpc/invalid-request', { fields: [`${what}; ${FORMS}`] }))
}
