import { hex, join } from './bytes.ts'
import { shownFields } from './shown.ts'
import type { RawAttestation } from './tx-bridge-payloads.ts'
import { bodyBytes, fillerSignature, type RawWitness, wireBytes, witnessBytes } from './tx-fields.ts'
import { MARKET_SAMPLES } from './tx-market-samples.ts'
import { MONEY_SAMPLES } from './tx-money-samples.ts'
import { KIND_NUMBERS, PAYLOADS, type PayloadKind, rawBody, type Sample } from './tx-payloads.ts'
import type { ClaimFields } from './tx-tab-payloads.ts'
import { TAB_SAMPLES } from './tx-tab-samples.ts'
import { shortHex, tagged, type VectorSet } from './tx-wire.ts'

/** One transaction in all its forms. */
export interface EncodingCase {
  readonly name: string
  readonly kind: PayloadKind
  /** Fields of the envelope without version and kind, and the payload; 64- and 128-bit numbers as decimal text. */
  readonly body: Readonly<Record<string, unknown>>
  readonly signatures: readonly { readonly keyIndex: number; readonly bytes: string }[]
  readonly keys: string
  readonly bodyBytes: string
  readonly witnessBytes: string
  readonly wire: string
  readonly txId: string
  readonly wtxId: string
  readonly size: number
  readonly weight: number
  readonly declaredWrites: number
}

const ONE_SIGNATURE: RawWitness = { keys: new Uint8Array(0), signatures: [fillerSignature(0)] }

/** transactions.md, sections 2 and 3: declared writes, without those of entries and hops. */
const WRITES: Readonly<Record<PayloadKind, number>> = {
  ...{ transfer: 2, token_create: 5, token_mint: 4, token_transfer: 4, stable_mint: 4 },
  ...{ token_burn: 3, stable_deposit: 3, stable_withdraw: 3, token_flags: 2, token_issuer: 2, stable_redeem: 5 },
  ...{ pool_create: 5, liquidity_add: 5, liquidity_remove: 5, swap: 3, stake: 4, unstake: 4, claim: 4 },
  ...{ bridge_deposit: 6, bridge_withdraw: 5, bridge_cancel: 5, bridge_release: 3, bridge_sign: 2, bridge_halt: 2 },
  ...{ bridge_rotate: 2, agent_register: 3, agent_update: 2, service_publish: 3, service_retire: 2, agent_invoke: 4 },
  ...{ agent_receipt: 3, tab_open: 4, tab_fund: 3, tab_claim: 3, tab_close: 4, tab_terms: 2 },
}

const SURCHARGES: Readonly<Partial<Record<PayloadKind, number>>> = {
  ...{ token_create: 20_000, pool_create: 20_000, agent_register: 20_000, service_publish: 2_000, agent_invoke: 800 },
  ...{ bridge_deposit: 2_000, bridge_withdraw: 2_000, bridge_rotate: 2_400, tab_open: 1_600, tab_close: 800 },
}

/** The entries of a tab_claim; none of another kind. */
function claimEntries({ kind, payload }: Sample): readonly ClaimFields[] {
  return kind === 'tab_claim' ? (payload.entries as readonly ClaimFields[]) : []
}

function writesOf(sample: Sample): number {
  const { kind, payload } = sample
  if (kind === 'tab_claim') {
    const writes = claimEntries(sample).map(({ close, services }) => 3 + 2 * close + 2 * services.length)
    return writes.reduce((sum, one) => sum + one, WRITES[kind])
  }
  const [entries, hops] = [payload.entries, payload.hops] as (readonly unknown[] | undefined)[]
  return WRITES[kind] + 5 * (entries?.length ?? 0) + (hops?.length ?? 0)
}

function surchargeOf(sample: Sample): number {
  const { kind, payload } = sample
  const vouchers = claimEntries(sample).flatMap(({ voucher }) => voucher).length
  return 200 * vouchers + (SURCHARGES[kind] ?? 0) + (payload.create === 1 ? 2_000 : 0)
}

function signaturesOf({ payload, witness = ONE_SIGNATURE }: Sample): number {
  const attestation = payload.attestation as RawAttestation | undefined
  return witness.signatures.length + (attestation?.signatures.length ?? 0)
}

function encodingCase(sample: Sample): EncodingCase {
  const { name, kind, payload, witness = ONE_SIGNATURE } = sample
  const raw = rawBody(kind, PAYLOADS[kind](payload as never), sample.envelope)
  const body = bodyBytes(raw)
  const signed = witnessBytes(witness)
  const wire = wireBytes(body, signed)
  const txId = tagged('farthing/tx-id/1', body)
  const { version, kind: number, payload: encoded, ...envelope } = raw
  const writes = writesOf(sample)
  return {
    ...{ name, kind, body: shownFields({ ...envelope, payload }) as EncodingCase['body'] },
    signatures: witness.signatures.map(({ keyIndex, bytes }) => ({ keyIndex, bytes: shortHex(bytes) })),
    keys: shortHex(witness.keys),
    bodyBytes: shortHex(body),
    witnessBytes: shortHex(signed),
    wire: shortHex(wire),
    txId: hex(txId),
    wtxId: hex(tagged('farthing/wtx-id/1', join(txId, signed))),
    size: wire.length,
    weight: wire.length + 400 * signaturesOf(sample) + 200 * writes + surchargeOf(sample),
    declaredWrites: writes,
  }
}

export function txEncoding(): VectorSet<EncodingCase> {
  return {
    about:
      'Every transaction kind with its encodings, ids, weight and declared writes. Keys and signatures are filler of ' +
      'the right length. `[5a*2484]` in hex stands for 2,484 bytes 5a.',
    spec: 'transactions.md, sections 1 to 3',
    cases: [...MARKET_SAMPLES, ...MONEY_SAMPLES, ...TAB_SAMPLES].map(encodingCase),
  }
}

/** `tx-kinds.json`: every number of the wire, and whether a kind has it. */
export function txKinds(): VectorSet<{ readonly number: number; readonly kind: PayloadKind | null }> {
  const byNumber = new Map(Object.entries(KIND_NUMBERS).map(([kind, number]) => [number, kind as PayloadKind]))
  return {
    about: 'The kind behind each number, null where this release has none (reserved ones among them).',
    spec: 'transactions.md, section 3',
    cases: Array.from({ length: 256 }, (_, number) => ({ number, kind: byNumber.get(number) ?? null })),
  }
}
