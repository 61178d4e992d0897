import { Compile } from 'typebox/compile'
import { describe, expect, it } from 'vitest'
import { fitsText } from '../../../../consensus/primitives/text.ts'
import { DESCRIPTION_BYTES_MAX, NAME_BYTES_MAX, REQUEST_FORMAT_BYTES_MAX } from '../../../../consensus/tx/payloads.ts'
import { CAPABILITIES } from '../../../../marketplace/ledger/capabilities.ts'
import { readRequest } from '../../../../marketplace/services/service.ts'
import { SERVICE_TABLE } from '../../../../marketplace/services/table.ts'
import { isOfChain } from '../../../support/listed-services.ts'
import { SERVICE_CASES } from '../../../support/service-cases.ts'

const byId = Object.fromEntries(SERVICE_TABLE.map((definition) => [definition.serviceId as string, definition]))

/** Limit for the header of an offer: some facilitators refuse payments with a header above 3,000 bytes. */
const BRIEF_CHARS_MAX = 120
const CATALOGUE_NAME_CHARS_MAX = 32

/** Services whose request is optional context, except those that can be asked about a single thing. */
const OPTIONAL_CONTEXT = [
  'node-price-feed',
  'node-market-summary',
  'node-network-stats',
  'node-gas-tracker',
  'node-arb-scan',
  'node-market-report',
  'node-explorer-summary',
  'node-agent-roster',
  'node-crypto-prices',
  'node-x402-validation',
]

describe('the table of services', () => {
  it('has every id once', () => {
    expect(Object.keys(byId)).toHaveLength(SERVICE_TABLE.length)
  })

  it('sells something of every capability', () => {
    expect(CAPABILITIES.filter((one) => !SERVICE_TABLE.some(({ capability }) => capability === one))).toEqual([])
  })

  it('has no request format where the interface takes optional context, and one everywhere else', () => {
    const open = SERVICE_TABLE.filter(({ requestFormat }) => requestFormat === '').map(({ serviceId }) => serviceId)
    expect(open.sort()).toEqual([...OPTIONAL_CONTEXT].sort())
  })

  it('keeps apart what its callers choose the other side of, or have a model work on', () => {
    const apart = SERVICE_TABLE.filter(({ reachesOut }) => reachesOut).map(({ serviceId }) => serviceId.slice(5))
    const chosen = ['web-fetch', 'url-meta', 'rss-read', 'email-validate', 'domain-info', 'ens-resolve']
    const worked = ['llm-chat', 'translate', 'image-gen', 'summarize', 'sentiment', 'keywords']
    expect(apart.sort()).toEqual([...chosen, ...worked].sort())
  })

  for (const definition of SERVICE_TABLE) {
    const { serviceId, name, description, brief, requestFormat, sample, resultSchema, resultBytesMax } = definition
    describe(serviceId, () => {
      it('shows a sample that it could have given', () => {
        expect([...Compile(resultSchema).Errors(sample)]).toEqual([])
        expect(JSON.stringify(sample).length).toBeLessThan(resultBytesMax)
        expect(sample).toMatchObject({ service: serviceId })
      })

      it('says in one whole sentence what it is, short enough for catalogues', () => {
        expect(brief).toMatch(/^[A-Z][^\n]*[\p{L}\p{N})]\.$/u)
        expect(brief.match(/\p{Ll}[.!?] /gu)).toBeNull()
        expect(brief.length).toBeLessThanOrEqual(BRIEF_CHARS_MAX)
        expect(name.length).toBeLessThanOrEqual(CATALOGUE_NAME_CHARS_MAX)
      })

      it('takes the example that it shows', () => {
        expect(readRequest(definition, definition.example).ok).toBe(true)
      })

      it('can be published as it is', () => {
        expect(fitsText(name, NAME_BYTES_MAX)).toBe(true)
        expect(fitsText(description, DESCRIPTION_BYTES_MAX)).toBe(true)
        expect(requestFormat === '' || fitsText(requestFormat, REQUEST_FORMAT_BYTES_MAX)).toBe(true)
      })

      it('has requests whose results are kept, where they come from the chain', () => {
        expect(SERVICE_CASES[serviceId] !== undefined).toBe(isOfChain(definition))
      })
    })
  }
})
