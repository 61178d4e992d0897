import { type Static, Type } from 'typebox'
import { parseAddress } from '../../../consensus/crypto/address.ts'
import { faultMessage } from '../../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { ServiceContext } from '../context.ts'
import { ENGINE_ENVELOPE, engineEnvelope } from '../envelope.ts'
import { unusable } from '../requests.ts'
import { defineService } from '../service.ts'
import { judgeAddress } from './address-judgement.ts'

const ID = 'node-address-validator' as ServiceId
const FORMAT = {
  requestFormat: 'address of this chain or of a bridge network, up to 128 printable ASCII characters',
  example: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
}
const REQUEST_CHARS_MAX = 1_000
const ADDRESS_TEXT = /^[\x21-\x7e]{1,128}$/
const ENGINE = 'address-grammar'
const OWN = 'farthing'

const MATCH = Type.Object({
  network: Type.String(),
  type: Type.String(),
  normalised: Type.String(),
  /** Whether the text is the one spelling that the network's bridge, or this chain, takes. */
  canonical: Type.Boolean(),
  checksum: Type.Unsafe<'valid' | 'absent'>({ type: 'string', enum: ['valid', 'absent'] }),
  note: Type.Optional(Type.String()),
})
const REASON = Type.Object({ network: Type.String(), reason: Type.String() })

const RESULT = Type.Object({
  ...ENGINE_ENVELOPE,
  input: Type.String({ maxLength: 128 }),
  valid: Type.Boolean(),
  matches: Type.Array(MATCH),
  ambiguous: Type.Boolean(),
  reasons: Type.Array(REASON),
})

const SOLANA_NOTE =
  'well-formed only: 32 bytes in base58 without a checksum, which may be a key, an account or anything'

type Verdict = { readonly match: Static<typeof MATCH> } | { readonly refused: Static<typeof REASON> }

function parse(request: string): Result<string> {
  const text = request.trim()
  return ADDRESS_TEXT.test(text) ? ok(text) : unusable('not 1 to 128 printable ASCII characters without space', FORMAT)
}

function verdicts({ chain }: ServiceContext, text: string): readonly Verdict[] {
  const { networks } = chain.ruleBook.at(chain.head.header.height + 1).bridge
  const foreign = networks.map(({ key, format }): Verdict => {
    const judged = judgeAddress(format, text)
    if ('reason' in judged) return { refused: { network: key, reason: judged.reason } }
    const match = { network: key, ...judged, canonical: judged.normalised === text }
    return { match: format === 'solana' ? { ...match, type: 'account', note: SOLANA_NOTE } : match }
  })
  return [ownVerdict(chain.ruleBook.params.addressPrefix, text), ...foreign]
}

/** Bech32m may be all upper case (BIP-173); the chain itself takes lower case. */
function ownVerdict(prefix: string, text: string): Verdict {
  const normalised = text === text.toUpperCase() ? text.toLowerCase() : text
  const address = parseAddress(prefix, normalised)
  if (!address.ok) return { refused: { network: OWN, reason: faultMessage(address.fault) } }
  return { match: { network: OWN, type: 'account', normalised, canonical: normalised === text, checksum: 'valid' } }
}

function judgement(context: ServiceContext, text: string) {
  const all = verdicts(context, text)
  const matches = all.flatMap((verdict) => ('match' in verdict ? [verdict.match] : []))
  const reasons = all.flatMap((verdict) => ('refused' in verdict ? [verdict.refused] : []))
  return { input: text, valid: matches.length > 0, matches, ambiguous: matches.length > 1, reasons }
}

/** On which networks a text is an address. */
export const addressValidator = defineService<string, typeof RESULT>({
  serviceId: ID,
  name: 'Address validator',
  description:
    'On which networks a text is an address: this chain and every bridge network (EVM networks, Solana, Bitcoin, Litecoin), with type, the spelling the bridge takes and checksum; else the reason per network. Solana addresses have no checksum: well-formed is all that can be told.',
  brief: 'Tells on which networks a text is an address, and else why it is none.',
  words: 'valid wallet check checksum btc bitcoin ltc litecoin solana ethereum',
  capability: 'utility',
  priceUsdMicros: 4_000n,
  ...FORMAT,
  sample: {
    service: ID,
    asOf: '2026-11-20T12:00:00.000Z',
    engine: ENGINE,
    input: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    valid: true,
    matches: [
      {
        network: 'bitcoin',
        type: 'p2wpkh',
        normalised: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
        canonical: true,
        checksum: 'valid',
      },
    ],
    ambiguous: false,
    reasons: [
      {
        network: OWN,
        reason: '"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4" is not an address: bad characters or checksum',
      },
      ...['ethereum', 'base', 'arbitrum', 'optimism', 'polygon', 'bnb', 'avalanche'].map((network) => ({
        network,
        reason: 'not 0x and 40 hex digits',
      })),
      { network: 'solana', reason: 'not base58' },
      { network: 'litecoin', reason: 'neither ltc1... nor base58 with its checksum' },
    ],
  },
  timeoutMs: 2_000,
  resultBytesMax: 16_384,
  repeatable: true,
  requestCharsMax: REQUEST_CHARS_MAX,
  parse,
  ready: () => ({ available: true, engine: ENGINE }),
  resultSchema: RESULT,
  execute: (text, context) => ({ ...engineEnvelope(ID, ENGINE, context), ...judgement(context, text) }),
})
