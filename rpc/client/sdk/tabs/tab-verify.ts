import { ZERO_HEX_32 } from '../../../../consensus/primitives/bytes.ts'
import type { Hash } from '../../../../consensus/primitives/ids.ts'
import { tabChain, tabReceiptsRoot } from '../../../../consensus/tx/tab-messages.ts'
import { must } from '../refusals.ts'
import type { TabBook } from './tab-book.ts'
import type { ClaimView, TabRecordView } from './tab-chain.ts'
import type { TabKey } from './tab-key.ts'
import type { TabPurse } from './tab-purse.ts'
import { isReceiptOf, isSameReceipt, receiptItem } from './tab-receipts.ts'
import { signingNetworkOf, type TabSeller } from './tab-seller.ts'
import type { CheckedClaim, CheckedTab, OpeningNote, TabEvidence, TabReceiptJson } from './tab-types.ts'

/** Most receipts that a seller is asked for. */
const RECEIPTS_MAX = 1_000_000
/** Most missing receipts that are named. */
const MISSING_MAX = 100_000

/** Where a check of receipts finds what it needs. */
export interface VerifyPlace {
  readonly purse: TabPurse
  readonly seller: TabSeller
  readonly key: TabKey
  readonly opening: OpeningNote
  readonly book: TabBook
  /** Null if the chain does not have the tab. */
  readonly record: TabRecordView | null
}

type Receipts = ReadonlyMap<number, TabReceiptJson>

/**
 * Checks the receipts of a tab. The roots are made anew from the receipts, without the seller; what is missing is asked of
 * the seller, and counts only where it is signed.
 */
export async function checkTabReceipts(
  own: readonly TabReceiptJson[],
  receiptKey: string,
  place: VerifyPlace,
): Promise<CheckedTab> {
  const claims = await claimsOf(place)
  const covered = claims.at(-1)?.receipts ?? 0
  const given = await missingFrom(own, covered, place)
  const signed = await signedOf(own, receiptKey, place)
  const all = [...signed, ...(await signedOf(given, receiptKey, place))]
  const twice = twiceIn(all)
  const receipts: Receipts = new Map(all.map((receipt) => [receipt.n, receipt]))
  const broken = twice === null ? breakIn(receipts) : null
  const checked = claims.map((claim, i) => checkClaim(claim, claims[i - 1], receipts))
  const lie = claims.findIndex((claim, i) => isContradicted(claim, receipts, checked[i]?.root ?? null))
  const missing = missingIn(receipts, covered)
  const chain = place.record === null ? null : isWholeChain(claims, place.record)
  const roots = checked.map(({ root }) => root)
  const checks = {
    signatures: signed.length === own.length,
    sums: twice === null && broken === null,
    roots: roots.includes(false) ? false : roots.includes(null) ? null : true,
    claims: lie < 0,
    complete: missing.length === 0,
    own: place.book.isWhole ? all.every(({ context }) => place.book.hasCalled(context)) : null,
    chain,
  }
  const failed = Object.entries(checks).flatMap(([name, good]) => (good === false ? [name] : []))
  const evidence = evidenceOf(
    // Claims that do not make up the record are the word of a node.
    { twice, broken, claim: chain === true ? claims[lie] : undefined, before: claims[lie - 1], receipts },
    receiptKey,
    place,
  )
  return { ok: failed.length === 0, failed, checks, receipts: receipts.size, missing, claims: checked, evidence }
}

/** Receipts that only the seller has, if its key signed them. Errors: those of the seller's node. */
export async function givenReceipts(
  own: readonly TabReceiptJson[],
  receiptKey: string,
  place: VerifyPlace,
): Promise<readonly TabReceiptJson[]> {
  const { seller, opening, key } = place
  const known = new Set(own.map(({ n }) => n))
  const given = await seller.receipts(opening.tabId, key, firstMissing(known), RECEIPTS_MAX)
  const lacking = given.filter(({ n, tabId }) => tabId === opening.tabId && !known.has(n))
  return signedOf(lacking, receiptKey, place)
}

function missingIn(receipts: Receipts, covered: number): readonly number[] {
  const missing: number[] = []
  for (let n = 1; n <= covered && missing.length < MISSING_MAX; n++) if (!receipts.has(n)) missing.push(n)
  return missing
}

function firstMissing(known: ReadonlySet<number>): number {
  for (let n = 1; ; n++) if (!known.has(n)) return n
}

async function signedOf(
  receipts: readonly TabReceiptJson[],
  receiptKey: string,
  { purse }: VerifyPlace,
): Promise<readonly TabReceiptJson[]> {
  const network = signingNetworkOf(purse.parts.facts)
  const good = await Promise.all(receipts.map((receipt) => isReceiptOf(network, receiptKey, receipt)))
  return receipts.filter((_, i) => good[i])
}

async function claimsOf({ purse, opening }: VerifyPlace): Promise<readonly ClaimView[]> {
  return must(await purse.chain.claims(opening.tabId))
}

async function missingFrom(
  own: readonly TabReceiptJson[],
  covered: number,
  { seller, opening, key }: VerifyPlace,
): Promise<readonly TabReceiptJson[]> {
  const known = new Set(own.map(({ n }) => n))
  const first = firstMissing(known)
  if (first > covered) return []
  const given = await seller
    .receipts(opening.tabId, key, first, Math.min(RECEIPTS_MAX, covered - first + 1))
    .catch(() => [])
  return given.filter(({ n, tabId }) => tabId === opening.tabId && n <= covered)
}

function twiceIn(receipts: readonly TabReceiptJson[]): readonly TabReceiptJson[] | null {
  const byNumber = new Map<number, TabReceiptJson>()
  for (const receipt of receipts) {
    const known = byNumber.get(receipt.n)
    if (known !== undefined && !isSameReceipt(known, receipt)) return [known, receipt]
    byNumber.set(receipt.n, receipt)
  }
  return null
}

/** Two receipts in a row whose sums do not go on. */
function breakIn(receipts: Receipts): readonly TabReceiptJson[] | null {
  for (const receipt of receipts.values()) {
    const before = receipts.get(receipt.n - 1)
    const sum = receipt.n === 1 ? 0n : before === undefined ? null : BigInt(before.cumulative)
    if (sum !== null && sum + BigInt(receipt.charged) !== BigInt(receipt.cumulative))
      return before === undefined ? [receipt] : [before, receipt]
  }
  return null
}

function rangeOf(
  claim: ClaimView,
  before: ClaimView | undefined,
  receipts: Receipts,
): readonly TabReceiptJson[] | null {
  const from = before?.receipts ?? 0
  if (claim.receipts - from > receipts.size) return null
  const range = Array.from({ length: claim.receipts - from }, (_, i) => receipts.get(from + 1 + i))
  return range.every((receipt) => receipt !== undefined) ? (range as readonly TabReceiptJson[]) : null
}

function checkClaim(claim: ClaimView, before: ClaimView | undefined, receipts: Receipts): CheckedClaim {
  const { txId, height, claimed } = claim
  const range = rangeOf(claim, before, receipts)
  const root = range === null ? null : rootOf(range) === claim.root
  return { txId, height, receipts: claim.receipts, claimed, root }
}

function rootOf(range: readonly TabReceiptJson[]): string {
  return range.length === 0 ? ZERO_HEX_32 : tabReceiptsRoot(range.map(receiptItem))
}

/** Whether a claim takes more than its receipts charge, or has another root than all of them. */
function isContradicted(claim: ClaimView, receipts: Receipts, root: boolean | null): boolean {
  if (root === false) return true
  const last = receipts.get(claim.receipts)
  const sum = claim.receipts === 0 ? 0n : last === undefined ? null : BigInt(last.cumulative)
  return sum !== null && claim.claimed > sum
}

/** Whether these claims are all that the state record was made by. */
function isWholeChain(claims: readonly ClaimView[], record: TabRecordView): boolean {
  let [chain, receipts] = [ZERO_HEX_32 as Hash, 0]
  for (const claim of claims) {
    const { root, claimed } = claim
    if (claim.receipts > receipts) chain = tabChain(chain, { root: root as Hash, receipts: claim.receipts, claimed })
    receipts = claim.receipts
  }
  const last = claims.at(-1)
  return chain === record.chain && receipts === record.receipts && (last?.claimed ?? 0n) === record.claimed
}

interface Found {
  readonly twice: readonly TabReceiptJson[] | null
  readonly broken: readonly TabReceiptJson[] | null
  readonly claim: ClaimView | undefined
  readonly before: ClaimView | undefined
  readonly receipts: Receipts
}

function evidenceOf(
  { twice, broken, claim, before, receipts }: Found,
  receiptKey: string,
  { purse, opening }: VerifyPlace,
): TabEvidence | null {
  const { genesis, chainId } = purse.parts.facts
  const { tabId, agentId, voucherKey } = opening
  const names = { genesis, chainId, tabId, agentId, receiptKey, voucherKey }
  if (twice !== null) return { kind: 'two receipts for one number', ...names, receipts: twice, said: null }
  if (broken !== null) return { kind: 'sums that do not add up', ...names, receipts: broken, said: null }
  if (claim === undefined) return null
  const last = receipts.get(claim.receipts)
  const shown = rangeOf(claim, before, receipts) ?? (last === undefined ? [] : [last])
  const said = { claim: claim.told }
  return { kind: 'a claim that its receipts contradict', ...names, receipts: shown, said }
}
