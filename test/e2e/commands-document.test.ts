import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { commandsDocument } from '../generate/commands.ts'
import { ROOT } from '../support/source-tree.ts'

/** More than a hundred processes, one after the other, beside other tests. */
const MS_MAX = 900_000

it('docs/commands.md shows what the commands print; npm run gen:commands writes it anew', {
  timeout: MS_MAX,
}, async () => {
  expect(await commandsDocument()).toBe(readFileSync(join(ROOT, 'docs/commands.md'), 'utf8'))
})
