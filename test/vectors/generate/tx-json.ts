import { bech32Text, fiveBitGroups } from './accounts.ts'
import { hex, join } from './bytes.ts'
import { shownFields } from './shown.ts'
import { bodyBytes, fillerSignature, type RawWitness, wireBytes, witnessBytes } from './tx-fields.ts'
import { MARKET_SAMPLES } from './tx-market-samples.ts'
import { MONEY_SAMPLES } from './tx-money-samples.ts'
import { PAYLOADS, type PayloadKind, rawBody, type Sample } from './tx-payloads.ts'
import { TAB_SAMPLES } from './tx-tab-samples.ts'
import { shortHex, tagged, type VectorSet } from './tx-wire.ts'

/** A transaction with its JSON on the network of an address prefix. */
export interface JsonCase {
  readonly name: string
  readonly prefix: string
  readonly wire: string
  readonly json: Readonly<Record<string, unknown>>
}

const ONE_SIGNATURE: RawWitness = { keys: new Uint8Array(0), signatures: [fillerSignature(0)] }
const PREFIXES = ['far', 'tfar', 'dfar'] as const
/** Fields of payloads that are addresses of this chain. */
const ADDRESSES: ReadonlySet<string> = new Set(['to', 'issuer', 'owner', 'payout', 'settlers'])

/** The first sample of every kind, and further samples with other fields or witnesses. */
function samples(): readonly Sample[] {
  const kinds = new Set<PayloadKind>()
  return [...MARKET_SAMPLES, ...MONEY_SAMPLES, ...TAB_SAMPLES].filter(({ name, kind }) => {
    const first = !kinds.has(kind)
    kinds.add(kind)
    return first || /that closes|longest|vault key|policy|three pools|exact output/.test(name)
  })
}

function addressed(prefix: string, value: unknown): unknown {
  return Array.isArray(value)
    ? value.map((one) => addressed(prefix, one))
    : bech32Text(prefix, fiveBitGroups(value as Uint8Array))
}

function payloadJson(prefix: string, payload: Sample['payload']): object {
  return Object.fromEntries(
    Object.entries(shownFields(payload) as object).map(([name, shown]) => [
      name,
      ADDRESSES.has(name) ? addressed(prefix, payload[name]) : shown,
    ]),
  )
}

function jsonCase({ name, kind, payload, envelope, witness = ONE_SIGNATURE }: Sample, i: number): JsonCase {
  const prefix = PREFIXES[i % PREFIXES.length] as string
  const body = rawBody(kind, PAYLOADS[kind](payload as never), envelope)
  const [bytes, signed] = [bodyBytes(body), witnessBytes(witness)]
  const wire = wireBytes(bytes, signed)
  const txId = tagged('farthing/tx-id/1', bytes)
  return {
    ...{ name, prefix, wire: shortHex(wire) },
    json: {
      ...{ txId: hex(txId), wtxId: hex(tagged('farthing/wtx-id/1', join(txId, signed))), size: wire.length },
      ...{ version: 1, chainId: 1, sender: addressed(prefix, body.sender), nonce: `${body.nonce}`, kind },
      payload: payloadJson(prefix, payload),
      ...{ maxFeeRate: `${body.maxFeeRate}`, tip: `${body.tip}`, validUntil: body.validUntil },
      ...{ memo: shownFields(body.memo), witness: shownFields(witness) },
    },
  }
}

export function txJson(): VectorSet<JsonCase> {
  return {
    about:
      'Transactions of every kind in JSON: addresses as text, numbers above 32 bits as decimal text, bytes and hashes as ' +
      'lower-case hex. `[5a*2484]` in hex stands for 2,484 bytes 5a.',
    spec: 'transactions.md, sections 1 and 3; encoding.md, section 5',
    cases: samples().map(jsonCase),
  }
}
