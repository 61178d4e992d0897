import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../support/source-tree.ts'
import { commandsDocument } from './commands.ts'

writeFileSync(join(ROOT, 'docs/commands.md'), await commandsDocument())
