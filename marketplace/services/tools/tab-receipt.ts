import Type from 'typebox'
import { Value } from 'typebox/value'
import { formatAddress } from '../../../consensus/crypto/address.ts'
import { verifyMerkleProof } from '../../../consensus/crypto/merkle.ts'
import { AMOUNT_MAX, amount } from '../../../consensus/primitives/amount.ts'
import { fromHex } from '../../../consensus/primitives/bytes.ts'
import { fieldsOf } from '../../../consensus/primitives/fields.ts'
import { SERVICE_ID, type TxId } from '../../../consensus/primitives/ids.ts'
import {
  encodeTabReceipt,
  TAB_RECEIPT_TREE,
  type TabReceipt,
  tabReceiptMessage,
} from '../../../consensus/tx/tab-messages.ts'
import { type TabClaim, tabClaims } from '../../ledger/tab-lives.ts'
import { minedFacts } from '../../queries/call-records.ts'
import { type TabFacts, tabFacts } from '../../queries/tabs.ts'
import { orNull } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { COIN_AMOUNT, coins } from '../envelope.ts'

const HEX_32 = Type.String({ pattern: '^[0-9a-f]{64}$' })
const UINT_32 = Type.Integer({ minimum: 0, maximum: 4_294_967_295 })
const UNITS = Type.String({ pattern: '^(0|[1-9][0-9]{0,38})$' })

const RECEIPT = Type.Object({
  ...{ tabId: HEX_32, seq: UINT_32, n: Type.Integer({ minimum: 1, maximum: 4_294_967_295 }) },
  serviceId: Type.String({ pattern: SERVICE_ID.source }),
  ...{ context: HEX_32, resultHash: HEX_32, outcome: Type.Integer({ minimum: 0, maximum: 1 }) },
  ...{ charged: UNITS, cumulative: UNITS, durationMs: UINT_32 },
  timeMs: Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000 }),
  signature: Type.String({ pattern: '^[0-9a-f]{128}$' }),
})

const PATH = Type.Object({ index: UINT_32, count: UINT_32, siblings: Type.Array(HEX_32, { maxItems: 32 }) })

/** A receipt of a tab, as its caller has it. */
export interface ShownReceipt {
  readonly receipt: TabReceipt
  readonly signature: string
  /** Its place in the tree of its claim; null if the caller did not give it. */
  readonly path: { readonly index: number; readonly count: number; readonly siblings: readonly string[] } | null
}

/** Reads `{receipt, path?}` or the receipt alone. Undefined if it is neither. */
export function readShownReceipt(text: string): ShownReceipt | undefined {
  const given = jsonOf(text)
  const { receipt: inner, path = null } = given
  const shown = inner === undefined ? given : inner
  if (!Value.Check(RECEIPT, shown) || (path !== null && !Value.Check(PATH, path))) return undefined
  const { signature, ...receipt } = shown
  const [charged, cumulative] = [BigInt(receipt.charged), BigInt(receipt.cumulative)]
  if (charged > AMOUNT_MAX || cumulative > AMOUNT_MAX) return undefined
  const amounts = { charged: amount(charged), cumulative: amount(cumulative) }
  return { receipt: { ...receipt, ...amounts } as unknown as TabReceipt, signature, path }
}

function jsonOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return fieldsOf(JSON.parse(text))
  } catch {
    return {}
  }
}

/** What the service says about a receipt of a tab. */
export const TAB_RESULT = Type.Object({
  tabId: HEX_32,
  agentId: orNull(Type.String()),
  payer: orNull(Type.String()),
  receiptKey: orNull(HEX_32),
  signed: orNull(Type.Boolean()),
  seq: UINT_32,
  n: UINT_32,
  serviceId: Type.String(),
  delivered: Type.Boolean(),
  charged: COIN_AMOUNT,
  cumulative: COIN_AMOUNT,
  resultHash: HEX_32,
  claim: orNull(
    Type.Object({
      txId: HEX_32,
      height: Type.Integer({ minimum: 0 }),
      entry: Type.Integer({ minimum: 0 }),
      root: HEX_32,
      first: UINT_32,
      last: UINT_32,
      claimed: COIN_AMOUNT,
    }),
  ),
  inRoot: orNull(Type.Boolean()),
})

/** What this node knows about a receipt: who signed it, and which claim commits to it. */
export async function tabReceiptFacts(context: ServiceContext, shown: ShownReceipt) {
  const { chain } = context
  const { receipt } = shown
  const { tabId, seq, n, serviceId, outcome, charged, cumulative, resultHash } = receipt
  const facts = tabFacts(chain, tabId)
  const covering = facts === undefined ? undefined : await claimOver(context, tabId, n)
  const mined = covering === undefined ? undefined : minedFacts(chain, covering.claim.txId)
  return {
    opening: facts === undefined ? undefined : minedFacts(chain, tabId),
    mined,
    tab: {
      ...namesOf(context, facts),
      signed: facts === undefined ? null : isSigned(context, facts, shown),
      ...{ tabId, seq, n, serviceId, delivered: outcome === 0, resultHash },
      ...{ charged: coins(context, charged), cumulative: coins(context, cumulative) },
      claim: covering === undefined ? null : claimJson(context, covering),
      inRoot: covering === undefined || shown.path === null ? null : isInRoot(shown, covering),
    },
  }
}

function namesOf({ chain }: ServiceContext, facts: TabFacts | undefined) {
  if (facts === undefined) return { agentId: null, payer: null, receiptKey: null }
  const { agentId, payer, receiptKey } = facts.tab
  return { agentId, payer: formatAddress(chain.ruleBook.params.addressPrefix, payer), receiptKey }
}

function isSigned({ chain, isTabSignature }: ServiceContext, { tab }: TabFacts, shown: ShownReceipt): boolean {
  const message = tabReceiptMessage(chain.network, encodeTabReceipt(shown.receipt))
  return isTabSignature({ key: fromHex(tab.receiptKey), message, signature: fromHex(shown.signature) })
}

interface Covering {
  readonly claim: TabClaim
  /** Number of its first receipt. */
  readonly first: number
}

const PAGE = 500

/** The claim whose root covers receipt `n`; undefined if there is none yet. */
async function claimOver({ chain }: ServiceContext, tabId: TxId, n: number): Promise<Covering | undefined> {
  let [after, first]: [TabClaim | undefined, number] = [undefined, 1]
  for (;;) {
    const page: readonly TabClaim[] = await tabClaims(chain.database, tabId, { limit: PAGE, after })
    for (const claim of page) {
      if (claim.receipts >= n) return { claim, first }
      first = claim.receipts + 1
    }
    after = page.at(-1)
    if (page.length < PAGE) return undefined
  }
}

function claimJson(context: ServiceContext, { claim, first }: Covering) {
  const { txId, height, entry, root, receipts, claimed } = claim
  return { txId, height, entry, root, first, last: receipts, claimed: coins(context, claimed) }
}

/** Whether the path leads from the receipt, at its own place, to the root of the claim. */
function isInRoot({ receipt, path }: ShownReceipt, { claim, first }: Covering): boolean {
  if (path === null || path.index !== receipt.n - first || path.count !== claim.receipts - first + 1) return false
  const proof = { ...path, siblings: path.siblings.map(fromHex) }
  return verifyMerkleProof(TAB_RECEIPT_TREE, fromHex(claim.root), encodeTabReceipt(receipt), proof)
}
