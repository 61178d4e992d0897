import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const ATTACKS = 32
const ROW = /^\| (\d+) \| [^|]+ \| ((?:`[a-z/-]+`(?:, )?)+) \|$/gm

/** Numbers of attacks, with the files that `docs/testing.md` names for each. */
const rows = [...readFileSync('docs/testing.md', 'utf8').matchAll(ROW)].map(([, number, files]) => ({
  number: Number(number),
  files: [...(files as string).matchAll(/`([a-z/-]+)`/g)].map(([, file]) => `test/${file}.test.ts`),
}))

test('every attack on tabs has tests that are named by its number', () => {
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: ATTACKS }, (_, i) => i + 1))
  const missing = rows.flatMap(({ number, files }) => {
    // `attack 5, …` within a title, or a title that begins with the number.
    const name = new RegExp(`(?:describe|it)\\(\\s*['"\`](?:${number}[: ]|[^'"\`\\n]*attack ${number}\\b)`)
    return files.filter((file) => !name.test(readFileSync(file, 'utf8'))).map((file) => `${number}: ${file}`)
  })
  expect(missing).toEqual([])
})
