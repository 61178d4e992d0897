import { hex, madeBytes, sha256, taggedSha256, toLittleEndian } from './bytes.ts'
import { messageOf, type Statement } from './hybrid-cases.ts'
import type { VectorFile } from './render.ts'

/** The tags of encoding.md, section 3, by the name of their use in the code. */
const TAGS: Readonly<Record<string, string>> = {
  transactionId: 'farthing/tx-id/1',
  witnessId: 'farthing/wtx-id/1',
  blockId: 'farthing/block-id/1',
  powInput: 'farthing/pow-input/1',
  transactionLeaf: 'farthing/tx-leaf/1',
  transactionNode: 'farthing/tx-node/1',
  transactionRoot: 'farthing/tx-root/1',
  witnessLeaf: 'farthing/witness-leaf/1',
  witnessNode: 'farthing/witness-node/1',
  witnessRoot: 'farthing/witness-root/1',
  receiptLeaf: 'farthing/receipt-leaf/1',
  receiptNode: 'farthing/receipt-node/1',
  receiptRoot: 'farthing/receipt-root/1',
  historyLeaf: 'farthing/history-leaf/1',
  historyNode: 'farthing/history-node/1',
  historyRoot: 'farthing/history-root/1',
  stateKey: 'farthing/state-key/1',
  stateValue: 'farthing/state-value/1',
  stateLeaf: 'farthing/state-leaf/1',
  stateNode: 'farthing/state-node/1',
  address: 'farthing/address/1',
  seedEd25519: 'farthing/seed-ed25519/1',
  seedMlDsa: 'farthing/seed-ml-dsa/1',
  seedTab: 'farthing/seed-tab/1',
  seedTabReceipt: 'farthing/seed-tab-receipt/1',
  textDigest: 'farthing/text/1',
  request: 'farthing/request/1',
  requestCommitment: 'farthing/request-commitment/1',
  redeemOpener: 'farthing/redeem-opener/1',
  redeemLock: 'farthing/redeem-lock/1',
  result: 'farthing/result/1',
  payer: 'farthing/payer/1',
  poolId: 'farthing/pool-id/1',
  attestation: 'farthing/attestation/1',
  bridgeDeposit: 'farthing/bridge-deposit/1',
  bridgeRotation: 'farthing/bridge-rotation/1',
  tabVoucher: 'farthing/tab-voucher/1',
  tabChain: 'farthing/tab-chain/1',
  tabReceiptLeaf: 'farthing/tab-receipt-leaf/1',
  tabReceiptNode: 'farthing/tab-receipt-node/1',
  tabReceiptRoot: 'farthing/tab-receipt-root/1',
  tabQuery: 'farthing/tab-query/1',
  rules: 'farthing/rules/1',
  stablePayment: 'farthing/stable-payment/1',
  stableSignature: 'farthing/stable-signature/1',
  stableRepeat: 'farthing/stable-repeat/1',
  stableRefund: 'farthing/stable-refund/1',
  shortId: 'farthing/short-id/1',
}

/** Lengths around the block size of SHA-256, its padding, and the tag in front. */
const DATA_LENGTHS = [0, 1, 32, 64, 300]

/** Every tag over data of several lengths. */
export function taggedHashesFile(): VectorFile {
  const cases = Object.entries(TAGS).flatMap(([use, tag]) =>
    DATA_LENGTHS.map((length) => {
      const data = madeBytes(`hashed ${use}`, length)
      return { use, tag, data: hex(data), hash: hex(taggedSha256(tag, data)) }
    }),
  )
  return {
    about: 'H(tag, data) = SHA-256(length of the tag, tag, data) for every tag',
    counts: { tags: Object.keys(TAGS).length, cases: cases.length },
    cases,
  }
}

interface TreeTags {
  readonly leaf: string
  readonly node: string
  readonly root: string
}

function treeTags(name: string): TreeTags {
  return { leaf: `farthing/${name}-leaf/1`, node: `farthing/${name}-node/1`, root: `farthing/${name}-root/1` }
}

/** Items on the left of the top node: the largest power of two below the count. */
function leftCount(count: number): number {
  let left = 1
  while (left * 2 < count) left *= 2
  return left
}

/** Top of the tree, by recursion from above. Splitting at a power of two gives the same tree as carrying up odd nodes. */
function top(tags: TreeTags, items: readonly Uint8Array[]): Uint8Array {
  if (items.length === 0) return new Uint8Array(32)
  if (items.length === 1) return taggedSha256(tags.leaf, items[0] as Uint8Array)
  const split = leftCount(items.length)
  const left = top(tags, items.slice(0, split))
  const constant = taggedSha256(tags.node)
  return sha256(
    left.map((byte, i) => byte ^ (constant[i] as number)),
    top(tags, items.slice(split)),
  )
}

function siblings(tags: TreeTags, items: readonly Uint8Array[], index: number): Uint8Array[] {
  if (items.length <= 1) return []
  const split = leftCount(items.length)
  const [left, right] = [items.slice(0, split), items.slice(split)]
  return index < split
    ? [...siblings(tags, left, index), top(tags, right)]
    : [...siblings(tags, right, index - split), top(tags, left)]
}

function root(tags: TreeTags, items: readonly Uint8Array[]): Uint8Array {
  return taggedSha256(tags.root, toLittleEndian(BigInt(items.length), 4), top(tags, items))
}

const COUNT_MAX = 17

/** Roots of 0 to 17 items in all four trees; proofs of every item in the tree of transactions. */
export function listTreesFile(): VectorFile {
  const items = Array.from({ length: COUNT_MAX }, (_, i) => madeBytes(`item ${i}`, 32))
  const receipts = items.map((_, i) => madeBytes(`receipt ${i}`, 7 * i))
  const roots = [
    ['transactions', 'tx', items] as const,
    ['witnesses', 'witness', items] as const,
    ['receipts', 'receipt', receipts] as const,
    ['receipts of a tab', 'tab-receipt', receipts] as const,
  ].flatMap(([tree, name, all]) =>
    Array.from({ length: COUNT_MAX + 1 }, (_, count) => ({
      tree,
      count,
      root: hex(root(treeTags(name), all.slice(0, count))),
    })),
  )
  const tags = treeTags('tx')
  const proofs = Array.from({ length: COUNT_MAX + 1 }, (_, count) =>
    Array.from({ length: count }, (_, index) => ({
      count,
      index,
      siblings: siblings(tags, items.slice(0, count), index).map(hex),
    })),
  ).flat()
  return {
    about: 'list trees (section 4) over the first `count` items: roots, and proofs in the tree of transactions',
    counts: { roots: roots.length, proofs: proofs.length },
    items: items.map(hex),
    receipts: receipts.map(hex),
    roots,
    proofs,
  }
}

/** The bytes that signatures cover. */
export function signingMessagesFile(): VectorFile {
  const genesis = hex(madeBytes('genesis', 32))
  const txId = hex(madeBytes('transaction id', 32))
  const statement = (change: Partial<Statement>): Statement => ({
    domain: 'transaction',
    chainId: 1,
    genesis,
    scheme: 1,
    subject: txId,
    ...change,
  })
  const statements = [
    ...([1, 2, 3] as const).flatMap((scheme) => [
      statement({ scheme }),
      statement({ scheme, domain: 'text', subject: 'I own this address' }),
    ]),
    ...[0, 255, 256, 65_536, 0xffffffff].map((chainId) => statement({ chainId })),
    statement({ genesis: '00'.repeat(32) }),
    statement({ subject: 'ff'.repeat(32) }),
    statement({ scheme: 3, domain: 'attestation', subject: hex(madeBytes('attested digest', 32)) }),
    statement({ scheme: 3, domain: 'attestation', genesis: '00'.repeat(32), chainId: 255 }),
    statement({ domain: 'text', subject: '' }),
    statement({ domain: 'text', subject: 'höher, 高い, 🪙' }),
    statement({ domain: 'text', subject: 'two\nlines\u0000' }),
  ]
  const cases = statements.map((made) => ({ ...made, message: hex(messageOf(made)) }))
  return {
    about: 'label, chain id, genesis, scheme, digest; the digest of a text is its tagged hash',
    counts: { cases: cases.length },
    cases,
  }
}
