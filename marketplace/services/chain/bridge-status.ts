import { type Static, Type } from 'typebox'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import { tokenAsset } from '../../../consensus/ledger/asset.ts'
import { bridgeFacts, type NetworkFacts } from '../../../consensus/ledger/bridge-facts.ts'
import type { Fault } from '../../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { recordedAsset } from '../../queries/assets.ts'
import { bridgeNetworks } from '../../queries/collateral.ts'
import { PriceBook } from '../../queries/prices.ts'
import { ASSET_AMOUNT, assetAmount, orNull, UNKNOWN, USD, usd } from '../amounts.ts'
import { parseContextName } from '../context-names.ts'
import { CHAIN_ENVELOPE } from '../envelope.ts'
import { sampleEnvelope } from '../figures.ts'
import { readAtHead } from '../reading.ts'
import { CONTEXT_CHARS_MAX, refusal } from '../requests.ts'
import { defineService } from '../service.ts'

const ID = 'node-bridge-status' as ServiceId
const FORMAT = { requestFormat: '[network of the bridge, as base or bitcoin]; empty for all of them', example: 'base' }
const CUSTODY =
  'Floats are what the committee has attested on this chain. This node looks at no other chain, so lastObserved is not known.'

const NETWORK = Type.Object({
  id: Type.String(),
  number: Type.Integer({ minimum: 0 }),
  name: Type.String(),
  format: Type.String(),
  status: Type.Union([Type.Literal('not configured'), Type.Literal('open'), Type.Literal('halted')]),
  asset: Type.String(),
  vaultAddress: orNull(Type.String()),
  float: orNull(ASSET_AMOUNT),
  floatUsd: USD,
  feePct: Type.Number({ minimum: 0 }),
  minAmount: ASSET_AMOUNT,
  confirmations: Type.Integer({ minimum: 0 }),
  dailyMintCap: ASSET_AMOUNT,
  mintedToday: orNull(ASSET_AMOUNT),
  records: orNull(
    Type.Object({
      in: Type.Integer({ minimum: 0 }),
      out: Type.Integer({ minimum: 0 }),
      deposited: ASSET_AMOUNT,
      released: ASSET_AMOUNT,
      fees: ASSET_AMOUNT,
      pending: ASSET_AMOUNT,
    }),
  ),
  lastObserved: Type.Null(),
})

/** Result fields, without the envelope. */
export const BRIDGE_STATUS = {
  committee: orNull(
    Type.Object({
      epoch: Type.Integer(),
      members: Type.Integer(),
      threshold: Type.Integer(),
      rotationAt: orNull(Type.Integer()),
    }),
  ),
  networks: Type.Array(NETWORK),
  custody: Type.String(),
  unknown: UNKNOWN,
}
const FACTS = Type.Object(BRIDGE_STATUS)
const RESULT = Type.Object({ ...CHAIN_ENVELOPE, ...BRIDGE_STATUS })

/** All networks, or the named one (case ignored), as the next block sees them. Call it within `atOneHead`. */
export async function bridgeStatusFacts(chain: ChainReader, name: string | null): Promise<Static<typeof FACTS>> {
  const networks: Static<typeof NETWORK>[] = []
  const named = networksNamed(chain, name)
  if (named.length === 0 && name !== null) throw new Error(`the bridge has no network ${name}`)
  for (const facts of named) networks.push(await networkJson(chain, facts))
  const floatUnknown = networks.filter(({ float }) => float === null).map(({ id }) => `${id}.float`)
  const usdUnknown = networks.filter(({ floatUsd }) => floatUsd === null).map(({ id }) => `${id}.floatUsd`)
  return {
    committee: committeeJson(chain),
    networks,
    custody: CUSTODY,
    unknown: ['lastObserved', ...floatUnknown, ...usdUnknown],
  }
}

function networksNamed(chain: ChainReader, name: string | null): readonly NetworkFacts[] {
  const asked = name?.toLowerCase()
  return bridgeNetworks(chain).filter(
    ({ rules }) => asked === undefined || [rules.key, rules.name.toLowerCase()].includes(asked),
  )
}

function networkFault(chain: ChainReader, name: string | null): Fault | null {
  if (networksNamed(chain, name).length > 0 || name === null) return null
  const keys = bridgeNetworks(chain).map(({ rules }) => rules.key)
  return refusal(`the bridge has no network ${name.toLowerCase()}; it has ${keys.join(', ')}`, FORMAT)
}

function committeeJson({ database, ruleBook, head }: ChainReader): Static<typeof FACTS>['committee'] {
  const height = head.header.height + 1
  const { committee } = bridgeFacts(database, ruleBook.at(height), height)
  if (committee === null) return null
  const { epoch, keys, threshold, rotation } = committee
  return { epoch, members: keys.length, threshold, rotationAt: rotation?.effectiveAt ?? null }
}

async function networkJson(chain: ChainReader, facts: NetworkFacts): Promise<Static<typeof NETWORK>> {
  const { rules, status, vault } = facts
  const asset = recordedAsset(chain, tokenAsset(rules.asset))
  const units = (value: bigint) => assetAmount(asset, value)
  const kept = vault === null ? null : facts
  return {
    id: rules.key,
    number: facts.number,
    name: rules.name,
    format: rules.format,
    status,
    asset: rules.asset,
    vaultAddress: vault,
    float: kept && units(kept.float),
    floatUsd: kept && usd(await PriceBook.of(chain).valueOf(asset.asset, kept.float)),
    feePct: Number(rules.feeBps) / 100,
    minAmount: units(rules.minimum),
    confirmations: rules.confirmations,
    dailyMintCap: units(rules.dailyMintCap),
    mintedToday: kept && units(kept.mintedToday),
    records: kept && {
      in: kept.deposits,
      out: kept.withdrawals,
      deposited: units(kept.deposited),
      released: units(kept.released),
      fees: units(kept.fees),
      pending: units(kept.pending),
    },
    lastObserved: null,
  }
}

const SAMPLE_DOLLARS = (amount: string) => ({ symbol: 'XUSD', decimals: 6, amount })

/** State of the bridge's networks. */
export const bridgeStatus = defineService<string | null, typeof RESULT>({
  serviceId: ID,
  name: 'Bridge status',
  description:
    'The ten networks of the bridge with vault address, float as attested on chain, fee, minimum, daily cap, record counts and status; what is not configured is said to be so. A request that is the name of one (base, bitcoin) asks for it alone.',
  brief: 'Shows the networks of the bridge with vault, float, fee, limits and status.',
  words: 'deposit withdraw cross-chain transfer vaults custody',
  capability: 'bridge',
  priceUsdMicros: 12_000n,
  ...FORMAT,
  sample: {
    ...sampleEnvelope(ID),
    committee: { epoch: 0, members: 3, threshold: 2, rotationAt: null },
    networks: [
      {
        id: 'base',
        number: 1,
        name: 'Base',
        format: 'evm',
        status: 'open',
        asset: 'XUSD',
        vaultAddress: '0x000000000000000000000000000000000000dEaD',
        float: SAMPLE_DOLLARS('300550'),
        floatUsd: 300550,
        feePct: 0.1,
        minAmount: SAMPLE_DOLLARS('5'),
        confirmations: 600,
        dailyMintCap: SAMPLE_DOLLARS('1000000'),
        mintedToday: SAMPLE_DOLLARS('750'),
        records: {
          in: 1,
          out: 2,
          deposited: SAMPLE_DOLLARS('300750'),
          released: SAMPLE_DOLLARS('119.88'),
          fees: SAMPLE_DOLLARS('0.12'),
          pending: SAMPLE_DOLLARS('80'),
        },
        lastObserved: null,
      },
    ],
    custody: CUSTODY,
    unknown: ['lastObserved'],
  },
  timeoutMs: 2_000,
  resultBytesMax: 32_768,
  repeatable: true,
  keptPerHead: true,
  requestCharsMax: CONTEXT_CHARS_MAX,
  parse: (request) => parseContextName(request, FORMAT),
  check: (name, { chain }) => networkFault(chain, name),
  ready: () => ({ available: true, engine: 'chain' }),
  resultSchema: RESULT,
  execute: (name, context) => readAtHead(ID, context, () => bridgeStatusFacts(context.chain, name)),
})
