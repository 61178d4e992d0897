import { ok } from '../../consensus/primitives/result.ts'
import type { DocumentSheet } from '../../marketplace/ports/document-tasks.ts'
import type { ServiceContext } from '../../marketplace/services/context.ts'
import type { DocumentResult } from '../../marketplace/services/documents/document-service.ts'
import { readRequest, type ServiceDefinition } from '../../marketplace/services/service.ts'
import { setDocument } from '../../src/engines/documents/document-pdf.ts'
import { DOCUMENT_SERVICES } from '../support/listed-services.ts'

const MADE_AT = Date.parse('2026-11-20T12:00:00.000Z')

/** The result of a document service for its own example. */
async function sampleOf(definition: ServiceDefinition): Promise<DocumentResult> {
  const input = readRequest(definition, definition.example)
  if (!input.ok) throw new Error(`${definition.serviceId} does not take its own example`)
  const documents = {
    currency: 'EUR',
    unsettable: () => [],
    render: async (sheet: DocumentSheet) => ok(await setDocument({ sheet, fonts: [] })),
  }
  const context = { clock: { now: () => MADE_AT }, outside: { documents } } as unknown as ServiceContext
  return (await definition.execute(input.value, context, AbortSignal.timeout(10_000))) as DocumentResult
}

/** Results of all document services for their own examples, by service id. */
export async function documentSamples(): Promise<string> {
  const samples: Record<string, DocumentResult> = {}
  for (const definition of DOCUMENT_SERVICES) samples[definition.serviceId] = await sampleOf(definition)
  return `${JSON.stringify(samples, null, 2)}\n`
}
