import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../support/source-tree.ts'
import { serviceTable } from './service-table.ts'

function write(path: string, content: string): void {
  writeFileSync(join(ROOT, path), content)
  process.stdout.write(`${path}\n`)
}

// Each file is written before the code that reads it is loaded.
write('marketplace/services/table.ts', serviceTable())
const { documentSamples } = await import('./samples.ts')
write('marketplace/services/documents/samples.json', await documentSamples())
const { countedExamples } = await import('./example-counts.ts')
write('rpc/openapi-examples.json', countedExamples())
const { GENERATED_FILES } = await import('./documents.ts')
for (const { path, content } of GENERATED_FILES) write(path, content())
