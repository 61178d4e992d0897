import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { ACTORS, type Actor } from './actors.ts'
import { amountNear, type Choice, type Choosing, choice, hash32, once, pick, senderAt } from './choices.ts'
import { tagged, ZERO32 } from './reference/bytes.ts'
import { agentKey, type Ledger, NATIVE, serviceKey } from './reference/ledger.ts'
import type { Kind } from './reference/payloads.ts'
import { TAB_SCHEME, type TabChain, voucherMessage } from './reference/tab-keys.ts'
import { tabRules } from './reference/tab-kinds.ts'
import type { ClaimEntry, Tab, Voucher } from './reference/tab-schemas.ts'

const AGENT_IDS = ['abc', 'agent-one', '0-z']
const SERVICE_IDS = ['echo', 'svc-1']

/** DER of an Ed25519 private key, up to its 32 bytes. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** A key of a tab, with the seed that a test knows. */
export interface TabKey {
  readonly publicKey: string
  sign(message: Uint8Array): Uint8Array
}

/** The key of a seed. */
export function tabKey(seed: Uint8Array): TabKey {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
  const { x } = createPublicKey(key).export({ format: 'jwk' })
  return {
    publicKey: Buffer.from(x as string, 'base64url').toString('hex'),
    sign: (message) => new Uint8Array(sign(null, message, key)),
  }
}

/** Keys that sign vouchers in tests. */
export const VOUCHER_KEYS: readonly TabKey[] = [1, 2, 3].map((number) =>
  tabKey(tagged('text', Uint8Array.of(number, 0x11))),
)
const RECEIPT_KEY = tabKey(tagged('text', Uint8Array.of(4, 0x11))).publicKey
/** A y that no point of the curve has: acceptable, and no signature verifies under it. */
export const NO_POINT = `02${'00'.repeat(31)}`

/** A voucher of this key for a tab. */
export function signedVoucher(
  key: TabKey,
  tabId: string,
  fields: Omit<Voucher, 'signature'>,
  chain: TabChain,
): Voucher {
  return { ...fields, signature: key.sign(voucherMessage(tabId, fields, chain)) }
}

/** The agent's owner, or now and then another actor. */
function owner(choosing: Choosing, agentId: string): Actor {
  return senderAt(choosing, choosing.ledger.agents.get(agentKey(agentId))?.owner)
}

function terms(choosing: Choosing): Choice {
  const { n, rules } = choosing
  const agentId = pick(AGENT_IDS, n[1])
  return choice(owner(choosing, agentId), 'tab_terms', {
    agentId,
    receiptKey: pick([RECEIPT_KEY, RECEIPT_KEY, RECEIPT_KEY, NO_POINT, ZERO32], n[2]),
    minDeposit: pick([0n, 0n, 1_000_001n, 0n, 2n ** 112n - 1n], n[3]),
    minCloseDelay: pick(tabRules({ rules }).closeDelays, (n[4] as number) % 4),
  })
}

function open(choosing: Choosing): Choice {
  const { n, rules, sender, ledger } = choosing
  const { depositMin, terms, closeDelays } = tabRules({ rules })
  const agentId = pick(AGENT_IDS, n[1])
  // An agent without terms takes no tabs. Mostly its owner makes them first.
  const known = ledger.agents.get(agentKey(agentId)) !== undefined
  if (known && ledger.tabTerms.get(agentKey(agentId)) === undefined && !once(choosing, 3, 2))
    return firstTerms(choosing)
  const balance = ledger.balance(sender.address, NATIVE)
  const deposits = [depositMin, 3_000_000n, 20_000_000n, 999_999_999n, depositMin + 1n, balance + 1n, 5_000_000n]
  const deposit = pick(deposits, n[3])
  return choice(sender, 'tab_open', {
    agentId,
    deposit: deposit < depositMin ? depositMin : amountNear(deposit),
    term: pick(terms, n[4]),
    closeDelay: pick([...closeDelays].reverse(), (n[5] as number) % 4),
    scheme: TAB_SCHEME,
    voucherKey: once(choosing, 12, 6) ? NO_POINT : pick(VOUCHER_KEYS, n[6]).publicKey,
  })
}

function firstTerms(choosing: Choosing): Choice {
  const agentId = pick(AGENT_IDS, choosing.n[1])
  const minCloseDelay = tabRules(choosing).closeDelays[0] as number
  return choice(owner(choosing, agentId), 'tab_terms', {
    agentId,
    receiptKey: RECEIPT_KEY,
    minDeposit: 0n,
    minCloseDelay,
  })
}

/** A tab of the state, or one that does not exist. */
function anyTab(choosing: Choosing): readonly [string, Tab | undefined] {
  const { ledger, n } = choosing
  const tabs = ledger.tabs.all()
  return tabs.length === 0 || once(choosing, 17, 7) ? [hash32(n[1] as number), undefined] : pick(tabs, n[1])
}

function fund(choosing: Choosing): Choice {
  const { ledger, n } = choosing
  if (ledger.tabs.all().length === 0 && !once(choosing, 6, 8)) return open(choosing)
  const [tabId, tab] = anyTab(choosing)
  const sender = senderAt(choosing, tab?.payer)
  const amounts = [1n, 1_000_000n, 99_999n, ledger.balance(sender.address, NATIVE) + 1n]
  return choice(sender, 'tab_fund', { tabId, amount: amountNear(pick(amounts, n[2])) })
}

function close(choosing: Choosing): Choice {
  if (choosing.ledger.tabs.all().length === 0 && !once(choosing, 6, 8)) return open(choosing)
  const [tabId, tab] = anyTab(choosing)
  return choice(senderAt(choosing, tab?.payer), 'tab_close', { tabId })
}

/** What entries of this claim have made of a tab so far. */
type Sums = Map<string, { claimed: bigint; receipts: number }>

/** The services of an entry that share a difference, of the agent's services if it has any. */
function shares(ledger: Ledger, agentId: string, difference: bigint, n: number): ClaimEntry['services'] {
  const own = SERVICE_IDS.filter((one) => ledger.services.get(serviceKey(agentId, one)) !== undefined)
  const names = own.length === 0 ? SERVICE_IDS.slice(0, 1) : own
  const [first, second] = n % 3 === 0 ? names : [names[n % names.length]]
  const calls = pick([1, 2, 30], n)
  if (first === undefined) return []
  if (second === undefined) return [{ serviceId: first, calls, amount: difference }]
  const half = difference / 2n
  return [
    { serviceId: first, calls, amount: half },
    { serviceId: second, calls: 1, amount: difference - half },
  ]
}

/** Another message or another signature than the key signed. */
function forged({ seq, ceiling, signature }: Voucher, n: number): Partial<Voucher> {
  const bit = signature.with(n % 64, (signature[n % 64] as number) ^ 1)
  return pick([{ seq: seq + 1 }, { context: hash32(n) }, { ceiling: ceiling + 1n }, { signature: bit }], n)
}

/** Ways to break an entry, each one a code of its own. The rest of an entry stays good. */
const SPOILS: readonly ((entry: ClaimEntry, tab: Tab, n: number) => Partial<ClaimEntry>)[] = [
  (_, { claimed, receipts }, n) =>
    n % 2 === 0 || claimed === 0n ? { receipts, claimed, close: false } : { claimed: claimed - 1n },
  ({ voucher, claimed }, _, n) =>
    n % 2 === 0 || claimed === 0n
      ? { voucher: [] }
      : { voucher: voucher.map((one) => ({ ...one, ceiling: claimed - 1n })) },
  ({ claimed }, _, n) => ({ claimed: claimed + (n % 2 === 0 ? 1n : 0n), services: [] }),
  ({ failed, root }, _, n) => (n % 2 === 0 ? { failed: failed + 1 } : { root: root === ZERO32 ? hash32(n) : ZERO32 }),
  ({ services }) => ({ services: services.map((one) => ({ ...one, serviceId: 'nobody-has-this' })) }),
  ({ voucher }, _, n) => ({ voucher: voucher.map((one) => ({ ...one, ...forged(one, n) })) }),
]

function entryOf(choosing: Choosing, [tabId, tab]: readonly [string, Tab], sums: Sums, i: number): ClaimEntry {
  const { n, ledger, genesisId, rules } = choosing
  const roll = (index: number): number => ((n[index] as number) >> i) + i
  const before = sums.get(tabId) ?? tab
  const rest = tab.deposit - before.claimed
  const differences = [250_000n, 100_000n, 0n, rest, 1n, 99_999n, 1_000_001n, rest + 1n, 2_000_000n]
  const difference = pick(differences, roll(2))
  const claimed = before.claimed + difference
  const failed = pick([0, 0, 1, 7], roll(3))
  const services = difference === 0n && roll(3) % 2 === 0 ? [] : shares(ledger, tab.agentId, difference, roll(4))
  const fresh = services.reduce((sum, { calls }) => sum + calls, failed)
  const key = VOUCHER_KEYS.find(({ publicKey }) => publicKey === tab.voucherKey) ?? (VOUCHER_KEYS[0] as TabKey)
  const fields = { seq: roll(5), ceiling: amountNear(claimed + pick([0n, 1n, 10n ** 9n], roll(5))), context: hash32(i) }
  const chain = { genesisId, chainId: rules.tx.chainId }
  const entry: ClaimEntry = {
    tabId,
    voucher: difference === 0n && roll(5) % 2 === 0 ? [] : [signedVoucher(key, tabId, fields, chain)],
    claimed,
    close: roll(6) % 5 === 0,
    receipts: before.receipts + fresh,
    failed,
    root: fresh === 0 ? ZERO32 : hash32(roll(3)),
    services,
  }
  const spoil = roll(8) % 2 === 0 ? undefined : pick([...SPOILS, undefined, undefined, undefined], roll(9))
  const spoilt = { ...entry, ...spoil?.(entry, tab, roll(10)) }
  if (spoil === undefined && claimed <= tab.deposit) sums.set(tabId, { claimed, receipts: entry.receipts })
  return spoilt
}

/** A claim of some tabs of one agent, sometimes twice of one tab, of another agent's, or of none. */
function claim(choosing: Choosing): Choice {
  const { ledger, n } = choosing
  const tabs = ledger.tabs.all()
  if (tabs.length === 0 && !once(choosing, 6, 8)) return open(choosing)
  const [tabId, first] = anyTab(choosing)
  const own = tabs.filter(([, { agentId }]) => agentId === first?.agentId)
  const sums: Sums = new Map()
  const entries = Array.from({ length: 1 + ((n[11] as number) % 4) }, (_, i) => {
    const other = (n[11] as number) % 8 === 7 ? tabs : own
    const [id, tab] =
      i === 0 || other.length === 0 ? [tabId, first] : pick(other, (n[1] as number) + i * ((n[11] as number) % 3))
    return tab === undefined ? unknownEntry(id) : entryOf(choosing, [id, tab], sums, i)
  })
  return choice(claimant(choosing, first), 'tab_claim', { entries })
}

const unknownEntry = (tabId: string): ClaimEntry => ({
  tabId,
  voucher: [],
  claimed: 1n,
  close: true,
  receipts: 0,
  failed: 0,
  root: ZERO32,
  services: [],
})

/** The owner or a settler of the tab's agent; now and then another actor. */
function claimant(choosing: Choosing, tab: Tab | undefined): Actor {
  const agent = tab === undefined ? undefined : choosing.ledger.agents.get(agentKey(tab.agentId))
  const may = [agent?.owner, ...(agent?.settlers ?? [])].filter((one) => ACTORS.some(({ address }) => address === one))
  return senderAt(choosing, may.length === 0 ? undefined : pick(may, choosing.n[0]))
}

/** For each kind of tabs, the function that chooses a transaction. Before the step that brings them nothing can be chosen. */
export const TAB_CHOICES = {
  tab_terms: terms,
  tab_open: open,
  tab_fund: fund,
  tab_claim: claim,
  tab_close: close,
} as const satisfies Partial<Record<Kind, (choosing: Choosing) => Choice>>
