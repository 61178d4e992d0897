import { Type } from 'typebox'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { EnsFacts, EnsQuery, EvmReader } from '../../ports/evm.ts'
import { orNull, UNKNOWN } from '../amounts.ts'
import { fromSource, SOURCE_ENVELOPE } from '../envelope.ts'
import { unknownIn } from '../figures.ts'
import { refusal, unusable } from '../requests.ts'
import { defineService } from '../service.ts'
import { readEvmAddress } from './evm-addresses.ts'

const ID = 'node-ens-resolve' as ServiceId
const FORMAT = { requestFormat: '<name>.eth, or <0x and 40 hex digits>', example: 'vitalik.eth' }
const REQUEST_CHARS_MAX = 255
const ADDRESS = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' })

const RESULT = Type.Object({
  ...SOURCE_ENVELOPE,
  input: Type.String({ maxLength: REQUEST_CHARS_MAX }),
  direction: Type.Union([Type.Literal('forward'), Type.Literal('reverse')]),
  resolved: Type.Boolean(),
  name: orNull(Type.String({ maxLength: REQUEST_CHARS_MAX })),
  address: orNull(ADDRESS),
  avatar: orNull(Type.String({ maxLength: 2_000 })),
  resolver: orNull(ADDRESS),
  forwardVerified: Type.Boolean(),
  unknown: UNKNOWN,
})

/** A parsed request, not yet checked by the rules of ENS. */
interface Asked {
  readonly input: string
  readonly query: EnsQuery
}

function parse(request: string): Result<Asked> {
  const input = request.trim()
  if (/^0x/i.test(input) && !input.includes('.')) {
    const address = readEvmAddress(input, FORMAT)
    return address.ok ? ok({ input, query: { address: address.value } }) : address
  }
  const labels = input.split('.')
  if (labels.length < 2 || labels.at(-1)?.toLowerCase() !== 'eth')
    return unusable('not a name that ends with .eth', FORMAT)
  if (labels.includes('') || /[\s[\]]/.test(input))
    return unusable('the name has an empty part, a space or a bracket', FORMAT)
  return ok({ input, query: { name: input } })
}

/** The name in the normal form of ENSIP-15; null if ENSIP-15 forbids the name or the normal form is too long. */
function queryOf({ query }: Asked, evm: EvmReader): EnsQuery | null {
  if ('address' in query) return query
  const name = evm.ensName(query.name)
  return name === null || name.length > REQUEST_CHARS_MAX ? null : { name }
}

function fieldsOf({ input, query }: Asked, { forwardVerified, ...facts }: EnsFacts) {
  const isForward = 'name' in query
  return {
    input,
    direction: isForward ? ('forward' as const) : ('reverse' as const),
    resolved: (isForward ? facts.address : facts.name) !== null,
    ...facts,
    forwardVerified,
    unknown: unknownIn(facts),
  }
}

/** ENS records of a name or an address. */
export const ensResolve = defineService<Asked, typeof RESULT>({
  serviceId: ID,
  name: 'ENS lookup',
  description:
    'Address of a .eth name, or name of an address. A name that is answered off chain is not followed: the call is refunded. The name of an address counts only where it leads back to it. With resolver, and avatar record where set; names are normalised by ENSIP-15.',
  brief: 'Finds the address of a .eth name, or the name of an address.',
  words: 'ethereum resolve domain reverse',
  capability: 'explorer',
  priceUsdMicros: 4_000n,
  ...FORMAT,
  sample: {
    service: ID,
    asOf: '2026-11-20T12:00:00.000Z',
    source: { name: 'node.example.org', fetchedAt: '2026-11-20T12:00:00.000Z', stale: false },
    input: 'Example.eth',
    direction: 'forward',
    resolved: true,
    name: 'example.eth',
    address: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
    avatar: null,
    resolver: '0x231b0Ee14048e9dCcD1d247744d114a4EB5E8E63',
    forwardVerified: true,
    unknown: ['avatar'],
  },
  timeoutMs: 6_000,
  resultBytesMax: 8_192,
  repeatable: true,
  reachesOut: true,
  requestCharsMax: REQUEST_CHARS_MAX,
  parse,
  check: (asked, { outside }) =>
    outside.evm.ensReadiness().available && queryOf(asked, outside.evm) === null
      ? refusal('ENSIP-15 does not allow this name', FORMAT)
      : null,
  ready: ({ outside }) => outside.evm.ensReadiness(),
  resultSchema: RESULT,
  execute: async (asked, context, signal) => {
    const query = queryOf(asked, context.outside.evm)
    if (query === null) throw new Error('ENSIP-15 does not allow this name')
    const found = await context.outside.evm.ens(query, signal)
    return fromSource(ID, found, context, (facts) => fieldsOf(asked, facts))
  },
})
