import { hex, join, madeBytes, unhex, utf8 } from './bytes.ts'
import { equationHolds, expandSeed, meetsRules, type SecretKey, signEd25519 } from './edwards25519.ts'
import { made } from './tx-fields.ts'
import { RECEIPT_KEY, VOUCHER_KEY } from './tx-tab-payloads.ts'
import { container, listRoot, tagged, u8, u32, u64, u128, type VectorSet, words } from './tx-wire.ts'

/** What keys of tabs sign, and the hashes of their receipts and claims: encoding.md, section 7. */

/** One thing that the key of a tab signs. Amounts are decimal text, bytes and hashes hex. */
export interface TabSigningCase {
  readonly name: string
  readonly what: 'voucher' | 'receipt' | 'query'
  readonly chainId: number
  readonly genesis: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly message: string
  readonly key: string
  readonly signature: string
  readonly valid: boolean
}

const GENESES = [madeBytes('genesis', 32), madeBytes('another genesis', 32)]
const TAB = made('tab')
const MOST = 2 ** 32 - 1
const LARGEST = 2n ** 112n - 1n

function tabMessage(label: string, chainId: number, genesis: Uint8Array, digest: Uint8Array): Uint8Array {
  return join(utf8(label), u32(chainId), genesis, u8(0x11), digest)
}

interface Signed {
  readonly name: string
  readonly what: TabSigningCase['what']
  readonly chainId?: number
  readonly genesis?: Uint8Array
  readonly fields: Readonly<Record<string, unknown>>
  readonly label: string
  readonly digest: Uint8Array
  readonly signer: SecretKey
  /** Changes the signature, or the key that shall verify it. */
  readonly spoil?: (signature: Uint8Array, key: Uint8Array) => readonly [signature: Uint8Array, key: Uint8Array]
}

function signed(one: Signed): TabSigningCase {
  const { name, what, chainId = 1, genesis = GENESES[0] as Uint8Array, fields, label, digest, signer } = one
  const message = tabMessage(label, chainId, genesis, digest)
  const made = signEd25519(signer, message)
  const [signature, key] = one.spoil?.(made.signature, made.publicKey) ?? [made.signature, made.publicKey]
  return {
    ...{ name, what, chainId, genesis: hex(genesis), fields, message: hex(message) },
    ...{ key: hex(key), signature: hex(signature) },
    valid: meetsRules(key, signature) && equationHolds(key, message, signature),
  }
}

interface VoucherFields {
  readonly tabId: Uint8Array
  readonly seq: number
  readonly ceiling: bigint
  readonly context: Uint8Array
}

const VOUCHER: VoucherFields = { tabId: TAB, seq: 41, ceiling: 1_250_000n, context: made('context') }

function voucher(name: string, change: Partial<VoucherFields> = {}, more: Partial<Signed> = {}): TabSigningCase {
  const { tabId, seq, ceiling, context } = { ...VOUCHER, ...change }
  const fields = { tabId: hex(tabId), seq, ceiling: `${ceiling}`, context: hex(context) }
  const digest = tagged('farthing/tab-voucher/1', tabId, u32(seq), u128(ceiling), context)
  return signed({ name, what: 'voucher', fields, label: 'farthing-voucher/1', digest, signer: VOUCHER_KEY, ...more })
}

interface ReceiptFields {
  readonly tabId: Uint8Array
  readonly seq: number
  readonly n: number
  readonly serviceId: string
  readonly context: Uint8Array
  readonly resultHash: Uint8Array
  readonly outcome: number
  readonly charged: bigint
  readonly cumulative: bigint
  readonly durationMs: number
  readonly timeMs: number
}

const RECEIPT: ReceiptFields = {
  ...{ tabId: TAB, seq: 41, n: 42, serviceId: 'summarise', context: made('context'), resultHash: made('result') },
  ...{ outcome: 0, charged: 50_000n, cumulative: 1_200_000n, durationMs: 812, timeMs: 1_793_491_260_000 },
}

function receiptBytes(r: ReceiptFields): Uint8Array {
  return container(
    ...[r.tabId, u32(r.seq), u32(r.n), words(r.serviceId), r.context, r.resultHash, u8(r.outcome)],
    ...[u128(r.charged), u128(r.cumulative), u32(r.durationMs), u64(r.timeMs)],
  )
}

const shownReceipt = ({ tabId, context, resultHash, charged, cumulative, ...rest }: ReceiptFields) => ({
  ...{ ...rest, tabId: hex(tabId), context: hex(context), resultHash: hex(resultHash) },
  ...{ charged: `${charged}`, cumulative: `${cumulative}` },
})

const FAILED = { outcome: 1, charged: 0n, resultHash: new Uint8Array(32) }
const LONGEST: Partial<ReceiptFields> = {
  ...{ seq: MOST, n: MOST, serviceId: `s${'-'.repeat(46)}9`, charged: LARGEST, cumulative: LARGEST },
  ...{ durationMs: MOST, timeMs: Number.MAX_SAFE_INTEGER },
}

function receipt(name: string, change: Partial<ReceiptFields> = {}): TabSigningCase {
  const fields = { ...RECEIPT, ...change }
  const digest = tagged('farthing/tab-receipt-leaf/1', receiptBytes(fields))
  const head = { name, what: 'receipt', label: 'farthing-tab-receipt/1', digest, signer: RECEIPT_KEY } as const
  return signed({ ...head, fields: shownReceipt(fields) })
}

function query(what: 'state' | 'refund', timeMs: number): TabSigningCase {
  const digest = tagged('farthing/tab-query/1', TAB, u8(what === 'state' ? 1 : 2), u64(timeMs))
  const head = { name: `a query ${what} at ${timeMs}`, what: 'query', label: 'farthing-tab-query/1' } as const
  return signed({ ...head, digest, signer: VOUCHER_KEY, fields: { tabId: hex(TAB), query: what, timeMs } })
}

const flip = (bytes: Uint8Array, at: number) => bytes.with(at, (bytes[at] as number) ^ 1)
const OTHER_KEY = expandSeed(made('another voucher seed'))

/** Signed and forged vouchers, receipts and queries. */
export function tabSigning(): VectorSet<TabSigningCase> {
  return {
    about:
      'What keys of tabs sign, with signatures, some of which must not verify. Ed25519 by the strict rules, alone.',
    spec: 'encoding.md, section 7',
    cases: [
      voucher('a voucher'),
      voucher('the first voucher, of nothing', { seq: 0, ceiling: 0n }),
      voucher('a voucher with everything at its end', { seq: MOST, ceiling: LARGEST, context: new Uint8Array(32) }),
      voucher('a voucher of another chain', {}, { chainId: MOST }),
      voucher('a voucher of another genesis', {}, { genesis: GENESES[1] as Uint8Array }),
      voucher('a voucher for another tab', { tabId: made('another tab') }),
      voucher('a voucher with a flipped bit in R', {}, { spoil: (s, key) => [flip(s, 0), key] }),
      voucher('a voucher with a flipped bit in S', {}, { spoil: (s, key) => [flip(s, 32), key] }),
      voucher('a voucher by another key', {}, { spoil: (s) => [s, OTHER_KEY.publicKey] }),
      voucher('a voucher with S + L', {}, { spoil: (s, key) => [withOrderAdded(s), key] }),
      voucher('a voucher by a key that is no point', {}, { spoil: (s) => [s, new Uint8Array(32).with(0, 2)] }),
      voucher('zeros for a signature', {}, { spoil: (_, key) => [new Uint8Array(64), key] }),
      receipt('a receipt'),
      receipt('the receipt of a failed call', { ...FAILED, n: 43 }),
      receipt('a receipt with everything at its longest', LONGEST),
      query('state', 1_793_491_260_000),
      query('refund', 0),
      query('refund', 2 ** 40),
    ],
  }
}

/** The same signature with S + L, which a verifier without the bound of S would take. */
function withOrderAdded(signature: Uint8Array): Uint8Array {
  const order = unhex('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010')
  const out = signature.slice()
  let carry = 0
  for (let i = 0; i < 32; i++) {
    carry += (signature[32 + i] as number) + (order[i] as number)
    out[32 + i] = carry & 255
    carry >>= 8
  }
  return out
}

/** A tab's claims: the receipts of each, their root, and the chain after it. */
export interface TabClaimsCase {
  readonly name: string
  readonly receipts: readonly {
    readonly fields: Readonly<Record<string, unknown>>
    readonly item: string
    readonly leaf: string
  }[]
  readonly root: string
  readonly before: string
  readonly total: number
  readonly claimed: string
  readonly chain: string
}

function claimsOf(name: string, counts: readonly number[]): readonly TabClaimsCase[] {
  let [before, n, cumulative]: [Uint8Array, number, bigint] = [new Uint8Array(32), 0, 0n]
  return counts.map((count, i) => {
    const receipts = Array.from({ length: count }, () => {
      n++
      const failed = n % 5 === 0
      const charged = failed ? 0n : 50_000n + BigInt(n)
      cumulative += charged
      const fields = {
        ...RECEIPT,
        seq: n - 1,
        n,
        context: made(`context ${n}`),
        ...(failed ? FAILED : { charged }),
        cumulative,
      }
      const item = receiptBytes(fields)
      return { fields: shownReceipt(fields), item: hex(item), leaf: hex(tagged('farthing/tab-receipt-leaf/1', item)) }
    })
    const root = listRoot(
      'tab-receipt',
      receipts.map(({ item }) => unhex(item)),
    )
    const chain = tagged('farthing/tab-chain/1', before, root, u32(n), u128(cumulative))
    const result = {
      ...{ name: `claim ${i + 1} of ${name}`, receipts, root: hex(root), before: hex(before) },
      ...{ total: n, claimed: `${cumulative}`, chain: hex(chain) },
    }
    before = chain
    return result
  })
}

/** Receipts, roots and chains of some tabs. */
export function tabClaims(): VectorSet<TabClaimsCase> {
  return {
    about:
      'Receipts of tabs with their leaves, the root that a claim commits to, and the chain of all claims of a tab.',
    spec: 'encoding.md, sections 4 and 7; ledgers.md, section 10',
    cases: [...claimsOf('a tab of one call', [1]), ...claimsOf('a tab of 22 calls', [2, 3, 7, 10])],
  }
}

/** The voucher key of a wallet's tab. */
export interface TabSeedCase {
  readonly name: string
  readonly walletSeed: string
  readonly genesis: string
  readonly nonce: string
  readonly seed: string
  readonly key: string
}

/** Seeds of voucher keys. */
export function tabSeeds(): VectorSet<TabSeedCase> {
  const walletSeed = made('wallet seed')
  return {
    about: 'The seed of a voucher key, from the wallet seed, the genesis block and the nonce of the opening.',
    spec: 'encoding.md, section 7',
    cases: GENESES.flatMap((genesis) =>
      [0n, 7n, 2n ** 64n - 1n].map((nonce) => {
        const seed = tagged('farthing/seed-tab/1', genesis, u64(nonce), walletSeed)
        return {
          ...{
            name: `nonce ${nonce} on ${hex(genesis).slice(0, 8)}`,
            walletSeed: hex(walletSeed),
            genesis: hex(genesis),
          },
          ...{ nonce: `${nonce}`, seed: hex(seed), key: hex(expandSeed(seed).publicKey) },
        }
      }),
    ),
  }
}
