import { openApiDocument } from '../../rpc/openapi/openapi.ts'
import { errorsDocument } from './errors.ts'
import { countedExamples } from './example-counts.ts'
import { fontCoverage } from './font-coverage.ts'
import { limitsDocument } from './limits.ts'
import { networksDocument } from './networks.ts'
import { serviceTable } from './service-table.ts'
import { servicesDocument } from './services.ts'

/** A committed file that is generated from the code. */
export interface GeneratedFile {
  readonly path: string
  readonly content: () => string
}

/** Generated files that `npm run gen` writes and a test compares. Other files have their own generators and tests. */
export const GENERATED_FILES: readonly GeneratedFile[] = [
  { path: 'docs/errors.md', content: errorsDocument },
  { path: 'docs/limits.md', content: limitsDocument },
  { path: 'docs/services.md', content: servicesDocument },
  { path: 'marketplace/services/table.ts', content: serviceTable },
  { path: 'rpc/client/sdk/networks.json', content: networksDocument },
  { path: 'rpc/openapi-examples.json', content: countedExamples },
  { path: 'rpc/openapi.json', content: () => `${JSON.stringify(openApiDocument('http://127.0.0.1:8420'), null, 2)}\n` },
  { path: 'src/engines/documents/coverage.json', content: fontCoverage },
]
