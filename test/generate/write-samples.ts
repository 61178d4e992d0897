import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ok } from '../../consensus/primitives/result.ts'
import type { DocumentSheet } from '../../marketplace/ports/document-tasks.ts'
import type { ServiceContext } from '../../marketplace/services/context.ts'
import type { DocumentResult } from '../../marketplace/services/documents/document-service.ts'
import { OUTSIDE_SERVICES } from '../../marketplace/services/outside-services.ts'
import { readRequest, type ServiceDefinition } from '../../marketplace/services/service.ts'
import { setDocument } from '../../src/engines/documents/document-pdf.ts'
import { ROOT } from '../support/source-tree.ts'

/** Written before the other files, as docs/services.md shows what is in it. */
const PATH = 'marketplace/services/documents/samples.json'
const MADE_AT = Date.parse('2026-11-20T12:00:00.000Z')

/** What a service of documents makes of its own example. */
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

const samples: Record<string, DocumentResult> = {}
for (const definition of OUTSIDE_SERVICES)
  if (definition.capability === 'reports') samples[definition.serviceId] = await sampleOf(definition)
writeFileSync(join(ROOT, PATH), `${JSON.stringify(samples, null, 2)}\n`)
process.stdout.write(`${PATH}\n`)
