import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../support/source-tree.ts'
import { GENERATED_FILES } from './documents.ts'

for (const { path, content } of GENERATED_FILES) {
  writeFileSync(join(ROOT, path), content())
  process.stdout.write(`${path}\n`)
}
