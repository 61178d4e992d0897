import { mkdirSync, writeFileSync } from 'node:fs'
import { SERVICE_CASES } from '../../support/service-cases.ts'
import { caseChains, serviceResults } from '../../support/service-results.ts'

/**
 * `node test/vectors/generate/services.ts [service id...]` writes the services' answers to their cases anew. Unlike
 * other vectors, these are the program's own results: read them before you commit them.
 */
if (import.meta.main) {
  const chains = await caseChains()
  const ids = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(SERVICE_CASES)
  mkdirSync(new URL('../services/', import.meta.url), { recursive: true })
  for (const id of ids) {
    const results = await serviceResults(id, ...chains)
    writeFileSync(new URL(`../services/${id}.json`, import.meta.url), `${JSON.stringify(results, null, 1)}\n`)
  }
}
