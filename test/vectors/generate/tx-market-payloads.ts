import { join } from './bytes.ts'
import { made } from './tx-fields.ts'
import { container, u8, u16, u32, u64, u128, vary, words } from './tx-wire.ts'

/** Encoders of payloads of transfers and of the market, and a valid sample of each. Every field may be out of range. */

const addresses = (list: readonly Uint8Array[]) => vary(join(...list))

export const MARKET_PAYLOADS = {
  transfer: ({ to, amount, create }: { to: Uint8Array; amount: bigint; create: number }) =>
    container(to, u128(amount), u8(create)),
  agent_register: (p: AgentFields) =>
    container(words(p.agentId), words(p.name), words(p.endpoint), u16(p.capabilities), p.payout, addresses(p.settlers)),
  agent_update: (p: AgentFields & { owner: Uint8Array }) =>
    container(
      words(p.agentId),
      words(p.name),
      words(p.endpoint),
      u16(p.capabilities),
      p.owner,
      p.payout,
      addresses(p.settlers),
    ),
  service_publish: (p: ServiceFields) =>
    container(
      words(p.agentId),
      words(p.serviceId),
      u8(p.capability),
      u64(p.priceUsdMicros),
      words(p.name),
      words(p.requestFormat),
      words(p.description),
    ),
  service_retire: (p: { agentId: string; serviceId: string }) => container(words(p.agentId), words(p.serviceId)),
  agent_invoke: (p: InvokeFields) =>
    container(
      words(p.agentId),
      words(p.serviceId),
      u128(p.amount),
      u32(p.units),
      u32(p.term),
      p.requestCommitment,
      p.redeemLock,
    ),
  agent_receipt: ({ entries }: { entries: readonly EntryFields[] }) =>
    container(
      vary(join(...entries.map((e) => join(e.txId, u8(e.outcome), e.resultHash, e.opener, u32(e.durationMs))))),
    ),
}

export interface AgentFields {
  readonly agentId: string
  readonly name: string
  readonly endpoint: string
  readonly capabilities: number
  readonly payout: Uint8Array
  readonly settlers: readonly Uint8Array[]
}

export interface ServiceFields {
  readonly agentId: string
  readonly serviceId: string
  readonly capability: number
  readonly priceUsdMicros: bigint
  readonly name: string
  readonly requestFormat: string
  readonly description: string
}

export interface InvokeFields {
  readonly agentId: string
  readonly serviceId: string
  readonly amount: bigint
  readonly units: number
  readonly term: number
  readonly requestCommitment: Uint8Array
  readonly redeemLock: Uint8Array
}

export interface EntryFields {
  readonly txId: Uint8Array
  readonly outcome: number
  readonly resultHash: Uint8Array
  readonly opener: Uint8Array
  readonly durationMs: number
}

/** A valid payload of each kind. */
export const MARKET_SOUND = {
  transfer: { to: made('to'), amount: 150_000_000n, create: 0 },
  agent_register: {
    agentId: 'acme-labs',
    name: 'Acme Labs',
    endpoint: 'https://acme.example/api',
    capabilities: 0b1000_0000_0000_0101,
    payout: made('payout'),
    settlers: [made('settler 1'), made('settler 2')],
  },
  agent_update: {
    agentId: 'acme-labs',
    name: 'Acme',
    endpoint: '',
    capabilities: 0,
    owner: made('owner'),
    payout: made('payout'),
    settlers: [made('settler 1')],
  },
  service_publish: {
    agentId: 'acme-labs',
    serviceId: 'summarise',
    capability: 11,
    priceUsdMicros: 20_000n,
    name: 'Summaries',
    requestFormat: 'plain text, at most 8,000 characters',
    description: 'Three sentences about any text.',
  },
  service_retire: { agentId: 'acme-labs', serviceId: 'summarise' },
  agent_invoke: {
    agentId: 'acme-labs',
    serviceId: 'summarise',
    amount: 8_000_000n,
    units: 1,
    term: 400,
    requestCommitment: made('commitment'),
    redeemLock: made('lock'),
  },
  agent_receipt: {
    entries: [
      { txId: made('invoke 1'), outcome: 0, resultHash: made('result'), opener: made('opener'), durationMs: 812 },
      {
        txId: made('invoke 2'),
        outcome: 1,
        resultHash: new Uint8Array(32),
        opener: new Uint8Array(32),
        durationMs: 30_000,
      },
    ],
  },
}
