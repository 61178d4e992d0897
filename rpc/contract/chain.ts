import type { FaultCode } from '../../consensus/primitives/fault-table.ts'
import { TAB_FACTS } from './chain-tabs.ts'
import {
  ADDRESS_TEXT,
  COUNT,
  HEIGHT,
  HEX,
  HEX_32,
  MOMENT,
  NEXT_CURSOR,
  PAGE_QUERY,
  type Route,
  UINT_TEXT,
} from './route.ts'
import * as Type from './schema.ts'

/** `MerkleProof` of the OpenAPI document. */
export const MERKLE_PROOF = Type.Object({ index: COUNT, count: COUNT, siblings: Type.Array(HEX_32) })

/** `BlockSummary` of the OpenAPI document. */
export const BLOCK_SUMMARY = Type.Object({
  height: HEIGHT,
  id: HEX_32,
  time: MOMENT,
  miner: ADDRESS_TEXT,
  transactions: Type.Union([COUNT, Type.Null()]),
  size: Type.Union([COUNT, Type.Null()]),
  weightUsed: COUNT,
  baseFee: UINT_TEXT,
})

/** The JSON form of a transaction, see consensus/tx/json.ts. */
export const TRANSACTION_JSON = Type.Object(
  {
    version: Type.Integer(),
    chainId: Type.Integer(),
    sender: ADDRESS_TEXT,
    nonce: UINT_TEXT,
    kind: Type.String(),
    payload: Type.Record(Type.String(), Type.Unknown()),
    maxFeeRate: UINT_TEXT,
    tip: UINT_TEXT,
    validUntil: HEIGHT,
    memo: HEX,
    witness: Type.Object({
      keys: HEX,
      signatures: Type.Array(Type.Object({ keyIndex: COUNT, bytes: HEX })),
    }),
  },
  { additionalProperties: true },
)

/** `ExecutionReceipt` of the OpenAPI document. */
export const RECEIPT_JSON = Type.Object({ type: Type.String() }, { additionalProperties: true })

/** `Block` of the OpenAPI document. */
export const BLOCK = Type.Object({
  height: HEIGHT,
  id: HEX_32,
  version: COUNT,
  parent: HEX_32,
  time: MOMENT,
  timeMs: COUNT,
  target: HEX_32,
  work: UINT_TEXT,
  totalWork: UINT_TEXT,
  transactionsRoot: HEX_32,
  witnessRoot: HEX_32,
  receiptsRoot: HEX_32,
  stateRoot: HEX_32,
  historyRoot: HEX_32,
  miner: ADDRESS_TEXT,
  baseFee: UINT_TEXT,
  weightUsed: COUNT,
  extra: HEX,
  nonce: UINT_TEXT,
  header: HEX,
  size: COUNT,
  canonical: Type.Boolean(),
  confirmations: COUNT,
  transactions: Type.Array(Type.Object({ txId: HEX_32, kind: Type.String(), sender: ADDRESS_TEXT })),
  receipts: Type.Union([Type.Array(RECEIPT_JSON), Type.Null()], {
    description: 'Null if the block was not executed here, since the node began from a later snapshot',
  }),
})

/** `SubmittedTransaction` of the OpenAPI document. */
export const SUBMITTED = Type.Object({
  txId: HEX_32,
  wtxId: HEX_32,
  status: Type.Literal('mempool'),
  known: Type.Boolean(),
})

const SUBMIT_DESCRIPTION =
  'Takes a signed transaction: its JSON form, `{"raw": "<hex of its bytes>"}`, or the bytes themselves as application/octet-stream. Accepted means that it waits in the mempool.'

/** Faults of a body that cannot be read as a transaction. */
export const UNREADABLE_TRANSACTION = [
  'codec/malformed',
  'tx/json',
  'tx/kind',
  'tx/payload',
  'key/malformed',
  'address/malformed',
  'address/other-network',
  'amount/not-decimal',
  'amount/too-large',
] as const satisfies readonly FaultCode[]

/** Faults of a transaction that the mempool refuses. `mempool/known` is missing, since it is a success over HTTP. */
export const UNFIT_TRANSACTION = [
  'tx/too-large',
  'tx/version',
  'tx/chain-id',
  'tx/amount',
  'tx/field',
  'tx/keys-misplaced',
  'tx/signature-count',
  'tx/signature-order',
  'tx/signature-length',
  'tx/keys-not-of-sender',
  'tx/bad-signature',
  'tx/keys-missing',
  'tx/sender-unknown',
  'tx/nonce-too-low',
  'tx/nonce-too-high',
  'tx/expired',
  'block/weight-limit',
  'block/writes-limit',
  'mempool/mined',
  'mempool/full',
  'mempool/account-limit',
  'mempool/account-unpaid',
  'mempool/fee-too-low',
  'mempool/replacement-fee-too-low',
  'mempool/balance-exceeded',
  'mempool/tab-waits',
  'mempool/claim-spent',
  'mempool/busy',
  'mempool/unverified',
] as const satisfies readonly FaultCode[]

const SUBMIT_BODY = Type.Union([Type.Object({ raw: HEX }, { additionalProperties: false }), TRANSACTION_JSON])

function submitRoute<const Id extends string>(path: string, operationId: Id) {
  return {
    method: 'POST',
    path,
    operationId,
    tag: 'chain',
    summary: 'Submit a signed transaction',
    description: SUBMIT_DESCRIPTION,
    body: SUBMIT_BODY,
    answers: { 200: { description: 'Waits in the mempool', schema: SUBMITTED } },
    takesBytes: true,
    errors: [...UNREADABLE_TRANSACTION, ...UNFIT_TRANSACTION],
    bucket: 'transaction',
  } as const satisfies Route
}

/** `Account` of the OpenAPI document. */
export const ACCOUNT = Type.Object({
  address: ADDRESS_TEXT,
  exists: Type.Boolean(),
  balance: UINT_TEXT,
  balanceCoins: Type.String(),
  nonce: UINT_TEXT,
  keysKnown: Type.Boolean(),
  pending: Type.Object({ nextNonce: UINT_TEXT, transactions: Type.Array(HEX_32) }),
  height: HEIGHT,
  blockId: HEX_32,
  proof: Type.Object({
    key: HEX,
    value: Type.Union([HEX, Type.Null()]),
    siblings: Type.Array(HEX_32),
    leaf: Type.Union([Type.Object({ path: HEX_32, value: HEX_32 }), Type.Null()]),
    stateRoot: HEX_32,
    header: HEX,
  }),
})

/** `TransactionStatus` of the OpenAPI document. */
export const TX_STATUS = Type.Object({
  txId: HEX_32,
  status: Type.Union([Type.Literal('mempool'), Type.Literal('mined'), Type.Literal('unknown')]),
  executedFrom: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'For an unknown transaction: no block from this height on has it. Earlier blocks were not executed here',
    }),
  ),
  executedTo: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'For an unknown transaction: the height of the head. Later blocks were not looked at',
    }),
  ),
  height: Type.Optional(HEIGHT),
  blockId: Type.Optional(HEX_32),
  index: Type.Optional(COUNT),
  confirmations: COUNT,
  transaction: Type.Optional(TRANSACTION_JSON),
  receipt: Type.Optional(RECEIPT_JSON),
  proof: Type.Optional(
    Type.Object({ header: HEX, transaction: MERKLE_PROOF, receipt: MERKLE_PROOF, receiptBytes: HEX }),
  ),
  closure: Type.Optional(
    Type.Object(
      {
        how: Type.Union([Type.Literal('delivered'), Type.Literal('failed'), Type.Literal('expired')]),
        height: HEIGHT,
        receiptTxId: Type.Union([HEX_32, Type.Null()]),
      },
      {
        description:
          'Of the payment of a call that ended: how, in which block, and by which receipt, null where it came to its deadline. What failed or expired was paid back. A node that began from a snapshot need not know',
      },
    ),
  ),
  tab: Type.Optional(TAB_FACTS),
})

/** `Fees` of the OpenAPI document. */
export const FEES = Type.Object({
  height: HEIGHT,
  baseFee: Type.Object({ current: UINT_TEXT, next: UINT_TEXT, floor: UINT_TEXT }),
  minAccepted: UINT_TEXT,
  suggested: Type.Object({ maxFeeRate: UINT_TEXT, tip: UINT_TEXT }),
  weights: Type.Record(Type.String(), COUNT),
})

const ID_OR_HEIGHT = Type.Object({ id: Type.String({ pattern: '^(latest|[0-9]{1,10}|[0-9a-f]{64})$' }) })

/** Operations on blocks, transactions, accounts and the mempool. */
export const CHAIN_ROUTES = {
  submitTransaction: submitRoute('/api/v1/tx', 'submitTransaction'),
  submitTransactionAlias: submitRoute('/api/tx', 'submitTransactionAlias'),
  listBlocks: {
    method: 'GET',
    path: '/api/v1/blocks',
    operationId: 'listBlocks',
    tag: 'chain',
    summary: 'Blocks of the best chain, newest first',
    query: PAGE_QUERY,
    answers: {
      200: {
        description: 'A page',
        schema: Type.Object({ blocks: Type.Array(BLOCK_SUMMARY), nextCursor: NEXT_CURSOR }),
      },
    },
    bucket: 'read',
  },
  getBlock: {
    method: 'GET',
    path: '/api/v1/blocks/{id}',
    operationId: 'getBlock',
    tag: 'chain',
    summary: 'One block by height, id or "latest"',
    description: 'With `Accept: application/octet-stream` the answer is the block in its wire encoding.',
    params: ID_OR_HEIGHT,
    answers: { 200: { description: 'The block', schema: BLOCK } },
    errors: ['rpc/block-not-found', 'storage/pruned'],
    bucket: 'list',
  },
  getAncestry: {
    method: 'GET',
    path: '/api/v1/blocks/{id}/ancestry',
    operationId: 'getAncestry',
    tag: 'chain',
    summary: 'Proof that a block is an ancestor of the head, with the work sums of its siblings',
    params: ID_OR_HEIGHT,
    answers: {
      200: {
        description: 'The proof',
        schema: Type.Object({
          header: HEX,
          under: Type.Object({ height: HEIGHT, id: HEX_32, header: HEX, historyRoot: HEX_32 }),
          index: COUNT,
          count: COUNT,
          siblings: Type.Array(Type.Object({ hash: HEX_32, work: UINT_TEXT })),
        }),
      },
    },
    errors: ['rpc/block-not-found'],
    bucket: 'read',
  },
  getTransaction: {
    method: 'GET',
    path: '/api/v1/tx/{txId}',
    operationId: 'getTransaction',
    tag: 'chain',
    summary: 'Status, receipt and proofs of a transaction',
    params: Type.Object({ txId: HEX_32 }),
    description:
      'A node that began from a snapshot knows transactions from `executedFrom` on: what it does not know may have been mined before. Where a mined one was pruned the answer is 410.',
    answers: { 200: { description: 'What is known; an unknown id is an answer too', schema: TX_STATUS } },
    errors: ['storage/pruned'],
    bucket: 'read',
  },
  getAccount: {
    method: 'GET',
    path: '/api/v1/accounts/{address}',
    operationId: 'getAccount',
    tag: 'chain',
    summary: 'Balance, nonce, waiting transactions and a proof against the state root',
    params: Type.Object({ address: ADDRESS_TEXT }),
    answers: {
      200: { description: 'The account; an absent one has balance 0 and a proof of absence', schema: ACCOUNT },
    },
    errors: ['address/malformed', 'address/other-network'],
    bucket: 'read',
  },
  getMempool: {
    method: 'GET',
    path: '/api/v1/mempool',
    operationId: 'getMempool',
    tag: 'chain',
    summary: 'Waiting transactions, dearest first',
    query: Type.Object(
      { limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })) },
      { additionalProperties: false },
    ),
    answers: {
      200: {
        description: 'The mempool',
        schema: Type.Object({
          count: COUNT,
          bytes: COUNT,
          countMax: COUNT,
          bytesMax: COUNT,
          minFeeRate: UINT_TEXT,
          transactions: Type.Array(
            Type.Object({
              txId: HEX_32,
              kind: Type.String(),
              sender: ADDRESS_TEXT,
              nonce: UINT_TEXT,
              size: COUNT,
              feeRate: UINT_TEXT,
            }),
          ),
        }),
      },
    },
    bucket: 'list',
  },
  getFees: {
    method: 'GET',
    path: '/api/v1/fees',
    operationId: 'getFees',
    tag: 'chain',
    summary: 'Base fee, least accepted rate and a suggestion',
    answers: { 200: { description: 'Fees', schema: FEES } },
    bucket: 'read',
  },
} as const satisfies Record<string, Route>
