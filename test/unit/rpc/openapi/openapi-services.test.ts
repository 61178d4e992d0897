import { describe, expect, it } from 'vitest'
import { SERVICE_TABLE } from '../../../../marketplace/services/table.ts'
import { OPENAPI_EXAMPLES, openApiDocument } from '../../../../rpc/openapi/openapi.ts'
import type { MadeDocument } from '../../../support/documents.ts'
import { ApiChecker, type ApiDocument } from '../../../support/openapi-check.ts'

const SERVICES = SERVICE_TABLE.map((definition) => ({
  ...definition,
  priceUsd: Number(definition.priceUsdMicros) / 1_000_000,
  dollars: null,
}))
const document = openApiDocument('http://here', SERVICES) as ApiDocument
const checker = new ApiChecker(document)
const RECORDED = 'node-network-stats'

/** Services with a file in their sample. The API document cuts the file. The whole file is at `/services/{serviceId}/example`. */
const IS_DOCUMENT = new Set(
  SERVICES.filter(({ sample }) => (sample as MadeDocument).pdf !== undefined).map(({ serviceId }) => serviceId),
)

function withFileCut(sample: MadeDocument): object {
  const { base64 } = sample.pdf
  return { ...sample, pdf: { ...sample.pdf, base64: `${base64.slice(0, 120)}... (${base64.length} characters)` } }
}

interface Media {
  readonly example?: { readonly request?: string; readonly result?: object; readonly receipt?: object }
}

describe.each(SERVICES)('the path of $serviceId', ({ serviceId, example, sample, priceUsd }) => {
  const operation = document.paths[`/api/x402/${serviceId}`]!.post!
  const mediaOf = (content: Readonly<Record<string, object>> | undefined): Media => content!['application/json']!

  it('shows a request, a result and a receipt of its own', () => {
    expect(mediaOf(operation.requestBody!.content).example).toEqual({ request: example })
    const answer = mediaOf(operation.responses['200']!.content).example!
    expect(answer.result).toEqual(IS_DOCUMENT.has(serviceId) ? withFileCut(sample as MadeDocument) : sample)
    expect(answer.receipt).toMatchObject({ serviceId, amount: priceUsd * 4 })
    const headers = new Headers({ 'content-type': 'application/json' })
    const reply = { status: 200, headers, text: JSON.stringify(answer), body: answer }
    expect(checker.misfits(operation.operationId, reply as never)).toEqual([])
  })

  it('shows nothing of another service', () => {
    if (serviceId !== RECORDED) expect(JSON.stringify(operation.responses)).not.toContain(RECORDED)
  })
})

describe('the recorded examples', () => {
  it('count the services that a node is shipped with', () => {
    const counts = (JSON.stringify(OPENAPI_EXAMPLES).match(/"(?:nodeOperatedCount|serviceCount|services)":\d+/g) ?? [])
      .map((text) => Number(text.split(':')[1]))
      .filter((count) => count !== 0)
    expect(counts.length).toBeGreaterThan(3)
    expect(new Set(counts)).toEqual(new Set([SERVICE_TABLE.length]))
  })
})
